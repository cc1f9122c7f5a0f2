"""The dense Hungarian solver: shortest augmenting paths with dual variables.

The method is that of Jonker and Volgenant (Computing 38, 1987) in the rectangular form of Crouse
(IEEE Trans. Aerosp. Electron. Syst. 52, 2016): reductions first, then one shortest augmenting path
for every row that is still free. Departures from those pages are marked where they happen.

Throughout, ``n <= m``, every row is to be matched, and the duals satisfy
``row_dual[i] + col_dual[j] <= cost[i, j]`` up to rounding, with equality on matched pairs. An
infinite cost is a forbidden pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._jit import bits_of, double_of, inline_kernel, kernel
from lslmatch._progress import tell
from lslmatch._types import FloatArray, IntArray

#: Element operations after which a kernel returns to Python, so that Ctrl-C is heard.
OPERATIONS_PER_CALL = 200_000_000
#: Sweeps of augmenting row reduction, and row scans in one sweep for each free row. Its steps can be
#: arbitrarily small (and, with rounding, endless), whereas a shortest path always finishes.
_REDUCTION_SWEEPS = 2
_SCANS_PER_ROW = 4
#: Columns examined together when the position of a minimum is looked for.
_BLOCK = 32

_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)
#: The bit pattern of infinity.
INFINITE_BITS = np.float64(np.inf).view(np.int64)


class DualState(NamedTuple):
    """The state of the solver: dual variables and the matching so far (-1: free)."""

    row_dual: FloatArray
    col_dual: FloatArray
    col_of_row: IntArray
    row_of_col: IntArray


class DenseWorkspace(NamedTuple):
    """Workspace of one shortest-path search, allocated once."""

    shortest: IntArray  # (m,) bit patterns of the tentative distances of open columns; closed ones: of inf
    open_dual: FloatArray  # (m,) col_dual, but -inf on closed columns, which keeps them at distance inf
    distance: FloatArray  # (m,) final distances of the closed columns
    scans_before: IntArray  # (m,) how many rows had been scanned when a column was closed
    closed_cols: IntArray  # (m,) in the order in which they were closed
    scanned_rows: IntArray  # (n,) in the order in which they were scanned
    level: FloatArray  # (n,) the distance at which each of those rows was reached

    @classmethod
    def for_duals(cls, state: DualState) -> DenseWorkspace:
        """Make room for searches that begin with the duals of a state."""
        n, m = state.row_dual.size, state.col_dual.size
        return cls(
            np.empty(m, np.int64),
            state.col_dual.copy(),
            np.empty(m),
            np.empty(m, np.intp),
            np.empty(m, np.intp),
            np.empty(n, np.intp),
            np.empty(n),
        )


def solve_dense(cost: FloatArray) -> DualState | None:
    """Solve a dense assignment problem with n <= m; None if no finite assignment exists."""
    n, m = cost.shape
    state = DualState(np.zeros(n), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))
    if n == m:
        _reduce_columns(cost, state.col_dual)
        # A column without a finite entry has an infinite minimum: nothing can be matched to it.
        if not np.isfinite(state.col_dual).all():
            return None
    if not _reduce_rows(cost, state):
        return None
    free_rows = np.flatnonzero(state.col_of_row < 0)
    for _ in range(_REDUCTION_SWEEPS):
        free_rows = free_rows[: _augment_by_row_reduction(cost, state, free_rows)]
    work = DenseWorkspace.for_duals(state)
    done = 0
    while done < free_rows.size:
        done = _augment_rows(cost, state, work, free_rows, done, OPERATIONS_PER_CALL)
        if done < 0:
            return None
        tell("rows matched", n - free_rows.size + done, n)
    return state


def raise_duals(cost: FloatArray, col_dual: FloatArray, enough: float) -> tuple[DualState, float]:
    """Raise the duals of a square problem until their sum is enough, or until the matching is optimal.

    From any column duals on: those of a similar problem save most of the work. Their sum, which is returned
    as well, is never above the optimum but for rounding; the matching is optimal if it has all rows.
    """
    n = len(cost)
    state = DualState(np.zeros(n), col_dual.copy(), np.full(n, -1, np.intp), np.full(n, -1, np.intp))
    _reduce_rows(cost, state)
    free_rows = np.flatnonzero(state.col_of_row < 0)
    value = float(state.row_dual.sum() + state.col_dual.sum())
    if value >= enough or not free_rows.size:
        return state, value
    for _ in range(_REDUCTION_SWEEPS):
        free_rows = free_rows[: _augment_by_row_reduction(cost, state, free_rows)]
    work = DenseWorkspace.for_duals(state)
    operations, done = OPERATIONS_PER_CALL, 0
    while True:
        value = float(state.row_dual.sum() + state.col_dual.sum())
        if value >= enough or done >= free_rows.size:
            return state, value
        done = _augment_rows_until(cost, state, work, free_rows, done, enough - value, operations)


@kernel
def _reduce_columns(cost, col_dual):
    """Set each column's dual to its least cost (square problems only: every column is matched)."""
    n, m = cost.shape
    for j in range(m):
        col_dual[j] = np.inf
    for i in range(n):
        row = cost[i]
        for j in range(m):
            c = row[j]
            if c < col_dual[j]:
                col_dual[j] = c


