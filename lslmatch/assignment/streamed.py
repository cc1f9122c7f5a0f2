"""Exact assignment of two sets of points without the matrix of their costs.

1. A look at a few points tells how clear the matter is (:mod:`lslmatch.assignment.probe`). One pass,
   where it suffices over a part of the coordinates or without far regions of space, finds every point's
   nearest partner. If no two points share one, that is the optimum.
2. Where many do, column duals start at the columns' least costs, which takes the attraction out of
   hubs; each row gets a short list of its best pairs, and a bound for all others.
3. Augmenting row reduction matches most rows within their lists. Rows that come to the end of theirs
   get a new one under the present duals.
4. Shortest augmenting paths match the rest, computing further rows only where they must
   (:mod:`lslmatch.assignment.augmentation`). The duals are feasible for every pair throughout.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lslmatch._threads import over_rows, useful_workers
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.augmentation import Lists, augment_all, reduce_free_rows
from lslmatch.assignment.dense import Duals, solve_dense
from lslmatch.assignment.probe import Outlook, probe
from lslmatch.assignment.screening import (
    Pairs,
    bounds_of_keys,
    column_factors,
    find_best,
    find_nearest,
    price_pairs,
    room_for_lanes,
)
from lslmatch.assignment.tile_order import route_by_gaps, whole_route
from lslmatch.costs import CostRule, cost_matrix
from lslmatch.geometry.boxes import CLEARLY, Boxes, bound_groups, sort_by_region, squared_gaps
from lslmatch.geometry.coordinates import Geometry
from lslmatch.geometry.tiles import TILE_ROWS, cut_tiles

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
#: Regions of space are worth a try from this number of pairs on, up to this dimension, if more than this
#: share of a few points and their nearest partners are mutual, and at most this share of the regions is near.
_REGION_PAIRS = 4000**2
_REGION_DIMENSIONS = 12
_MOSTLY_MUTUAL = 0.75
_SEEN = 0.5
#: Sweeps of augmenting row reduction, with new lists for the rows that need them in between.
_SWEEPS = 8
#: With so small a share of free rows another sweep does not pay.
_FEW_FREE = 0.002
#: After as much work as so many passes over all pairs, the dense solver is the last resort, up to so many
#: times _DENSE_PAIRS (122 MiB).
_MOST_PASSES = 100
_RESORT = 25
#: Rows that a worker takes at a time: so many, but of long rows only as many as have so many coordinates
#: (half a second), so that Ctrl-C is heard. A pair takes as long as so many coordinates beyond its own.
_BLOCK_ROWS = 512
_BLOCK_COORDINATES = 1 << 32
_PAIR_COORDINATES = 16
#: Free rows that augmenting row reduction takes at a time, for the same reason.
_REDUCED_ROWS = 1 << 13


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
    pairs = _prepare(geometry, rule)
    state = Duals(np.zeros(n), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))
    free_rows = np.arange(n)
    if col_dual is None:
        outlook = probe(geometry)
        found = _find_nearest_by_region(pairs, outlook, workers)
        if found is None:
            if outlook.mutual < 1.0 and n * m <= _KEPT_PAIRS:
                pairs = _keeping(pairs)
            found = _find_nearest(_leading(pairs, outlook.dimensions), workers)
        nearest, bound, col_least = found
        least = _price(pairs, nearest)
        conflicts = n - _count_distinct(nearest, m)
        if not conflicts and (least <= bound).all():
            state.row_dual[:] = least
            state.col_of_row[:] = nearest
            state.row_of_col[nearest] = free_rows
            return state
        if conflicts > _MANY_CONFLICTS * n and n * m <= _DENSE_PAIRS:
            return _solve_densely(geometry, rule, workers)
    size = min(_LIST, m)
    lists = Lists(np.zeros((n, size), np.intp), np.full((n, size), np.inf), np.empty(n))
    exhausted, few = free_rows, col_dual is not None or outlook.mutual > 0.5
    if col_dual is not None:
        # Column duals only ever fall: without a fixed level one start after the other would sink without end.
        state.col_dual[:] = col_dual - col_dual.max()
    elif n == m and conflicts > _MANY_CONFLICTS * n:
        state.col_dual[:] = col_least
    else:
        # The nearest partner is a list of one, and the second nearest bounds the others.
        lists.col[:], lists.cost[:, 0], lists.bound[:] = nearest[:, None], least, bound
        exhausted = free_rows[least > bound]
    for _ in range(_SWEEPS):
        if free_rows.size <= _FEW_FREE * n:
            break
        _renew_lists(pairs, lists, state, exhausted, _SHORT_LIST if few else size, workers)
        few = False
        parts = [free_rows[k : k + _REDUCED_ROWS] for k in range(0, free_rows.size, _REDUCED_ROWS)]
        free_rows = np.concatenate([part[: reduce_free_rows(lists, state, part)] for part in parts])
        exhausted = free_rows[state.row_dual[free_rows] >= lists.bound[free_rows]]
    # Where sets are far apart, a cost is nearly the sum of one of its row and one of its column, and all
    # pairs would be computed again and again.
    has_resort = n * m <= _RESORT * _DENSE_PAIRS
    if augment_all(pairs, lists, state, free_rows, _MOST_PASSES if has_resort else math.inf):
        return state
    return _solve_densely(geometry, rule, workers)


def exceeds(geometry: Geometry, rule: CostRule, limit: float, *, workers: int = 1) -> bool:
    """Say whether the rows' least costs alone (n <= m) add up to more than a limit: then all matchings do."""
    pairs = _prepare(geometry, rule)
    nearest, bound, _ = _find_nearest(pairs, workers)
    least = _price(pairs, nearest)
    return bool((np.minimum(least, bound) + rule.offset).sum() > limit)


