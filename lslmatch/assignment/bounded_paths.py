"""Shortest augmenting paths for the few rows whose nearest column another row has, without a matrix of costs.

The search is Dijkstra's. A path may end at any column that has no row yet, so the nearest of those limits how
long it is. Lower bounds of squared distances (:mod:`lslmatch.assignment.bounded_nearest`) tell which columns
of a row are within that limit; they are few, and only their costs are computed.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import bits_of, double_of, single_bits_of, single_of, step_kernel
from lslmatch.assignment.bounded_nearest import list_low
from lslmatch.assignment.exact_squares import square_listed, square_of
from lslmatch.assignment.small_dense import FLOOR, take_logarithms
from lslmatch.geometry.panels import FEW_ROWS, expand_one_row

#: What rounding may add to a limit.
_SLACK = 1.0 + 1e-9
_GREATEST_BITS, _GREATEST_LONG = np.int32(0x7FFFFFFF), np.int64(0x7FFFFFFFFFFFFFFF)


@step_kernel
def augment_few(singles, pairs, logarithm, solution, bounds, spare, work, budget):
    """Match every free row; False if that takes more work than the budget, and some are still free.

    The cost of a pair counts as one, and the bounds of a row, unless all rows' were kept, as `work`.
    """
    rows, row_squares, columns, column_squares, unit, _ = singles
    row_dual, col_dual, col_of_row, row_of_col = solution
    lengths, costs, before, listed, reached, place, open_lengths = spare
    (n, m), is_kept = (row_dual.size, col_dual.size), bounds.shape[0] > FEW_ROWS
    for j in range(m):
        lengths[j] = np.inf
    for waiting in range(n):
        if col_of_row[waiting] >= 0:
            continue
        i, level, cutoff, closed, count, j = waiting, 0.0, np.inf, 0, 0, -1
        while i >= 0:
            line = bounds[i] if is_kept else bounds[0]
            if not is_kept:
                expand_one_row(rows, row_squares, columns, column_squares, i, 0, line)
            offset = level - row_dual[i]
            # No farther than the nearest column without a row.
            within = math.exp(cutoff - offset) if logarithm else cutoff - offset
            within = min(within, square_of(pairs, i, _lowest_free(line, row_of_col))) * (_SLACK * unit * unit)
            near = list_low(line, m, within, listed)
            _price(pairs, logarithm, i, listed, near, costs)
            for k in range(near):
                j = listed[k]
                length = max(offset + (costs[k] - col_dual[j]), level)
                if length < lengths[j]:
                    if lengths[j] == np.inf:
                        reached[count], place[j] = j, count
                        count += 1
                    lengths[j] = open_lengths[place[j]] = length
                    before[j] = i
                    if row_of_col[j] < 0:
                        cutoff = min(cutoff, length)
            budget -= work + near
            if budget < 0:
                return False
            # The nearest column that is open comes after those that are closed.
            best = closed + _position_of_least(open_lengths[closed:count])
            j, first = reached[best], reached[closed]
            reached[best], open_lengths[best], place[first] = first, open_lengths[closed], best
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
def _position_of_least(lengths):
    """Give the first position of the least length, none of which is negative."""
    # By bit patterns, so that these are vector loops.
    bits, at = _GREATEST_LONG, lengths.size
    for k in range(lengths.size):
        bits = min(bits_of(lengths[k]), bits)
    least = double_of(bits)
    for k in range(lengths.size):
        at = min(at, k if lengths[k] == least else lengths.size)
    return at


@step_kernel
def _price(pairs, logarithm, i, columns, count, costs):
    square_listed(pairs, i, columns, count, costs)
    if logarithm:
        take_logarithms(costs, count, pairs.numbers[FLOOR])


@step_kernel
def _lowest_free(bounds, row_of_col):
    """Give the column without a row that has the lowest bound."""
    # By bit patterns, so that these are vector loops.
    bits, size = _GREATEST_BITS, np.int32(row_of_col.size)
    for j in range(size):
        value = single_bits_of(bounds[j])
        bits = min(value if row_of_col[j] < 0 else _GREATEST_BITS, bits)
    lowest, at = single_of(bits), size
    for j in range(size):
        at = min(at, np.int32(j) if bounds[j] <= lowest and row_of_col[j] < 0 else size)
    return at
