"""Sharper constants: what of 224, 5, 17 and 52 the proofs need. None of these steps is the paper's."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from verification.audit.arithmetic import Arithmetic, at_most
from verification.audit.regions import log_between, theorem_region
from verification.audit.search import FloatArray, Point, Problem
from verification.audit.step import Step
from verification.audit.theorem_1 import h_nonnegative
from verification.audit.theorem_2_error import scale_error
from verification.audit.theorem_2_suprema import asked_by_zeta_1, asked_by_zeta_2, threshold

#: The constants in place of 5, 17 and 52, and the largest epsilon_tau.
FIVE, SEVENTEEN, FIFTY_TWO = Fraction(468, 100), Fraction(162, 10), Fraction(4752, 100)
EPSILON = Fraction(43, 100)
#: In place of 13.
OBSTRUCTION = Fraction(1231, 100)

_CONDITIONS = partial(theorem_region, constant=1024, tall=True)


def _with_epsilon(u: FloatArray) -> Point:
    return {**_CONDITIONS(u), "epsilon": log_between(u[5], 1e-6, float(EPSILON))}


def _epsilon(hundredths: int) -> Problem:
    return Problem(5, _CONDITIONS, lambda m, p: at_most(100 * scale_error(m, p), hundredths))


def _obstruction(hundredths: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        reached = scale_error(m, p) * p.lam / (p.alpha * m.sqrt(1 - 1 / p.n))
        return at_most(100 * reached, hundredths * m.sqrt(p.log_4_delta))

    return Problem(5, _CONDITIONS, slack)


def _product(hundredths: int) -> Problem:
    """Check (3 + 2 epsilon) 12.31 <= hundredths / 100."""

    def domain(u: FloatArray) -> Point:
        return {"epsilon": u[0] * float(EPSILON)}

    return Problem(1, domain, lambda m, p: at_most((3 + 2 * p.epsilon) * 1231, hundredths))


def _zeta_1(seventeen: Fraction, five: Fraction = FIVE) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        return at_most(asked_by_zeta_1(m, p) * (1 + p.epsilon), threshold(m, p, five, seventeen))

    return Problem(6, _with_epsilon, slack)


def _zeta_2(seventeen: Fraction, five: Fraction = FIVE) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        return at_most(asked_by_zeta_2(m, p) * (1 + p.epsilon) ** 2, threshold(m, p, five, seventeen) ** 2)

    return Problem(6, _with_epsilon, slack)


STEPS = (
    Step(
        "sharp-178",
        "Theorem 1 with 178 in place of 224",
        "h(lambda) >= 0 for n >= 8, log(2/delta) <= d / (178 alpha^2), every lambda >= 0",
        h_nonnegative(178),
        {"175 in place of 178": h_nonnegative(175)},
        "177 fails at n = 8.",
    ),
    Step(
        "sharp-epsilon",
        "Under the conditions of Theorem 2 epsilon_tau is at most 0.43, not only 1/2",
        "epsilon_tau <= 43/100",
        _epsilon(43),
        {"42/100": _epsilon(42)},
    ),
    Step(
        "sharp-obstruction",
        "12.31 in place of 13, all three terms of Theorem 1 included",
        "epsilon_tau lambda sqrt(rho) / (alpha sqrt(1 - 1/n)) <= 12.31 sqrt(rho log(4/delta))",
        _obstruction(1231),
        {"12.2 in place of 12.31": _obstruction(1220)},
        "With epsilon_tau <= 1/2 alone, 4 * 12.31 = 49.24 takes the place of 52; at least 49.14 is needed at "
        "n = d = 38.",
    ),
    Step(
        "sharp-52",
        "47.52 in place of 52",
        "(3 + 2 epsilon) 12.31 <= 47.52 for epsilon <= 0.43",
        _product(4752),
        {"47.4": _product(4740)},
    ),
    Step(
        "sharp-17",
        "4.68 and 16.2 in place of 5 and 17 cover zeta_1, with its term in epsilon",
        "4.68 (d log(12 n^3/delta))^(1/4) + 16.2 sqrt(log(24 n^3/delta)) >= "
        "8 (1 + epsilon) (sqrt(2 log(24 n^3/delta)) + (2 epsilon/n) sqrt(log(16n/delta))), epsilon <= 0.43",
        _zeta_1(SEVENTEEN),
        {"8 and no first term": _zeta_1(Fraction(8), Fraction(0))},
    ),
    Step(
        "sharp-5",
        "4.68 and 16.2 in place of 5 and 17 cover zeta_2, with its terms in epsilon",
        "(4.68 (dL)^(1/4) + 16.2 sqrt(log(24 n^3/delta)))^2 >= "
        "(1 + epsilon)^2 16/3 (2 sqrt(dL) + 2L + (4 epsilon/n)(d + 2 sqrt(dl) + 2l)), epsilon <= 0.43",
        _zeta_2(SEVENTEEN),
        {"half of both": _zeta_2(SEVENTEEN / 2, FIVE / 2)},
    ),
)
