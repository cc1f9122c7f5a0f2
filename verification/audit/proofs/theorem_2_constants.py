"""The proof of Theorem 2, second and third part: epsilon_tau <= 1/2, and the constants 52, 17 and 5."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from verification.audit.arithmetic import Arithmetic
from verification.audit.lemma_3 import log_over_delta
from verification.audit.proofs.kernel import Goal, Proof
from verification.audit.theorem_2_suprema import threshold

_POSITIVE = (0, None)
_UNIT = (0, 1)
_HALF = (0, Fraction(1, 2))
#: 1/n, since the conditions of Theorem 2 force n >= 38.
_NU = (0, Fraction(1, 38))


def _small_n() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        return {
            "whole": p.n - 38,
            "n": p.n,
            "d": p.d,
            "inverse": 1 / p.alpha**2,
            "below": p.n - p.d,
            "level": p.n - 1 / p.alpha**2,
            "spare": p.d / p.alpha**2 - 1024 * p.log_4_delta,
            "log": p.log_4_delta - m.log(4),
        }

    def chain(m: Arithmetic, u: Any) -> Any:
        """Give n^2 - 1024 log 4."""
        return u.n * u.below + u.d * u.level + u.spare + 1024 * u.log

    names = ("whole", "n", "d", "inverse", "below", "level", "spare", "log")
    return Proof(
        dict.fromkeys(names, _POSITIVE),
        coordinates,
        (Goal(chain), Goal(lambda m, u: 1024 * m.log(4) - 37**2, "number"), Goal(lambda m, u: u.whole)),
        lambda m, p, g: g[2] / p.n,
        "n^2 >= n d >= d / alpha^2 >= 1024 log(4/delta) > 1024 log 4 > 37^2, and n is an integer.",
    )


def error_coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
    """Give 32 sqrt(alpha^2 L / (lambda^2 + d)), 1/n and d / (lambda^2 + d)."""
    total = p.lam**2 + p.d
    return {"z": 32 * p.alpha * m.sqrt(p.log_4_delta / total), "nu": 1 / p.n, "c": p.d / total}


def _half() -> Proof:
    def goal(m: Arithmetic, u: Any) -> Any:
        return 1 - 2 * (12 * u.z / 32 + 2 * u.z**2 / 1024 + 2 * u.c * u.nu)

    return Proof(
        {"z": _UNIT, "nu": _NU, "c": _UNIT},
        error_coordinates,
        (Goal(goal),),
        lambda m, p, g: g[0],
        "alpha^2 L <= d/1024, and n >= 38.",
        uses=("thm-2-small-n",),
    )


def _half_by_kappa() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        total = p.lam**2 + p.d
        return {
            "r": p.lam / m.sqrt(total),
            "q": 91 * p.alpha * m.sqrt(p.log_4_delta) / (2 * p.lam),
            "nu": 1 / p.n,
        }

    def goal(m: Arithmetic, u: Any) -> Any:
        small = 2 * u.q * u.r / 91
        return 1 - 2 * (12 * small + 2 * small**2 + 2 * u.nu * (1 - u.r**2))

    return Proof(
        {"r": _UNIT, "q": _UNIT, "nu": (0, Fraction(1, 8))},
        coordinates,
        (Goal(goal),),
        lambda m, p, g: g[0],
        "lambda >= (1 - 1/n) kappa >= (7/8) 52 sqrt(log(4/delta)), so that alpha sqrt(L) <= (2/91) lambda.",
        uses=("thm-2-forced-distortion",),
    )


def _thirteen() -> Proof:
    return Proof(
        {"nu": (0, Fraction(1, 8))},
        lambda m, p: {"nu": 1 / p.n},
        (Goal(lambda m, u: 169 * (1 - u.nu) - 144),),
        lambda m, p, g: g[0] / (169 * (1 - 1 / p.n)),
    )


def obstruction(constant: Fraction | int) -> Proof:
    """Bound all three terms times lambda / (alpha sqrt(1 - 1/n)) by constant * sqrt(log(4/delta))."""
    over, under = Fraction(constant).numerator, Fraction(constant).denominator

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        total = p.lam**2 + p.d
        return {
            "x": p.lam / m.sqrt(total),
            "z": 32 * p.alpha * m.sqrt(p.log_4_delta / p.d),
            "b": m.sqrt(p.d * m.log(4) / p.log_4_delta) / (p.n * p.alpha),
            "nu": 1 / p.n,
        }

    def goal(m: Arithmetic, u: Any) -> Any:
        y = m.sqrt(1 - u.x**2)
        needed = u.x * (12 + y * (u.z / 16 + 2 * u.b / m.sqrt(m.log(4))))
        return over * m.sqrt(1 - u.nu) / under - needed

    return Proof(
        {"x": _UNIT, "z": _UNIT, "b": _UNIT, "nu": _NU},
        coordinates,
        (Goal(goal, "boxes"),),
        lambda m, p, g: g[0] / (over * m.sqrt(1 - 1 / p.n) / under),
        "x = lambda / sqrt(lambda^2 + d); alpha^2 >= 1/n, n >= d and log(4/delta) >= log 4 bound the third "
        "term; "
        "rho cancels.",
        uses=("thm-2-small-n",),
    )


def covers_zeta_1(five: Fraction | int, seventeen: Fraction | int, far: int = 408) -> Proof:
    """Cover zeta_1 by the first two terms of the threshold, with these constants.

    From n = `far` on the second term is enough. Below, log(4/delta) >= log 4 and d >= 1024 log(4/delta) / n
    bound the first one from below.
    """

    def asked(m: Arithmetic, u: Any, nu: Any) -> Any:
        return (1 + u.epsilon) * 8 * (m.sqrt(2) + 2 * u.epsilon * nu * u.theta)

    def least_chi_square(m: Arithmetic, u: Any) -> Any:
        share = m.log(4) / (m.log(24) - 3 * m.log(u.nu))  # of log(4/delta) in log(24 n^3/delta)
        return _times(five, m.fourth_root(1024 * u.nu * share * u.kappa))

    def from_far(m: Arithmetic, u: Any) -> Any:
        return _times(seventeen, m.sqrt(1)) - asked(m, u, u.nu_far)

    def below_far(m: Arithmetic, u: Any) -> Any:
        return _times(seventeen, m.sqrt(1)) + least_chi_square(m, u) - asked(m, u, u.nu)

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        net, split = log_over_delta(m, p, 12, 3), log_over_delta(m, p, 24, 3)
        found = {
            "nu": 1 / min(p.n, p.n * 0 + far),
            "nu_far": 1 / max(p.n, p.n * 0 + far),
            "kappa": net / split,
            "theta": m.sqrt(log_over_delta(m, p, 16, 1) / split),
            "epsilon": p.epsilon,
        }
        chi_square = _times(five, m.fourth_root(p.d * net) / m.sqrt(split))
        counted = 0 if p.n >= far else least_chi_square(m, SimpleNamespace(**found))
        return {**found, "spare": chi_square - counted}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        split = log_over_delta(m, p, 24, 3)
        least = g[0] if p.n >= far else g[1]
        return (least + g[2]) * m.sqrt(split) / threshold(m, p, five, seventeen)

    return Proof(
        {
            "nu": (Fraction(1, far), _NU[1]),
            "nu_far": (0, Fraction(1, far)),
            "kappa": (Fraction(1, 2), 1),
            "theta": _UNIT,
            "epsilon": _HALF,
            "spare": _POSITIVE,
        },
        coordinates,
        (Goal(from_far, "boxes"), Goal(below_far, "boxes"), Goal(lambda m, u: u.spare)),
        slack,
        f"From n = {far} on the second term is enough; below, d >= 1024 log(4/delta) / n, and the share of "
        "log(4/delta) in log(24 n^3/delta) is least at delta = 1.",
        uses=("thm-2-small-n",),
    )


def covers_zeta_2(five: Fraction | int, seventeen: Fraction | int, kind: str = "algebra") -> Proof:
    """Cover zeta_2 by the first two terms of the threshold, with these constants."""

    def goal(m: Arithmetic, u: Any) -> Any:
        asked = 2 * u.p**2 + 2 * u.kappa + 4 * u.epsilon * (u.first + 2 * u.second + 2 * u.third)
        given = _times(five, u.p) + _times(seventeen, u.p * 0 + 1)
        return given**2 - (1 + u.epsilon) ** 2 * 16 * asked / 3

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        net, split, norms = (log_over_delta(m, p, *ratio) for ratio in ((12, 3), (24, 3), (4, 1)))
        return {
            "p": m.fourth_root(p.d * net) / m.sqrt(split),
            "kappa": net / split,
            "first": p.d / p.n / split,
            "second": m.sqrt(p.d * norms) / (p.n * split),
            "third": norms / (p.n * split),
            "epsilon": p.epsilon,
        }

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        return g[0] * log_over_delta(m, p, 24, 3) / threshold(m, p, five, seventeen) ** 2

    return Proof(
        {"p": _POSITIVE, "kappa": _UNIT, "first": _UNIT, "second": _UNIT, "third": _UNIT, "epsilon": _HALF},
        coordinates,
        (Goal(goal, kind),),
        slack,
        "Over log(24 n^3/delta) >= 1, with d <= n: every other share is at most 1.",
    )


def _times(constant: Fraction | int, value: Any) -> Any:
    constant = Fraction(constant)
    return constant.numerator * value / constant.denominator


def _sum_of_roots() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        net, split = log_over_delta(m, p, 12, 3), log_over_delta(m, p, 24, 3)
        return {
            "a": m.fourth_root(p.d * net),
            "b": m.sqrt(split),
            "below": split - net,
            "mixed": m.sqrt(m.sqrt(1) * 64 / 3),
        }

    def first(m: Arithmetic, u: Any) -> Any:
        return 32 * u.a**2 / 3 + 16 * u.mixed * u.a * u.b

    def second(m: Arithmetic, u: Any) -> Any:
        return first(m, u) + 128 * u.b**2 - 32 * (u.a**2 + u.b**2 - u.below) / 3

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        u = coordinates(m, p)
        square = 32 * u["a"] ** 2 / 3 + 16 * u["mixed"] * u["a"] * u["b"] + 128 * u["b"] ** 2
        return m.minimum(g[0] / square, g[1] / square)

    return Proof(
        {"a": _POSITIVE, "b": _POSITIVE, "below": _POSITIVE, "mixed": _POSITIVE},
        coordinates,
        (Goal(first), Goal(second)),
        slack,
        "Expand the square; log(12 n^3/delta) is below log(24 n^3/delta).",
    )


def _rounding() -> Proof:
    return Proof(
        {"epsilon": _HALF},
        lambda m, p: {"epsilon": p.epsilon},
        (
            Goal(lambda m, u: 75 - 32 * (1 + u.epsilon) ** 2),
            Goal(lambda m, u: 289 - 128 * (1 + u.epsilon) ** 2),
            Goal(lambda m, u: 4 - (3 + 2 * u.epsilon)),
        ),
        lambda m, p, g: m.minimum(m.minimum(g[0] / 75, g[1] / 289), g[2] / 4),
    )


def _probability() -> Proof:
    return Proof(
        {"delta": _POSITIVE},
        lambda m, p: {"delta": p.delta},
        (Goal(lambda m, u: 4 * u.delta - (4 + 2 + 2) * u.delta / 2, "zero"),),
        lambda m, p, g: g[0] / p.delta,
        "2 (1/2) + 1 + 2 = 4.",
    )


PROOFS = {
    "thm-2-small-n": _small_n(),
    "thm-2-half": _half(),
    "thm-2-half-by-kappa": _half_by_kappa(),
    "thm-2-thirteen": _thirteen(),
    "thm-2-fifty-two": obstruction(13),
    "thm-2-seventeen": covers_zeta_1(5, 17),
    "thm-2-five": covers_zeta_2(5, 17),
    "thm-2-sum-of-roots": _sum_of_roots(),
    "thm-2-rounding": _rounding(),
    "thm-2-probability-repaired": _probability(),
}
