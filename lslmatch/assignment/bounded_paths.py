"""Shortest augmenting paths for the few rows whose nearest column another row has, without a matrix of costs.

The search is Dijkstra's. A path may end at any column that has no row yet, so the nearest of those limits how
long it is. Lower bounds of squared distances (:mod:`lslmatch.assignment.bounded_nearest`) tell which columns
of a row are within that limit; they are few, and only their costs are computed.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import single_bits_of, single_of, step_kernel
from lslmatch.assignment.bounded_nearest import list_low, most_above
from lslmatch.assignment.exact_squares import square_listed
from lslmatch.assignment.small_dense import FLOOR, take_logarithms
from lslmatch.geometry.expansion import relative_error_kernel
from lslmatch.geometry.panels import expand_one_row

#: What rounding may add to a limit.
_SLACK = 1.0 + 1e-9
_GREATEST_BITS = np.int32(0x7FFFFFFF)


@step_kernel
def augment_few(singles, pairs, logarithm, solution, line, spare, work, budget):
    """Match every free row; False if that takes more work than the budget, and some are still free.

    The cost of a pair counts as one, and the bounds of a row, which are written to the `line`, as `work`.
    """
    rows, row_squares, columns, column_squares, unit, lost = singles
    row_dual, col_dual, col_of_row, row_of_col = solution
    lengths, costs, before, listed, reached = spare
    n, m, d = row_dual.size, col_dual.size, rows.shape[1]
    for j in range(m):
        lengths[j] = np.inf
    for waiting in range(n):
        if col_of_row[waiting] >= 0:
            continue
        i, level, cutoff, closed, count, j = waiting, 0.0, np.inf, 0, 0, -1
        while i >= 0:
            expand_one_row(rows, row_squares, columns, column_squares, i, 0, line)
            offset = level - row_dual[i]
            # No farther than the nearest column without a row.
            within = math.exp(cutoff - offset) if logarithm else cutoff - offset
            reach = _reach_of_free(line, row_of_col, row_squares[i], d, np.float32(lost))
            within = min(within * (_SLACK * unit * unit), reach)
            near = list_low(line, m, within, listed)
            _price(pairs, logarithm, i, listed, near, costs)
            for k in range(near):
                j = listed[k]
                length = max(offset + (costs[k] - col_dual[j]), level)
                if length < lengths[j]:
                    if lengths[j] == np.inf:
                        reached[count] = j
                        count += 1
                    lengths[j] = length
                    before[j] = i
                    if row_of_col[j] < 0:
                        cutoff = min(cutoff, length)
            budget -= work + near
            if budget < 0:
                return False
            # The nearest column that is open comes after those that are closed.
            best = closed
            for k in range(closed + 1, count):
                best = k if lengths[reached[k]] < lengths[reached[best]] else best
            j = reached[best]
            reached[best] = reached[closed]
            reached[closed] = j
            closed += 1
            level = lengths[j]
            i = row_of_col[j]
        row_dual[waiting] += level
        for k in range(closed - 1):
            at = reached[k]
            col_dual[at] -= level - lengths[at]
            row_dual[row_of_col[at]] += level - lengths[at]
        while j >= 0:
            i = before[j]
            row_of_col[j] = i
            j, col_of_row[i] = col_of_row[i], j
        for k in range(count):
            lengths[reached[k]] = np.inf
    return True


@step_kernel
def _price(pairs, logarithm, i, columns, count, costs):
    square_listed(pairs, i, columns, count, costs)
    if logarithm:
        take_logarithms(costs, count, pairs.numbers[FLOOR])


@step_kernel
def _reach_of_free(bounds, row_of_col, row_square, d, lost):
    """Bound from above, in units, the squared distance of a row from the nearest column that has no row."""
    # By bit patterns, so that this is a vector loop.
    bits = _GREATEST_BITS
    for j in range(row_of_col.size):
        value = single_bits_of(bounds[j])
        bits = min(value if row_of_col[j] < 0 else _GREATEST_BITS, bits)
    return most_above(single_of(bits), row_square, np.float32(relative_error_kernel(d)), lost)
