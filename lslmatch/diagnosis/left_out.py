"""Margins and confidences under a learned covariance, where each pair is judged with itself left out.

Such costs are not a function of distances in one metric, so their matrix is held in memory.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_number, check_vector
from lslmatch.covariance.evidence import best_rate
from lslmatch.covariance.fit import white_of
from lslmatch.covariance.leave_out import cost_matrix
from lslmatch.diagnosis.confidence import settled_probabilities
from lslmatch.diagnosis.cycles import shortest_cycle
from lslmatch.diagnosis.partial import judge_partial
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
    x: FloatArray, y: FloatArray, result: MatchResult, chosen: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """Give the margin and the confidence of every x; margins are exact where chosen, else lower bounds."""
    n, m = len(x), len(y)
    assert result.covariance is not None
    u = check_vector(result.row_dual, "result.row_dual", n)
    v = check_vector(result.col_dual, "result.col_dual", m)
    price = 0.0 if result.price is None else check_number(result.price, "result.price")
    white, offset = white_of(x, y, result.map, result.covariance)
    costs = cost_matrix(white) + offset
    rate = best_rate(costs, result.permutation, x.shape[1])
    reduced = costs - (u[:, None] + price) - v
    rows = np.flatnonzero(result.permutation >= 0)
    cols = result.permutation[rows]
    if not np.abs(reduced[rows, cols]).max() <= _MISFIT:
        raise ValueError(
            "result must be what match returned for x and y; its dual variables do not add up to its costs"
        )
    if result.price is not None:
        margin, confidence = judge_partial(
            lambda some: reduced[some].copy(), (u, v), result.permutation, chosen, rate
        )
        assert confidence is not None
        return margin, confidence
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
