"""Margins and confidences by all costs: where the judged pair is left out, or not all points may be pairs.

Costs under a learned covariance or a learned linear map are not a function of distances in one metric. With
known pairs, groups and forbidden pairs each group is a problem of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_number, check_vector
from lslmatch.covariance.evidence import best_rate
from lslmatch.covariance.fit import white_of
from lslmatch.diagnosis.confidence import settled_probabilities
from lslmatch.diagnosis.cycles import shortest_cycle
from lslmatch.diagnosis.partial import judge_partial
from lslmatch.given import Block
from lslmatch.known.costs import all_costs, is_allowed
from lslmatch.results import Affine, MatchResult

#: Reduced costs of matched pairs must be 0 up to this, or the result is that of other sets.
_MISFIT = 1e-6


def whitened_by_learned(
    x: FloatArray, y: FloatArray, result: MatchResult
) -> tuple[FloatArray, FloatArray, MatchResult]:
    """Give both sets where a learned covariance, taken for one that was given, is the identity.

    They are aligned, in a unit in which its determinant is 1. If the sets span less than the space they are
    rotated into the first coordinates.
    """
    assert result.covariance is not None
    white, offset = white_of(x, y, result.map, result.covariance)
    unit = math.exp((white.offset + offset) / 2.0)
    sets = []
    for points in (white.a, white.b):
        padded = np.zeros((len(points), x.shape[1]))
        padded[:, : points.shape[1]] = unit * points
        sets.append(padded)
    return sets[0], sets[1], result.with_map(Affine(1.0, np.zeros(x.shape[1])))


def judge_pairs(
    x: FloatArray,
    y: FloatArray,
    result: MatchResult,
    chosen: NDArray[np.bool_],
    rate_of: Callable[[float], float | None] | None = None,
    workers: int = 1,
) -> tuple[FloatArray, FloatArray | None]:
    """Give the margin and the confidence of every x; margins are exact where chosen, else lower bounds.

    The rate is that at which an LSL matching predicts itself best; `rate_of` gives that of other objectives
    from their mean cost. Known pairs are certain, and pairs that are not allowed are no alternatives.
    """
    n, m = len(x), len(y)
    u = check_vector(result.row_dual, "result.row_dual", n)
    v = check_vector(result.col_dual, "result.col_dual", m)
    price = 0.0 if result.price is None else check_number(result.price, "result.price")
    costs = all_costs(x, y, result, workers)
    rows = np.flatnonzero(result.permutation >= 0)
    own = costs[rows, result.permutation[rows]]
    rate: float | None
    if result.criterion == "lsl":
        regression = result.regression
        rate = best_rate(
            costs, result.permutation if regression is None else regression.reference, x.shape[1]
        )
    else:
        rate = None if rate_of is None else rate_of(float(own.mean()))
    reduced = costs - (u[:, None] + price) - v
    if not np.abs(reduced[rows, result.permutation[rows]]).max() <= _MISFIT * max(1.0, np.abs(own).max()):
        raise ValueError(
            "result must be what match returned for x and y; its dual variables do not add up to its costs"
        )
    given, partial = result.given, result.price is not None
    if given is None:
        return _judge(reduced, (u, v), result.permutation, partial, chosen, rate)
    reduced[~is_allowed(given, n, m)] = np.inf
    margin, confidence = np.full(n, np.nan), np.full(n, np.nan)
    margin[given.known[:, 0]], confidence[given.known[:, 0]] = np.inf, 1.0
    blocks = given.blocks(n, m)
    if partial:  # one price for all
        blocks = [Block(*(np.setdiff1d(np.arange(k), given.known[:, s]) for s, k in ((0, n), (1, m))))]
    place = np.full(m + 1, -1)
    for block in blocks:
        place[block.cols] = np.arange(block.cols.size)
        matching = place[result.permutation[block.rows]]
        place[block.cols] = -1
        if (matching >= 0).any():
            part = reduced[np.ix_(block.rows, block.cols)], (u[block.rows], v[block.cols])
            found = _judge(*part, matching, partial, chosen[block.rows], rate)
            margin[block.rows] = found[0]
            if found[1] is not None:
                confidence[block.rows] = found[1]
    return margin, None if rate is None else confidence


def _judge(
    reduced: FloatArray,
    duals: tuple[FloatArray, FloatArray],
    permutation: IntArray,
    partial: bool,
    chosen: NDArray[np.bool_],
    rate: float | None,
) -> tuple[FloatArray, FloatArray | None]:
    """Judge the pairs of one problem by its reduced costs."""
    n, m = reduced.shape
    if partial:
        return judge_partial(lambda some: reduced[some].copy(), duals, permutation, chosen, rate)
    rows = np.flatnonzero(permutation >= 0)
    cols, (u, v) = permutation[rows], duals
    if n > m:
        x_of_row = rows[np.argsort(cols)]
        reduced, col_dual, col_of_row = np.ascontiguousarray(reduced.T), u, x_of_row
    else:
        x_of_row, col_dual, col_of_row = rows, v, cols
    np.maximum(reduced, 0.0, out=reduced)
    arcs = _residual_arcs(reduced, col_dual, col_of_row)
    margin, confidence = np.full(n, np.nan), np.full(n, np.nan)
    margin[x_of_row] = (arcs.min(axis=1) + arcs.min(axis=0))[: len(reduced)]
    exact = np.flatnonzero(chosen[x_of_row])
    for row in exact:  # back in Python after each search, so that Ctrl-C is heard
        margin[x_of_row[row]] = shortest_cycle(arcs, row)
    if rate is None:
        return margin, None
    confidence[x_of_row] = settled_probabilities(reduced, col_dual, col_of_row, rate)
    return margin, confidence


def _residual_arcs(reduced: FloatArray, col_dual: FloatArray, col_of_row: IntArray) -> FloatArray:
    """Give what it costs row k to take the column of row l; one more node stands for all that is free."""
    n, m = reduced.shape
    nodes = n + (n < m)
    arcs = np.empty((nodes, nodes))
    arcs[:n, :n] = reduced[:, col_of_row]
    if n < m:
        free = np.setdiff1d(np.arange(m), col_of_row)
        arcs[:n, n] = reduced[:, free].min(axis=1)
        arcs[n, :n] = np.maximum(-col_dual[col_of_row], 0.0)
    np.fill_diagonal(arcs, np.inf)
    return arcs
