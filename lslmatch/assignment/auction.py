"""Column duals by an auction, for sets where many rows want the same few columns.

That is so where sets are apart, where one is wide and the other narrow, or where a part of the one has no
counterpart. From the columns' least costs, shortest paths are long there: each reaches nearly all points.

In an auction (Bertsekas, Annals of Operations Research 14, 1988) a free row takes its best column, whose dual
falls until the second best is as good, and by a *step* more; the row that held the column is free then. With
large steps few bids match all rows, and the duals are right up to a few steps. All rows are freed, and
the next auction goes on from these duals with smaller steps. The last steps are small beside what tells
neighbouring columns apart, so that nearly all rows find their columns at once.

Nothing here has to be exact: the duals are a start. So a row also bids within a list that has come to
its end, as long as no other column can be better than the best of the list by more than some steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import kernel, step_kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.least_values import choose_least
from lslmatch.assignment.screening import (
    PairScreen,
    bound_of_value,
    column_factor,
    column_factors,
    price_pairs,
    price_row,
    screen_row,
)
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.shortlists import Shortlists
from lslmatch.geometry.tiles import LANES, empty_in_line

#: Rows from which the parts of the costs that belong to a column alone are estimated.
_SAMPLED = 64
#: The first step, in units of what is left of the costs without the parts of rows and columns.
_FIRST_STEP = 0.5
#: Each step is 5 times the next one; the last is below the first divided by 4 n.
_RATIO = 5.0
_LAST = 4.0
#: At most 8 auctions follow, until steps are 3 % of the gap between the columns in a row's list:
#: where costs have several scales, as those of clusters far from each other, the first do not suffice.
_FURTHER = 8
_CLEAR = 0.03
_AMONG = 8
#: Steps by which a column that is not listed may be better than the best of a list.
_SLACK = 10.0
#: Bids that take about as long as a new list.
_BIDS = 64
#: Steps that are less than this share of the greatest dual get lost in it.
_ROUNDING = 2.0**-48


class _Auction(NamedTuple):
    """What one auction goes on with after a return to Python."""

    row_of_col: IntArray  # (m,) who has a column (-1: nobody)
    queue: IntArray  # (n,) the free rows, in a ring
    ends: IntArray  # (2,) where the ring begins, and how many there are
    values: NDArray[np.floating]  # one row of screening values, padded as tiles are
    lanes: NDArray[np.signedinteger]  # what finding the least of them needs


def bid_for_columns(screen: PairScreen, lists: Shortlists, settings: SolverSettings) -> FloatArray:
    """Hold auctions with smaller and smaller steps, n = m; fill the lists, and return the column duals."""
    n, m = screen.geometry.shape
    col_dual, spread = _split_costs(screen)
    block_rows = screen.block_rows(settings)
    # Each row makes its list when it bids for the first time.
    lists.bound[:] = -np.inf
    auction = _Auction(
        np.empty(m, np.intp),
        np.empty(n, np.intp),
        np.empty(2, np.intp),
        empty_in_line((screen.tiles.b_squares.size,), screen.tiles.a.dtype),
        screen.lanes(),
    )
    step, count = _FIRST_STEP * spread, 1 + int(math.log(n * _LAST) / math.log(_RATIO))
    for k in range(count + _FURTHER if spread > 0.0 else 0):
        if k >= count and step * _RATIO <= _CLEAR * _gap(lists, col_dual):
            break
        auction.row_of_col[:], auction.queue[:], auction.ends[:] = -1, np.arange(n), (0, n)
        factors = column_factors(screen, col_dual)
        left = settings.auction_passes * n * _BIDS
        while left > 0 and auction.ends[1] > 0:
            left -= _bid(screen, factors, lists, col_dual, auction, step, min(left, block_rows * _BIDS))
        step /= _RATIO
        if left <= 0 or step <= _ROUNDING * np.abs(col_dual).max():
            # Rows outbid each other without end, or would: a dual does not fall by less than its rounding.
            break
    return col_dual


def _gap(lists: Shortlists, col_dual: FloatArray) -> float:
    """Return what tells a row's best columns apart, if not much: a tenth of the rows have a lesser gap."""
    reduced = lists.cost - col_dual[lists.col]
    rank = min(_AMONG, reduced.shape[1]) - 1
    gaps = np.partition(reduced, rank, axis=1)[:, rank] - reduced.min(axis=1)
    gaps = gaps[gaps > 0.0]
    return float(np.quantile(gaps, 0.1, method="lower")) if gaps.size else math.inf


def _split_costs(screen: PairScreen) -> tuple[FloatArray, float]:
    """Take costs for sums of a part of the row, one of the column, and a rest, as some rows show.

    Returns the parts of the columns, and the standard deviation of the rest.
    """
    n, m = screen.geometry.shape
    rows = np.linspace(0, n - 1, min(n, _SAMPLED)).astype(np.intp)
    costs = np.empty((rows.size, m))
    price_pairs(screen.geometry, screen.rule, rows, np.tile(np.arange(m), (rows.size, 1)), costs)
    col_part = costs.mean(axis=0)
    rest = costs - col_part
    rest -= rest.mean(axis=1, keepdims=True)
    # In units of the greatest, whose square may be out of range.
    unit = float(np.abs(rest).max()) or 1.0
    return col_part, unit * float((rest / unit).std())


@kernel
def _bid(screen, factors, lists, col_dual, auction, step, most):
    """Let free rows bid until none is free, or after `most` bids; a new list counts as _BIDS of them.

    Returns the number of bids.
    """
    list_col, list_cost, list_bound = lists
    row_of_col, queue, ends, values, lanes = auction
    head, free = ends
    bids = 0
    while free > 0 and bids < most:
        bids += 1
        i = queue[head]
        head = head + 1 if head + 1 < queue.size else 0
        is_new = False
        while True:
            best, second, j = np.inf, np.inf, 0
            for k in range(list_col.shape[1]):
                col = list_col[i, k]
                reduced = list_cost[i, k] - col_dual[col]
                if reduced < best:
                    second, best, j = best, reduced, col
                elif reduced < second:
                    second = reduced
            if is_new or best <= list_bound[i] + _SLACK * step:
                break
            _renew_list(screen, factors, lists, values, lanes, i)
            bids += _BIDS
            is_new = True
        second = min(second, list_bound[i])
        col_dual[j] -= max(second - best, 0.0) + step
        factors.factor[j] = column_factor(screen, factors.top, col_dual[j])
        holder = row_of_col[j]
        row_of_col[j] = i
        if holder < 0:
            free -= 1
        else:
            end = head + free - 1
            queue[end if end < queue.size else end - queue.size] = holder
    ends[0], ends[1] = head, free
    return bids


@step_kernel
def _renew_list(screen, factors, lists, values, lanes, i):
    """List the best pairs of a row under the present column duals."""
    cols, costs = lists.col[i], lists.cost[i]
    screen_row(screen, factors, i, values)
    count = choose_least(values.view(lanes.dtype), lanes, screen.infinity, cols, min(cols.size, LANES))
    price_row(screen.geometry, screen.rule, i, cols[:count], costs)
    lists.bound[i] = bound_of_value(screen, factors.top, lanes[:1].view(values.dtype)[0])
    for k in range(count, cols.size):
        cols[k], costs[k] = 0, np.inf
