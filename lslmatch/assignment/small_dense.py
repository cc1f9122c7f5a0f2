"""Many small dense problems in one call: reductions first, then shortest augmenting paths.

The method is that of :mod:`lslmatch.assignment.dense`. Here the matrices follow each other in one flat
array, as do the results of each problem: the duals of its rows and then those of its columns, and so the
partners. Loops are plain, so that they take little time to be compiled. A problem of `sizes` (n, m) has the
smaller side as rows; all costs are finite. Where few rows are free, costs are computed only of rows that a
search comes to, and nothing is reduced.
"""

from __future__ import annotations

import numpy as np

from lslmatch._jit import kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.dense import DualState
from lslmatch.costs import log_kernel

#: What is known of a problem, in this order, and then its shift: the scale, the sum of the costs, the floor
#: of squared distances, and how many rows are free.
SCALE, TOTAL, FLOOR, FREE, SHIFT = range(5)
#: How many rows of a problem are free, those of the others being matched to their nearest columns.
NONE_FREE, FEW_FREE, MANY_FREE = 0, 1, 2
#: Scans of augmenting row reduction for each free row.
_SCANS_PER_ROW = 4
_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


def solve_conflicts(
    cost: FloatArray,
    sizes: IntArray,
    logarithm: bool,
    reduce: bool,
    numbers: FloatArray,
    duals: FloatArray,
    partners: IntArray,
) -> None:
    """Solve problems with free rows, given squared distances; `reduce` says that some have many.

    Costs are squared distances or their logarithms, not below those of the floors. Column duals are 0.
    """
    if not reduce or _reduce_all(cost, sizes, logarithm, numbers, duals, partners):
        _augment_all(cost, sizes, logarithm, numbers, duals, partners)


def solve_matrix(cost: FloatArray) -> DualState:
    """Solve one dense problem with n <= m, all costs being finite and the matrix not large."""
    n, m = cost.shape
    numbers, duals, partners = np.zeros((1, SHIFT)), np.zeros(n + m), np.full(n + m, -1, np.intp)
    numbers[0, FREE] = MANY_FREE
    solve_conflicts(cost.ravel(), np.array([(n, m)]), False, True, numbers, duals, partners)
    return DualState(duals[:n], duals[n:], partners[:n], partners[n:])


@kernel
def _reduce_all(cost, sizes, logarithm, numbers, duals, partners):
    """Reduce columns (of square problems) and rows, and match what can be; return how many problems are left.

    As the dense solver does, with one sweep of augmenting row reduction of a bounded number of scans.
    """
    most = 0
    for p in range(sizes.shape[0]):
        most = max(most, min(sizes[p, 0], sizes[p, 1]))
    free_rows = np.empty(most, np.int64)
    out = begin = left = 0
    for p in range(sizes.shape[0]):
        n, m = min(sizes[p, 0], sizes[p, 1]), max(sizes[p, 0], sizes[p, 1])
        start, first = begin, out
        begin, out = begin + n * m, out + n + m
        if numbers[p, FREE] != MANY_FREE:
            left += numbers[p, FREE] == FEW_FREE
            continue
        row_dual, col_dual = duals[first : first + n], duals[first + n : out]
        col_of_row, row_of_col = partners[first : first + n], partners[first + n : out]
        if logarithm:
            entries, floor = cost[start:begin], numbers[p, FLOOR]
            for k in range(n * m):
                square = max(entries[k], floor)
                entries[k] = log_kernel(square)
        if n == m:
            for j in range(m):
                col_dual[j] = np.inf
            for i in range(n):
                line = cost[start + i * m : start + (i + 1) * m]
                for j in range(m):
                    col_dual[j] = line[j] if line[j] < col_dual[j] else col_dual[j]
        waiting = 0
        for i in range(n):
            line = cost[start + i * m : start + (i + 1) * m]
            # Four minima, so that one comparison need not wait for the other.
            best0 = best1 = best2 = best3 = np.inf
            for j in range(0, m - 3, 4):
                r0, r1 = line[j] - col_dual[j], line[j + 1] - col_dual[j + 1]
                r2, r3 = line[j + 2] - col_dual[j + 2], line[j + 3] - col_dual[j + 3]
                best0 = min(r0, best0)
                best1 = min(r1, best1)
                best2 = min(r2, best2)
                best3 = min(r3, best3)
            for j in range(m - m % 4, m):
                r0 = line[j] - col_dual[j]
                best0 = min(r0, best0)
            best = min(min(best0, best1), min(best2, best3))
            row_dual[i] = best
            for j in range(m):
                if line[j] - col_dual[j] == best and row_of_col[j] < 0:
                    row_of_col[j], col_of_row[i] = i, j
                    break
            if col_of_row[i] < 0:
                free_rows[waiting] = i
                waiting += 1
        budget, taken, problem_left = _SCANS_PER_ROW * waiting, 0, 0
        i = -1
        while i >= 0 or taken < waiting:
            if i < 0:
                i = free_rows[taken]
                taken += 1
            line = cost[start + i * m : start + (i + 1) * m]
            best = second = np.inf
            at = other = -1
            for j in range(m):
                r0 = line[j] - col_dual[j]
                if r0 < second:
                    if r0 < best:
                        second, other = best, at
                        best, at = r0, j
                    else:
                        second, other = r0, j
            lowered = col_dual[at] - (second - best)
            falls = lowered < col_dual[at] and second < np.inf and budget > 0
            budget -= 1
            if falls:
                col_dual[at] = lowered
            elif second == best and row_of_col[at] >= 0:
                at = other
            row_dual[i] = line[at] - col_dual[at]
            holder = row_of_col[at]
            if holder >= 0 and not falls:
                problem_left += 1
                i = -1
                continue
            col_of_row[i], row_of_col[at] = at, i
            if holder >= 0:
                col_of_row[holder] = -1
            i = holder
        if problem_left:
            left += 1
        else:
            numbers[p, FREE] = NONE_FREE
        numbers[p, TOTAL] = 0.0
        for k in range(first, out):
            numbers[p, TOTAL] += duals[k]
    return left


