"""Margins and confidences of a matching that leaves points of both sets without a partner.

Reduced costs are ``cost - row_dual - col_dual - price``. They are not negative and 0 on the matched pairs, so
any other matching of as many pairs costs more by the reduced costs that it uses, by ``-row_dual`` for each
row and by ``-col_dual`` for each column that it leaves free and that was matched.

- **Margins.** As for complete matchings (:mod:`lslmatch.diagnosis.margins`), an arc from row k to row l is
  row k taking the column of row l. Here two more nodes stand for what is free: *alone*, where a matched row
  goes that becomes free and from where a free row takes a column, and *spare*, where rows go that take a
  free column and from where a column becomes free. The number of pairs is the same after every cycle.
- **Confidences.** As in :mod:`lslmatch.diagnosis.confidence`, with one more row for all columns and one more
  column for all rows that stay free, as many as there are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from lslmatch.diagnosis.confidence import settle
from lslmatch.diagnosis.cycles import shortest_cycle

#: Entries of the block of costs of the streamed pass (8 MB).
_BLOCK_ENTRIES = 1 << 20
#: Duals are not positive, but for this share of the greatest.
_MISFIT = 1e-6


def judge_partial(
    reduced_costs: Callable[[slice], FloatArray],
    duals: tuple[FloatArray, FloatArray],
    permutation: IntArray,
    exact: NDArray[np.bool_],
    rate: float | None,
) -> tuple[FloatArray, FloatArray | None]:
    """Give the margin and the confidence of every x, NaN where it has no partner.

    `reduced_costs` computes those of some rows. Margins are exact where asked for, else lower bounds;
    exact ones and confidences hold all reduced costs in memory. Without a rate there are no confidences.
    """
    rows = np.flatnonzero(permutation >= 0)
    for dual, matched in zip(duals, (rows, permutation[rows]), strict=True):
        if np.delete(dual, matched).any() or dual.max() > _MISFIT * max(1.0, -dual.min()):
            raise ValueError(
                "result must be what match returned for x and y; its dual variables are not those of a price"
            )
    margin = _bounds(reduced_costs, duals, permutation)
    confidence = None
    if rate is not None or exact[rows].any():
        reduced = np.maximum(reduced_costs(slice(None)), 0.0)
        reduced[rows, permutation[rows]] = 0.0
        if exact[rows].any():
            arcs = _residual_arcs(reduced, duals, permutation)
            for k in np.flatnonzero(exact[rows]):  # back in Python after each search, so that Ctrl-C is heard
                margin[rows[k]] = shortest_cycle(arcs, k)
        if rate is not None:
            confidence = np.full(permutation.size, np.nan)
            confidence[rows] = _probabilities(reduced, duals, permutation, rate)
    return margin, confidence


def _bounds(
    reduced_costs: Callable[[slice], FloatArray], duals: tuple[FloatArray, FloatArray], permutation: IntArray
) -> FloatArray:
    """Give lower bounds: the shortest arcs out of and into each matched row, in one pass over all pairs."""
    leaving, entering = -duals[0], -duals[1]
    n, m = leaving.size, entering.size
    step = max(_BLOCK_ENTRIES // m, 1)
    for first in range(0, n, step):
        block = slice(first, min(first + step, n))
        reduced = reduced_costs(block)
        matched = np.flatnonzero(permutation[block] >= 0)
        reduced[matched, permutation[block][matched]] = np.inf
        np.minimum(leaving[block], reduced.min(axis=1), out=leaving[block])
        np.minimum(entering, reduced.min(axis=0), out=entering)
    rows = np.flatnonzero(permutation >= 0)
    bounds = np.full(n, np.nan)
    with np.errstate(over="ignore"):
        # Reduced costs may be negative by rounding.
        bounds[rows] = np.maximum(leaving[rows], 0.0) + np.maximum(entering[permutation[rows]], 0.0)
    return bounds


def _residual_arcs(
    reduced: FloatArray, duals: tuple[FloatArray, FloatArray], permutation: IntArray
) -> FloatArray:
    """Give the lengths of the arcs between the matched rows and, as the last two nodes, alone and spare."""
    rows, free_rows = np.flatnonzero(permutation >= 0), np.flatnonzero(permutation < 0)
    cols = permutation[rows]
    is_free = np.ones(duals[1].size, np.bool_)
    is_free[cols] = False
    k = rows.size
    alone, spare = k, k + 1
    arcs = np.full((k + 2, k + 2), np.inf)
    arcs[:k, :k] = reduced[np.ix_(rows, cols)]
    arcs[:k, alone] = np.maximum(-duals[0][rows], 0.0)
    arcs[:k, spare] = reduced[np.ix_(rows, is_free)].min(axis=1, initial=np.inf)
    arcs[alone, :k] = reduced[np.ix_(free_rows, cols)].min(axis=0, initial=np.inf)
    arcs[alone, spare] = reduced[np.ix_(free_rows, is_free)].min(initial=np.inf)
    arcs[spare, :k] = np.maximum(-duals[1][cols], 0.0)
    np.fill_diagonal(arcs, np.inf)
    return arcs


def _probabilities(
    reduced: FloatArray, duals: tuple[FloatArray, FloatArray], permutation: IntArray, rate: float
) -> FloatArray:
    """Approximate the probability of every matched pair."""
    n, m = reduced.shape
    rows = np.flatnonzero(permutation >= 0)
    weights = np.zeros((n + 1, m + 1))
    weights[:n, :m] = reduced
    weights[:n, m], weights[n, :m] = -duals[0], -duals[1]
    np.maximum(weights, 0.0, out=weights)
    row_total, col_total = np.ones(n + 1), np.ones(m + 1)
    row_total[n], col_total[m] = m - rows.size, n - rows.size
    with np.errstate(over="ignore"):
        weights *= -rate
    np.exp(weights, out=weights)
    weights[n, m] = 0.0
    # A side of which all are matched has no place for those that stay free.
    weights = weights[: n + (rows.size < m), : m + (rows.size < n)]
    return settle(weights, row_total[: len(weights)], col_total[: weights.shape[1]], rows, permutation[rows])
