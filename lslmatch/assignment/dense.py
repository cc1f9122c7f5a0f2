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

from lslmatch._jit import inline_kernel, kernel
from lslmatch._progress import tell
from lslmatch._types import FloatArray, IntArray

#: Element operations after which a kernel returns to Python, so that Ctrl-C is heard.
OPERATIONS_PER_CALL = 200_000_000
#: Sweeps of augmenting row reduction, and row scans in one sweep for each free row. Its steps can be
#: arbitrarily small (and, with rounding, endless), whereas a shortest path always finishes.
_REDUCTION_SWEEPS = 2
_SCANS_PER_ROW = 4
#: Columns examined together when the position of a known minimum is looked for.
_BLOCK = 64

_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


class DualState(NamedTuple):
    """The state of the solver: dual variables and the matching so far (-1: free)."""

    row_dual: FloatArray
    col_dual: FloatArray
    col_of_row: IntArray
    row_of_col: IntArray


class DenseWorkspace(NamedTuple):
    """Workspace of one shortest-path search, allocated once."""

    shortest: FloatArray  # (2, m) tentative distances of the open columns, before and after a scan
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
            np.empty((2, m)),
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
        # Four minima, so that one comparison need not wait for the other.
        best0 = best1 = best2 = best3 = np.inf
        for j in range(0, m - 3, 4):
            r0, r1 = cost[i, j] - col_dual[j], cost[i, j + 1] - col_dual[j + 1]
            r2, r3 = cost[i, j + 2] - col_dual[j + 2], cost[i, j + 3] - col_dual[j + 3]
            best0 = r0 if r0 < best0 else best0
            best1 = r1 if r1 < best1 else best1
            best2 = r2 if r2 < best2 else best2
            best3 = r3 if r3 < best3 else best3
        for j in range(m - m % 4, m):
            r0 = cost[i, j] - col_dual[j]
            best0 = r0 if r0 < best0 else best0
        best = min(min(best0, best1), min(best2, best3))
        if best == np.inf:
            return False
        row_dual[i] = best
        for j in range(m):
            if row_of_col[j] < 0 and cost[i, j] - col_dual[j] == best:
                col_of_row[i] = j
                row_of_col[j] = i
                break
    return True


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


@inline_kernel
def _search_shortest_path(cost, state, work, start):
    """Dijkstra's search from a free row to the nearest free column, all rows of a distance at a time.

    Returns how many rows were scanned, how many columns were closed, and the free column that was
    reached (-1: none can be).
    """
    # Taken out of their tuples here: done in the loop, that would count references every time.
    row_dual, row_of_col = state.row_dual, state.row_of_col
    shortest, open_dual, closed_cols = work.shortest, work.open_dual, work.closed_cols
    scanned_rows, levels = work.scanned_rows, work.level
    scans, closed, queued = 0, 0, 1
    scanned_rows[0] = start
    level = 0.0
    now = 0
    for j in range(open_dual.size):
        shortest[0, j] = np.inf
    while True:
        nearest = np.inf
        while scans < queued:
            i = scanned_rows[scans]
            levels[scans] = level
            scans += 1
            nearest = relax_columns(cost, i, level - row_dual[i], level, open_dual, shortest, now)
            now = 1 - now
            if nearest == level:
                break
        if nearest == np.inf:
            return scans, closed, -1
        level = nearest
        first = closed
        closed, sink = close_columns(state, work, now, level, closed, scans)
        if sink >= 0:
            return scans, closed, sink
        for k in range(first, closed):
            scanned_rows[queued] = row_of_col[closed_cols[k]]
            queued += 1


@inline_kernel
def relax_columns(cost, i, offset, level, open_dual, shortest, now):
    """Shorten the tentative distances by way of row i; return the least distance of an open column.

    The loop is written so that it vectorises: results go to the other half of `shortest`, because a
    conditional store in place becomes a slow masked one; predecessors are not kept (`_flip_path`
    finds them again); and the minimum is taken over bit patterns, since the integer order of
    non-negative doubles is their order, whereas a minimum of doubles needs unsafe arithmetic.
    Distances are never below the current level, so rounding cannot make them run backwards.
    """
    least = _GREATEST_BITS
    for j in range(open_dual.size):
        length = offset + (cost[i, j] - open_dual[j])
        length = length if length > level else level
        before = shortest[now, j]
        length = length if length < before else before
        shortest[1 - now, j] = length
        bits = np.float64(length).view(np.int64)
        least = bits if bits < least else least
    return np.int64(least).view(np.float64)


@inline_kernel
def close_columns(state, work, now, level, closed, scans):
    """Close all open columns at this distance; stop at the first free one and return it."""
    shortest, row_of_col, open_dual = work.shortest, state.row_of_col, work.open_dual
    distance, scans_before, closed_cols = work.distance, work.scans_before, work.closed_cols
    m = row_of_col.size
    for block in range(0, m, _BLOCK):
        end = min(m, block + _BLOCK)
        hits = 0
        for j in range(block, end):
            hits += shortest[now, j] == level
        if hits == 0:
            continue
        for j in range(block, end):
            if shortest[now, j] == level:
                distance[j] = level
                scans_before[j] = scans
                closed_cols[closed] = j
                closed += 1
                if row_of_col[j] < 0:
                    return closed, j
                shortest[now, j] = np.inf
                open_dual[j] = -np.inf
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
