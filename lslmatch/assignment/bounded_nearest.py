"""The nearest column of every row of two sets, without the matrix of their squared distances.

Expanded squares ``|a|^2 + |b|^2 - 2 a.b`` in single precision, lowered by the most that they may be wrong by,
are lower bounds of squared distances. Those of some leading coordinates are bounds, too. Where only one of a
row's bounds is as low as the squared distance of its pair, that column is the nearest. Where others are, too,
their squared distances are computed as well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import single_bits_of, single_of, step_kernel
from lslmatch.assignment.exact_squares import leading_square, square_listed, square_of
from lslmatch.geometry.expansion import relative_error_kernel
from lslmatch.geometry.panels import FEW_ROWS, PANEL, expand_few_rows

#: Columns that are examined together where low bounds are looked for.
_BLOCK = 32
#: Squared distances that are computed for each row before it is given up: by leading coordinates, by all.
_MOST_LISTED, _MOST_LISTED_BY_ALL = 16, 64
#: Leading coordinates are tried from this number of dimensions on: d / 8 at first, at least 8; 4 rows tell.
MANY_DIMENSIONS, _LEADING, _FEWEST, _PROBES = 16, 8, 8, 4
#: Of n rows, 8 times the root of n are looked at first, and 64 s of them clash if a share s of all does.
_LOOKED_AT = 8.0
#: What is found: bounds do not tell nearest columns from others, too many rows clash, or neither.
UNCLEAR, CLASHING, CLEAR = range(3)
#: A limit in single precision is not less than the squared distance it comes from, rounded.
_ROUNDED = 1.0 + 2.0**-20
_GREATEST_BITS = np.int32(0x7FFFFFFF)
_ZERO, _ONE = np.int32(0), np.int32(1)


class Singles(NamedTuple):
    """Leading coordinates of two sets in single precision, in units of their size."""

    rows: NDArray[np.float32]  # (n, leading) coordinates times -2
    row_squares: NDArray[np.float32]  # (n,) lowered squared norms
    columns: NDArray[np.float32]  # (1, panels, leading, PANEL) coordinates
    column_squares: NDArray[np.float32]  # (1, panels * PANEL) lowered squared norms; infinite in free places
    unit: float  # a coordinate was multiplied by this
    lost: float  # the absolute part of the error of an expanded square


@step_kernel
def count_leading(rows, columns):
    """Give the number of leading coordinates that tell the nearest columns of a few rows from all others."""
    (n, d), m = rows.shape, columns.shape[0]
    if d < MANY_DIMENSIONS:
        return d
    leading = max(d // _LEADING, _FEWEST)
    for probe in range(_PROBES):
        i, best, at = probe * (n - 1) // (_PROBES - 1), np.inf, 0
        for j in range(m):
            square = leading_square(rows, i, columns, j, d)
            if square < best:
                best, at = square, j
        j = 0
        while leading < d and j < m:
            if j != at and leading_square(rows, i, columns, j, leading) < best:
                # Twice as many, and from the beginning; more than half of them are not worth it.
                leading, j = 2 * leading if 4 * leading <= d else d, 0
            else:
                j += 1
    return leading


@step_kernel
def write_singles(rows, columns, singles):
    """Fill in the leading coordinates of two sets in common coordinates."""
    single_rows, row_squares, panels, column_squares, unit, lost = singles
    (n, leading), m = single_rows.shape, columns.shape[0]
    lowered = 1.0 - relative_error_kernel(leading)
    for i in range(n):
        total = 0.0
        for k in range(leading):
            value = unit * rows[i, k]
            single_rows[i, k] = -2.0 * value
            total += value * value
        row_squares[i] = lowered * total - lost
    for start in range(0, column_squares.size, PANEL):
        panel, squares = panels[0, start // PANEL], column_squares[0, start : start + PANEL]
        count = min(m - start, PANEL)
        for j in range(PANEL):
            squares[j] = 0.0 if j < count else np.inf
        for k in range(leading):
            places = panel[k]
            for j in range(count, PANEL):
                places[j] = 0.0
            for j in range(count):
                value = unit * columns[start + j, k]
                places[j] = value
                squares[j] += np.float32(lowered * value * value)


@step_kernel
def find_nearest(singles, pairs, most_clashes, bounds, nearest, least, listed, squares, seen):
    """Find the nearest columns of all rows, and their squared distances; return CLEAR, or what is in the way.

    At most the share `most_clashes` of the rows may clash. `bounds` has room for FEW_ROWS rows; with room for
    all and FEW_ROWS more, they are kept. `listed` and `squares` have room for one row. `seen` stays -1.
    """
    rows, row_squares, columns, column_squares, unit, lost = singles
    (n, leading), square_unit = rows.shape, unit * unit
    margin, by_all = np.float32(relative_error_kernel(leading)), leading == pairs.rows.shape[1]
    left = (_MOST_LISTED_BY_ALL if by_all else _MOST_LISTED) * n
    looked_at, expected = int(_LOOKED_AT * math.sqrt(n)), most_clashes * _LOOKED_AT * _LOOKED_AT
    for first in range(0, n, FEW_ROWS):
        last = min(first + FEW_ROWS, n)
        few = bounds[first : first + FEW_ROWS] if bounds.shape[0] > FEW_ROWS else bounds
        expand_few_rows(rows, row_squares, columns, column_squares, first, last, 0, few)
        for i in range(first, last):
            line = few[i - first]
            lowest = _least_of(line)
            if by_all:
                limit = most_above(lowest, row_squares[i], margin, np.float32(lost))
                at, count = _lowest_within(line, limit)
                square = square_of(pairs, i, at)
                if count == 1 and square * square_unit > limit:
                    limit, count = _above(square * square_unit), 2
            else:
                at, _ = _lowest_within(line, lowest)
                square = square_of(pairs, i, at)
                limit = _above(square * square_unit)
                _, count = _lowest_within(line, limit)
            if count > 1:
                count = list_low(line, line.size, limit, listed)
                left -= count
                if left < 0:
                    return UNCLEAR
                square_listed(pairs, i, listed, count, squares)
                best = 0
                for k in range(1, count):
                    best = k if squares[k] < squares[best] else best
                at, square = listed[best], squares[best]
            nearest[i], least[i] = at, square
        # More than expected by 1.5 standard deviations are hardly chance.
        most = expected + 1.5 * math.sqrt(expected)
        if first < looked_at <= last and _count_clashes(nearest, last, seen) > most:
            return CLASHING
    return CLEAR


@step_kernel
def _count_clashes(nearest, count, seen):
    """Count, of the first rows, those whose nearest column is also that of a row before."""
    clashes = 0
    for i in range(count):
        clashes += seen[nearest[i]] >= 0
        seen[nearest[i]] = i
    for i in range(count):
        seen[nearest[i]] = -1
    return clashes


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
def _above(value):
    """Round a value to single precision, and not down."""
    return np.float32(value * _ROUNDED)


@step_kernel
def _least_of(line):
    """Give the least of some bounds, or some negative one."""
    # By bit patterns, so that this is a vector loop. (As an integer, too, a negative bound is less than all
    # others.)
    bits = _GREATEST_BITS
    for j in range(line.size):
        bits = min(single_bits_of(line[j]), bits)
    return single_of(bits)


@step_kernel
def _lowest_within(line, limit):
    """Give the first position of a bound within a limit, and how many there are."""
    size = np.int32(line.size)
    at, count = size, _ZERO
    for j in range(size):
        is_low = line[j] <= limit
        at = min(at, np.int32(j) if is_low else size)
        count += _ONE if is_low else _ZERO
    return at, count


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
