"""How probable each matched pair is, if a matching has probability proportional to exp(-rate * objective).

The probability P of a pair is a sum over all matchings that contain it, which nobody can compute. Here
it is approximated by a fixed point: ``P_ij (1 - P_ij)^g = w_ij r_i c_j`` with w_ij = exp(-rate * cost),
where the factors r and c make every row and column sum to 1. With g = 0 that is Sinkhorn's scaling, which is
too diffuse; with g = 1 it is the Bethe approximation, which is certain of the better of two matchings
however little they differ (see Chertkov and Yedidia, J. Mach. Learn. Res. 14, 2013). With g = 1/2 it is exact
where the doubt is whether two pairs should be exchanged, and errs to the low side where alternatives are
many. If one set is larger, all that is free in it is one more row.

The matrix of all pairs is held in memory.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.diagnosis.margins import Optimum, reduced_costs

#: Rounds, at most and in one call: between calls Ctrl-C is heard.
_MOST_ROUNDS = 1000
_ROUNDS_PER_CALL = 10
#: Entries of the block of rows that is renewed at once (512 kB).
_BLOCK_ENTRIES = 1 << 16
#: The probabilities have settled if a call changes none of them by more than this.
_SETTLED = 1e-4
#: No probability comes closer to 1 than this before its complement is divided by.
_LEAST_DOUBT = 1e-12
#: Unrelated sets look like those of which a smaller share than this is expected to be right.
UNRELATED = 0.1
#: The standard error of the log-odds of a right pair, beyond chance, as measured on planted data: of sets
#: that look related, and of those that do not, more of whose pairs may be right than shows.
_ERROR, _ERROR_UNRELATED = 0.3, 1.6


def pair_probabilities(optimum: Optimum, rate: float, workers: int = 1) -> FloatArray:
    """Approximate the probability of every row's matched pair.

    `rate` is how much log-probability a unit of cost takes. Of two matchings that tie, each has the same
    probability, so a pair that could be exchanged at no cost has 1/2 or less.
    """
    reduced = reduced_costs(optimum, slice(None), workers)
    return settled_probabilities(reduced, optimum.col_dual, optimum.col_of_row, rate)


def settled_probabilities(
    reduced: FloatArray, col_dual: FloatArray, col_of_row: IntArray, rate: float
) -> FloatArray:
    """Do the same for given reduced costs of n rows and m >= n columns."""
    n, m = reduced.shape
    weights = np.empty((n + (n < m), m))
    weights[:n] = reduced
    weights[n:] = -col_dual
    np.maximum(weights, 0.0, out=weights)
    pairs = np.arange(n), col_of_row
    weights[pairs] = 0.0  # as it is but for rounding, which huge costs and rates would magnify
    with np.errstate(over="ignore"):
        weights *= -rate
    np.exp(weights, out=weights)
    total = np.ones(len(weights))
    total[n:] = m - n
    return settle(weights, total, np.ones(m), *pairs)


def settle(
    weights: FloatArray, row_total: FloatArray, col_total: FloatArray, rows: IntArray, cols: IntArray
) -> FloatArray:
    """Give the probabilities of some pairs, where those of each row and column have a given sum."""
    settled: FloatArray = settle_shares(weights, row_total, col_total)[rows, cols]
    return settled


def settle_shares(weights: FloatArray, row_total: FloatArray, col_total: FloatArray) -> FloatArray:
    """Give all probabilities, as shares of the sum of their row."""
    shares, col_factor = np.zeros_like(weights), np.ones(col_total.size)
    before = np.zeros(len(weights))
    for _ in range(0, _MOST_ROUNDS, _ROUNDS_PER_CALL):
        _settle(weights, row_total, col_total, shares, col_factor, _ROUNDS_PER_CALL)
        largest = shares.max(axis=1)
        if np.abs(largest - before).max() <= _SETTLED:
            break
        before = largest
    return shares


def expected_right(confidence: FloatArray | None) -> tuple[float, tuple[float, float]]:
    """Give the expected share of right pairs, and an interval of 95 % on the scale of log-odds.

    Besides chance, whose pairs go wrong together, at least two at a time, it holds the error of the estimate
    as it was on planted data. An end that leaves out less than half a pair is 0 or 1.
    """
    if confidence is None or np.isnan(confidence).all():
        return math.nan, (math.nan, math.nan)
    sure = confidence[~np.isnan(confidence)]
    mean = float(sure.mean())
    inside = min(max(mean, 0.05 / sure.size), 1.0 - 0.05 / sure.size)
    odds, by_chance = math.log(inside / (1.0 - inside)), math.sqrt(2.0 * float((sure * (1.0 - sure)).sum()))
    error = _ERROR if mean >= UNRELATED else _ERROR_UNRELATED
    low, high = (
        1.0 / (1.0 + math.exp(-(odds + reach * error))) + reach * by_chance / sure.size
        for reach in (-1.96, 1.96)
    )
    low, high = min(low, mean) if mean >= UNRELATED else 0.0, max(high, mean)
    return mean, (low if low * sure.size >= 0.5 else 0.0, high if (1.0 - high) * sure.size >= 0.5 else 1.0)


def _settle(
    weights: FloatArray,
    total: FloatArray,
    col_total: FloatArray,
    shares: FloatArray,
    col_factor: FloatArray,
    rounds: int,
) -> None:
    """Renew the probabilities, as shares of their row's total, and the factors of the columns."""
    step = max(_BLOCK_ENTRIES // col_factor.size, 1)
    spare = np.empty((min(step, len(weights)), col_factor.size))
    for _ in range(rounds):
        col_sum = np.zeros(col_factor.size)
        for first in range(0, len(weights), step):
            rows = slice(first, first + step)
            share = shares[rows]
            doubt = np.subtract(1.0, share, out=spare[: len(share)])
            np.maximum(doubt, _LEAST_DOUBT, out=doubt)
            np.sqrt(doubt, out=doubt)
            np.multiply(weights[rows], col_factor, out=share)
            share /= doubt
            share /= share.sum(axis=1, keepdims=True)
            col_sum += total[rows] @ share
        col_factor *= col_total / col_sum
