"""Many small dense problems in one call: reductions first, then shortest augmenting paths.

The method is that of :mod:`lslmatch.assignment.dense`. Here the matrices follow each other in one flat
array, as do the duals and the partners, and loops are plain, so that they take little time to be compiled.
A problem of `sizes` (n, m) has the smaller side as rows; all costs are finite, and duals and partners begin
as 0 and -1.
"""

from __future__ import annotations

import numpy as np

from lslmatch._jit import kernel

#: Scans of augmenting row reduction for each free row.
_SCANS_PER_ROW = 4
_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


@kernel
def reduce_all(cost, sizes, most, row_dual, col_dual, col_of_row, row_of_col):
    """Reduce columns (of square problems) and rows, and match what can be; return how many rows are free.

    As the dense solver does, with one sweep of augmenting row reduction of a bounded number of scans.
    """
    free = np.empty(most, np.int64)
    row = col = start = left = 0
    for p in range(sizes.shape[0]):
        n, m = min(sizes[p, 0], sizes[p, 1]), max(sizes[p, 0], sizes[p, 1])
        if n == m:
            for j in range(m):
                col_dual[col + j] = np.inf
            for i in range(n):
                for j in range(m):
                    c = cost[start + i * m + j]
                    col_dual[col + j] = c if c < col_dual[col + j] else col_dual[col + j]
        waiting = 0
        for i in range(n):
            line = start + i * m
            # Four minima, so that one comparison need not wait for the other.
            best0 = best1 = best2 = best3 = np.inf
            for j in range(0, m - 3, 4):
                r0, r1 = cost[line + j] - col_dual[col + j], cost[line + j + 1] - col_dual[col + j + 1]
                r2, r3 = (
                    cost[line + j + 2] - col_dual[col + j + 2],
                    cost[line + j + 3] - col_dual[col + j + 3],
                )
                best0 = r0 if r0 < best0 else best0
                best1 = r1 if r1 < best1 else best1
                best2 = r2 if r2 < best2 else best2
                best3 = r3 if r3 < best3 else best3
            for j in range(m - m % 4, m):
                r0 = cost[line + j] - col_dual[col + j]
                best0 = r0 if r0 < best0 else best0
            best = min(min(best0, best1), min(best2, best3))
            row_dual[row + i] = best
            for j in range(m):
                if cost[line + j] - col_dual[col + j] == best and row_of_col[col + j] < 0:
                    row_of_col[col + j], col_of_row[row + i] = i, j
                    break
            if col_of_row[row + i] < 0:
                free[waiting] = i
                waiting += 1
        budget, taken = _SCANS_PER_ROW * waiting, 0
        i = -1
        while i >= 0 or taken < waiting:
            if i < 0:
                i = free[taken]
                taken += 1
            best = second = np.inf
            at = other = -1
            for j in range(m):
                r = cost[start + i * m + j] - col_dual[col + j]
                if r < second:
                    if r < best:
                        second, other = best, at
                        best, at = r, j
                    else:
                        second, other = r, j
            lowered = col_dual[col + at] - (second - best)
            falls = lowered < col_dual[col + at] and second < np.inf and budget > 0
            budget -= 1
            if falls:
                col_dual[col + at] = lowered
            elif second == best and row_of_col[col + at] >= 0:
                at = other
            row_dual[row + i] = cost[start + i * m + at] - col_dual[col + at]
            holder = row_of_col[col + at]
            if holder >= 0 and not falls:
                left += 1
                i = -1
                continue
            col_of_row[row + i], row_of_col[col + at] = at, i
            if holder >= 0:
                col_of_row[row + holder] = -1
            i = holder
        row, col, start = row + n, col + m, start + n * m
    return left


@kernel
def augment_all(cost, sizes, most, row_dual, col_dual, col_of_row, row_of_col):
    """Match every free row along a shortest augmenting path (Dijkstra's search over all columns)."""
    shortest, distance, open_dual = np.empty(most), np.empty(most), np.empty(most)
    before, closed, scanned = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    level_of = np.empty(most)
    row = col = start = 0
    for p in range(sizes.shape[0]):
        n, m = min(sizes[p, 0], sizes[p, 1]), max(sizes[p, 0], sizes[p, 1])
        for j in range(m):
            open_dual[j] = col_dual[col + j]
        for free in range(n):
            if col_of_row[row + free] >= 0:
                continue
            for j in range(m):
                shortest[j] = np.inf
            i, level, scans, done = free, 0.0, 0, 0
            while True:
                scanned[scans], level_of[scans] = i, level
                scans += 1
                offset, line = level - row_dual[row + i], start + i * m
                # The least distance by its bit pattern, so that this is a vector loop.
                least = _GREATEST_BITS
                for j in range(m):
                    length = offset + (cost[line + j] - open_dual[j])
                    length = length if length > level else level
                    old = shortest[j]
                    before[j] = i if length < old else before[j]
                    length = length if length < old else old
                    shortest[j] = length
                    bits = np.float64(length).view(np.int64)
                    least = bits if bits < least else least
                level = np.int64(least).view(np.float64)
                j = 0
                while shortest[j] != level:
                    j += 1
                closed[done], distance[done] = j, level
                done += 1
                i = row_of_col[col + j]
                if i < 0:
                    break
                shortest[j], open_dual[j] = np.inf, -np.inf
            for k in range(done):
                at = closed[k]
                col_dual[col + at] -= level - distance[k]
                open_dual[at] = col_dual[col + at]
            for k in range(scans):
                row_dual[row + scanned[k]] += level - level_of[k]
            while j >= 0:
                i = before[j]
                row_of_col[col + j] = i
                j, col_of_row[row + i] = col_of_row[row + i], j
        row, col, start = row + n, col + m, start + n * m
