"""The proof of Lemma 3: derivative, net and union bounds of the linear supremum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import erfc

from verification.audit.arithmetic import Arithmetic, at_most
from verification.audit.regions import between, count_between, log_between
from verification.audit.search import Finding, FloatArray, Point, Problem
from verification.audit.step import Step


def pair(u: FloatArray) -> Point:
    """Map 2 coordinates to a and to w_j / w_i; only the ratio of the two magnitudes matters."""
    return {"a": between(u[0], 0.5, 1.5), "ratio": log_between(u[1], 1e-4, 1e4)}


def _pair_and_draws(u: FloatArray) -> Point:
    return {**pair(u), "g": between(u[2], -4, 4), "g_prime": between(u[3], -4, 4)}


def _derivative(p: Any, sign: int = 1) -> Any:
    """Give f'(a) as the proof does, times (1 + a^2 ratio^2)^(3/2)."""
    return -(p.ratio * p.g_prime + sign * p.a * p.ratio**2 * p.g)


def _derivative_formula(sign: int) -> Problem:
    """Compare the proof's f' with the quotient rule, term by term."""

    def slack(m: Arithmetic, p: Any) -> Any:
        square = 1 + (p.a * p.ratio) ** 2
        numerator = p.g - p.a * p.ratio * p.g_prime
        quotient_rule = -p.ratio * p.g_prime * square - numerator * p.a * p.ratio**2
        scale = p.ratio * (1 + p.ratio) * square * (abs(p.g) + abs(p.g_prime) + 1)
        return -abs(quotient_rule - _derivative(p, sign)) / scale

    return Problem(4, _pair_and_draws, slack)


