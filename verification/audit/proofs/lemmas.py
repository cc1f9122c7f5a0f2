"""The proofs of Lemmas 3 and 4 and of the repair of zeta_1: polynomials in t = a w_j / w_i."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from verification.audit.arithmetic import Arithmetic
from verification.audit.lemma_3 import log_over_delta
from verification.audit.proofs.kernel import Goal, Proof
from verification.audit.zeta_1 import projected

_ANY = (None, None)
_POSITIVE = (0, None)


def _derivative() -> Proof:
    def difference(m: Arithmetic, u: Any) -> Any:
        square = 1 + (u.a * u.ratio) ** 2
        numerator = u.g - u.a * u.ratio * u.g_prime
        quotient_rule = -u.ratio * u.g_prime * square - numerator * u.a * u.ratio**2
        return quotient_rule + u.ratio * u.g_prime + u.a * u.ratio**2 * u.g

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        square = 1 + (p.a * p.ratio) ** 2
        return -abs(g[0]) / (p.ratio * (1 + p.ratio) * square * (abs(p.g) + abs(p.g_prime) + 1))

    return Proof(
        {"a": _ANY, "ratio": _ANY, "g": _ANY, "g_prime": _ANY},
        lambda m, p: vars(p),
        (Goal(difference, "zero"),),
        slack,
    )


def _derivative_bound() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        largest = m.maximum(abs(p.g), abs(p.g_prime))
        return {
            "a": p.a,
            "ratio": p.ratio,
            "below": largest - abs(p.g),
            "below_prime": largest - abs(p.g_prime),
        }

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        largest = m.maximum(abs(p.g), abs(p.g_prime))
        return g[0] / (p.ratio * (1 + p.a * p.ratio) * largest)

    return Proof(
        {"a": _POSITIVE, "ratio": _POSITIVE, "below": _POSITIVE, "below_prime": _POSITIVE},
        coordinates,
        (Goal(lambda m, u: u.ratio * u.below_prime + u.a * u.ratio**2 * u.below),),
        slack,
        "Triangle inequality, then term by term.",
        bound=True,
    )


def _cauchy_schwarz() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        t = p.a * p.ratio
        return {"t": t, "square": (t - 1) ** 2}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        t = p.a * p.ratio
        cube = (1 + t**2) ** 3
        left = m.sqrt(2) * t * (1 + t) / m.sqrt(cube)
        return g[0] / (cube * (1 + left))

    return Proof(
        {"t": _POSITIVE, "square": _POSITIVE},
        coordinates,
        (Goal(lambda m, u: u.square * (u.t**4 + 2 * u.t**3 + 4 * u.t**2 + 2 * u.t + 1)),),
        slack,
        "Squared, with t = a w_j / w_i: (1 + t^2)^3 - 2 t^2 (1 + t)^2 = (t - 1)^2 (t^4 + 2t^3 + 4t^2 + 2t + "
        "1).",
    )


def _half() -> Proof:
    return Proof(
        {"epsilon": (0, Fraction(1, 2)), "above": _POSITIVE},
        lambda m, p: {"epsilon": p.epsilon, "above": p.a - (1 - p.epsilon)},
        (Goal(lambda m, u: 2 * (1 - u.epsilon + u.above) - 1),),
        lambda m, p, g: g[0] / (2 * p.a),
    )


def _net_size() -> Proof:
    return Proof(
        {"n": (1, None)},
        lambda m, p: {"n": p.n},
        (Goal(lambda m, u: 3 * u.n - (2 * u.n + 1)),),
        lambda m, p, g: g[0] / (3 * p.n),
    )


def _union(count: int, sides: int, constant: int) -> Proof:
    """Prove count n^k sides delta / (constant n^k) <= delta / 2; n and delta cancel."""
    return Proof(
        {"n": (1, None)},
        lambda m, p: {"n": p.n},
        (Goal(lambda m, u: u.n * constant - u.n * 2 * count * sides),),
        lambda m, p, g: g[0] / (p.n * constant),
        f"n and delta cancel: {count} * {sides} / {constant} is at most 1/2.",
    )


def _logs(m: Arithmetic, p: Any) -> dict[str, Any]:
    """Give log n, log(1/delta) and log 2."""
    return {"log_n": m.log(p.n), "log": p.log_4_delta - 2 * m.log(2), "log_two": m.log(2)}


_LOGS = {"log_n": _POSITIVE, "log": _POSITIVE, "log_two": _POSITIVE}


def _mean_value() -> Proof:
    def goal(m: Arithmetic, u: Any) -> Any:
        eight = 3 * u.log_two + u.log
        return 4 * (eight + u.log_n) - (eight + 2 * u.log_n)

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        left, right = m.sqrt(log_over_delta(m, p, 8, 2)), 2 * m.sqrt(log_over_delta(m, p, 8, 1))
        return g[0] / (right * (right + left))

    return Proof(_LOGS, _logs, (Goal(goal),), slack, "Squared: log(8 n^2/delta) <= 4 log(8n/delta).")


def _norm() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        return {"square": (1 - p.a * p.ratio) ** 2}

    return Proof(
        {"square": _POSITIVE},
        coordinates,
        (Goal(lambda m, u: u.square),),
        lambda m, p, g: g[0] / (2 * (1 + (p.a * p.ratio) ** 2)),
        "2 (1 + t^2) - (1 + t)^2 = (1 - t)^2 with t = a w_j / w_i.",
    )


def _norm_derivative() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        t = p.a * p.ratio
        longest = m.maximum(p.g**2, p.g_along**2 + p.g_across**2)
        f = ((p.g - t * p.g_along) ** 2 + (t * p.g_across) ** 2) / (1 + t**2)
        slope = p.ratio**2 * ((p.g_along + t * p.g) ** 2 + p.g_across**2) / (1 + t**2) ** 3
        return {"below": 2 - f / longest, "below_slope": 2 - slope / longest}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        return g[0] / (4 * (4 + m.sqrt(m.maximum(16 - g[0], 0))))

    return Proof(
        {"below": (0, 2), "below_slope": (0, 2)},
        coordinates,
        (Goal(lambda m, u: 16 - 4 * (2 - u.below) * (2 - u.below_slope)),),
        slack,
        "|2 f^T f'| <= 2 ||f|| ||f'||, and both squared norms are at most 2 M^2.",
        uses=("lemma-4-norm", "lemma-3-derivative-bound", "lemma-3-cauchy-schwarz", "lemma-3-half"),
        bound=True,
    )


def _gap(p: Any) -> tuple[Any, Any, Any]:
    """Give mu_i - a mu_j and its squared length."""
    along, across = p.mu_along - p.a, p.mu_across
    return along, across, along**2 + across**2


def _turning() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        along, _, squared = _gap(p)
        t = p.a * p.ratio
        noise = [(a - t * b) ** 2 / (1 + t**2) for a, b in zip(p.g, p.g_prime, strict=True)]
        longest = m.maximum(sum(x**2 for x in p.g), sum(x**2 for x in p.g_prime))
        return {"cosine": along**2 / squared, "below": 2 - sum(noise) / longest}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        return g[0] / (2 + m.sqrt(m.maximum(4 - 2 * g[0], 0)))

    return Proof(
        {"cosine": (0, 1), "below": (0, 2)},
        coordinates,
        (Goal(lambda m, u: 2 - (1 - u.cosine) * (2 - u.below)),),
        slack,
        "|u'^T f| <= ||u'|| ||f||, u' is the part of -mu_j across u over ||mu_i - a mu_j||, and ||f||^2 <= 2 "
        "M^2.",
        uses=("lemma-4-norm",),
        bound=True,
    )


def _plane() -> Proof:
    def dots(p: Any) -> tuple[Any, Any, Any, Any, Any]:
        def dot(x: list[Any], y: list[Any]) -> Any:
            return sum(a * b for a, b in zip(x, y, strict=True))

        return (
            dot(p.mu_i, p.mu_i),
            dot(p.mu_i, p.mu_j),
            dot(p.mu_j, p.mu_j),
            dot(p.mu_i, p.w),
            dot(p.mu_j, p.w),
        )

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        first, mixed, second, with_i, with_j = dots(p)
        return {"square": ((first - p.a * mixed) * with_j - (mixed - p.a * second) * with_i) ** 2}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        first, mixed, second, with_i, with_j = dots(p)
        length = first - 2 * p.a * mixed + p.a**2 * second
        norm = m.sqrt(projected(p))
        left = abs(with_i - p.a * with_j) / m.sqrt(length)
        return g[0] / (length * (first * second - mixed**2) * norm * (norm + left))

    return Proof(
        {"square": _POSITIVE},
        coordinates,
        (Goal(lambda m, u: u.square),),
        slack,
        "Lagrange's identity in the plane of mu_i and mu_j; three vectors span three dimensions, so that d = "
        "3 is "
        "enough.",
    )


def _plane_bound() -> Proof:
    def net(m: Arithmetic, u: Any) -> Any:
        return 2 * (2 * u.log_two - u.log_two)

    def moved(m: Arithmetic, u: Any) -> Any:
        return 4 * (3 * u.log_two + u.log_n + u.log) - (2 * u.log_two + 2 * u.log_n + u.log)

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        net_left, net_right = (m.sqrt(2 * log_over_delta(m, p, constant, 3)) for constant in (6, 12))
        left, right = m.sqrt(log_over_delta(m, p, 4, 2)), 2 * m.sqrt(log_over_delta(m, p, 8, 1))
        share = p.epsilon / p.n
        difference = g[0] / (net_left + net_right) + share * g[1] / (left + right)
        return difference / (net_right + share * right)

    return Proof(
        _LOGS,
        _logs,
        (Goal(net), Goal(moved)),
        slack,
        "Each term on the left is below its counterpart on the right, squared.",
    )


PROOFS = {
    "lemma-3-derivative": _derivative(),
    "lemma-3-derivative-bound": _derivative_bound(),
    "lemma-3-cauchy-schwarz": _cauchy_schwarz(),
    "lemma-3-half": _half(),
    "lemma-3-net-size": _net_size(),
    "lemma-3-net-union": _union(3, 2, 12),
    "lemma-3-mean-value": _mean_value(),
    "lemma-4-norm": _norm(),
    "lemma-4-derivative": _norm_derivative(),
    "lemma-4-maximum-union": _union(2, 1, 4),
    "lemma-4-net-union": _union(3, 2, 12),
    "zeta-1-turning": _turning(),
    "zeta-1-plane": _plane(),
    "zeta-1-plane-bound": _plane_bound(),
}
