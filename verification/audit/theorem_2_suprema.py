"""The proof of Theorem 2, third part: the constants 5 and 17, and the probabilities."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from verification.audit.arithmetic import Arithmetic, at_most
from verification.audit.lemma_3 import log_over_delta
from verification.audit.regions import between, log_between, theorem_region
from verification.audit.search import Finding, FloatArray, Point, Problem
from verification.audit.step import Step

_CONDITIONS = partial(theorem_region, constant=1024)


def threshold(m: Arithmetic, p: Any, five: Fraction | int = 5, seventeen: Fraction | int = 17) -> Any:
    """Give the first two terms of Theorem 2, or those with other constants."""
    chi_square = five.numerator * m.fourth_root(p.d * log_over_delta(m, p, 12, 3)) / five.denominator
    gaussian = seventeen.numerator * m.sqrt(log_over_delta(m, p, 24, 3)) / seventeen.denominator
    return chi_square + gaussian


def _with_epsilon(u: FloatArray, tall: bool = True) -> Point:
    return {**_CONDITIONS(u, tall=tall), "epsilon": log_between(u[5], 1e-6, 0.5)}


def asked_by_zeta_1(m: Arithmetic, p: Any) -> Any:
    """Give 8 times Lemma 3's bound at delta/2, its term in epsilon included."""
    moved = 2 * p.epsilon / p.n * m.sqrt(log_over_delta(m, p, 16, 1))
    return 8 * (m.sqrt(2 * log_over_delta(m, p, 24, 3)) + moved)


def asked_by_zeta_2(m: Arithmetic, p: Any) -> Any:
    """Give 16/3 times Lemma 4's bound, its terms in epsilon included."""
    net, norms = log_over_delta(m, p, 12, 3), log_over_delta(m, p, 4, 1)
    moved = 4 * p.epsilon / p.n * (p.d + 2 * m.sqrt(p.d * norms) + 2 * norms)
    return (2 * m.sqrt(p.d * net) + 2 * net + moved) * 16 / 3


