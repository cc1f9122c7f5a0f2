"""Standardising a small set, and its common coordinates, as steps of one kernel.

The same as :mod:`lslmatch.alignment.moments` and, but for the unit, :mod:`lslmatch.geometry.coordinates`, to
the last bit, for two sets among many that follow each other in two arrays.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import inline_kernel
from lslmatch.assignment.small_dense import FLOOR, SCALE, SHIFT
from lslmatch.costs import COINCIDENT

#: In place of a scale: it is to be estimated; the problem is not ordinary.
UNKNOWN, NOT_ORDINARY = 0.0, -1.0
#: Units are ordinary powers of two up to this one, and down to its inverse.
_GREATEST_UNIT = 2.0**100
_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


@inline_kernel
def align_small(x, x_start, x_stop, y, y_start, y_stop, numbers, work, a, b):
    """Estimate scale and shift if they are not given, and bring two sets into common coordinates.

    `numbers` holds what is known; `a` and `b` become coordinates and their rounding errors. A scale that is
    NOT_ORDINARY afterwards: neither is the problem.
    """
    d, n, m = x.shape[1], x_stop - x_start, y_stop - y_start
    scale, floor = numbers[SCALE], 0.0
    numbers[SCALE] = NOT_ORDINARY
    centre, mean, correction, squares = work[0], work[1], work[2], work[3]
    # Of bit patterns without the sign, those of what is not finite are the greatest.
    bits, x_total, total = np.int64(0), 0.0, 0.0
    for side in range(2):
        points, start, stop = (x, x_start, x_stop) if side == 0 else (y, y_start, y_stop)
        x_total, total = total, 0.0
        for k in range(d):
            mean[k] = correction[k] = squares[k] = 0.0
        for i in range(start, stop):
            for k in range(d):
                value = points[i, k]
                mean[k] += value - points[start, k]
                seen_bits = np.float64(value).view(np.int64) & _GREATEST_BITS
                bits = max(seen_bits, bits)
        for k in range(d):
            mean[k] /= stop - start
            centre[k] = points[start, k] + mean[k] if side == 0 else centre[k]
        if scale == UNKNOWN and np.int64(bits).view(np.float64) < _GREATEST_UNIT:
            # A second pass corrects what the first rounded.
            for i in range(start, stop):
                for k in range(d):
                    deviation = points[i, k] - points[start, k] - mean[k]
                    correction[k] += deviation
                    squares[k] += deviation * deviation
            for k in range(d):
                total += squares[k] - correction[k] * (correction[k] / (stop - start))
                mean[k] = points[start, k] + (mean[k] + correction[k] / (stop - start))
                numbers[SHIFT + k] = mean[k] if side == 0 else numbers[SHIFT + k]
    ordinary = np.int64(bits).view(np.float64) < _GREATEST_UNIT
    if scale == UNKNOWN and x_total > 0.0 and total > 0.0:
        scale = math.sqrt(x_total / total * (m / n))
        for k in range(d):
            numbers[SHIFT + k] -= scale * mean[k]
    greatest = 0.0
    for k in range(d):
        greatest = max(greatest, abs(numbers[SHIFT + k]))
        # Knuth's sum: rounded, and the exact error of that.
        term = numbers[SHIFT + k]
        squares[k] = term - centre[k]
        seen = squares[k] - term
        correction[k] = (term - (squares[k] - seen)) + (-centre[k] - seen)
        mean[k] = 0.0
    if ordinary and 1.0 / _GREATEST_UNIT < scale < _GREATEST_UNIT and greatest < _GREATEST_UNIT:
        bits = np.int64(0)
        for i in range(n):
            for k in range(d):
                term = x[x_start + i, k]
                total = term - centre[k]
                seen = total - term
                a[0, i, k], a[1, i, k] = total, (term - (total - seen)) + (-centre[k] - seen)
                # A sum for each coordinate, so that this is a vector loop.
                mean[k] += total * total
                seen_bits = np.float64(total).view(np.int64) & _GREATEST_BITS
                bits = max(seen_bits, bits)
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
                mean[k] += value * value
                seen_bits = np.float64(value).view(np.int64) & _GREATEST_BITS
                bits = max(seen_bits, bits)
        for k in range(d):
            floor += mean[k]
        unit = np.int64(bits).view(np.float64)
        if 1.0 / _GREATEST_UNIT < unit < _GREATEST_UNIT:
            numbers[SCALE], numbers[FLOOR] = scale, floor / (n + m) * COINCIDENT
