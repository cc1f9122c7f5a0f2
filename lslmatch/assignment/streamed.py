"""Exact assignment of two sets of points without the matrix of their costs.

1. One pass finds every point's nearest partner. If no two points share one, that is the optimum.
2. Where many do, column duals start at the columns' least costs, which takes the attraction out of
   hubs; each row gets a short list of its best pairs, and a bound for all others.
3. Augmenting row reduction matches most rows within their lists. Rows that come to the end of theirs
   get a new one under the present duals.
4. Shortest augmenting paths match the rest, computing further rows only where they must
   (:mod:`lslmatch.assignment.lazy`). The duals are feasible for every pair throughout.
"""

from __future__ import annotations

import numpy as np

from lslmatch._threads import over_rows
from lslmatch.assignment.dense import Duals, solve_dense
from lslmatch.assignment.keys import bounds_of_keys, column_factors, find_best, find_nearest, price_pairs
from lslmatch.assignment.lazy import Lists, augment_all, reduce_free_rows
from lslmatch.costs import CostRule, cost_matrix
from lslmatch.distances import Geometry, Tiles, cut_tiles
from lslmatch.results import FloatArray, IntArray

#: Up to this dimension products in single precision are accurate enough to screen the pairs.
_SINGLE_DIMENSIONS = 1000
#: Pairs in the list of a row.
_LIST = 24
#: There are many conflicts if more than this share of the rows cannot have their nearest partner.
_MANY_CONFLICTS = 0.15
#: Up to this number of pairs the dense solver is quicker if there are many conflicts.
_DENSE_PAIRS = 1500**2
#: Up to this number it is quicker in any case, and there is less to compile.
_SMALL_PAIRS = 300**2
#: Sweeps of augmenting row reduction, with new lists for the rows that need them in between.
_SWEEPS = 3
#: Rows that a worker takes at a time.
_BLOCK_ROWS = 512


def solve_streamed(
    geometry: Geometry, rule: CostRule, *, workers: int = 1, col_dual: FloatArray | None = None
) -> Duals:
    """Match every row of the geometry (n <= m).

    Parameters
    ----------
    geometry : Geometry
        The two sets.
    rule : CostRule
        How a squared distance becomes a cost.
    workers : int
        Threads for the passes over all pairs. The result does not depend on it.
    col_dual : ndarray of shape (m,), optional
        Column duals to start from, if n = m: those of a similar problem save most of the work.
    """
    n, m = geometry.shape
    if col_dual is None and n * m <= min(_SMALL_PAIRS, _DENSE_PAIRS):
        return _solve_densely(geometry, rule, workers)
    tiles = cut_tiles(geometry, np.float32 if geometry.a.shape[1] <= _SINGLE_DIMENSIONS else np.float64)
    state = Duals(np.zeros(n), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))
    free_rows = np.arange(n)
    if col_dual is None:
        nearest, row_keys, col_least = _find_nearest(geometry, tiles, rule, workers)
        least = _price(geometry, rule, free_rows, nearest[:, None])
        bound = bounds_of_keys(rule, row_keys[:, 1])
        conflicts = n - np.unique(nearest).size
        if not conflicts and (least[:, 0] <= bound).all():
            state.row_dual[:] = least[:, 0]
            state.col_of_row[:] = nearest
            state.row_of_col[nearest] = free_rows
            return state
        if conflicts > _MANY_CONFLICTS * n and n * m <= _DENSE_PAIRS:
            return _solve_densely(geometry, rule, workers)
    size = min(_LIST, m)
    lists = Lists(np.zeros((n, size), np.intp), np.full((n, size), np.inf), np.empty(n))
    exhausted = free_rows
    if col_dual is not None:
        state.col_dual[:] = col_dual
    elif n == m and conflicts > _MANY_CONFLICTS * n:
        state.col_dual[:] = np.log(col_least) if rule.logarithm else col_least
    else:
        # The nearest partner is a list of one, and the second nearest bounds the others.
        lists.col[:], lists.cost[:, :1], lists.bound[:] = nearest[:, None], least, bound
        exhausted = free_rows[least[:, 0] > bound]
    for _ in range(_SWEEPS):
        _renew_lists(geometry, tiles, rule, lists, state, exhausted, workers)
        free_rows = free_rows[: reduce_free_rows(lists, state, free_rows)]
        exhausted = free_rows[state.row_dual[free_rows] >= lists.bound[free_rows]]
    augment_all(geometry, tiles, rule, lists, state, free_rows)
    return state


def _solve_densely(geometry: Geometry, rule: CostRule, workers: int) -> Duals:
    solution = solve_dense(cost_matrix(geometry, rule._replace(offset=0.0), workers))
    assert solution is not None, "all costs are finite"
    return solution


def _find_nearest(
    geometry: Geometry, tiles: Tiles, rule: CostRule, workers: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return each row's nearest column, its two least keys, and each column's least key."""
    n, m = geometry.shape
    nearest, row_keys, col_least = np.empty(n, np.intp), np.empty((n, 2)), np.full((workers, m), np.inf)

    def run(worker: int, first: int, last: int) -> None:
        find_nearest(geometry, tiles, rule, first, last, nearest, row_keys, col_least[worker])

    over_rows(run, n, _BLOCK_ROWS, workers)
    col_keys = col_least.min(axis=0)
    if rule.logarithm:
        row_keys = np.maximum(row_keys * tiles.lowered, rule.floor)
        col_keys = np.maximum(col_keys * tiles.lowered, rule.floor)
    return nearest, row_keys, col_keys


def _renew_lists(
    geometry: Geometry, tiles: Tiles, rule: CostRule, lists: Lists, state: Duals, rows: IntArray, workers: int
) -> None:
    """Give some rows new lists and bounds under the present duals."""
    if not rows.size:
        return
    part, part_tiles, part_rule = geometry, tiles, rule
    if rows.size < geometry.shape[0]:
        part = geometry._replace(a=geometry.a[rows], a_low=geometry.a_low[rows])
        part_tiles = tiles._replace(a=tiles.a[rows], a_squares=tiles.a_squares[rows])
        part_rule = rule if rule.logarithm else rule._replace(x_weight=rule.x_weight[rows])
    cols, bound = np.zeros((rows.size, lists.col.shape[1]), np.intp), np.empty(rows.size)
    factors = column_factors(rule, state.col_dual)

    def run(worker: int, first: int, last: int) -> None:
        find_best(part, part_tiles, part_rule, factors, first, last, cols, bound)

    over_rows(run, rows.size, _BLOCK_ROWS, workers)
    lists.col[rows], lists.bound[rows] = cols, bound
    lists.cost[rows] = _price(geometry, rule, rows, cols)


def _price(geometry: Geometry, rule: CostRule, rows: IntArray, cols: IntArray) -> FloatArray:
    costs = np.empty(cols.shape)
    price_pairs(geometry, rule, rows, np.ascontiguousarray(cols), costs)
    return costs
