"""The costs of all pairs of a result again, whatever they were learned from and whichever were allowed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray
from lslmatch.covariance.pair_costs import costs_of_result
from lslmatch.given import Given
from lslmatch.linear.record import costs_of
from lslmatch.results import MatchResult


def all_costs(x: FloatArray, y: FloatArray, result: MatchResult, workers: int = 1) -> FloatArray:
    """Compute the costs of all pairs, of shape (n, m)."""
    costs = costs_of if result.regression is not None else costs_of_result
    return costs(x, y, result, workers)


def judged_costs(x: FloatArray, y: FloatArray, result: MatchResult, workers: int = 1) -> FloatArray:
    """Compute the costs by which pairs are judged: those not allowed are as dear as the dearest of all."""
    costs = all_costs(x, y, result, workers)
    if result.given is not None:
        costs[~is_allowed(result.given, *costs.shape)] = costs.max()
    return costs


def is_allowed(given: Given, n: int, m: int) -> NDArray[np.bool_]:
    """Say which pairs may be: those of points that are left to be matched, and the known."""
    allowed = np.zeros((n, m), np.bool_)
    for block in given.blocks(n, m):
        allowed[np.ix_(block.rows, block.cols)] = True
    allowed[given.forbidden[:, 0], given.forbidden[:, 1]] = False
    allowed[given.known[:, 0], given.known[:, 1]] = True
    return allowed