@kernel
def _reduce_rows(cost, state):
    """Set each row's dual to its least reduced cost and match it there if it can be; False: infeasible."""
    n, m = cost.shape
    row_dual, col_dual, col_of_row, row_of_col = state
    for i in range(n):
        row = cost[i]
        best, first = np.inf, 0
        for block in range(0, m, _BLOCK):
            least = _least_reduced(row[block : block + _BLOCK], col_dual[block : block + _BLOCK])
            if least < best:
                best, first = least, block
        if best == np.inf:
            return False
        row_dual[i] = best
        for j in range(first, m):
            if row_of_col[j] < 0 and row[j] - col_dual[j] == best:
                col_of_row[i] = j
                row_of_col[j] = i
                break
    return True


@inline_kernel
def _least_reduced(part, duals):
    """Return the least of some reduced costs.

    A minimum of doubles needs unsafe arithmetic to become a vector loop, one of integers does not: with the
    other bits turned over where the sign is set, the order of bit patterns is that of the doubles.
    """
    least = _GREATEST_BITS
    for k in range(part.size):
        bits = bits_of(part[k] - duals[k])
        least = min(bits ^ ((bits >> 63) & _GREATEST_BITS), least)
    return double_of(least ^ ((least >> 63) & _GREATEST_BITS))


@kernel
def _augment_by_row_reduction(cost, state, free_rows):
    """One sweep of Jonker and Volgenant's augmenting row reduction.

    A free row takes its best column, whose dual falls until the second best is as good; the row
    that held the column is free then and goes on. No dual of a free column moves, so this serves
    rectangular problems too. Departure: the number of scans is bounded. Returns how many rows are
    still free; they come first in `free_rows`.
    """
    budget = _SCANS_PER_ROW * free_rows.size
    left, taken = 0, 0
    i = -1
    while i >= 0 or taken < free_rows.size:
        if i < 0:
            i = free_rows[taken]
            taken += 1
        best, second, j, second_col = _two_least(cost[i], state.col_dual)
        lowered = state.col_dual[j] - (second - best)
        falls = lowered < state.col_dual[j] and second < np.inf and budget > 0
        if falls:
            state.col_dual[j] = lowered
        elif second == best and state.row_of_col[j] >= 0:
            j = second_col
        state.row_dual[i] = cost[i, j] - state.col_dual[j]
        holder = state.row_of_col[j]
        budget -= 1
        if holder >= 0 and not falls:
            free_rows[left] = i
            left += 1
            i = -1
        else:
            state.col_of_row[i] = j
            state.row_of_col[j] = i
            if holder >= 0:
                state.col_of_row[holder] = -1
            i = holder
    return left


@inline_kernel
def _two_least(row, col_dual):
    """Return the least and second least reduced cost of a row and their columns."""
    best = np.inf
    second = np.inf
    first_col = -1
    second_col = -1
    for j in range(row.size):
        r = row[j] - col_dual[j]
        if r < second:
            if r < best:
                second, second_col = best, first_col
                best, first_col = r, j
            else:
                second, second_col = r, j
    return best, second, first_col, second_col


@kernel
def _augment_rows(cost, state, work, free_rows, done, operations):
    """Augment from the free rows one by one until all are done or the operations are used up.

    Returns how many rows are done, or -1 if a row cannot reach a free column.
    """
    m = cost.shape[1]
    while done < free_rows.size and operations > 0:
        scans, closed, sink = _search_shortest_path(cost, state, work, free_rows[done])
        if sink < 0:
            return -1
        _flip_path(cost, state, work, sink)
        update_duals(state, work, scans, closed, work.distance[sink])
        operations -= scans * m
        done += 1
    return done


