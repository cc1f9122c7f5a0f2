"""The nearest column of every row of two sets, without the matrix of their squared distances.

Expanded squares ``|a|^2 + |b|^2 - 2 a.b`` in single precision, lowered by the most that they may be wrong by,
are lower bounds of squared distances. Where only one of a row's bounds is as low as the squared distance of
its pair, that column is the nearest. Where others are, too, their squared distances are computed as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import single_bits_of, single_of, step_kernel
from lslmatch.assignment.exact_squares import square_each, square_listed
from lslmatch.geometry.expansion import relative_error_kernel
from lslmatch.geometry.panels import FEW_ROWS, PANEL, expand_few_rows, expand_one_row

#: Columns that are examined together where low bounds are looked for.
_BLOCK = 32
#: Exact distances that are computed for each row, if bounds do not tell its nearest column, before it is
#: given up.
_MOST_LISTED = 64
_GREATEST_BITS = np.int32(0x7FFFFFFF)
_ZERO, _ONE = np.int32(0), np.int32(1)


class Singles(NamedTuple):
    """Two sets in single precision, in units of their size."""

    rows: NDArray[np.float32]  # (n, d) coordinates times -2
    row_squares: NDArray[np.float32]  # (n,) lowered squared norms
    columns: NDArray[np.float32]  # (1, panels, d, PANEL) coordinates; a point at infinity in free places
    column_squares: NDArray[np.float32]  # (1, panels * PANEL) lowered squared norms
    unit: float  # a coordinate was multiplied by this
    lost: float  # the absolute part of the error of an expanded square


@step_kernel
def write_singles(row_lines, column_lines, m, singles):
    """Fill in two sets that are given by a line for each coordinate."""
    rows, row_squares, columns, column_squares, unit, lost = singles
    n, d = rows.shape
    lowered = 1.0 - relative_error_kernel(d)
    for i in range(n):
        total = 0.0
        for k in range(d):
            value = unit * row_lines[k, i]
            rows[i, k] = -2.0 * value
            total += value * value
        row_squares[i] = lowered * total - lost
    for start in range(0, column_squares.size, PANEL):
        panel, squares = columns[0, start // PANEL], column_squares[0, start : start + PANEL]
        for j in range(PANEL):
            squares[j] = 0.0 if start + j < m else np.inf
        for k in range(d):
            line, places = column_lines[k, start : min(start + PANEL, m)], panel[k]
            for j in range(line.size, PANEL):
                places[j] = 0.0
            for j in range(line.size):
                value = unit * line[j]
                places[j] = value
                squares[j] += np.float32(lowered * value * value)


@step_kernel
def find_nearest(singles, pairs, bounds, nearest, least, listed, squares):
    """Find the nearest columns of all rows, and their squared distances; False if bounds do not help.

    `bounds` has room for FEW_ROWS rows, `listed` and `squares` for one.
    """
    rows, row_squares, columns, column_squares, unit, lost = singles
    n, line, limits = rows.shape[0], bounds[0], squares
    left, margin = _MOST_LISTED * n, np.float32(relative_error_kernel(rows.shape[1]))
    for first in range(0, n, FEW_ROWS):
        last = min(first + FEW_ROWS, n)
        expand_few_rows(rows, row_squares, columns, column_squares, first, last, 0, bounds)
        _note_lowest(bounds, row_squares, first, last, margin, np.float32(lost), nearest, limits)
    square_each(pairs, nearest, n, least)
    for i in range(n):
        if least[i] * unit * unit > limits[i]:
            nearest[i] = -1
    for i in range(n):
        if nearest[i] < 0:
            expand_one_row(rows, row_squares, columns, column_squares, i, 0, line)
            count = list_low(line, line.size, least[i] * unit * unit, listed)
            left -= count
            # (A row always finds the column that gave the limit, as long as bounds hold.)
            if left < 0 or count == 0:
                return False
            square_listed(pairs, i, listed, count, squares)
            at = 0
            for k in range(1, count):
                at = k if squares[k] < squares[at] else at
            nearest[i], least[i] = listed[at], squares[at]
    return True


@step_kernel
def count_mutual(singles, bounds, nearest, least, chosen, squares, back):
    """Count, of the first PANEL rows, those that are the nearest of their nearest column, by bounds.

    `chosen` and `squares` have room for PANEL columns, and `back` for bounds of FEW_ROWS rows and them.
    """
    rows, row_squares, columns, column_squares = singles[:4]
    (n, d), none = rows.shape, np.float32(0.0)
    for first in range(0, PANEL, FEW_ROWS):
        expand_few_rows(rows, row_squares, columns, column_squares, first, first + FEW_ROWS, 0, bounds)
        _note_lowest(bounds, row_squares, first, first + FEW_ROWS, none, none, nearest, least)
        for i in range(first, first + FEW_ROWS):
            at = nearest[i]
            squares[0, i] = column_squares[0, at]
            for k in range(d):
                chosen[0, 0, k, i] = columns[0, at // PANEL, k, at % PANEL]
            least[i] = bounds[i - first, at]
    for first in range(0, n, FEW_ROWS):
        last = min(first + FEW_ROWS, n)
        expand_few_rows(rows, row_squares, chosen, squares, first, last, 0, back)
        for i in range(first, last):
            line = back[i - first]
            for k in range(PANEL):
                nearest[k] = -1 if line[k] < least[k] else nearest[k]
    mutual = 0
    for k in range(PANEL):
        mutual += nearest[k] >= 0
    return mutual


@step_kernel
def most_above(bound, row_square, margin, lost):
    """Give the most, in units, that a squared distance D with a lower bound may be.

    With the margin r and the lost part e, ``D <= bound + 2 r (|a|^2 + |b|^2) + 3 e``, where lowered norms had
    e taken off. As ``|b|^2 <= 2 |a|^2 + 2 D``, that is ``(1 - 4 r) D <= bound + 6 r |a|^2 + 3 e``; what the
    row's norm is lowered by, and the factor on the left (r < 2**-6), are within the greater constants here.
    """
    norm = np.float32(7.0) * (row_square + lost) + np.float32(5.0) * abs(bound)
    return np.float32(bound + (margin * norm + np.float32(4.0) * lost))


@step_kernel
def _note_lowest(bounds, row_squares, first, last, margin, lost, nearest, limits):
    """Note the columns of the lowest bounds of some rows, and up to which value no other bound is.

    If others are within what the squared distance of that pair may be, this is -1.
    """
    size = np.int32(bounds.shape[1])
    for i in range(first, last):
        line = bounds[i - first]
        # The least by their bit patterns, so that this is a vector loop. (A bound that is negative is less
        # than all others as an integer, too.)
        bits = _GREATEST_BITS
        for j in range(line.size):
            bits = min(single_bits_of(line[j]), bits)
        least = single_of(bits)
        limit = most_above(least, row_squares[i], margin, lost)
        at, count = size, _ZERO
        for j in range(size):
            is_low = line[j] <= limit
            at = min(at, np.int32(j) if is_low else size)
            count += _ONE if is_low else _ZERO
        nearest[i] = at
        limits[i] = limit if count == 1 else -1.0


@step_kernel
def list_low(values, width, limit, columns):
    """List the columns with a value of at most the limit, and return how many there are."""
    count = 0
    for start in range(0, width, _BLOCK):
        # A vector loop: most blocks have none.
        part, is_any = values[start : start + _BLOCK], False
        for j in range(part.size):
            is_any |= part[j] <= limit
        if is_any:
            for j in range(start, min(start + _BLOCK, width)):
                if values[j] <= limit:
                    columns[count] = j
                    count += 1
    return count
