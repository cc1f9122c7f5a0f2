"""Small dense problems as steps of one kernel: reductions first, then shortest augmenting paths.

The method is that of :mod:`lslmatch.assignment.dense`. Here loops are plain, so that they take little time to
be compiled, and the matrix may be larger than the problem. There are at most as many rows as columns, and all
costs are finite: squared distances, or their logarithms, not below that of the floor. Where few rows are
free, logarithms are taken only of rows that a search comes to, and nothing is reduced.
"""

from __future__ import annotations

import numpy as np

from lslmatch._jit import bits_of, double_of, step_kernel
from lslmatch.costs import log_kernel

#: What is known of a problem, in this order, and then its shift: the scale, the sum of the costs, the floor
#: of squared distances, how many rows are free, the mean square, and of the rounding errors of coordinates
#: what is not a share of squared lengths.
SCALE, TOTAL, FLOOR, CLASHES, SPREAD, LOST, SHIFT = range(7)
#: How many rows of a problem are free after the others were matched to their nearest columns, if any is.
FEW_CLASH, MANY_CLASH = 1, 2
#: Scans of augmenting row reduction for each free row.
_SCANS_PER_ROW = 4
#: Columns examined together when the position of a minimum is looked for, by vector loops.
_BLOCK = 32
_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


@step_kernel
def take_nearest(nearest, col_of_row, row_of_col):
    """Match rows to their nearest columns, the first of several to each; return how many rows are left."""
    free = 0
    for i in range(col_of_row.size):
        j = nearest[i]
        if row_of_col[j] < 0:
            row_of_col[j] = i
            col_of_row[i] = j
        else:
            free += 1
    return free


@step_kernel
def reduce_small(cost, logarithm, floor, row_dual, col_dual, col_of_row, row_of_col, free_rows):
    """Reduce columns (of square problems) and rows, and match what can be; return how many rows are left.

    As the dense solver does, with one sweep of augmenting row reduction of a bounded number of scans. Column
    duals and partners are overwritten; of squared distances, logarithms are taken first if they are wanted.
    `free_rows` is spare.
    """
    n, m = row_dual.size, col_dual.size
    for i in range(n):
        col_of_row[i] = -1
        line = cost[i]
        if logarithm:
            take_logarithms(line, m, floor)
    for j in range(m):
        row_of_col[j] = -1
        col_dual[j] = np.inf if n == m else 0.0
    if n == m:
        for i in range(n):
            line = cost[i]
            for j in range(m):
                col_dual[j] = line[j] if line[j] < col_dual[j] else col_dual[j]
    waiting = 0
    for i in range(n):
        line = cost[i]
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
                row_of_col[j] = i
                col_of_row[i] = j
                break
        if col_of_row[i] < 0:
            free_rows[waiting] = i
            waiting += 1
    budget, taken, left = _SCANS_PER_ROW * waiting, 0, 0
    i = -1
    while i >= 0 or taken < waiting:
        if i < 0:
            i = free_rows[taken]
            taken += 1
        line = cost[i]
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
            left += 1
            i = -1
            continue
        col_of_row[i], row_of_col[at] = at, i
        if holder >= 0:
            col_of_row[holder] = -1
        i = holder
    return left


@step_kernel
def augment_small(cost, are_squares, floor, row_dual, col_dual, col_of_row, row_of_col, spare):
    """Match every free row along a shortest augmenting path (Dijkstra's search over all columns).

    If the costs are still squares, logarithms are taken of rows that a search comes to. The `spare` arrays
    are separate: a loop over rows of one array that it changes would not become a vector loop.
    """
    n, m = row_dual.size, col_dual.size
    shortest, open_dual, distance, level_of, is_square, before, indices = spare
    closed, scanned = indices[:m], indices[m:]
    # By loops: filling a slice would take twice as long to compile as all the rest.
    for j in range(m):
        open_dual[j], is_square[j] = col_dual[j], are_squares
    for waiting in range(n):
        if col_of_row[waiting] >= 0:
            continue
        for j in range(m):
            shortest[j] = np.inf
        scans, scanned[0], level_of[0] = 0, waiting, 0.0
        while True:
            i, level = scanned[scans], level_of[scans]
            offset, line = level - row_dual[i], cost[i]
            if is_square[i]:
                is_square[i] = False
                take_logarithms(line, m, floor)
            # The least distance by its bit pattern, so that this is a vector loop.
            least = _GREATEST_BITS
            for j in range(m):
                length = offset + (line[j] - open_dual[j])
                length = max(length, level)
                old = shortest[j]
                before[j] = i if length < old else before[j]
                length = min(length, old)
                shortest[j] = length
                bits = bits_of(length)
                least = min(bits, least)
            level = double_of(least)
            j = 0
            for block in range(0, m, _BLOCK):
                part, nearest = shortest[block : block + _BLOCK], _GREATEST_BITS
                for k in range(part.size):
                    nearest = min(bits_of(part[k]), nearest)
                if nearest == least:
                    j = block
                    break
            while shortest[j] != level:
                j += 1
            closed[scans], distance[scans] = j, level
            scans += 1
            i = row_of_col[j]
            if i < 0:
                break
            shortest[j], open_dual[j] = np.inf, -np.inf
            scanned[scans], level_of[scans] = i, level
        for k in range(scans):
            at = closed[k]
            col_dual[at] -= level - distance[k]
            open_dual[at] = col_dual[at]
            row_dual[scanned[k]] += level - level_of[k]
        while j >= 0:
            i = before[j]
            row_of_col[j] = i
            j, col_of_row[i] = col_of_row[i], j


@step_kernel
def take_logarithms(squares, count, floor):
    """Replace the first squares by their logarithms, not below that of the floor."""
    for j in range(count):
        square = max(squares[j], floor)
        squares[j] = log_kernel(square)
