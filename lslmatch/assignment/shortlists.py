"""Shortlists: the few best pairs of each row, and what can be matched within them.

A row's shortlist holds its best pairs under some column duals, and a bound: no other pair of the row has a
lower reduced cost. Column duals only ever fall, which raises reduced costs, so the bound stays valid. A row
whose best listed pair is worse than the bound has come to the end of its list, and needs a new one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._cluster import lent_cluster, row_shares
from lslmatch._jit import kernel
from lslmatch._threads import over_rows
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.dense import DualState
from lslmatch.assignment.least_values import choose_least, copy_values
from lslmatch.assignment.screening import (
    ColumnFactors,
    PairScreen,
    bound_of_value,
    column_factors,
    price_pairs,
    turn_to_values,
)
from lslmatch.geometry.panels import FEW_ROWS
from lslmatch.geometry.tiles import LANES, Tiles, correct_cancelled, expand_tile

#: Rows whose screening values are computed before the least of each are chosen.
_GROUP_ROWS = 16
#: Row scans of augmenting row reduction for each free row.
_SCANS_PER_ROW = 128


class Shortlists(NamedTuple):
    """The best pairs of each row: columns and costs, and a lower bound of all other reduced costs."""

    col: IntArray  # (n, size)
    cost: FloatArray  # (n, size) infinite where there is no pair
    bound: FloatArray  # (n,)

    @classmethod
    def empty(cls, n: int, size: int) -> Shortlists:
        """Make room for `size` pairs a row; the bounds are to be filled."""
        return cls(np.zeros((n, size), np.intp), np.full((n, size), np.inf), np.empty(n))


def renew_shortlists(
    screen: PairScreen,
    lists: Shortlists,
    col_dual: FloatArray,
    rows: IntArray,
    size: int,
    block_rows: int,
    workers: int,
    first_pass: bool = False,
) -> None:
    """Give some rows new lists of at most `size` pairs, and bounds, under the present column duals.

    In a first pass over all pairs, squared distances that are to be kept are computed and kept.
    """
    if not rows.size:
        return
    size = min(size, lists.col.shape[1])
    factors = column_factors(screen, col_dual)
    cluster = None if screen.squares.size else lent_cluster(rows.size * col_dual.size)
    if cluster is None:
        cols, costs, bound = _choose_for(screen, factors, size, block_rows, rows, workers, first_pass)
    else:
        shares = [(rows[p:q],) for p, q in row_shares(rows.size, 1, cluster.shares)]
        found = cluster.map(_choose_for, (screen, factors, size, block_rows), shares)
        cols, costs, bound = (np.concatenate(parts) for parts in zip(*found, strict=True))
    lists.cost[rows] = np.inf
    lists.cost[rows, :size] = costs
    lists.col[rows, :size], lists.bound[rows] = np.maximum(cols, 0), bound


def _choose_for(
    screen: PairScreen,
    factors: ColumnFactors,
    size: int,
    block_rows: int,
    rows: IntArray,
    workers: int = 1,
    first_pass: bool = False,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Choose the best pairs of some rows, and give their columns, their costs and bounds of all others."""
    cols, costs = np.empty((rows.size, size), np.intp), np.empty((rows.size, size))
    bound = np.empty(rows.size)

    def run(worker: int, first: int, last: int) -> None:
        some = rows[first:last]
        part = screen
        if first_pass or not screen.squares.size:
            part = screen._replace(tiles=_rows_of(screen.tiles, some))
        _choose_pairs(part, factors, some, first_pass, screen.lanes(), cols[first:last], bound[first:last])
        price_pairs(screen.geometry, screen.rule, some, cols[first:last], costs[first:last])

    over_rows(run, rows.size, block_rows, workers)
    return cols, costs, bound


def _rows_of(tiles: Tiles, rows: IntArray) -> Tiles:
    """Return the tiles of some rows only."""
    a, squares, limits = tiles.a[rows], tiles.a_squares[rows], tiles.a_limits[rows]
    return tiles._replace(a=a, a_squares=squares, a_limits=limits)


