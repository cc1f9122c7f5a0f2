"""The proof of Proposition 1: the quadratic form A = (DPD) x I_d, its norms, and the two tails."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from scipy.special import erfc

from verification.audit.arithmetic import Arithmetic, at_most, equal
from verification.audit.regions import LONGEST, centred_means, log_between, noise_vector
from verification.audit.search import FloatArray, Point, Problem
from verification.audit.step import Step

_NOISE = 1 + LONGEST


def _power_sum(values: list[Any], power: int) -> Any:
    """Give sum_i values_i^power."""
    return sum(value**power for value in values)


def _entries(p: Any) -> list[list[Any]]:
    """Lay out DPD: sigma_i sigma_j (1{i = j} - 1/n)."""
    return [[a * b * ((i == j) - 1 / p.n) for j, b in enumerate(p.sigma)] for i, a in enumerate(p.sigma)]


def _trace(copies: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        trace = sum(row[i] for i, row in enumerate(_entries(p)))
        return equal(trace, (p.n - copies) / p.n * _power_sum(p.sigma, 2))

    return Problem(_NOISE, noise_vector, slack)


def _frobenius(copies: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        square = sum(entry**2 for row in _entries(p) for entry in row)
        fourth, second = _power_sum(p.sigma, 4), _power_sum(p.sigma, 2)
        return equal(square, (p.n - copies) / p.n * fourth + second**2 / p.n**2)

    return Problem(_NOISE, noise_vector, slack)


def _frobenius_bound(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        square = sum(entry**2 for row in _entries(p) for entry in row)
        return at_most(square, _power_sum(p.sigma, 4) * percent / 100)

    return Problem(_NOISE, noise_vector, slack)


def _power_means(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        return at_most(_power_sum(p.sigma, 2) ** 2, p.n * _power_sum(p.sigma, 4) * percent / 100)

    return Problem(_NOISE, noise_vector, slack)


def _noise_and_vector(u: FloatArray) -> Point:
    point = noise_vector(u)
    point["x"] = [np.where(k < point["n"], 2 * u[_NOISE + k] - 1, 0.0) for k in range(LONGEST)]
    return point


def _quadratic_form(p: Any, percent: int = 100) -> Any:
    """Give x^T D (I - percent/100 11^T / n) D x."""
    scaled = [s * x for s, x in zip(p.sigma, p.x, strict=True)]
    return sum(value**2 for value in scaled) - sum(scaled) ** 2 * percent / (100 * p.n)


def _operator_norm(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        largest = reduce(m.maximum, p.sigma) ** 2 * _power_sum(p.x, 2)
        return at_most(_quadratic_form(p), largest * percent / 100)

    return Problem(_NOISE + LONGEST, _noise_and_vector, slack)


def _semidefinite(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        return _quadratic_form(p, percent) / (reduce(m.maximum, p.sigma) ** 2 * _power_sum(p.x, 2))

    return Problem(_NOISE + LONGEST, _noise_and_vector, slack)


def _means_and_draws(u: FloatArray) -> Point:
    point = noise_vector(u)
    point["mu"] = centred_means(u[_NOISE:], point["n"])
    # Draws that are not tied to the other coordinates and that cancel nowhere: 1, 4/3, 5/3, ...
    point["xi"] = [np.where(k < point["n"], 1 + k / 3, 0.0) for k in range(LONGEST)]
    return point


def _cross_term(shift: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        noise = [s * x for s, x in zip(p.sigma, p.xi, strict=True)]
        mean = sum(noise) / p.n
        means = [value + shift for value in p.mu]
        left = sum(value * (entry - mean) for value, entry in zip(means, noise, strict=True))
        left += shift * mean * (LONGEST - p.n)  # the padding carries no mean
        right = sum(value * entry for value, entry in zip(means, noise, strict=True))
        scale = sum(abs(value * entry) for value, entry in zip(means, noise, strict=True)) + abs(mean)
        return -abs(left - right) / scale

    return Problem(_NOISE + LONGEST, _means_and_draws, slack)


def _linear_variance(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        variance = sum((s * value) ** 2 for s, value in zip(p.sigma, p.mu, strict=True))
        return at_most(variance, reduce(m.maximum, p.sigma) ** 2 * _power_sum(p.mu, 2) * percent / 100)

    return Problem(_NOISE + LONGEST, _means_and_draws, slack)


def _centred_variance(copies: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        total = _power_sum(p.sigma, 2)
        direct = p.sigma[0] ** 2 * (1 - 1 / p.n) ** 2 + (total - p.sigma[0] ** 2) / p.n**2
        return equal(direct, (p.n - copies) / p.n * p.sigma[0] ** 2 + total / p.n**2)

    return Problem(_NOISE, noise_vector, slack)


def _level(u: FloatArray) -> Point:
    return {"delta": log_between(u[0], 1e-12, 1)}


def _citation(sides: int, percent: int = 100) -> Problem:
    """Bound the tail at sigma_max ||mu|| sqrt(2 log(2/delta)) by sides * exp(-x^2 / 2), against delta / 2."""

    def slack(m: Arithmetic, p: Any) -> Any:
        return at_most(sides * m.exp(-m.log(2 / p.delta) * percent / 100), p.delta / 2)

    return Problem(1, _level, slack)


def _one_sided(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        tail = erfc(np.sqrt(np.log(2 / p.delta) * percent / 100)) / 2
        return at_most(tail, p.delta / 2)

    return Problem(1, _level, slack, exact=False)


STEPS = (
    Step(
        "prop-1-centred-variance",
        "The centred noise has variance s_i^2 in each coordinate",
        "sigma_i^2 (1 - 1/n)^2 + sum_{k != i} sigma_k^2 / n^2 = (n-2)/n sigma_i^2 + ||sigma||^2 / n^2",
        _centred_variance(2),
        {"(n-1)/n in place of (n-2)/n": _centred_variance(1)},
    ),
    Step(
        "prop-1-cross-term",
        "The centring of the noise drops out of the cross term, because the mu_i sum to zero",
        "sum_i mu_i^T xi-bar_i = sum_i sigma_i mu_i^T xi_i",
        _cross_term(0),
        {"means that do not sum to zero": _cross_term(1)},
    ),
    Step(
        "prop-1-linear-variance",
        "Variance of the linear term",
        "sum_i sigma_i^2 ||mu_i||^2 <= sigma_max^2 ||mu||^2",
        _linear_variance(100),
        {"99% of the right-hand side": _linear_variance(99)},
    ),
    Step(
        "prop-1-trace",
        "Trace of A",
        "tr(DPD) = (n-1)/n ||sigma||_2^2",
        _trace(1),
        {"1 in place of (n-1)/n": _trace(0)},
    ),
    Step(
        "prop-1-frobenius",
        "Frobenius norm of A",
        "tr((DPD)^2) = (n-2)/n ||sigma||_4^4 + ||sigma||_2^4 / n^2",
        _frobenius(2),
        {"(n-1)/n in place of (n-2)/n": _frobenius(1)},
    ),
    Step(
        "prop-1-power-means",
        "Comparison of the norms of sigma",
        "||sigma||_2^4 <= n ||sigma||_4^4",
        _power_means(100),
        {"99% of the right-hand side": _power_means(99)},
    ),
    Step(
        "prop-1-frobenius-bound",
        "Bound on the Frobenius norm of A",
        "tr((DPD)^2) <= ||sigma||_4^4",
        _frobenius_bound(100),
        {"three quarters of the right-hand side": _frobenius_bound(75)},
        "The bound could carry the factor (n-1)/n, attained by equal magnitudes.",
    ),
    Step(
        "prop-1-operator-norm",
        "Operator norm of A",
        "x^T DPD x <= sigma_max^2 ||x||^2",
        _operator_norm(100),
        {"99% of the right-hand side": _operator_norm(99)},
    ),
    Step(
        "prop-1-semidefinite",
        "A is positive semi-definite",
        "x^T DPD x >= 0",
        _semidefinite(100),
        {"I - 1.1 (11^T)/n in place of P": _semidefinite(110)},
    ),
    Step(
        "prop-1-lemma-2-citation",
        "Lemma 2, as quoted, gives the one-sided bound on the linear term with probability 1 - delta/2",
        "2 exp(-log(2/delta)) <= delta/2",
        _citation(2),
        {"a threshold lower still": _citation(2, 90)},
        "Lemma 2 as quoted is two-sided: at this threshold it gives failure probability delta, not delta/2. "
        "Nothing is lost, because only one side is used at a time.",
        "Quote the one-sided tail exp(-x^2 / (2 sum sigma_i^2 ||a_i||^2)); see prop-1-one-sided-tail.",
    ),
    Step(
        "prop-1-one-sided-tail",
        "The one-sided Gaussian tail gives the linear term its probability",
        "P(N(0,1) >= sqrt(2 log(2/delta))) <= delta/2",
        _one_sided(100),
        {"half of the exponent": _one_sided(50)},
    ),
)