def _leading(pairs: Pairs, dimensions: int | None) -> Pairs:
    """Return the pairs with distances in the leading dimensions only, never above those in all."""
    if dimensions is None:
        return pairs
    return pairs._replace(tiles=cut_tiles(pairs.geometry, pairs.tiles.a.dtype.type, dimensions))


def _prepare(geometry: Geometry, rule: CostRule) -> Pairs:
    single = rule.logarithm and geometry.a.shape[1] <= _SINGLE_DIMENSIONS
    tiles = cut_tiles(geometry, np.float32 if single else np.float64)
    infinity = _bits(np.full(1, np.inf, tiles.a.dtype))[0]
    return Pairs(geometry, tiles, rule, np.empty((0, 0), tiles.a.dtype), infinity)


def _keeping(pairs: Pairs) -> Pairs:
    """Make room for the squared distances, which the first pass over all pairs will fill."""
    shape = pairs.geometry.shape[0], pairs.tiles.b_squares.size
    return pairs._replace(squares=np.empty(shape, pairs.tiles.a.dtype))


def _solve_densely(geometry: Geometry, rule: CostRule, workers: int) -> Duals:
    solution = solve_dense(cost_matrix(geometry, rule._replace(offset=0.0), workers))
    assert solution is not None, "all costs are finite"
    return solution


