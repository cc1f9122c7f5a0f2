"""Exact assignment of two sets of points without the matrix of their costs.

1. A look at a few points tells how clear the matter is (:mod:`lslmatch.assignment.probe`). One pass,
   where it suffices over a part of the coordinates, finds every point's nearest partner. If no two
   points share one, that is the optimum.
2. Where many do, column duals start at the columns' least costs, which takes the attraction out of
   hubs; each row gets a short list of its best pairs, and a bound for all others.
3. Augmenting row reduction matches most rows within their lists. Rows that come to the end of theirs
   get a new one under the present duals.
4. Shortest augmenting paths match the rest, computing further rows only where they must
   (:mod:`lslmatch.assignment.lazy`). The duals are feasible for every pair throughout.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lslmatch._threads import over_rows, useful_workers
from lslmatch.assignment.dense import Duals, solve_dense
from lslmatch.assignment.keys import (
    Pairs,
    bounds_of_keys,
    column_factors,
    find_best,
    find_nearest,
    price_pairs,
    room_for_lanes,
)
from lslmatch.assignment.lazy import Lists, augment_all, reduce_free_rows
from lslmatch.assignment.probe import Outlook, probe
from lslmatch.costs import CostRule, cost_matrix
from lslmatch.distances import Geometry, cut_tiles
from lslmatch.results import FloatArray, IntArray

#: Up to this dimension products in single precision are accurate enough to screen the pairs.
_SINGLE_DIMENSIONS = 1000
#: Pairs in the list of a row, and in its first list where a few will mostly do.
_LIST = 32
_SHORT_LIST = 4
#: There are many conflicts if more than this share of the rows cannot have their nearest partner.
_MANY_CONFLICTS = 0.15
#: Up to this number of pairs the dense solver is quicker if there are many conflicts.
_DENSE_PAIRS = 800**2
#: Up to this number it is quicker in any case, and there is less to compile.
_SMALL_PAIRS = 400**2
#: Up to this number squared distances that will be needed again are kept (256 MiB in single precision).
_KEPT_PAIRS = 1 << 26
#: Sweeps of augmenting row reduction, with new lists for the rows that need them in between.
_SWEEPS = 8
#: With so small a share of free rows another sweep does not pay.
_FEW_FREE = 0.002
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
    outlook = probe(geometry) if col_dual is None else Outlook(1.0, None)
    pairs = _prepare(geometry, rule, keep=outlook.mutual < 1.0 and n * m <= _KEPT_PAIRS)
    state = Duals(np.zeros(n), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))
    free_rows = np.arange(n)
    if col_dual is None:
        nearest, bound, col_least = _find_nearest(_leading(pairs, outlook.dimensions), workers)
        least = _price(pairs, free_rows, nearest[:, None])
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
    exhausted, few = free_rows, outlook.mutual > 0.5
    if col_dual is not None:
        state.col_dual[:] = col_dual
    elif n == m and conflicts > _MANY_CONFLICTS * n:
        state.col_dual[:] = col_least
    else:
        # The nearest partner is a list of one, and the second nearest bounds the others.
        lists.col[:], lists.cost[:, :1], lists.bound[:] = nearest[:, None], least, bound
        exhausted = free_rows[least[:, 0] > bound]
    for _ in range(_SWEEPS):
        if free_rows.size <= _FEW_FREE * n:
            break
        _renew_lists(pairs, lists, state, exhausted, _SHORT_LIST if few else size, workers)
        few = False
        free_rows = free_rows[: reduce_free_rows(lists, state, free_rows)]
        exhausted = free_rows[state.row_dual[free_rows] >= lists.bound[free_rows]]
    augment_all(pairs, lists, state, free_rows)
    return state


def exceeds(geometry: Geometry, rule: CostRule, limit: float, *, workers: int = 1) -> bool:
    """Say whether the rows' least costs alone (n <= m) add up to more than a limit: then all matchings do."""
    pairs = _prepare(geometry, rule, keep=False)
    nearest, bound, _ = _find_nearest(pairs, workers)
    least = _price(pairs, np.arange(nearest.size), nearest[:, None])[:, 0]
    return bool((np.minimum(least, bound) + rule.offset).sum() > limit)


def _leading(pairs: Pairs, dimensions: int | None) -> Pairs:
    """Return the pairs with distances in the leading dimensions only, never above those in all."""
    if dimensions is None:
        return pairs
    return pairs._replace(tiles=cut_tiles(pairs.geometry, pairs.tiles.a.dtype.type, dimensions))


def _prepare(geometry: Geometry, rule: CostRule, keep: bool) -> Pairs:
    single = rule.logarithm and geometry.a.shape[1] <= _SINGLE_DIMENSIONS
    tiles = cut_tiles(geometry, np.float32 if single else np.float64)
    shape = (len(geometry.a), tiles.b_squares.size) if keep else (0, 0)
    infinity = _bits(np.full(1, np.inf, tiles.a.dtype))[0]
    return Pairs(geometry, tiles, rule, np.empty(shape, tiles.a.dtype), infinity)


def _solve_densely(geometry: Geometry, rule: CostRule, workers: int) -> Duals:
    solution = solve_dense(cost_matrix(geometry, rule._replace(offset=0.0), workers))
    assert solution is not None, "all costs are finite"
    return solution


def _find_nearest(pairs: Pairs, workers: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return each row's nearest column, a bound for its other pairs, and each column's least reduced cost."""
    n, m = pairs.geometry.shape
    nearest = np.zeros(n, np.intp)
    row_keys = np.full((n, 2), np.inf, pairs.tiles.a.dtype)
    room = useful_workers(n, _BLOCK_ROWS, workers), pairs.tiles.b_squares.size
    col_keys = np.full(room, np.inf, pairs.tiles.a.dtype)
    row_bits, col_bits = _bits(row_keys), _bits(col_keys)

    def run(worker: int, first: int, last: int) -> None:
        find_nearest(pairs, first, last, nearest, row_bits, col_bits[worker])

    over_rows(run, n, _BLOCK_ROWS, workers)
    col_least = col_keys[:, :m].min(axis=0)
    return nearest, bounds_of_keys(pairs, 0.0, row_keys[:, 1]), bounds_of_keys(pairs, 0.0, col_least)


def _renew_lists(pairs: Pairs, lists: Lists, state: Duals, rows: IntArray, size: int, workers: int) -> None:
    """Give some rows new lists of at most `size` pairs, and bounds, under the present duals."""
    if not rows.size:
        return
    cols, bound = np.empty((rows.size, min(size, lists.col.shape[1])), np.intp), np.empty(rows.size)
    factors = column_factors(pairs, state.col_dual)

    def run(worker: int, first: int, last: int) -> None:
        lanes = room_for_lanes(pairs)
        find_best(pairs, factors, rows[first:last], lanes, cols[first:last], bound[first:last])

    over_rows(run, rows.size, _BLOCK_ROWS, workers)
    lists.cost[rows] = np.inf
    lists.cost[rows, : cols.shape[1]] = _price(pairs, rows, cols)
    lists.col[rows, : cols.shape[1]], lists.bound[rows] = np.maximum(cols, 0), bound


def _bits(keys: NDArray[np.floating]) -> NDArray[np.signedinteger]:
    return keys.view(f"i{keys.itemsize}")


def _price(pairs: Pairs, rows: IntArray, cols: IntArray) -> FloatArray:
    costs = np.empty(cols.shape)
    price_pairs(pairs, rows, np.ascontiguousarray(cols), costs)
    return costs
