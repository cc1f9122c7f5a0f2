"""The proof of Theorem 1: with w = alpha sqrt(2 log(2/delta)), in units of sqrt(d), all is polynomial."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from verification.audit.arithmetic import Arithmetic
from verification.audit.proofs.kernel import Goal, Proof
from verification.audit.proofs.proposition_1 import noise_norms

_POSITIVE = (0, None)
#: w / sqrt(d) is at most 112^(-1/2), since log(2/delta) <= d / (224 alpha^2).
_W = (0, Fraction(1, 10))
_NU = (0, Fraction(1, 8))


def _width(m: Arithmetic, p: Any) -> Any:
    return p.alpha * m.sqrt(2 * p.log_2_delta)


def _error_identity() -> Proof:
    def difference(m: Arithmetic, u: Any) -> Any:
        shown = (u.first - u.square * u.second) / (u.square * u.second)
        return u.first / u.second / u.square - 1 - shown

    return Proof(
        {"first": _POSITIVE, "second": _POSITIVE, "square": _POSITIVE},
        lambda m, p: {"first": p.first_sum, "second": p.second_sum, "square": p.scale**2},
        (Goal(difference, "zero"),),
        lambda m, p, g: -abs(g[0]) / (1 + abs(p.first_sum / p.second_sum / p.scale**2 - 1)),
    )


def _cross_terms() -> Proof:
    return Proof(
        {"lam": _POSITIVE, "root_d": _POSITIVE, "root_two": (1, 2)},
        lambda m, p: {"lam": p.lam, "root_d": m.sqrt(p.d), "root_two": m.sqrt(2)},
        (Goal(lambda m, u: u.root_two * (u.lam + u.root_d) - u.root_two * u.lam - u.root_d),),
        lambda m, p, g: g[0] / (m.sqrt(2) * (p.lam + m.sqrt(p.d))),
    )


def _h_minimum() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        w = _width(m, p)
        return {"square": (p.lam - 3 * w) ** 2, "w": w, "root_d": m.sqrt(p.d), "nu": 1 / p.n}

    def at_star(m: Arithmetic, u: Any) -> Any:
        d, star = u.root_d**2, 3 * u.w
        value = star**2 + d - 6 * u.w * (star + u.root_d) - u.w**2 - 2 * d * u.nu
        return value - (d - 10 * u.w**2 - 2 * d * u.nu - 6 * u.w * u.root_d)

    return Proof(
        {"square": _POSITIVE, "w": _POSITIVE, "root_d": _POSITIVE, "nu": _POSITIVE},
        coordinates,
        (Goal(lambda m, u: u.square), Goal(at_star, "zero")),
        lambda m, p, g: m.minimum(-abs(g[1]), g[0] + g[1]) / (p.d + p.lam**2),
    )


def _squared_difference(factor: int, scale: Any) -> Proof:
    """Prove x^2 + (factor y)^2 - 2 factor x y >= 0."""
    return Proof(
        {"square": _POSITIVE},
        lambda m, p: {"square": scale(m, p)[0]},
        (Goal(lambda m, u: u.square),),
        lambda m, p, g: g[0] / scale(m, p)[1],
    )


def _am_gm() -> Proof:
    def scale(m: Arithmetic, p: Any) -> tuple[Any, Any]:
        small = p.alpha**2 * p.log_2_delta
        return (m.sqrt(p.d) - 6 * m.sqrt(2 * small)) ** 2 / 2, p.d / 2 + 36 * small

    return _squared_difference(6, scale)


def _last_step() -> Proof:
    def scale(m: Arithmetic, p: Any) -> tuple[Any, Any]:
        return (p.lam - m.sqrt(p.d)) ** 2, 2 * (p.lam**2 + p.d)

    return _squared_difference(1, scale)


def _units(m: Arithmetic, p: Any) -> dict[str, Any]:
    """Give lambda, w and their combinations in units of sqrt(d), and 1/n."""
    root = m.sqrt(p.d)
    ell, w = p.lam / root, _width(m, p) / root
    excess = m.sqrt(2 * (1 + ell**2)) - ell - 1
    return {"ell": ell, "w": w, "nu": 1 / p.n, "square": (ell - 3 * w) ** 2, "excess": excess}


def _h_at_star(m: Arithmetic, u: Any) -> Any:
    return 1 - 10 * u.w**2 - 6 * u.w - 2 * u.nu


def _h_nonnegative() -> Proof:
    return Proof(
        {"w": _W, "nu": _NU, "square": _POSITIVE},
        _units,
        (Goal(_h_at_star), Goal(lambda m, u: u.square)),
        lambda m, p, g: (g[0] + g[1]) * p.d / (p.lam**2 + p.d),
        "h(lambda) / d = (l - 3w)^2 + h(lambda*) / d in units of sqrt(d), and w^2 <= 1/112 < 1/100.",
        uses=("thm-1-h-minimum",),
    )


def _quotient() -> Proof:
    def goal(m: Arithmetic, u: Any) -> Any:
        return (u.a + u.x) / (u.a + u.above + u.x) - u.a / (u.a + u.above)

    return Proof(
        {"a": _POSITIVE, "above": _POSITIVE, "x": _POSITIVE},
        lambda m, p: {"a": p.a, "above": p.b - p.a, "x": p.x},
        (Goal(goal),),
        lambda m, p, g: g[0] / ((p.a + p.x) / (p.b + p.x)),
    )


def _three_terms() -> Proof:
    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        u, root = _units(m, p), m.sqrt(p.d)
        ell, w, nu = u["ell"], u["w"], u["nu"]
        total, moved = 1 + ell**2, 2 * w * (ell + 1) + nu
        h = g[0] + g[1]
        numerator = 4 * w * (ell + 1) + w**2 + nu
        denominator = numerator + h
        bound = numerator + moved + 6 * w * g[2]
        left_over = (moved * h + 6 * w * g[2] * denominator) / (bound * denominator)
        return m.minimum(left_over, denominator / total) + root * 0

    return Proof(
        {"w": _W, "nu": _NU, "square": _POSITIVE, "excess": _POSITIVE},
        _units,
        (Goal(_h_at_star), Goal(lambda m, u: u.square), Goal(lambda m, u: u.excess)),
        slack,
        "With numerator N, denominator N + h and x = 2w(l + 1) + 1/n the difference is x h + 6w (sqrt(2(1 + "
        "l^2)) "
        "- l - 1)(N + h) over positive terms, in units of sqrt(d).",
        uses=("thm-1-h-nonnegative", "thm-1-last-step"),
    )


def _recentred() -> Proof:
    """Divide by the cube of 1 + l: the coordinate is then s = l / (1 + l)."""

    def parts(m: Arithmetic, u: Any) -> tuple[Any, Any, Any]:
        q = 1 - u.s
        total = u.s**2 + (1 - u.nu) * q**2
        return total, total - 2 * u.w * q, total - 6 * u.w * q - u.w**2 * q**2

    def goal(m: Arithmetic, u: Any) -> Any:
        total, denominator, h = parts(m, u)
        return h + 3 * (m.sqrt(2 * total) - 1) * denominator

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        u = _units(m, p)
        return {"s": u["ell"] / (1 + u["ell"]), "w": u["w"], "nu": u["nu"]}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        u = _units(m, p)
        ell, w, nu = u["ell"], u["w"], u["nu"]
        total = ell**2 + 1 - nu
        denominator = (1 + ell) ** 2 * g[1]
        bound = 6 * w * m.sqrt(2 * total) + w**2
        return m.minimum(2 * w * (1 + ell) ** 3 * g[0] / (bound * denominator), denominator / total)

    return Proof(
        {"s": (0, 1), "w": _W, "nu": _NU},
        coordinates,
        (Goal(goal, "boxes"), Goal(lambda m, u: parts(m, u)[1], "boxes")),
        slack,
        "With h the denominator less the numerator, the difference of the two sides is 2w (1 + l)^3 times "
        "the first "
        "goal over positive terms, in units of sqrt(d) and with s = l / (1 + l).",
    )


def _logarithm() -> Proof:
    return Proof(
        {"log": _POSITIVE, "log_two": _POSITIVE},
        lambda m, p: {"log": p.log_4_delta, "log_two": m.log(2)},
        (Goal(lambda m, u: u.log - (u.log + u.log_two - u.log_two)), Goal(lambda m, u: u.log * 0)),
        lambda m, p, g: m.minimum(g[0] / p.log_4_delta, g[1]),
        "Nothing varies: 4/2 = 2.",
    )


PROOFS = {
    "thm-1-error-identity-repaired": _error_identity(),
    "thm-1-noise-norms": noise_norms(),
    "thm-1-cross-terms": _cross_terms(),
    "thm-1-h-minimum": _h_minimum(),
    "thm-1-am-gm": _am_gm(),
    "thm-1-h-nonnegative": _h_nonnegative(),
    "thm-1-quotient": _quotient(),
    "thm-1-last-step": _last_step(),
    "thm-1-three-terms": _three_terms(),
    "thm-1-recentred": _recentred(),
    "thm-1-logarithm": _logarithm(),
}