@kernel
def _augment_rows_until(cost, state, work, free_rows, done, missing, operations):
    """Augment likewise, but only until the sum of the duals has risen by what is missing."""
    m = cost.shape[1]
    while done < free_rows.size and operations > 0 and missing > 0.0:
        scans, closed, sink = _search_shortest_path(cost, state, work, free_rows[done])
        _flip_path(cost, state, work, sink)
        length = work.distance[sink]
        update_duals(state, work, scans, closed, length)
        missing -= length
        operations -= scans * m
        done += 1
    return done


@inline_kernel
def _search_shortest_path(cost, state, work, start):
    """Dijkstra's search from a free row to the nearest free column, all rows of a distance at a time.

    Returns how many rows were scanned, how many columns were closed, and the free column that was
    reached (-1: none can be).
    """
    row_dual, row_of_col = state.row_dual, state.row_of_col
    shortest, open_dual, closed_cols = work.shortest, work.open_dual, work.closed_cols
    distance, scans_before = work.distance, work.scans_before
    scanned_rows, levels = work.scanned_rows, work.level
    scans, closed, queued = 0, 0, 1
    scanned_rows[0] = start
    level = 0.0
    for j in range(open_dual.size):
        shortest[j] = INFINITE_BITS
    while True:
        nearest = np.inf
        while scans < queued:
            i = scanned_rows[scans]
            levels[scans] = level
            scans += 1
            nearest = relax_columns(cost, i, level - row_dual[i], level, open_dual, shortest)
            if nearest == level:
                break
        if nearest == np.inf:
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


@inline_kernel
def relax_columns(cost, i, offset, level, open_dual, shortest):
    """Shorten the tentative distances by way of row i; return the least distance of an open column.

    The loop is written so that it vectorises. Predecessors are not kept (`_flip_path` finds them again).
    Minima are taken over bit patterns, since the integer order of non-negative doubles is their order: a
    minimum of doubles over a row needs unsafe arithmetic, and one that is stored becomes a slow masked store.
    Distances are never below the current level, so rounding cannot make them run backwards.
    """
    least = _GREATEST_BITS
    for j in range(open_dual.size):
        length = offset + (cost[i, j] - open_dual[j])
        length = length if length > level else level
        bits = bits_of(length)
        bits = min(bits, shortest[j])
        shortest[j] = bits
        least = min(bits, least)
    return double_of(least)


@inline_kernel
def close_columns(shortest, row_of_col, level, closed_cols, closed):
    """Add the open columns at this distance, the least of all, to the closed ones, up to the first free one.

    Returns how many columns are closed then, and the free one (-1: none).
    """
    level_bits = bits_of(level)
    for block in range(0, shortest.size, _BLOCK):
        # A vector loop again: most blocks have no such column.
        least = _GREATEST_BITS
        part = shortest[block : block + _BLOCK]
        for k in range(part.size):
            least = min(part[k], least)
        if least != level_bits:
            continue
        for j in range(block, min(shortest.size, block + _BLOCK)):
            if shortest[j] == level_bits:
                closed_cols[closed] = j
                closed += 1
                if row_of_col[j] < 0:
                    return closed, j
    return closed, -1


@inline_kernel
def _flip_path(cost, state, work, sink):
    """Match along the shortest path to `sink`, going back from it.

    The predecessor of a column is a row, scanned before the column was closed, that gives its
    distance, recomputed by the same operations to the last bit; most often one of the latest.
    """
    j = sink
    while j >= 0:
        k = work.scans_before[j]
        i = -1
        length = np.inf
        while length != work.distance[j]:
            k -= 1
            i = work.scanned_rows[k]
            length = work.level[k] - state.row_dual[i] + (cost[i, j] - state.col_dual[j])
            length = length if length > work.level[k] else work.level[k]
        state.row_of_col[j] = i
        j, state.col_of_row[i] = state.col_of_row[i], j


@inline_kernel
def update_duals(state, work, scans, closed, length):
    """Move the duals so that the edges of the shortest paths become tight."""
    for k in range(closed):
        j = work.closed_cols[k]
        state.col_dual[j] -= length - work.distance[j]
        work.open_dual[j] = state.col_dual[j]
    for k in range(scans):
        state.row_dual[work.scanned_rows[k]] += length - work.level[k]