def reduce_rows(
    lists: Shortlists, state: DualState, free_rows: IntArray, rows_per_call: int, price: float = math.inf
) -> IntArray:
    """Match free rows within their lists, and return those that are still to be matched.

    The kernel takes `rows_per_call` rows at a time, so that Ctrl-C is heard in between. Rows without a pair
    that is worth the price stay alone, with the price as their dual.
    """
    if not free_rows.size:
        return free_rows
    parts = [free_rows[k : k + rows_per_call] for k in range(0, free_rows.size, rows_per_call)]
    return np.concatenate([part[: _reduce_free_rows(lists, state, part, price)] for part in parts])


@kernel
def _choose_pairs(screen, factors, rows, first_pass, lanes, cols_out, bound):
    """For the given rows: the columns of the least values (-1: no more), and a bound for all the others.

    The tiles are those of the given rows only, unless squared distances were kept by an earlier pass.
    """
    geometry, tiles, rule, squares, infinity, x_weight, y_weight, _ = screen
    factor = factors.factor
    cols = tiles.b_squares.shape[1]
    block = np.empty((FEW_ROWS, cols), tiles.a.dtype)
    values = np.empty((_GROUP_ROWS, tiles.b_squares.size), tiles.a.dtype)
    for start in range(0, rows.size, _GROUP_ROWS):
        stop = min(start + _GROUP_ROWS, rows.size)
        if first_pass or not squares.shape[0]:
            for t in range(tiles.b.shape[0]):
                for few in range(start, stop, FEW_ROWS):
                    few_stop = min(few + FEW_ROWS, stop)
                    expand_tile(tiles, few, few_stop, t, block)
                    for r in range(few, few_stop):
                        row = values[r - start][t * cols : (t + 1) * cols]
                        copy_values(block[r - few], row)
                        correct_cancelled(
                            geometry, rows[r], t * cols, row, tiles.a_limits[r], tiles.b_limits[t]
                        )
        for r in range(start, stop):
            row = values[r - start]
            if squares.shape[0]:
                if first_pass:
                    copy_values(row, squares[rows[r]])
                else:
                    copy_values(squares[rows[r]], row)
            turn_to_values(rule, x_weight, y_weight, rows[r], 0, factor, row)
            count = choose_least(
                row.view(lanes.dtype), lanes, infinity, cols_out[r], min(cols_out.shape[1], LANES)
            )
            for k in range(count, cols_out.shape[1]):
                cols_out[r, k] = -1
            bound[r] = bound_of_value(screen, factors.top, lanes[:1].view(tiles.a.dtype)[0])


@kernel
def _reduce_free_rows(lists, state, free_rows, price):
    """Match free rows by augmenting row reduction within the shortlists, with a bounded number of scans.

    As in the dense solver: a free row takes its best column, whose dual falls until the second best
    is as good, and the row that held the column goes on; but never further than the row's bound, or
    the price. Returns how many rows are still to be matched; they come first in `free_rows`.
    """
    list_col, list_cost, list_bound = lists
    row_dual, col_dual, col_of_row, row_of_col = state
    budget = _SCANS_PER_ROW * free_rows.size
    left, taken = 0, 0
    i = -1
    while i >= 0 or taken < free_rows.size:
        if i < 0:
            i = free_rows[taken]
            taken += 1
        best, second = np.inf, np.inf
        j, other = -1, -1
        for k in range(list_col.shape[1]):
            col = list_col[i, k]
            reduced = list_cost[i, k] - col_dual[col]
            if reduced < best:
                second, other = best, j
                best, j = reduced, col
            elif reduced < second:
                second, other = reduced, col
        if best >= price and list_bound[i] >= price:
            row_dual[i] = price
            i = -1
            continue
        limit = min(second, list_bound[i], price)
        if best > limit:
            # The list is exhausted: a pair that is not in it may be better than all of it.
            row_dual[i] = limit
            free_rows[left] = i
            left += 1
            i = -1
            continue
        lowered = col_dual[j] - (limit - best)
        falls = lowered < col_dual[j] and limit < np.inf and budget > 0
        budget -= 1
        if second == best and row_of_col[j] >= 0 and row_of_col[other] < 0:
            j = other
        holder = row_of_col[j]
        if holder < 0:
            row_dual[i] = best
        elif falls:
            col_dual[j] = lowered
            row_dual[i] = limit
            col_of_row[holder] = -1
        else:
            row_dual[i] = best
            free_rows[left] = i
            left += 1
            i = -1
            continue
        col_of_row[i] = j
        row_of_col[j] = i
        i = holder
    return left