@kernel
def _augment_all(cost, sizes, logarithm, numbers, duals, partners):
    """Match every free row along a shortest augmenting path (Dijkstra's search over all columns)."""
    most = 0
    for p in range(sizes.shape[0]):
        most = max(most, sizes[p, 0], sizes[p, 1])
    shortest, distance, open_dual, level_of = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    before, closed, scanned = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    is_priced = np.empty(most, np.bool_)
    out = begin = 0
    for p in range(sizes.shape[0]):
        n, m = min(sizes[p, 0], sizes[p, 1]), max(sizes[p, 0], sizes[p, 1])
        start, first = begin, out
        begin, out = begin + n * m, out + n + m
        if numbers[p, FREE] == NONE_FREE:
            continue
        floor = numbers[p, FLOOR]
        for i in range(n):
            is_priced[i] = numbers[p, FREE] == MANY_FREE or not logarithm
        row_dual, col_dual = duals[first : first + n], duals[first + n : out]
        col_of_row, row_of_col = partners[first : first + n], partners[first + n : out]
        # By loops: filling a slice would take twice as long to compile as all the rest.
        for j in range(m):
            open_dual[j] = col_dual[j]
        for waiting in range(n):
            if col_of_row[waiting] >= 0:
                continue
            for j in range(m):
                shortest[j] = np.inf
            i, level, scans, j = waiting, 0.0, 0, 0
            while True:
                scanned[scans], level_of[scans] = i, level
                offset, line = level - row_dual[i], cost[start + i * m : start + (i + 1) * m]
                if not is_priced[i]:
                    is_priced[i] = True
                    for j in range(m):
                        line[j] = log_kernel(max(line[j], floor))
                # The least distance by its bit pattern, so that this is a vector loop.
                least = _GREATEST_BITS
                for j in range(m):
                    length = offset + (line[j] - open_dual[j])
                    length = max(length, level)
                    old = shortest[j]
                    before[j] = i if length < old else before[j]
                    length = min(length, old)
                    shortest[j] = length
                    bits = np.float64(length).view(np.int64)
                    least = min(bits, least)
                level = np.int64(least).view(np.float64)
                j = 0
                while shortest[j] != level:
                    j += 1
                closed[scans], distance[scans] = j, level
                scans += 1
                i = row_of_col[j]
                if i < 0:
                    break
                shortest[j], open_dual[j] = np.inf, -np.inf
            for k in range(scans):
                at = closed[k]
                col_dual[at] -= level - distance[k]
                open_dual[at] = col_dual[at]
                row_dual[scanned[k]] += level - level_of[k]
            while j >= 0:
                i = before[j]
                row_of_col[j] = i
                j, col_of_row[i] = col_of_row[i], j
        numbers[p, TOTAL] = 0.0
        for k in range(first, out):
            numbers[p, TOTAL] += duals[k]
