"""Squared distances of single pairs of points, without rounding errors of common coordinates."""

from __future__ import annotations

from typing import NamedTuple

from lslmatch._jit import step_kernel, summing_kernel
from lslmatch._types import FloatArray
from lslmatch.assignment.small_coordinates import exact_residual
from lslmatch.assignment.small_dense import SCALE, SHIFT


class Pairs(NamedTuple):
    """Two sets as they were given, the smaller of which is that of the rows."""

    x: FloatArray
    y: FloatArray
    turned: bool  # whether the rows are the points of y
    numbers: FloatArray  # what is known of the problem


@step_kernel
def square_each(pairs, columns, n, squares):
    """Compute the squared distances of n rows from one column each."""
    for i in range(n):
        squares[i] = _square(pairs, i, columns[i])


@step_kernel
def square_listed(pairs, i, columns, count, squares):
    """Compute the squared distances of a row from the first `count` of some columns."""
    for k in range(count):
        squares[k] = _square(pairs, i, columns[k])


@summing_kernel
def _square(pairs, i, j):
    x, y, turned, numbers = pairs
    p, q = (x[j], y[i]) if turned else (x[i], y[j])
    shift, total = numbers[SHIFT:], 0.0
    for k in range(p.size):
        rest = exact_residual(p[k], q[k], numbers[SCALE], shift[k])
        total += rest * rest
    return total
