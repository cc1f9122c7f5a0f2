"""Two sets of ordinary units in common coordinates, a line for each of them, as quick kernels want it."""

from __future__ import annotations

from lslmatch._jit import step_kernel, summing_kernel
from lslmatch.assignment.small_coordinates import exact_residual

#: Units are ordinary powers of two up to this one, squared, and down to its inverse.
_GREATEST_SQUARE = 2.0**200


@step_kernel
def fill_lines(x, y, scale, shift, a, b, origin):
    """Fill coordinates of x and of ``scale * y + shift`` about the mean of x, the `origin`.

    Returns the mean square of all of them.
    """
    (d, n), m = a.shape, b.shape[1]
    for i in range(n):
        for k in range(d):
            a[k, i] = x[i, k] - x[0, k]
    for j in range(m):
        for k in range(d):
            b[k, j] = y[j, k] - y[0, k]
    total = 0.0
    for k in range(d):
        mean = _mean(a[k])
        origin[k] = x[0, k] + mean
        total += _map_line(a[k], 1.0, -mean)
        total += _map_line(b[k], scale, -mean - exact_residual(x[0, k], y[0, k], scale, shift[k]))
    return total / (n + m)


@step_kernel
def is_ordinary(mean_square):
    """Tell whether squares of such coordinates, and of their squares, are in the range of float64."""
    return 1.0 / _GREATEST_SQUARE < mean_square < _GREATEST_SQUARE


@summing_kernel
def _mean(line):
    total = 0.0
    for i in range(line.size):
        total += line[i]
    return total / line.size


@summing_kernel
def _map_line(line, scale, offset):
    """Multiply, add, and return the sum of squares."""
    total = 0.0
    for i in range(line.size):
        value = scale * line[i] + offset
        line[i] = value
        total += value * value
    return total