def _dropped_1(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        return at_most(asked_by_zeta_1(m, p), 8 * m.sqrt(2 * log_over_delta(m, p, 24, 3)) * percent / 100)

    return Problem(6, _with_epsilon, slack)


def _dropped_2(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        net = log_over_delta(m, p, 12, 3)
        return at_most(asked_by_zeta_2(m, p), 32 * (m.sqrt(p.d * net) + net) / 3 * percent / 100)

    return Problem(6, _with_epsilon, slack)


def _kept_1(chi_square: bool) -> Problem:
    """Check that 5, 17 and 1 + epsilon cover zeta_1, with or without the chi-square term."""

    def slack(m: Arithmetic, p: Any) -> Any:
        given = threshold(m, p) if chi_square else 17 * m.sqrt(log_over_delta(m, p, 24, 3))
        return at_most(asked_by_zeta_1(m, p), given / (1 + p.epsilon))

    return Problem(6, _with_epsilon, slack)


def _kept_2(tall: bool) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        return at_most(asked_by_zeta_2(m, p), (threshold(m, p) / (1 + p.epsilon)) ** 2)

    return Problem(6, partial(_with_epsilon, tall=tall), slack)


def rounding_suffices_from(log_4_delta: float) -> int:
    """Give the least n from which 17 against 8 sqrt(2) * 1.5 pays for Lemma 3's term in epsilon = 1/2."""
    n = np.arange(8.0, 2000.0)
    spare = (17 / 1.5 - 8 * math.sqrt(2)) * np.sqrt(np.log(6) + 3 * np.log(n) + log_4_delta)
    fails = spare < 8 / n * np.sqrt(np.log(4) + np.log(n) + log_4_delta)
    return int(n[fails][-1]) + 1 if fails.any() else int(n[0])


def _explain_rounding(finding: Finding) -> str:
    cases = [(1.0, math.log(4)), (0.05, math.log(80)), (1e-6, math.log(4e6)), (0.0, 1e9)]
    counts = ", ".join(f"{rounding_suffices_from(log)} (delta = {delta:g})" for delta, log in cases[:-1])
    return (
        "The rounding of 16.97 to 17 alone pays for the dropped term of Lemma 3 at epsilon = 1/2 only from "
        f"n = {counts} and {rounding_suffices_from(cases[-1][1])} (delta to 0) on, whatever d. The chi-"
        "square term 5 (d log(12 n^3/delta))^(1/4), which this event does not need, pays for it at every n."
    )


def _combination(constant: int) -> Problem:
    """Check 128 log(24 n^3/delta) <= 32/3 sqrt(d log(12 n^3/delta)) + 128 log(constant n^3/delta)."""

    def slack(m: Arithmetic, p: Any) -> Any:
        given = 32 * m.sqrt(p.d * log_over_delta(m, p, 12, 3)) / 3 + 128 * log_over_delta(m, p, constant, 3)
        return at_most(128 * log_over_delta(m, p, 24, 3), given)

    return Problem(5, partial(_CONDITIONS, tall=True), slack)


def _sum_of_roots(eight: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        net, split = log_over_delta(m, p, 12, 3), log_over_delta(m, p, 24, 3)
        root = m.sqrt(32 * m.sqrt(p.d * net) / 3) + eight * m.sqrt(2 * split)
        first, second = at_most(128 * split, root**2), at_most(32 * (m.sqrt(p.d * net) + net) / 3, root**2)
        return m.minimum(first, second)

    return Problem(5, partial(_CONDITIONS, tall=True), slack)


def _rounding(largest: float) -> Problem:
    def domain(u: FloatArray) -> Point:
        return {"epsilon": between(u[0], 0, largest)}

    def slack(m: Arithmetic, p: Any) -> Any:
        chi_square = at_most((1 + p.epsilon) ** 2 * 32, 3 * 25)
        gaussian = at_most((1 + p.epsilon) ** 2 * 128, 17**2)
        return m.minimum(m.minimum(chi_square, gaussian), at_most(3 + 2 * p.epsilon, 4))

    return Problem(1, domain, slack)


def _probability(scale_parts: int, zeta_1_parts: int) -> Problem:
    """Add up failure probabilities in halves of delta, against the 4 delta of the theorem."""

    def domain(u: FloatArray) -> Point:
        return {"delta": log_between(u[0], 1e-12, 1)}

    def slack(m: Arithmetic, p: Any) -> Any:
        return at_most((scale_parts + zeta_1_parts + 2) * p.delta / 2, 4 * p.delta)

    return Problem(1, domain, slack)


STEPS = (
    Step(
        "thm-2-zeta-1-term",
        "Suspicious place 3: Lemma 3's term in epsilon is dropped before 8 sqrt(2) is fixed",
        "8 (sqrt(2 log(24 n^3/delta)) + (2 epsilon/n) sqrt(log(16n/delta))) <= 8 sqrt(2 log(24 n^3/delta))",
        _dropped_1(100),
        {"99% of the right-hand side": _dropped_1(99)},
        "The two sides differ by a positive term for every epsilon > 0, and this display leaves no slack to "
        "put it in. The theorem's constants do: see thm-2-seventeen.",
        "Keep the term until the constants 5 and 17 are introduced; it fits there for every allowed n.",
    ),
    Step(
        "thm-2-zeta-2-term",
        "Suspicious place 3: Lemma 4's terms in epsilon are dropped before 32/3 is fixed",
        "16/3 (2 sqrt(dL) + 2L + (4 epsilon/n)(d + 2 sqrt(dl) + 2l)) <= 32/3 (sqrt(dL) + L), "
        "L = log(12 n^3/delta), l = log(4n/delta)",
        _dropped_2(100),
        {"99% of the right-hand side": _dropped_2(99)},
        "As for zeta_1, the left side is larger for every epsilon > 0. The theorem's constants make up for "
        "it: see thm-2-five.",
        "Keep the terms until the constants 5 and 17 are introduced, where n >= d makes 4 epsilon d/n <= 2.",
    ),
    Step(
        "thm-2-seventeen",
        "Suspicious place 3: the theorem's constants cover zeta_1 with the term in epsilon, epsilon <= 1/2",
        "(5 (d log(12 n^3/delta))^(1/4) + 17 sqrt(log(24 n^3/delta))) / (1 + epsilon) >= "
        "8 (sqrt(2 log(24 n^3/delta)) + (2 epsilon/n) sqrt(log(16n/delta)))",
        _kept_1(chi_square=True),
        {"17 alone": _kept_1(chi_square=False)},
        _explain_rounding,
    ),
    Step(
        "thm-2-five",
        "Suspicious place 3: the theorem's constants cover zeta_2 with the terms in epsilon, epsilon <= 1/2",
        "((5 (dL)^(1/4) + 17 sqrt(log(24 n^3/delta))) / (1 + epsilon))^2 >= "
        "16/3 (2 sqrt(dL) + 2L + (4 epsilon/n)(d + 2 sqrt(dl) + 2l))",
        _kept_2(tall=True),
        {"without n >= d": _kept_2(tall=False)},
        "The cross product of the two roots leaves ample slack. Here n >= d is needed, to keep "
        "4 epsilon d/n bounded.",
    ),
    Step(
        "thm-2-combination",
        "Combining the two conditions on the squared proxy separation",
        "32/3 sqrt(d log(12 n^3/delta)) + 128 log(12 n^3/delta) >= 128 log(24 n^3/delta)",
        _combination(12),
        {"6 n^3 in place of 12 n^3": _combination(6)},
        "The combined display has 12 n^3 where the condition for zeta_1 has 24 n^3; for small d the "
        "difference 128 log 2 is not covered by the first term. The next display has 24 n^3 again.",
        "Write 24 n^3 in the second logarithm of the combined display; nothing that follows changes.",
    ),
    Step(
        "thm-2-sum-of-roots",
        "The sum of the two roots covers both conditions",
        "(sqrt(32/3) (dL)^(1/4) + 8 sqrt(2 log(24 n^3/delta)))^2 >= "
        "128 log(24 n^3/delta) and 32/3 (sqrt(dL) + L)",
        _sum_of_roots(8),
        {"6 in place of 8": _sum_of_roots(6)},
    ),
    Step(
        "thm-2-rounding",
        "Rounding with epsilon <= 1/2",
        "(1 + epsilon) sqrt(32/3) <= 5, (1 + epsilon) 8 sqrt(2) <= 17, 3 + 2 epsilon <= 4",
        _rounding(0.5),
        {"epsilon up to 0.51": _rounding(0.51)},
        lambda finding: (
            f"The sides are {1.5 * math.sqrt(32 / 3):.4f}, {12 * math.sqrt(2):.4f} and 4 at epsilon = 1/2."
        ),
    ),
    Step(
        "thm-2-probability",
        "The probabilities add up to 4 delta, with Theorem 1 as it is stated",
        "2 (delta/2) + delta + P(tau-hat outside) <= 4 delta, P(tau-hat outside) <= 4 delta",
        _probability(8, 2),
        {"Theorem 1 at 5 delta": _probability(10, 2)},
        "The proof takes delta for the failure of Theorem 1, which is stated with 4 delta: the sum is 6 "
        "delta. The last delta that the proof adds is not needed, as the bound on epsilon_tau holds surely.",
        "Take Theorem 1 from its proof at delta/2, which gives its statement with probability 1 - 2 delta "
        "(thm-1-logarithm); then the sum is 2 delta + delta + delta, and the theorem stands as stated.",
    ),
    Step(
        "thm-2-probability-repaired",
        "The probabilities add up to 4 delta, with what the proof of Theorem 1 gives",
        "2 (delta/2) + delta + 2 delta <= 4 delta",
        _probability(4, 2),
        {"Theorem 1 at 3 delta": _probability(6, 2)},
        "With P(zeta_1 >= k/8) counted once the sum is 3.5 delta, or 4 delta with 12 n^3 in place of 24 n^3.",
    ),
)
