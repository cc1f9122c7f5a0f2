"""From a few pairs that are right to all: learn the map, match, keep the surest pairs, and again.

Each round learns the map from the pairs that are kept, in both directions, and adds the costs of both. A
point that is near to all others, as there are in many dimensions, is a bargain for everybody: half of the
mean of the five least costs of its row and of its column is taken off. Then all points are matched, and the
pairs whose costs are farthest below those of the next best partners are kept, a third more than before.
"""

from __future__ import annotations

import numpy as np

from lslmatch._progress import tell
from lslmatch._types import FloatArray, IntArray
from lslmatch.allowed.solving import assign_allowed
from lslmatch.assignment.orientation import partners
from lslmatch.given import Given
from lslmatch.linear.ridge import Pairs, fit_ridge, left_out_costs

#: By what factor the number of pairs grows, and by how many pairs at least.
_FACTOR, _LEAST = 1.3, 5
#: The penalty, as a multiple of the mean square of a column.
_PENALTY = 1.0
#: Of so many least costs the mean is taken.
_NEAREST = 5


def grow(a: FloatArray, b: FloatArray, first: IntArray, given: Given | None, workers: int = 1) -> IntArray:
    """Match two sets from the pairs of a first matching on (-1: none), and give the last matching."""
    partner, most = first, min(len(a), len(b))
    while True:
        kept = int((partner >= 0).sum())
        tell("pairs grown", kept, most)
        costs = _both_ways(a, b, partner, workers)
        found = assign_allowed(costs, given)
        matching = partners(len(a), found.row_ind, found.col_ind)
        if kept >= found.row_ind.size or kept >= most:
            return matching
        size = max(int(_FACTOR * kept), kept + _LEAST)
        partner = surest(costs, matching, size, given)


def surest(costs: FloatArray, matching: IntArray, size: int, given: Given | None) -> IntArray:
    """Keep so many pairs of a matching: the known, and those whose next best partners are farthest off."""
    rows = np.flatnonzero(matching >= 0)
    cols = matching[rows]
    margin = np.minimum(_next_best(costs, rows, cols), _next_best(costs.T, cols, rows)) - costs[rows, cols]
    if given is not None:
        margin[np.isin(rows, given.known[:, 0])] = np.inf
    chosen = np.argsort(-margin, kind="stable")[:size]
    kept = np.full(matching.size, -1, np.intp)
    kept[rows[chosen]] = cols[chosen]
    return kept


def _both_ways(a: FloatArray, b: FloatArray, partner: IntArray, workers: int) -> FloatArray:
    """Give the costs under the maps from b to a and from a to b, less what is common to rows and columns."""
    pairs = Pairs(partner, (partner >= 0).astype(np.float64))
    costs = left_out_costs(fit_ridge(a, b, pairs, _PENALTY), None, workers)
    costs += left_out_costs(fit_ridge(b, a, pairs.transposed(len(b)), _PENALTY), None, workers).T
    n, m = costs.shape
    of_row = _least_mean(costs, min(_NEAREST, m))
    of_col = _least_mean(costs.T, min(_NEAREST, n))
    return costs - 0.5 * (of_row[:, None] + of_col)


def _least_mean(costs: FloatArray, count: int) -> FloatArray:
    least: FloatArray = np.partition(costs, count - 1, axis=1)[:, :count].mean(axis=1)
    return least


def _next_best(costs: FloatArray, rows: IntArray, cols: IntArray) -> FloatArray:
    """Give the least cost of some rows but for that of their partner."""
    some = costs[rows]
    some[np.arange(rows.size), cols] = np.inf
    least: FloatArray = some.min(axis=1)
    return least
