"""Standardising small sets, and their common coordinates, as steps of one kernel.

Scale and shift are those of :mod:`lslmatch.alignment.moments`, to the last bit. Coordinates are written one
below the other, a line for each. They are rounded; :func:`exact_residual` restores what close points lose
by that.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import step_kernel
from lslmatch.assignment.small_dense import FLOOR, LOST, SCALE, SHIFT, SPREAD
from lslmatch.costs import COINCIDENT
from lslmatch.geometry.coordinates import FAR_OUT
from lslmatch.geometry.expansion import absolute_error_kernel
from lslmatch.geometry.magnitudes import GREATEST_RATIO

#: In place of a scale: it is to be estimated; the problem is not ordinary.
UNKNOWN, NOT_ORDINARY = 0.0, -1.0
#: Units are ordinary powers of two up to this one, and down to its inverse.
_GREATEST_UNIT = 2.0**100
_GREATEST_SQUARE = _GREATEST_UNIT * _GREATEST_UNIT
#: Squared distance, beside the squared distance from the origin, below which rounding errors of coordinates
#: count: two points that are farther from each other are not much farther from the origin.
CLOSE = 2.0**-12
#: Veltkamp's factor, which splits a double into halves.
_SPLIT = 134217729.0


@step_kernel
def align_small(x, y, numbers, work, x_lines, y_lines):
    """Estimate scale and shift if they are not given, and bring two sets into common coordinates.

    `numbers` holds what is known; the lines become coordinates about the mean of x. Returns the squared
    distance of the two means there. A scale that is NOT_ORDINARY afterwards: neither is the problem.
    """
    x_total = _centre(x, work[0], work[1], work[4], x_lines)
    y_total = _centre(y, work[2], work[3], work[5], y_lines)
    offset_square = settle_map(x_total, y_total, x.shape[0], y.shape[0], numbers, work)
    scale = numbers[SCALE]
    for k in range(x.shape[1]):
        line, offset = y_lines[k], work[3, k]
        for j in range(y.shape[0]):
            line[j] = scale * line[j] + offset
    return offset_square


@step_kernel
def align_rows(x, y, numbers, work, a, b):
    """Do what `align_small` does, for points as rows."""
    x_total = _centre_rows(x, work[0], work[1], work[4], work[6:], a)
    y_total = _centre_rows(y, work[2], work[3], work[5], work[6:], b)
    offset_square = settle_map(x_total, y_total, x.shape[0], y.shape[0], numbers, work)
    scale, offset = numbers[SCALE], work[3]
    for j in range(b.shape[0]):
        for k in range(b.shape[1]):
            b[j, k] = scale * b[j, k] + offset[k]
    return offset_square


@step_kernel
def settle_map(x_total, y_total, n, m, numbers, work):
    """Settle scale, shift and floor by the sums of squares, and by the `work` of centring both sets.

    In its fourth line, offsets of the coordinates of y take the place of the mean.
    """
    scale = numbers[SCALE]
    numbers[SCALE] = NOT_ORDINARY
    d = work.shape[1]
    if scale == UNKNOWN and x_total > 0.0 and y_total > 0.0:
        scale = math.sqrt(x_total / y_total * (m / n))
        for k in range(d):
            numbers[SHIFT + k] = work[1, k] - scale * work[3, k]
    offset_square = means_apart = greatest = 0.0
    for k in range(d):
        origin = work[0, k]
        value = work[2, k]
        shift = numbers[SHIFT + k]
        greatest = max(max(greatest, abs(shift)), max(abs(origin), abs(value)))
        offset = -exact_residual(origin, value, scale, shift)
        offset_square += offset * offset
        offset_of_means = offset + (scale * work[5, k] - work[4, k])
        means_apart += offset_of_means * offset_of_means
        work[3, k] = offset
    mean_square = (x_total + scale * scale * y_total + m * means_apart) / (n + m)
    # What is not finite is not below anything.
    ordinary = greatest < _GREATEST_UNIT and 1.0 / _GREATEST_SQUARE < mean_square < _GREATEST_SQUARE
    if ordinary and 1.0 / _GREATEST_UNIT < scale < _GREATEST_UNIT:
        numbers[SCALE] = scale
        numbers[SPREAD] = mean_square
        numbers[FLOOR] = mean_square * COINCIDENT
        numbers[LOST] = absolute_error_kernel(d, offset_square, greatest)
    return offset_square


@step_kernel
def lower_floor(x, y, numbers):
    """Lower the floor of squared distances if single points are so far out that it says nothing of others.

    :meth:`lslmatch.geometry.coordinates.Geometry.ordinary_share` says by how much. It matters only if some
    partners seem to coincide. Returns False if points are out of the range of each other.
    """
    shift = numbers[SHIFT:]
    shift_square = 0.0
    for k in range(shift.size):
        shift_square += shift[k] * shift[k]
    if shift_square >= FAR_OUT * numbers[SPREAD]:
        return True
    x_least, x_greatest = _extremes(x, 1.0)
    y_least, y_greatest = _extremes(y, numbers[SCALE])
    least = max(min(x_least, y_least), shift_square)
    if least < FAR_OUT * numbers[SPREAD]:
        numbers[FLOOR] = least * COINCIDENT
    return least > max(x_greatest, y_greatest) / (GREATEST_RATIO * GREATEST_RATIO)


@step_kernel
def _extremes(points, factor):
    """Return the least squared length of a point other than 0, times the factor, and the greatest.

    A square that is too small for doubles counts as 0.
    """
    least, greatest = np.inf, 0.0
    for i in range(points.shape[0]):
        square, is_origin = 0.0, True
        for k in range(points.shape[1]):
            value = factor * points[i, k]
            square += value * value
            is_origin &= points[i, k] == 0.0
        greatest = max(greatest, square)
        if not is_origin:
            least = min(least, square)
    return least, greatest


@step_kernel
def _centre(points, centre, mean, rest, lines):
    """Write deviations from `centre`, the mean as it is first rounded; return the sum of squares about it.

    A second pass corrects what the first rounded, in the sum and in the `mean`. The `rest` is what the mean
    is beyond the centre.
    """
    n, d = points.shape
    total = 0.0
    # Two coordinates at a time, so that one sum need not wait for the other.
    for k in range(0, d, 2):
        k1 = min(k + 1, d - 1)
        line0 = lines[k]
        line1 = lines[k1]
        p0 = points[0, k]
        p1 = points[0, k1]
        s0 = s1 = e0 = e1 = q0 = q1 = 0.0
        for i in range(n):
            s0 += points[i, k] - p0
            s1 += points[i, k1] - p1
        s0 /= n
        s1 /= n
        c0 = p0 + s0
        c1 = p1 + s1
        for i in range(n):
            v0 = points[i, k]
            v1 = points[i, k1]
            line0[i] = v0 - c0
            line1[i] = v1 - c1
            v0 = v0 - p0 - s0
            v1 = v1 - p1 - s1
            e0 += v0
            e1 += v1
            q0 += v0 * v0
            q1 += v1 * v1
        centre[k] = c0
        centre[k1] = c1
        mean[k] = p0 + (s0 + e0 / n)
        mean[k1] = p1 + (s1 + e1 / n)
        rest[k] = (s0 - (c0 - p0)) + e0 / n
        rest[k1] = (s1 - (c1 - p1)) + e1 / n
        total += q0 - e0 * (e0 / n)
        if k1 > k:
            total += q1 - e1 * (e1 / n)
    return total


@step_kernel
def _centre_rows(points, centre, mean, rest, work, out):
    """Do what `_centre` does for small sets."""
    n, d = points.shape
    first, shift, errors, squares = points[0], work[0], work[1], work[2]
    for k in range(d):
        shift[k] = errors[k] = squares[k] = 0.0
    for i in range(n):
        for k in range(d):
            shift[k] += points[i, k] - first[k]
    for k in range(d):
        shift[k] /= n
        centre[k] = first[k] + shift[k]
    for i in range(n):
        for k in range(d):
            value = points[i, k]
            out[i, k] = value - centre[k]
            value = value - first[k] - shift[k]
            errors[k] += value
            squares[k] += value * value
    total = 0.0
    for k in range(d):
        mean[k] = first[k] + (shift[k] + errors[k] / n)
        rest[k] = (shift[k] - (centre[k] - first[k])) + errors[k] / n
        total += squares[k] - errors[k] * (errors[k] / n)
    return total


@step_kernel
def exact_residual(x, y, scale, shift):
    """Compute x - scale * y - shift with the errors of all roundings (Dekker's product, Knuth's sums)."""
    product = scale * y
    split = _SPLIT * scale
    scale_high = split - (split - scale)
    scale_low = scale - scale_high
    split = _SPLIT * y
    high = split - (split - y)
    low = y - high
    error = (scale_high * high - product) + scale_high * low + scale_low * high
    error += scale_low * low
    mapped = product + shift
    seen = mapped - product
    error += (product - (mapped - seen)) + (shift - seen)
    rest = x - mapped
    seen = rest - x
    error -= (x - (rest - seen)) + (-mapped - seen)
    return rest - error
