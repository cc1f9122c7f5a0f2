"""The least-cost matchings of 1, 2, 3, ... pairs of a cost matrix, one after the other, with their proofs.

A matching of k pairs is optimal among those of k pairs if there are a *price* and duals with

    row_dual[i] <= 0,  col_dual[j] <= 0,  both 0 where unmatched,
    row_dual[i] + col_dual[j] + price <= cost[i, j]   for every pair, with equality on matched pairs:

the price is what the last pair adds. From such a matching the shortest augmenting path from any free row to
any free column leads to the best one of k + 1 pairs, and the price rises by its length. So prices never
fall, and the matching at a price has the least sum of ``cost - price`` whatever its size.

Inside, the price is part of the row duals: a matched row has ``row_dual + price``, and a free one the price
itself. Then a path changes the duals of those rows and columns only that its search has reached. A search
begins at all free rows at once: as their duals are equal, the nearest of them for a column is the one
of least cost, which is kept for every column (`_FreeRows`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import bits_of, inline_kernel, kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.dense import (
    INFINITE_BITS,
    OPERATIONS_PER_CALL,
    DenseWorkspace,
    DualState,
    close_columns,
    relax_columns,
    update_duals,
)

#: Rows of which each column's least cost is kept together: if one is matched, only these are looked at anew.
_BLOCK_ROWS = 64
#: Steps, and for each row and column changes, that a kernel records before it returns.
_RECORDED_STEPS, _RECORDED_CHANGES = 1 << 12, 4
#: What the kernel returns with: all pairs that were wanted; no other is worth the price; there is more to do.
_ENOUGH, _PRICED_OUT, _PAUSED = 0, 1, 2


class PartialSolution(NamedTuple):
    """An optimal matching of some pairs, with the duals and the price that prove it."""

    col_of_row: IntArray  # (n,) -1 where unmatched
    row_dual: FloatArray  # (n,) at most 0, and 0 where unmatched
    col_dual: FloatArray  # (m,) likewise
    price: float


class Path(NamedTuple):
    """All optimal matchings up to a number of pairs K, as the changes from one to the next.

    The items that change are the columns of the rows, the row duals with the price, and the column duals: n,
    n and m numbers in one array.
    """

    shape: tuple[int, int]
    increments: FloatArray  # (K,) what each pair adds, never falling; also the price of its matching
    totals: FloatArray  # (K,) the costs of the matchings
    ends: IntArray  # (K,) how many changes lead to each matching
    item: IntArray  # which item a change sets,
    value: FloatArray  # and to what

    def solution(self, k: int) -> PartialSolution:
        """Give the matching of k pairs, 1 <= k <= K."""
        (n, m), price, end = self.shape, float(self.increments[k - 1]), self.ends[k - 1]
        items = np.repeat([-1.0, price, 0.0], [n, n, m])
        # Of an item that is set more than once, NumPy keeps the last value.
        items[self.item[:end]] = self.value[:end]
        col_of_row, row_dual, col_dual = np.split(items, [n, 2 * n])
        return PartialSolution(col_of_row.astype(np.intp), row_dual - price, col_dual, price)


def solve_path(cost: FloatArray, most_pairs: int) -> Path:
    """Find the best matchings of 1, ..., `most_pairs` pairs, or of as many as finite costs allow."""
    growth = _Growth(cost)
    parts = []
    status = _PAUSED
    while status == _PAUSED:
        status = growth.advance(most_pairs, np.inf)
        parts.append(growth.take_record())
    offsets = np.cumsum([0, *(part.item.size for part in parts[:-1])])
    ends = [part.ends + offset for part, offset in zip(parts, offsets, strict=True)]
    columns = zip(*(part._replace(ends=end) for part, end in zip(parts, ends, strict=True)), strict=True)
    return Path(cost.shape, *map(np.concatenate, columns))


def solve_partial(
    cost: FloatArray, pairs: int = np.iinfo(np.int64).max, price: float = np.inf
) -> PartialSolution:
    """Find the best matching of `pairs` pairs, or of those that are worth a price.

    The price of the solution is what the last pair adds, or the given one.
    """
    growth = _Growth(cost)
    while growth.advance(pairs, price) == _PAUSED:
        pass  # back in Python, so that Ctrl-C is heard
    state, price = growth.state, growth.price
    row_dual = np.where(state.col_of_row >= 0, state.row_dual - price, 0.0)
    return PartialSolution(state.col_of_row, row_dual, state.col_dual, price)


class _Steps(NamedTuple):
    """What some steps changed, as in :class:`Path`."""

    increments: FloatArray
    totals: FloatArray
    ends: IntArray
    item: IntArray
    value: FloatArray


class _FreeRows(NamedTuple):
    """The least cost of every column among the free rows, by blocks of rows and in all."""

    is_free: NDArray[np.bool_]  # (n,)
    block_least: FloatArray  # (blocks, m)
    block_row: IntArray  # (blocks, m) where it is; -1 where no free row has a finite cost
    least: FloatArray  # (m,)
    row: IntArray  # (m,)
    cols: IntArray  # (m,) workspace


class _Growth:
    """A matching that grows pair by pair."""

    def __init__(self, cost: FloatArray) -> None:
        n, m = cost.shape
        self.cost = cost
        self.state = DualState(np.zeros(n), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))
        self.work = DenseWorkspace.for_duals(self.state)
        blocks = -(-n // _BLOCK_ROWS)
        self.free = _FreeRows(
            np.ones(n, np.bool_),
            np.full((blocks, m), np.inf),
            np.full((blocks, m), -1, np.intp),
            np.full(m, np.inf),
            np.full(m, -1, np.intp),
            np.arange(m),
        )
        for block in range(blocks):
            _find_least(cost, self.free, block, m)
        self.steps = _Steps(
            np.empty(_RECORDED_STEPS),
            np.empty(_RECORDED_STEPS),
            np.empty(_RECORDED_STEPS, np.intp),
            np.empty(_RECORDED_CHANGES * (2 * n + m), np.intp),
            np.empty(_RECORDED_CHANGES * (2 * n + m)),
        )
        least = self.free.least.min(initial=np.inf)
        #: price and cost of the matching so far
        self.totals = np.array([least if least < np.inf else 0.0, 0.0])
        #: pairs so far; steps and changes recorded in this call
        self.counts = np.zeros(3, np.intp)

    @property
    def price(self) -> float:
        """The price of the matching so far."""
        return float(self.totals[0])

    def advance(self, most_pairs: int, price: float) -> int:
        """Add pairs until there are enough, the next one is not worth the price, or the record is full."""
        self.counts[1:] = 0
        limits = most_pairs, price, OPERATIONS_PER_CALL
        return _add_pairs(
            self.cost, self.state, self.work, self.free, self.steps, self.totals, self.counts, limits
        )

    def take_record(self) -> _Steps:
        """Give what the last call changed."""
        _, count, changes = self.counts
        increments, totals, ends, item, value = self.steps
        return _Steps(
            increments[:count].copy(),
            totals[:count].copy(),
            ends[:count].copy(),
            item[:changes].copy(),
            value[:changes].copy(),
        )


@kernel
def _add_pairs(cost, state, work, free, steps, totals, counts, limits):
    """Augment by the shortest path from any free row to any free column, again and again."""
    n, m = cost.shape
    most_pairs, price, operations = limits
    while counts[0] < most_pairs:
        room = counts[1] < steps.ends.size and counts[2] + 2 * n + m <= steps.item.size
        if operations <= 0 or not room:
            return _PAUSED
        longest = price - totals[0]
        scans, closed, sink = _search_shortest_path(cost, state, work, free, totals[0], longest)
        if sink < 0:
            if price < np.inf:
                update_duals(state, work, scans, closed, max(longest, 0.0))
                totals[0] = price
            return _PRICED_OUT
        length = work.distance[sink]
        start, change = _flip_path(cost, state, work, free, totals[0], sink, steps, counts)
        update_duals(state, work, scans, closed, length)
        totals[0] += length
        totals[1] += change
        state.row_dual[start] = totals[0]
        _lose_row(cost, free, start)
        _record_duals(state, work, steps, counts, scans, closed, start, length)
        step = counts[1]
        steps.increments[step], steps.totals[step], steps.ends[step] = totals[0], totals[1], counts[2]
        counts[0] += 1
        counts[1] += 1
        operations -= (scans + 1) * m
    return _ENOUGH


@inline_kernel
def _search_shortest_path(cost, state, work, free, price, longest):
    """Dijkstra's search from all free rows to the nearest free column, all rows of a distance at a time.

    Returns how many matched rows were scanned, how many columns were closed, and the free column that was
    reached; -1 if none can be by a path that is shorter than `longest`.
    """
    row_dual, col_dual, row_of_col = state.row_dual, state.col_dual, state.row_of_col
    shortest, open_dual, closed_cols = work.shortest, work.open_dual, work.closed_cols
    scanned_rows, levels = work.scanned_rows, work.level
    distance, scans_before = work.distance, work.scans_before
    scans, closed, queued = 0, 0, 0
    nearest = np.inf
    for j in range(col_dual.size):
        length = max(free.least[j] - col_dual[j] - price, 0.0)
        shortest[j] = bits_of(length)
        nearest = min(nearest, length)
    while True:
        if nearest == np.inf or nearest >= longest:
            return scans, closed, -1
        level = nearest
        first = closed
        closed, sink = close_columns(shortest, row_of_col, level, closed_cols, closed)
        for k in range(first, closed):
            j = closed_cols[k]
            shortest[j], open_dual[j] = INFINITE_BITS, -np.inf
            distance[j], scans_before[j] = level, scans
            if j != sink:
                scanned_rows[queued] = row_of_col[j]
                queued += 1
        if sink >= 0:
            return scans, closed, sink
        nearest = np.inf
        while scans < queued:
            i = scanned_rows[scans]
            levels[scans] = level
            scans += 1
            nearest = relax_columns(cost, i, level - row_dual[i], level, open_dual, shortest)
            if nearest == level:
                break


@inline_kernel
def _flip_path(cost, state, work, free, price, sink, steps, counts):
    """Match along the shortest path to `sink`, going back from it to the free row where it began.

    The predecessor of a column is the free row of least cost, or a row that was scanned before the column was
    closed, whichever gives its distance, recomputed by the same operations to the last bit. Returns the
    free row, and what the matching costs more now; the new pairs are recorded.
    """
    j, change = sink, 0.0
    while True:
        if work.distance[j] == max(free.least[j] - state.col_dual[j] - price, 0.0):
            i = free.row[j]
        else:
            k = work.scans_before[j]
            i = -1
            length = np.inf
            while length != work.distance[j]:
                k -= 1
                i = work.scanned_rows[k]
                length = work.level[k] - state.row_dual[i] + (cost[i, j] - state.col_dual[j])
                length = length if length > work.level[k] else work.level[k]
        before = state.col_of_row[i]
        state.row_of_col[j] = i
        state.col_of_row[i] = j
        steps.item[counts[2]], steps.value[counts[2]] = i, j
        counts[2] += 1
        change += cost[i, j]
        if before < 0:
            return i, change
        change -= cost[i, before]
        j = before


@inline_kernel
def _record_duals(state, work, steps, counts, scans, closed, start, length):
    """Record the duals that a step changed."""
    n, at = state.row_dual.size, counts[2]
    steps.item[at], steps.value[at] = n + start, state.row_dual[start]
    at += 1
    for k in range(scans):
        if work.level[k] < length:
            i = work.scanned_rows[k]
            steps.item[at], steps.value[at] = n + i, state.row_dual[i]
            at += 1
    for k in range(closed):
        j = work.closed_cols[k]
        if work.distance[j] < length:
            steps.item[at], steps.value[at] = 2 * n + j, state.col_dual[j]
            at += 1
    counts[2] = at


@kernel
def _find_least(cost, free, block, count):
    """Find the least costs of a block anew for the first `count` columns in `free.cols`, and those of all."""
    first, last = block * _BLOCK_ROWS, min((block + 1) * _BLOCK_ROWS, cost.shape[0])
    block_least, block_row, cols = free.block_least, free.block_row, free.cols
    for c in range(count):
        block_least[block, cols[c]] = np.inf
        block_row[block, cols[c]] = -1
    for i in range(first, last):
        if free.is_free[i]:
            for c in range(count):
                j = cols[c]
                if cost[i, j] < block_least[block, j]:
                    block_least[block, j] = cost[i, j]
                    block_row[block, j] = i
    for c in range(count):
        j = cols[c]
        if free.row[j] >= 0 and free.is_free[free.row[j]]:
            others = range(block, block + 1)
        else:
            free.least[j], free.row[j] = np.inf, -1
            others = range(block_least.shape[0])
        for b in others:
            if block_least[b, j] < free.least[j]:
                free.least[j] = block_least[b, j]
                free.row[j] = block_row[b, j]


@inline_kernel
def _lose_row(cost, free, i):
    """Keep the least costs of the columns up to date when a row is matched."""
    free.is_free[i] = False
    block, count = i // _BLOCK_ROWS, 0
    for j in range(free.least.size):
        if free.block_row[block, j] == i:
            free.cols[count] = j
            count += 1
    _find_least(cost, free, block, count)
