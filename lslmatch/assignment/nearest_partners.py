"""The pass over all pairs that finds every row's nearest column, without far regions where that helps.

A block of rows goes over the tiles of columns in an order. If points are sorted by regions of space, each
tile has a box around its points: tiles are visited from near to far, and those that are too far for any
row of the block are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._cluster import lent_cluster, row_shares
from lslmatch._jit import kernel
from lslmatch._threads import over_rows, useful_workers
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.least_values import (
    copy_values,
    fold_to_lanes,
    lower_to,
    note_two_least,
)
from lslmatch.assignment.probe import Outlook
from lslmatch.assignment.screening import (
    PairScreen,
    bit_patterns,
    bounds_at_no_duals,
    divide_by_weights,
    price_pairs,
)
from lslmatch.assignment.settings import SolverSettings
from lslmatch.geometry.boxes import CLEARLY, Boxes, bound_groups, sort_by_region, squared_gap, squared_gaps
from lslmatch.geometry.panels import FEW_ROWS
from lslmatch.geometry.tiles import (
    GREATEST_SQUARE,
    TILE_ROWS,
    compute_anew,
    cut_tiles,
    empty_in_line,
    expand_tile,
)


class NearestPartners(NamedTuple):
    """What one pass tells about the rows and columns, at column duals of 0."""

    col: IntArray  # (n,) the nearest column of each row
    bound: FloatArray  # (n,) a lower bound of the costs of the row's other pairs
    col_least: FloatArray  # (m,) a lower bound of each column's costs; (0,) if far regions were left out

    def distinct(self, m: int) -> int:
        """Count the columns, out of m, that are the nearest of some row."""
        is_nearest = np.zeros(m, np.bool_)
        is_nearest[self.col] = True
        return int(is_nearest.sum())

    def costs(self, screen: PairScreen) -> FloatArray:
        """Compute the exact cost of every row and its nearest column."""
        costs = np.empty((self.col.size, 1))
        price_pairs(screen.geometry, screen.rule, np.arange(self.col.size), self.col[:, None], costs)
        return costs[:, 0]


class TileOrder(NamedTuple):
    """The order in which a block of rows goes over the tiles, and from where on tiles are too far.

    `least` holds bit patterns: no pair with a tile, or with one that comes after it, has a lesser value.
    """

    tile: IntArray  # (tiles,)
    least: NDArray[np.signedinteger]  # (tiles,)
    low: FloatArray  # (tiles, d) corners of the tiles' boxes; (0, d) if all tiles are to be seen
    high: FloatArray


def find_nearest_partners(
    screen: PairScreen, settings: SolverSettings, workers: int, boxes: Boxes | None = None
) -> NearestPartners:
    """Find each row's nearest column, a bound for its other pairs, and each column's least cost.

    If the tiles' boxes are given, points being sorted by regions, tiles that are too far are left out.
    """
    n, m = screen.geometry.shape
    step = screen.block_rows(settings) if boxes is None else settings.block_rows
    cluster = None if screen.squares.size else lent_cluster(n * m)
    if cluster is None:
        nearest, row_least, col_least = _least_values(screen, step, boxes, 0, n, workers)
    else:
        shares = row_shares(n, step, cluster.shares)
        found = cluster.map(_least_values, (screen, step, boxes), shares)
        nearest, row_least = (np.concatenate(parts) for parts in list(zip(*found, strict=True))[:2])
        col_least = np.min([part[2] for part in found], axis=0)
    row_bound = bounds_at_no_duals(screen, row_least[:, 1])
    return NearestPartners(nearest, row_bound, bounds_at_no_duals(screen, col_least[:m]))


def _least_values(
    screen: PairScreen, step: int, boxes: Boxes | None, start: int, stop: int, workers: int = 1
) -> tuple[IntArray, NDArray[np.floating], NDArray[np.floating]]:
    """Give for some rows the nearest column and the two least values, and the least values of all columns."""
    part, n = screen.of_rows(start, stop), stop - start
    dtype = screen.tiles.a.dtype
    nearest = np.zeros(n, np.intp)
    row_least = np.full((n, 2), np.inf, dtype)
    room = useful_workers(n, step, workers), screen.tiles.b_squares.size
    col_least = empty_in_line(room, dtype)
    col_least[:] = np.inf
    row_bits, col_bits = bit_patterns(row_least), bit_patterns(col_least)

    def run(worker: int, first: int, last: int) -> None:
        order = all_tiles(part) if boxes is None else tiles_by_gap(part, boxes, first, last)
        block = empty_in_line((FEW_ROWS, part.tiles.b_squares.shape[1]), dtype)
        _pass_over_tiles(part, order, first, last, nearest, row_bits, col_bits[worker], block, part.lanes())

    over_rows(run, n, step, workers)
    return nearest, row_least, col_least.min(axis=0)


def find_nearest_by_region(
    screen: PairScreen, outlook: Outlook, settings: SolverSettings, workers: int
) -> NearestPartners | None:
    """Do what `find_nearest_partners` does, but leave far regions out; None if that does not help.

    There are no least costs of the columns then, for which all pairs would have to be seen.
    """
    a, b = screen.geometry.a, screen.geometry.b
    hopeful = outlook.mutual > settings.region_mutual and a.shape[1] <= settings.region_dimensions
    if not (hopeful and not screen.x_weight.size and len(a) * len(b) >= settings.region_pairs):
        return None
    cols = screen.tiles.b_squares.shape[1]
    col_order = sort_by_region(b, cols)
    boxes = bound_groups(b[col_order], cols)
    gaps = np.array([squared_gaps(Boxes(point, point), boxes) for point in a[outlook.rows]])
    if np.mean(CLEARLY * gaps <= outlook.least[:, None]) > settings.region_near:
        return None
    row_order = sort_by_region(a, settings.block_rows)
    ordered = screen.geometry.taken(row_order, col_order)
    tiles = cut_tiles(ordered, screen.tiles.a.dtype.type, columns=cols)
    found = find_nearest_partners(screen._replace(geometry=ordered, tiles=tiles), settings, workers, boxes)
    if found.distinct(len(b)) < (1.0 - settings.many_conflicts) * found.col.size:
        return None
    nearest, bound = np.empty_like(found.col), np.empty_like(found.bound)
    nearest[row_order], bound[row_order] = col_order[found.col], found.bound
    return NearestPartners(nearest, bound, np.empty(0))


def all_tiles(screen: PairScreen) -> TileOrder:
    """Visit all tiles, one after the other."""
    tiles, d = screen.tiles.b.shape[0], screen.tiles.a.shape[1]
    no_corners = np.empty((0, d))
    return TileOrder(np.arange(tiles), np.zeros(tiles, screen.infinity.dtype), no_corners, no_corners)


def tiles_by_gap(screen: PairScreen, boxes: Boxes, first: int, last: int) -> TileOrder:
    """Visit the tiles in the order of their distance from the box around rows first, ..., last - 1."""
    gaps = squared_gaps(bound_groups(screen.geometry.a[first:last], last - first), boxes)
    order = np.argsort(gaps, kind="stable")
    # (Cut off, as an infinite gap would be no lower bound of a distance that is finite.)
    least = np.minimum(CLEARLY * gaps[order], GREATEST_SQUARE).astype(screen.tiles.a.dtype)
    return TileOrder(order, least.view(screen.infinity.dtype), boxes.low, boxes.high)


@kernel
def _pass_over_tiles(screen, order, first, last, nearest, row_least, col_least, block, lanes):
    """For rows first, ..., last - 1 at column duals of 0: the nearest column, and the two least values.

    Lowers `col_least`, the columns' least values, too; both are bit patterns. Keeps the squared distances if
    they are to be kept. If tiles are left out because they are too far, a row's second least value
    is a lower bound only, and those of the columns are of no use.
    """
    geometry, tiles, _, squares, _, x_weight, y_weight, _ = screen
    tile_order, tile_least, low, high = order
    gaps = np.empty(FEW_ROWS, tiles.a.dtype)
    gap_bits = gaps.view(col_least.dtype)
    cols = tiles.b_squares.shape[1]
    limit = np.empty(1, tiles.a.dtype)
    limit_bits = limit.view(col_least.dtype)
    for start in range(first, last, TILE_ROWS):
        stop = min(start + TILE_ROWS, last)
        for s in range(tile_order.size):
            t = tile_order[s]
            reach = row_least[start, 0]
            for i in range(start, stop):
                reach = max(reach, row_least[i, 0])
            if tile_least[s] > reach:
                # So are all that come after it.
                for i in range(start, stop):
                    row_least[i, 1] = min(row_least[i, 1], tile_least[s])
                break
            col_part, b_limits = col_least[t * cols : (t + 1) * cols], tiles.b_limits[t]
            b_limit = b_limits[0]
            for j in range(1, cols):
                b_limit = max(b_limit, b_limits[j])
            for few in range(start, stop, FEW_ROWS):
                few_stop = min(few + FEW_ROWS, stop)
                if low.shape[0]:
                    all_far = True
                    for i in range(few, few_stop):
                        gap = CLEARLY * squared_gap(geometry.a[i], low[t], high[t])
                        gaps[i - few] = min(gap, GREATEST_SQUARE)
                        all_far &= gap_bits[i - few] > row_least[i, 0]
                    if all_far:
                        for i in range(few, few_stop):
                            row_least[i, 1] = min(row_least[i, 1], gap_bits[i - few])
                        continue
                expand_tile(tiles, few, few_stop, t, block)
                for i in range(few, few_stop):
                    values = block[i - few]
                    bits = values.view(col_least.dtype)
                    limit[0] = tiles.a_limits[i] + b_limit
                    # Once; again if values were corrected; and again if they are divided by weights.
                    corrected = divided = False
                    while True:
                        least = fold_to_lanes(bits, lanes)
                        # (A square that is negative by rounding is less than all others as an integer, too.)
                        if not corrected and least < limit_bits[0]:
                            corrected = True
                            if compute_anew(geometry, i, t * cols, values, tiles.a_limits[i], b_limits):
                                continue
                        if divided:
                            break
                        if squares.shape[0]:
                            copy_values(values, squares[i, t * cols : (t + 1) * cols])
                        if not x_weight.size:
                            break
                        divide_by_weights(x_weight, y_weight, i, t * cols, values)
                        corrected = divided = True
                    lower_to(bits, col_part)
                    if least < row_least[i, 1]:
                        note_two_least(bits, lanes, t * cols, row_least[i], nearest, i)
