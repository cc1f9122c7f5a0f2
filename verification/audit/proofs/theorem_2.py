"""The proof of Theorem 2, first part: from the estimator's failure to two suprema."""

from __future__ import annotations

from typing import Any

from verification.audit.arithmetic import Arithmetic
from verification.audit.proofs.kernel import Goal, Proof

_ANY = (None, None)
_POSITIVE = (0, None)


def _jensen() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        square = p.t**2
        means = [(a**2 + square * b**2) / (1 + square) for a, b in zip(p.s, p.s_pi, strict=True)]
        own = [a**2 / mean for a, mean in zip(p.s, means, strict=True)]
        other = [b**2 / mean for b, mean in zip(p.s_pi, means, strict=True)]
        return {
            "value": [w - 1 - m.log(w) for w in own],
            "other_value": [w - 1 - m.log(w) for w in other],
            "s": p.s,
            "s_pi": p.s_pi,
            "t": [p.t] * len(own),
        }

    def weights(m: Arithmetic, u: Any) -> Any:
        mean = (u.s**2 + u.t**2 * u.s_pi**2) / (1 + u.t**2)
        return (u.s**2 + u.t**2 * u.s_pi**2) / mean / (1 + u.t**2) - 1

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        return (sum(g[0]) + p.t**2 * sum(g[1])) / (1 + p.t**2) - sum(abs(value) for value in g[2])

    return Proof(
        {"value": _POSITIVE, "other_value": _POSITIVE, "s": _POSITIVE, "s_pi": _POSITIVE, "t": _POSITIVE},
        coordinates,
        (Goal(lambda m, u: u.value), Goal(lambda m, u: u.other_value), Goal(weights, "zero")),
        slack,
        "For every n: log w <= w - 1 at w = s_i^2 / m_i and s_pi(i)^2 / m_i, m_i their weighted mean; the "
        "weighted "
        "sum of the w - 1 is 0, and the logarithms of s_pi(i) sum to those of s_i.",
        uses=("log-tangent",),
    )


def _scale_passage() -> Proof:
    return Proof(
        {"gap": _POSITIVE, "tau": _POSITIVE},
        lambda m, p: {"gap": abs(p.tau - 1), "tau": p.tau},
        (Goal(lambda m, u: u.gap * (u.tau + 1) - u.gap),),
        lambda m, p, g: g[0] / (1 + p.tau**2),
    )


def _spread_goals() -> tuple[Goal, Goal]:
    return Goal(lambda m, u: (1 + u.epsilon) ** 2 - 1), Goal(lambda m, u: (u.tau + u.below) ** 2 - u.tau**2)


def _spread_coordinates(p: Any) -> dict[str, Any]:
    return {"epsilon": p.epsilon, "tau": p.tau, "below": 1 + p.epsilon - p.tau}


def _spread() -> Proof:
    return Proof(
        {"epsilon": _POSITIVE, "tau": _POSITIVE, "below": _POSITIVE},
        lambda m, p: _spread_coordinates(p),
        _spread_goals(),
        lambda m, p, g: (g[0] + g[1] * p.s_j**2) / ((1 + p.epsilon) ** 2 * (1 + p.s_j**2)),
        "In units of s_i.",
    )


def _kappa_relation() -> Proof:
    def lengths(m: Arithmetic, p: Any) -> tuple[Any, Any, Any, Any]:
        near = m.sqrt((p.mu_i[0] - p.mu_j) ** 2 + p.mu_i[1] ** 2)
        proxy = m.sqrt((p.mu_i[0] - p.tau * p.mu_j) ** 2 + p.mu_i[1] ** 2)
        return near, proxy, m.sqrt(1 + p.s_j**2), m.sqrt(1 + (p.tau * p.s_j) ** 2)

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        _, proxy, _, _ = lengths(m, p)
        step = (p.tau - 1) * p.mu_j
        inner = (p.mu_i[0] - p.tau * p.mu_j) * step
        return {
            **_spread_coordinates(p),
            "turned": proxy * abs(step) - inner,
            "inside": p.epsilon - abs(p.tau - 1),
        }

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        near, proxy, spread, proxy_spread = lengths(m, p)
        wider = (1 + p.epsilon) * spread
        first = proxy * (g[0] + g[1] * p.s_j**2) / (spread * proxy_spread * (wider + proxy_spread))
        step = abs(p.tau - 1) * p.mu_j
        triangle = 2 * g[2] / (proxy + step + near) / spread
        rest = g[3] * p.mu_j / spread + p.epsilon * p.mu_j / (p.s_j * spread * (p.s_j + spread))
        return (first + triangle + rest) / (proxy / proxy_spread + near / spread)

    return Proof(
        {
            "epsilon": _POSITIVE,
            "tau": _POSITIVE,
            "below": _POSITIVE,
            "turned": _POSITIVE,
            "inside": _POSITIVE,
        },
        coordinates,
        (*_spread_goals(), Goal(lambda m, u: u.turned), Goal(lambda m, u: u.inside)),
        slack,
        "Triangle inequality for mu_i - mu_j = (mu_i - tau mu_j) + (tau - 1) mu_j, the wider spread, and "
        "s_j <= sqrt(s_i^2 + s_j^2); two vectors span a plane, so that d = 2 is enough.",
        uses=("thm-2-spread",),
    )


def _kappa_condition() -> Proof:
    return Proof(
        {"epsilon": _POSITIVE},
        lambda m, p: {"epsilon": p.epsilon},
        (Goal(lambda m, u: (2 + 2 * u.epsilon) / (1 + u.epsilon) - 2, "zero"),),
        lambda m, p, g: g[0],
    )


