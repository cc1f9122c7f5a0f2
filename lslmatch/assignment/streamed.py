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
from lslmatch.assignment.settings import SolverSettings, or_default
from lslmatch.assignment.tile_order import route_by_gaps, whole_route
from lslmatch.costs import CostRule, cost_matrix
from lslmatch.geometry.boxes import CLEARLY, Boxes, bound_groups, sort_by_region, squared_gaps
from lslmatch.geometry.coordinates import Geometry
from lslmatch.geometry.tiles import TILE_ROWS, cut_tiles


def solve_streamed(
    geometry: Geometry,
    rule: CostRule,
    *,
    workers: int = 1,
    col_dual: FloatArray | None = None,
    settings: SolverSettings | None = None,
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
    settings : SolverSettings, optional
        When to try what; the default ones unless given.
    """
    settings = or_default(settings)
    n, m = geometry.shape
    if col_dual is None and n * m <= min(settings.small_pairs, settings.dense_pairs):
        return _solve_densely(geometry, rule, workers)
    pairs = _prepare(geometry, rule, settings)
    state = Duals(np.zeros(n), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))
    free_rows = np.arange(n)
    if col_dual is None:
        outlook = probe(geometry)
        found = _find_nearest_by_region(pairs, outlook, settings, workers)
        if found is None:
            if outlook.mutual < 1.0 and n * m <= settings.kept_pairs:
                pairs = _keeping(pairs)
            found = _find_nearest(_leading(pairs, outlook.dimensions), settings, workers)
        nearest, bound, col_least = found
        least = _price(pairs, nearest)
        conflicts = n - _count_distinct(nearest, m)
        if not conflicts and (least <= bound).all():
            state.row_dual[:] = least
            state.col_of_row[:] = nearest
            state.row_of_col[nearest] = free_rows
            return state
        if conflicts > settings.many_conflicts * n and n * m <= settings.dense_pairs:
            return _solve_densely(geometry, rule, workers)
    size = min(settings.list_size, m)
    lists = Lists(np.zeros((n, size), np.intp), np.full((n, size), np.inf), np.empty(n))
    exhausted, few = free_rows, col_dual is not None or outlook.mutual > 0.5
    if col_dual is not None:
        # Column duals only ever fall: without a fixed level one start after the other would sink without end.
        state.col_dual[:] = col_dual - col_dual.max()
    elif n == m and conflicts > settings.many_conflicts * n:
        state.col_dual[:] = col_least
    else:
        # The nearest partner is a list of one, and the second nearest bounds the others.
        lists.col[:], lists.cost[:, 0], lists.bound[:] = nearest[:, None], least, bound
        exhausted = free_rows[least > bound]
    for _ in range(settings.sweeps):
        if free_rows.size <= settings.few_free * n:
            break
        list_size = settings.short_list_size if few else size
        _renew_lists(pairs, lists, state, exhausted, list_size, _block_rows(pairs, settings), workers)
        few = False
        step = settings.reduced_rows
        parts = [free_rows[k : k + step] for k in range(0, free_rows.size, step)]
        free_rows = np.concatenate([part[: reduce_free_rows(lists, state, part)] for part in parts])
        exhausted = free_rows[state.row_dual[free_rows] >= lists.bound[free_rows]]
    # Where sets are far apart, a cost is nearly the sum of one of its row and one of its column, and all
    # pairs would be computed again and again.
    has_resort = n * m <= settings.last_resort * settings.dense_pairs
    most_passes = settings.most_passes if has_resort else math.inf
    if augment_all(pairs, lists, state, free_rows, settings.steps_per_call, most_passes):
        return state
    return _solve_densely(geometry, rule, workers)


def exceeds(
    geometry: Geometry,
    rule: CostRule,
    limit: float,
    *,
    workers: int = 1,
    settings: SolverSettings | None = None,
) -> bool:
    """Say whether the rows' least costs alone (n <= m) add up to more than a limit: then all matchings do."""
    settings = or_default(settings)
    pairs = _prepare(geometry, rule, settings)
    nearest, bound, _ = _find_nearest(pairs, settings, workers)
    least = _price(pairs, nearest)
    return bool((np.minimum(least, bound) + rule.offset).sum() > limit)


def _leading(pairs: Pairs, dimensions: int | None) -> Pairs:
    """Return the pairs with distances in the leading dimensions only, never above those in all."""
    if dimensions is None:
        return pairs
    dtype, columns = pairs.tiles.a.dtype.type, pairs.tiles.b.shape[2]
    return pairs._replace(tiles=cut_tiles(pairs.geometry, dtype, dimensions, columns))


def _prepare(geometry: Geometry, rule: CostRule, settings: SolverSettings) -> Pairs:
    single = rule.logarithm and geometry.a.shape[1] <= settings.single_precision_dimensions
    dtype = np.float32 if single else np.float64
    tiles = cut_tiles(geometry, dtype, columns=settings.tile_columns)
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
    pairs: Pairs, outlook: Outlook, settings: SolverSettings, workers: int
) -> tuple[IntArray, FloatArray, FloatArray] | None:
    """Do what `_find_nearest` does, but leave far regions out; None if that does not help.

    There are no least costs of the columns then, for which all pairs would have to be seen.
    """
    a, b = pairs.geometry.a, pairs.geometry.b
    hopeful = outlook.mutual > settings.region_mutual and a.shape[1] <= settings.region_dimensions
    if not (hopeful and pairs.rule.logarithm and len(a) * len(b) >= settings.region_pairs):
        return None
    cols = pairs.tiles.b.shape[2]
    col_order = sort_by_region(b, cols)
    boxes = bound_groups(b[col_order], cols)
    gaps = np.array([squared_gaps(Boxes(point, point), boxes) for point in a[outlook.rows]])
    if np.mean(CLEARLY * gaps <= outlook.least[:, None]) > settings.region_near:
        return None
    row_order = sort_by_region(a, settings.block_rows)
    orders = row_order, col_order, row_order, col_order
    ordered = Geometry(*(part[order] for part, order in zip(pairs.geometry, orders, strict=True)))
    tiles = cut_tiles(ordered, pairs.tiles.a.dtype.type, columns=cols)
    pairs = pairs._replace(geometry=ordered, tiles=tiles)
    found, found_bound, _ = _find_nearest(pairs, settings, workers, boxes)
    if _count_distinct(found, len(b)) < (1.0 - settings.many_conflicts) * found.size:
        return None
    nearest, bound = np.empty_like(found), np.empty_like(found_bound)
    nearest[row_order], bound[row_order] = col_order[found], found_bound
    return nearest, bound, np.empty(0)


