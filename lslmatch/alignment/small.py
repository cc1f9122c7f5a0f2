"""Standardising a small set, and its common coordinates, as steps of one kernel.

The same as :mod:`lslmatch.alignment.moments` and, but for the unit, :mod:`lslmatch.geometry.coordinates`, to
the last bit, for two sets among many that follow each other in two arrays.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import inline_kernel
from lslmatch.costs import COINCIDENT

#: In place of a scale: it is to be estimated; the problem is not ordinary.
UNKNOWN, NOT_ORDINARY = 0.0, -1.0
#: Units are ordinary powers of two up to this one, and down to its inverse.
_GREATEST_UNIT = 2.0**100
#: Mean squared difference of coordinates, beside the greatest one, below which their rounding errors count.
_CLOSE = 2.0**-6
_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


@inline_kernel
def align_small(x, x_start, x_stop, y, y_start, y_stop, numbers, mean, correction, squares, a, b):
    """Estimate scale and shift if they are not given, and bring two sets into common coordinates.

    `numbers` holds the scale, the sum of the costs, and the shift; `a` and `b` become coordinates and their
    rounding errors. Returns the floor of squared distances, and from where on they are close. A scale
    that is NOT_ORDINARY afterwards: neither is the problem.
    """
    d, n, m = x.shape[1], x_stop - x_start, y_stop - y_start
    scale, floor, close = numbers[0], 0.0, 0.0
    numbers[0] = NOT_ORDINARY
    # Of bit patterns without the sign, those of what is not finite are the greatest.
    bits = np.int64(0)
    for side in range(2):
        points, start, stop = (x, x_start, x_stop) if side == 0 else (y, y_start, y_stop)
        for i in range(start, stop):
            for k in range(d):
                seen_bits = np.float64(points[i, k]).view(np.int64) & _GREATEST_BITS
                bits = seen_bits if seen_bits > bits else bits
    ordinary = np.int64(bits).view(np.float64) < _GREATEST_UNIT
    if ordinary and scale == UNKNOWN:
        x_total = total = 0.0
        for side in range(2):
            points, start, stop = (x, x_start, x_stop) if side == 0 else (y, y_start, y_stop)
            x_total = total
            for k in range(d):
                mean[k] = correction[k] = squares[k] = 0.0
            for i in range(start, stop):
                for k in range(d):
                    mean[k] += points[i, k] - points[start, k]
            for k in range(d):
                mean[k] /= stop - start
            # The second pass corrects what the first rounded.
            for i in range(start, stop):
                for k in range(d):
                    deviation = points[i, k] - points[start, k] - mean[k]
                    correction[k] += deviation
                    squares[k] += deviation * deviation
            total = 0.0
            for k in range(d):
                total += squares[k] - correction[k] * (correction[k] / (stop - start))
                mean[k] = points[start, k] + (mean[k] + correction[k] / (stop - start))
                numbers[2 + k] = mean[k] if side == 0 else numbers[2 + k]
        if x_total > 0.0 and total > 0.0:
            scale = math.sqrt(x_total / total * (m / n))
            for k in range(d):
                numbers[2 + k] -= scale * mean[k]
    greatest = 0.0
    for k in range(d):
        greatest = max(greatest, abs(numbers[2 + k]))
        mean[k] = 0.0
    if ordinary and 1.0 / _GREATEST_UNIT < scale < _GREATEST_UNIT and greatest < _GREATEST_UNIT:
        for i in range(x_start, x_stop):
            for k in range(d):
                mean[k] += x[i, k] - x[x_start, k]
        for k in range(d):
            mean[k] = x[x_start, k] + mean[k] / n
            # Knuth's sum: rounded, and the exact error of that.
            term = numbers[2 + k]
            squares[k] = term - mean[k]
            seen = squares[k] - term
            correction[k] = (term - (squares[k] - seen)) + (-mean[k] - seen)
        bits = np.int64(0)
        for i in range(n):
            for k in range(d):
                term = x[x_start + i, k]
                total = term - mean[k]
                seen = total - term
                a[0, i, k], a[1, i, k] = total, (term - (total - seen)) + (-mean[k] - seen)
                floor += total * total
                seen_bits = np.float64(total).view(np.int64) & _GREATEST_BITS
                bits = seen_bits if seen_bits > bits else bits
        # Veltkamp's halves of the scale, for Dekker's product.
        shifted = 134217729.0 * scale
        scale_high = shifted - (shifted - scale)
        scale_low = scale - scale_high
        for i in range(m):
            for k in range(d):
                value = y[y_start + i, k]
                product = scale * value
                shifted = 134217729.0 * value
                high = shifted - (shifted - value)
                low = value - high
                error = (scale_high * high - product) + scale_high * low + scale_low * high
                error += scale_low * low
                total = product + squares[k]
                seen = total - product
                rest = (product - (total - seen)) + (squares[k] - seen) + (error + correction[k])
                value = total + rest
                seen = value - total
                b[0, i, k], b[1, i, k] = value, (total - (value - seen)) + (rest - seen)
                floor += value * value
                seen_bits = np.float64(value).view(np.int64) & _GREATEST_BITS
                bits = seen_bits if seen_bits > bits else bits
        unit = np.int64(bits).view(np.float64)
        if 1.0 / _GREATEST_UNIT < unit < _GREATEST_UNIT:
            numbers[0] = scale
            floor, close = floor / (n + m) * COINCIDENT, _CLOSE * d * unit * unit
    return floor, close