def _derivative_bound(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        largest = m.maximum(abs(p.g), abs(p.g_prime))
        return at_most(abs(_derivative(p)), p.ratio * (1 + p.a * p.ratio) * largest * percent / 100)

    return Problem(4, _pair_and_draws, slack)


def _cauchy_schwarz(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        square = 1 + (p.a * p.ratio) ** 2
        factor = p.ratio * (1 + p.a * p.ratio) / (square * m.sqrt(square))
        return at_most(factor, percent / (100 * m.sqrt(2) * p.a))

    return Problem(2, pair, slack)


def _half(percent: int) -> Problem:
    def domain(u: FloatArray) -> Point:
        epsilon = between(u[0], 0, percent / 200)
        return {"epsilon": epsilon, "a": between(u[1], 1 - epsilon, 1 + epsilon)}

    return Problem(2, domain, lambda m, p: at_most(1 / (m.sqrt(2) * p.a), m.sqrt(2)))


def sample_size(u: FloatArray) -> Point:
    """Map 3 coordinates to n, log(4/delta) and epsilon, all that the union bounds depend on."""
    return {
        "n": count_between(u[0], 1, 10**6),
        "log_4_delta": log_between(u[1], math.log(4), 300),
        "epsilon": log_between(u[2], 1e-6, 0.5),
    }


def log_over_delta(m: Arithmetic, p: Any, constant: int, power: int) -> Any:
    """Give log(constant n^power / delta)."""
    return m.log(constant) - m.log(4) + power * m.log(p.n) + p.log_4_delta


def _net_size(multiple: int) -> Problem:
    return Problem(3, sample_size, lambda m, p: at_most(2 * p.n + 1, multiple * p.n))


def union(count: int, count_power: int, sides: int, constant: int, power: int) -> Problem:
    """Check count n^count_power * sides * exp(-log(constant n^power / delta)) <= delta/2."""

    def slack(m: Arithmetic, p: Any) -> Any:
        log_tails = (
            m.log(count) + count_power * m.log(p.n) + m.log(sides) - log_over_delta(m, p, constant, power)
        )
        return at_most(m.exp(log_tails), 2 * m.exp(-p.log_4_delta))

    return Problem(3, sample_size, slack)


def _maximum_event(power: int) -> Problem:
    """Bound P(max of 2 n^2 independent |N(0,1)| > sqrt(2 log(8 n^power / delta))) from below by delta/2.

    The tail P(|N(0,1)| > x sqrt(2)) = erfc(x) is at least 2 exp(-x^2) / (sqrt(pi) (x + sqrt(x^2 + 2))), here
    with 22/7 for pi, and 1 - (1 - tail)^N at least N tail / (1 + N tail), which does not cancel.
    """

    def slack(m: Arithmetic, p: Any) -> Any:
        log = log_over_delta(m, p, 8, power)
        tail = 2 * m.exp(-log) / (m.sqrt(p.n * 22 / 7 / p.n) * (m.sqrt(log) + m.sqrt(log + 2)))
        expected = 2 * p.n**2 * tail
        return at_most(expected / (1 + expected), 2 * m.exp(-p.log_4_delta))

    return Problem(3, sample_size, slack)


def _first_failure() -> int:
    """Give the least n at which the maximum passes the proof's bound too often, at delta = 0.05."""
    counts = np.arange(1.0, 1000.0)
    tail = erfc(np.sqrt(np.log(8 * counts / 0.05)))
    fails = -np.expm1(2 * counts**2 * np.log1p(-tail)) > 0.025
    return int(counts[fails][0])


def _explain_event(finding: Finding) -> str:
    return (
        "The direction in g_i = u_ij^T eta_i / w_i depends on j, so that M_g is a maximum over 2 n^2 "
        "variables; with d = n and u_ij = e_k, k = i + j modulo n, they are independent. At delta = 0.05 the "
        f"probability exceeds delta/2 from n = {_first_failure()} on."
    )


def _mean_value(distance: int) -> Problem:
    """Compare distance * r/2 times the repaired derivative bound with the second term of Lemma 3."""

    def slack(m: Arithmetic, p: Any) -> Any:
        moved = distance * p.epsilon / p.n * m.sqrt(log_over_delta(m, p, 8, 2))
        return at_most(moved, 2 * p.epsilon / p.n * m.sqrt(log_over_delta(m, p, 8, 1)))

    return Problem(3, sample_size, slack)


STEPS = (
    Step(
        "lemma-3-derivative",
        "The derivative of f_ij",
        "f'(a) = -(w_i^2 w_j g' + a w_j^2 w_i g) / (w_i^2 + a^2 w_j^2)^(3/2)",
        _derivative_formula(1),
        {"the second sign reversed": _derivative_formula(-1)},
    ),
    Step(
        "lemma-3-derivative-bound",
        "The derivative by the larger of the two draws",
        "|w_i^2 w_j g' + a w_j^2 w_i g| <= w_i w_j (w_i + a w_j) max(|g|, |g'|)",
        _derivative_bound(100),
        {"99% of the right-hand side": _derivative_bound(99)},
    ),
    Step(
        "lemma-3-cauchy-schwarz",
        "The Cauchy-Schwarz bound on the factor of the derivative",
        "w_i w_j (w_i + a w_j) / (w_i^2 + a^2 w_j^2)^(3/2) <= 1 / (sqrt(2) a)",
        _cauchy_schwarz(100),
        {"99% of the right-hand side": _cauchy_schwarz(99)},
        "The bound is true and attained at w_i = a w_j.",
    ),
    Step(
        "lemma-3-half",
        "The range of a",
        "1 / (sqrt(2) a) <= sqrt(2) for |a - 1| <= epsilon <= 1/2",
        _half(100),
        {"epsilon up to 0.55": _half(110)},
    ),
    Step(
        "lemma-3-net-size",
        "Size of the net of spacing epsilon/n, both ends included",
        "2n + 1 <= 3n",
        _net_size(3),
        {"2n + 1 <= 2n": _net_size(2)},
    ),
    Step(
        "lemma-3-net-union",
        "Union bound over the pairs and the net",
        "2 * 3 n^3 exp(-log(12 n^3 / delta)) <= delta/2",
        union(3, 3, 2, 12, 3),
        {"11 n^3 in place of 12 n^3": union(3, 3, 2, 11, 3)},
    ),
    Step(
        "lemma-3-maximum-union",
        "Union bound on M_g, with as many variables as the proof takes the maximum of",
        "2 * 2 n^2 exp(-log(8n / delta)) <= delta/2",
        union(2, 2, 2, 8, 1),
        {"7n in place of 8n": union(2, 2, 2, 7, 1)},
        "The constant 8n is the one for 2n variables, but u_ij depends on both indices and there are 2 n^2 "
        "of them: the union bound gives n delta/2.",
        "Use log(8 n^2 / delta). The lemma keeps its statement: see lemma-3-mean-value.",
    ),
    Step(
        "lemma-3-maximum-event",
        "The bound on M_g itself, for directions that make its variables independent",
        "P(M_g > sqrt(2 log(8n / delta))) <= delta/2",
        _maximum_event(1),
        {"log(8/delta) in place of log(8n/delta)": _maximum_event(0)},
        _explain_event,
        "Use log(8 n^2 / delta), as in lemma-3-maximum-union.",
    ),
    Step(
        "lemma-3-mean-value",
        "Lemma 3 as stated survives the repaired maximum, as no point is further than r/2 from the net",
        "(r/2) sqrt(2) sqrt(2 log(8 n^2 / delta)) <= (2 epsilon / n) sqrt(log(8n / delta)), r = epsilon/n",
        _mean_value(1),
        {"r in place of r/2": _mean_value(2)},
        "The proof moves by r where r/2 is enough; the factor 2 thus gained pays for n^2 in place of n.",
    ),
)