def _find_nearest(
    pairs: Pairs, settings: SolverSettings, workers: int, boxes: Boxes | None = None
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return each row's nearest column, a bound for its other pairs, and each column's least reduced cost.

    With the tiles' boxes, points being sorted by regions, only what is not too far is looked at.
    """
    n, m = pairs.geometry.shape
    nearest = np.zeros(n, np.intp)
    row_keys = np.full((n, 2), np.inf, pairs.tiles.a.dtype)
    step = _block_rows(pairs, settings) if boxes is None else settings.block_rows
    room = useful_workers(n, step, workers), pairs.tiles.b_squares.size
    col_keys = np.full(room, np.inf, pairs.tiles.a.dtype)
    row_bits, col_bits = _bits(row_keys), _bits(col_keys)

    def run(worker: int, first: int, last: int) -> None:
        route = whole_route(pairs) if boxes is None else route_by_gaps(pairs, boxes, first, last)
        find_nearest(pairs, route, first, last, nearest, row_bits, col_bits[worker])

    over_rows(run, n, step, workers)
    col_least = col_keys[:, :m].min(axis=0)
    return nearest, bounds_of_keys(pairs, 0.0, row_keys[:, 1]), bounds_of_keys(pairs, 0.0, col_least)


def _renew_lists(
    pairs: Pairs, lists: Lists, state: Duals, rows: IntArray, size: int, step: int, workers: int
) -> None:
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

    over_rows(run, rows.size, step, workers)
    lists.cost[rows] = np.inf
    lists.cost[rows, :size] = costs
    lists.col[rows, :size], lists.bound[rows] = np.maximum(cols, 0), bound


def _count_distinct(cols: IntArray, m: int) -> int:
    is_there = np.zeros(m, np.bool_)
    is_there[cols] = True
    return int(is_there.sum())


def _block_rows(pairs: Pairs, settings: SolverSettings) -> int:
    m, d = pairs.geometry.b.shape
    coordinates_of_row = m * (d + settings.pair_overhead)
    return min(settings.block_rows, max(TILE_ROWS, settings.block_coordinates // coordinates_of_row))


def _bits(keys: NDArray[np.floating]) -> NDArray[np.signedinteger]:
    return keys.view(f"i{keys.itemsize}")


def _price(pairs: Pairs, nearest: IntArray) -> FloatArray:
    """Compute the exact cost of every row's nearest pair."""
    costs = np.empty((nearest.size, 1))
    price_pairs(pairs, np.arange(nearest.size), nearest[:, None], costs)
    return costs[:, 0]