def _find_nearest_by_region(
    pairs: Pairs, outlook: Outlook, workers: int
) -> tuple[IntArray, FloatArray, FloatArray] | None:
    """Do what `_find_nearest` does, but leave far regions out; None if that does not help.

    There are no least costs of the columns then, for which all pairs would have to be seen.
    """
    a, b = pairs.geometry.a, pairs.geometry.b
    hopeful = outlook.mutual > _MOSTLY_MUTUAL and a.shape[1] <= _REGION_DIMENSIONS
    if not (hopeful and pairs.rule.logarithm and len(a) * len(b) >= _REGION_PAIRS):
        return None
    cols = pairs.tiles.b.shape[2]
    col_order = sort_by_region(b, cols)
    boxes = bound_groups(b[col_order], cols)
    gaps = np.array([squared_gaps(Boxes(point, point), boxes) for point in a[outlook.rows]])
    if np.mean(CLEARLY * gaps <= outlook.least[:, None]) > _SEEN:
        return None
    row_order = sort_by_region(a, _BLOCK_ROWS)
    orders = row_order, col_order, row_order, col_order
    ordered = Geometry(*(part[order] for part, order in zip(pairs.geometry, orders, strict=True)))
    tiles = cut_tiles(ordered, pairs.tiles.a.dtype.type)
    found, found_bound, _ = _find_nearest(pairs._replace(geometry=ordered, tiles=tiles), workers, boxes)
    if _count_distinct(found, len(b)) < (1.0 - _MANY_CONFLICTS) * found.size:
        return None
    nearest, bound = np.empty_like(found), np.empty_like(found_bound)
    nearest[row_order], bound[row_order] = col_order[found], found_bound
    return nearest, bound, np.empty(0)


def _find_nearest(
    pairs: Pairs, workers: int, boxes: Boxes | None = None
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return each row's nearest column, a bound for its other pairs, and each column's least reduced cost.

    With the tiles' boxes, points being sorted by regions, only what is not too far is looked at.
    """
    n, m = pairs.geometry.shape
    nearest = np.zeros(n, np.intp)
    row_keys = np.full((n, 2), np.inf, pairs.tiles.a.dtype)
    step = _block_rows(pairs) if boxes is None else _BLOCK_ROWS
    room = useful_workers(n, step, workers), pairs.tiles.b_squares.size
    col_keys = np.full(room, np.inf, pairs.tiles.a.dtype)
    row_bits, col_bits = _bits(row_keys), _bits(col_keys)

    def run(worker: int, first: int, last: int) -> None:
        route = whole_route(pairs) if boxes is None else route_by_gaps(pairs, boxes, first, last)
        find_nearest(pairs, route, first, last, nearest, row_bits, col_bits[worker])

    over_rows(run, n, step, workers)
    col_least = col_keys[:, :m].min(axis=0)
    return nearest, bounds_of_keys(pairs, 0.0, row_keys[:, 1]), bounds_of_keys(pairs, 0.0, col_least)


def _renew_lists(pairs: Pairs, lists: Lists, state: Duals, rows: IntArray, size: int, workers: int) -> None:
    """Give some rows new lists of at most `size` pairs, and bounds, under the present duals."""
    if not rows.size:
        return
    size = min(size, lists.col.shape[1])
    cols, costs = np.empty((rows.size, size), np.intp), np.empty((rows.size, size))
    bound = np.empty(rows.size)
    factors = column_factors(pairs, state.col_dual)

    def run(worker: int, first: int, last: int) -> None:
        lanes = room_for_lanes(pairs)
        find_best(pairs, factors, rows[first:last], lanes, cols[first:last], bound[first:last])
        price_pairs(pairs, rows[first:last], cols[first:last], costs[first:last])

    over_rows(run, rows.size, _block_rows(pairs), workers)
    lists.cost[rows] = np.inf
    lists.cost[rows, :size] = costs
    lists.col[rows, :size], lists.bound[rows] = np.maximum(cols, 0), bound


def _count_distinct(cols: IntArray, m: int) -> int:
    is_there = np.zeros(m, np.bool_)
    is_there[cols] = True
    return int(is_there.sum())


def _block_rows(pairs: Pairs) -> int:
    m, d = pairs.geometry.b.shape
    return min(_BLOCK_ROWS, max(TILE_ROWS, _BLOCK_COORDINATES // (m * (d + _PAIR_COORDINATES))))


def _bits(keys: NDArray[np.floating]) -> NDArray[np.signedinteger]:
    return keys.view(f"i{keys.itemsize}")


def _price(pairs: Pairs, nearest: IntArray) -> FloatArray:
    """Compute the exact cost of every row's nearest pair."""
    costs = np.empty((nearest.size, 1))
    price_pairs(pairs, np.arange(nearest.size), nearest[:, None], costs)
    return costs[:, 0]
