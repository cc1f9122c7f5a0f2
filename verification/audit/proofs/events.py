"""How bounds and events are put together, and the bound in expectation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from verification.audit.arithmetic import Arithmetic
from verification.audit.proofs.kernel import Goal, Proof

_POSITIVE = (0, None)


def _union(count: int, parts: int, total: int) -> Proof:
    return Proof(
        {"delta": _POSITIVE},
        lambda m, p: {"delta": p.delta},
        (Goal(lambda m, u: total * u.delta - count * u.delta / parts),),
        lambda m, p, g: g[0] / (total * p.delta),
        f"{count}/{parts} = {total}.",
    )


def _centre() -> Proof:
    def difference(m: Arithmetic, u: Any) -> Any:
        variances = (u.n - 2) / u.n * u.sigma + u.n * (u.sigma / u.n**2)
        return u.d * variances - u.d * (u.n - 1) / u.n * u.sigma

    return Proof(
        {"n": (1, None), "sigma": _POSITIVE, "d": _POSITIVE},
        lambda m, p: {"n": p.n, "sigma": p.sigma, "d": p.d},
        (Goal(difference, "zero"),),
        lambda m, p, g: -abs(g[0]) / (p.mu + p.d * (p.n - 1) / p.n * p.sigma),
        "For every n the s_i^2 sum to (n-2)/n ||sigma||^2 + n ||sigma||^2 / n^2.",
    )


def _some_term() -> Proof:
    def inside(p: Any) -> list[Any]:
        return [term for k, term in enumerate(p.terms) if k < p.n]

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        terms = inside(p)
        return {"below": [max(terms) - term for term in terms], "total": [sum(terms)] * len(terms)}

    return Proof(
        {"below": _POSITIVE, "total": _POSITIVE},
        coordinates,
        (Goal(lambda m, u: u.below), Goal(lambda m, u: u.total)),
        lambda m, p, g: (sum(g[0]) + g[1][0]) / p.n,
        "For every n the largest term is the mean of all plus the mean of what each lacks to it.",
    )


def _pair(sign: int) -> Proof:
    """Prove the bound for a right pair (sign 1) or a wrong one (sign -1)."""

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        off = p.square - p.d
        return {
            "kappa": p.kappa,
            "above": p.zeta_1 - abs(p.noise),
            "above_square": p.root_d_zeta_2 - abs(off),
            "other": abs(p.noise) - sign * p.noise,
            "other_square": abs(off) - sign * off,
        }

    def goal(m: Arithmetic, u: Any) -> Any:
        return 2 * u.kappa * (u.above + u.other) + u.above_square + u.other_square

    names = ("kappa", "above", "above_square", "other", "other_square")
    return Proof(
        dict.fromkeys(names, _POSITIVE),
        coordinates,
        (Goal(goal),),
        lambda m, p, g: g[0] / (p.kappa**2 + p.d + p.square),
        "v and q are the normalised scalar product and squared noise, which the suprema bound by definition.",
    )


def _lower_threshold() -> Proof:
    return Proof(
        {"above": _POSITIVE, "proxy_above": _POSITIVE},
        lambda m, p: {"above": p.zeta_1 - p.proxy / 8, "proxy_above": p.proxy - p.least},
        (Goal(lambda m, u: u.above + u.proxy_above / 8),),
        lambda m, p, g: g[0] / p.zeta_1,
    )


def _chain() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        return {
            "least": p.least,
            "above": p.kappa - p.least,
            "own_below": p.kappa / 2 - p.kappa_ii,
            "own": p.kappa_ii,
            "share": 8 * p.zeta_1 / p.least,
            "share_square": 16 * p.root_d_zeta_2 / (3 * p.least**2),
            "own_share": 2 * p.kappa_ii / p.kappa,
        }

    def goal(m: Arithmetic, u: Any) -> Any:
        kappa = u.least + u.above
        own, zeta_1 = u.own_share * kappa / 2, u.share * u.least / 8
        return kappa**2 - own**2 - 2 * zeta_1 * (own + kappa) - 3 * u.share_square * u.least**2 / 8

    return Proof(
        {
            "least": _POSITIVE,
            "above": _POSITIVE,
            "share": (0, 1),
            "share_square": (0, 1),
            "own_share": (0, 1),
        },
        coordinates,
        (Goal(goal),),
        lambda m, p, g: g[0] / p.kappa**2,
    )


def _variance() -> Proof:
    return Proof(
        {"alpha": _POSITIVE, "d": _POSITIVE, "lam": _POSITIVE},
        lambda m, p: vars(p),
        (
            Goal(
                lambda m, u: (
                    4 * u.alpha**2 * (u.lam**2 + u.d) - 2 * u.d * u.alpha**2 - 4 * u.alpha**2 * u.lam**2
                )
            ),
        ),
        lambda m, p, g: g[0] / (4 * p.alpha**2 * (p.lam**2 + p.d)),
        "The linear and the quadratic part are uncorrelated, and ||sigma||_4^4 <= sigma_max^2 ||sigma||^2.",
        uses=("prop-1-frobenius-bound", "prop-1-linear-variance", "thm-1-noise-norms"),
    )


def _concave() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        mean = 1 + p.share * p.y
        high, low = (1 + p.y) / mean, 1 / mean
        return {
            "value": high - 1 - m.log(high),
            "other_value": low - 1 - m.log(low),
            "share": p.share,
            "y": p.y,
        }

    def weights(m: Arithmetic, u: Any) -> Any:
        mean = 1 + u.share * u.y
        return u.share * (1 + u.y) / mean + (1 - u.share) / mean - 1

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        return (p.share * g[0] + (1 - p.share) * g[1] - abs(g[2])) / (1 + m.log(1 + p.y))

    return Proof(
        {"value": _POSITIVE, "other_value": _POSITIVE, "share": (0, 1), "y": _POSITIVE},
        coordinates,
        (Goal(lambda m, u: u.value), Goal(lambda m, u: u.other_value), Goal(weights, "zero")),
        slack,
        "log w <= w - 1 at (1 + y) / (1 + c y) and 1 / (1 + c y), whose weighted mean is 1.",
        uses=("log-tangent",),
    )


def _exponential() -> Proof:
    return Proof(
        {"value": _POSITIVE},
        lambda m, p: {"value": (1 - p.v) - 1 - m.log(1 - p.v)},
        (Goal(lambda m, u: u.value),),
        lambda m, p, g: g[0],
        "log w <= w - 1 at w = 1 - v.",
        uses=("log-tangent",),
    )


def _repaired() -> Proof:
    def goal(m: Arithmetic, u: Any) -> Any:
        return 6 * (u.square + 1 - u.nu - 6 * u.small) - u.root * (u.square + 1)

    return Proof(
        {
            "square": _POSITIVE,
            "nu": (0, Fraction(1, 8)),
            "small": (0, Fraction(1, 16)),
            "root": (2, Fraction(283, 100)),
        },
        lambda m, p: {
            "square": p.lam**2 / p.d,
            "nu": 1 / p.n,
            "small": p.alpha**2 / p.d,
            "root": m.sqrt(8),
        },
        (Goal(goal),),
        lambda m, p, g: g[0] / (6 * ((p.lam**2 - 6 * p.alpha**2) / p.d + 1 - 1 / p.n)),
        "Cauchy-Schwarz, the variance of S, and E S'^(-2) as the integral of s E exp(-s S'), which the two "
        "steps "
        "before bound by (2K - 6 + J)^(-2).",
        uses=("thm-1-expectation-variance", "thm-1-expectation-concave", "thm-1-expectation-exponential"),
    )


PROOFS = {
    "prop-1-events": _union(2, 2, 1),
    "prop-1-frobenius-centre": _centre(),
    "thm-1-events": _union(4, 1, 4),
    "thm-2-some-term": _some_term(),
    "thm-2-right-pair": _pair(1),
    "thm-2-wrong-pair": _pair(-1),
    "thm-2-lower-threshold": _lower_threshold(),
    "thm-2-chain": _chain(),
    "thm-1-expectation-variance": _variance(),
    "thm-1-expectation-concave": _concave(),
    "thm-1-expectation-exponential": _exponential(),
    "thm-1-expectation-repaired": _repaired(),
}