def _kappa_diagonal() -> Proof:
    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        gap, root = abs(1 - p.tau), m.sqrt(1 + p.tau**2)
        return (g[0] + gap * g[1] / (root * (root + 1))) / (1 + gap / root)

    return Proof(
        {"inside": _POSITIVE, "tau": _POSITIVE},
        lambda m, p: {"inside": p.epsilon - abs(1 - p.tau), "tau": p.tau},
        (Goal(lambda m, u: u.inside), Goal(lambda m, u: (1 + u.tau**2) - 1)),
        slack,
        "|1 - tau| <= epsilon, and the root is at least 1.",
    )


def _quadratic() -> Proof:
    def goal(m: Arithmetic, u: Any) -> Any:
        kappa = 2 * u.own + u.above
        asked = kappa**2 - u.own**2 - 2 * u.zeta * (u.own + kappa)
        return asked - (3 * kappa**2 / 4 - 3 * u.zeta * kappa)

    return Proof(
        {"own": _POSITIVE, "above": _POSITIVE, "zeta": _POSITIVE},
        lambda m, p: {"own": p.kappa_ii, "above": p.kappa - 2 * p.kappa_ii, "zeta": p.zeta_1},
        (Goal(goal),),
        lambda m, p, g: g[0] / (p.kappa**2 + p.zeta_1 * p.kappa),
    )


def _monotone() -> Proof:
    return Proof(
        {"zeta": _POSITIVE, "above": _POSITIVE},
        lambda m, p: {"zeta": p.zeta_1, "above": p.kappa - 2 * p.zeta_1},
        (Goal(lambda m, u: 3 * (2 * u.zeta + u.above) / 2 - 3 * u.zeta),),
        lambda m, p, g: g[0] / (p.kappa + p.zeta_1),
        "The derivative of 3/4 k^2 - 3 zeta_1 k is 3/2 k - 3 zeta_1.",
    )


def _split() -> Proof:
    def shares(p: Any) -> tuple[Any, Any]:
        return 8 * p.zeta_1 / p.kappa, 16 * p.root_d_zeta_2 / (3 * p.kappa**2)

    return Proof(
        {"excess": _POSITIVE, "apart": _POSITIVE},
        lambda m, p: {"excess": sum(shares(p)) - 2, "apart": abs(shares(p)[0] - shares(p)[1])},
        (Goal(lambda m, u: (u.excess + u.apart) / 2),),
        lambda m, p, g: g[0],
        "The event says that 8 zeta_1/k and 16 sqrt(d) zeta_2 / (3 k^2) sum to at least 2, so that one of "
        "them is at "
        "least 1.",
    )


def _mean_norm() -> Proof:
    return Proof(
        {"square": _POSITIVE},
        lambda m, p: {"square": [value**2 for value in p.mu[1:]]},
        (Goal(lambda m, u: u.square),),
        lambda m, p, g: sum(g[0]) / sum(value**2 for value in p.mu),
        "For every n and d the other squared norms are left over.",
    )


def _smallest_variance() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        above = [s**2 - p.smallest**2 for k, s in enumerate(p.sigma) if k < p.n]
        return {"above": above, "n": [p.n] * len(above)}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        variance = (p.n - 2) / p.n * p.sigma[0] ** 2 + sum(s**2 for s in p.sigma) / p.n**2
        return (g[0][0] + sum(g[1])) / variance

    return Proof(
        {"above": _POSITIVE, "n": (2, None)},
        coordinates,
        (Goal(lambda m, u: (u.n - 2) / u.n * u.above), Goal(lambda m, u: u.above / u.n**2)),
        slack,
        "Term by term, for every n: each sigma_k is at least sigma_min, and (n-2)/n + n/n^2 = 1 - 1/n.",
    )


def _forced_distortion() -> Proof:
    def pairs(p: Any) -> list[tuple[Any, Any]]:
        count, total = int(p.n), sum(s**2 for s in p.sigma)
        variance = [(p.n - 2) / p.n * s**2 + total / p.n**2 for s in p.sigma]
        return [
            (
                sum((axis[i] - axis[j]) ** 2 for axis in (p.mu, p.mu_across)),
                variance[i] + variance[j],
            )
            for j in range(count)
            for i in range(j)
        ]

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        found = pairs(p)
        smallest = min(square / variance for square, variance in found)
        return {"above": [square / variance - smallest for square, variance in found]}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        total = sum(value**2 for axis in (p.mu, p.mu_across) for value in axis)
        return (
            sum(value * variance for value, (_, variance) in zip(g[0], pairs(p), strict=True)) / p.n / total
        )

    return Proof(
        {"above": _POSITIVE},
        coordinates,
        (Goal(lambda m, u: u.above),),
        slack,
        "For every n and d sum ||mu_i - mu_j||^2 >= kappa^2 (s_i^2 + s_j^2) over all pairs: the left side is "
        "n ||mu||^2, the right one kappa^2 (n - 1)(1 - 1/n) ||sigma||^2.",
    )


PROOFS = {
    "thm-2-jensen": _jensen(),
    "thm-2-scale-passage": _scale_passage(),
    "thm-2-spread": _spread(),
    "thm-2-kappa-relation": _kappa_relation(),
    "thm-2-kappa-condition": _kappa_condition(),
    "thm-2-kappa-diagonal": _kappa_diagonal(),
    "thm-2-quadratic": _quadratic(),
    "thm-2-monotone": _monotone(),
    "thm-2-split": _split(),
    "thm-2-mean-norm": _mean_norm(),
    "thm-2-smallest-variance": _smallest_variance(),
    "thm-2-forced-distortion": _forced_distortion(),
}
