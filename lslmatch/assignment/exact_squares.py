"""Squared distances of single pairs of points, to nearly all digits also where points are close."""

from __future__ import annotations

from typing import NamedTuple

from lslmatch._jit import inline_kernel, step_kernel, summing_kernel
from lslmatch._types import FloatArray
from lslmatch.assignment.small_coordinates import exact_residual
from lslmatch.assignment.small_dense import SCALE, SHIFT


class Pairs(NamedTuple):
    """Two sets, the smaller of which is that of the rows: as they were given, and in common coordinates."""

    x: FloatArray
    y: FloatArray
    turned: bool  # whether the rows are the points of y
    numbers: FloatArray  # what is known of the problem
    rows: FloatArray  # (n, d) coordinates, rounded
    columns: FloatArray  # (m, d)
    limits: FloatArray  # (n,) squared distances of a row below which the rounding of coordinates counts


@step_kernel
def square_listed(pairs, i, columns, count, squares):
    """Compute the squared distances of a row from the first `count` of some columns."""
    for k in range(count):
        squares[k] = square_of(pairs, i, columns[k])


@inline_kernel
def square_of(pairs, i, j):
    """Compute one squared distance; of close points, without rounding errors of their coordinates."""
    square = leading_square(pairs.rows, i, pairs.columns, j, pairs.rows.shape[1])
    if square < pairs.limits[i]:
        p, q = (j, i) if pairs.turned else (i, j)
        square = exact_square(pairs.x, p, pairs.y, q, pairs.numbers)
    return square


@summing_kernel
def exact_square(x, i, y, j, numbers):
    """Compute the squared distance of two points as they were given, with the errors of all roundings."""
    total = 0.0
    for k in range(x.shape[1]):
        rest = exact_residual(x[i, k], y[j, k], numbers[SCALE], numbers[SHIFT + k])
        total += rest * rest
    return total


@summing_kernel
def leading_square(a, i, b, j, d):
    """Compute the squared distance of two points by their first d coordinates."""
    total = 0.0
    for k in range(d):
        total += (a[i, k] - b[j, k]) * (a[i, k] - b[j, k])
    return total


@summing_kernel
def squared_length(a, i):
    """Compute the squared length of a point."""
    total = 0.0
    for k in range(a.shape[1]):
        total += a[i, k] * a[i, k]
    return total
