"""Two sets in common coordinates, each with its rounding errors carried along."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lslmatch._jit import inline_kernel, kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.geometry.magnitudes import SMALL, least_magnitude, typical_centre, typical_size
from lslmatch.geometry.powers import least_exponent, nonzero_exponent, power_factor, times_power
from lslmatch.results import Affine

#: A squared distance from the origin, beside the mean one, that is due to rounding.
_ROUNDING = 2.0**-98
#: Share of the mean square that a squared magnitude is below if other points are far out.
FAR_OUT = 2.0**-40
#: The mean is no origin beyond 16 typical distances from the median: single points have moved it.
_MOVED = 16.0
#: Coordinates are in the unit of the largest, but at most 2**10 times a typical one; the unit is at least
#: 2**-400 of the largest, so that no square overflows.
_TYPICAL, _GREATEST = 10, 400
#: Where all that is left without the common offset is below this power of two, in the unit of the offset,
#: coordinates that were as small themselves have lost digits: those below the least here.
_CANCELLED, _LEAST = -960, 2.0**-960


class Geometry(NamedTuple):
    """Two sets in common coordinates: ``x[i] - scale * y[j] - shift`` is ``2**exponent * (a[i] - b[j])``.

    The unit is such that the largest coordinate is about 1, and the origin is near the mean of x. Points that
    are far out, as fills are, do not move either: their coordinates are larger than 1 then. Each coordinate
    is an unevaluated sum of a double and of its rounding error.
    """

    a: FloatArray  # (n, d)
    b: FloatArray  # (m, d)
    a_low: FloatArray  # (n, d) rounding errors of a
    b_low: FloatArray  # (m, d) rounding errors of b
    exponent: int  # the unit of a and b is 2**exponent in units of x
    is_tame: bool = True  # whether no coordinate is above 1
    #: The least distance of a point from the origin of its set as it was given, or from where the map takes
    #: that, if it may be very small; else infinite.
    least: float = math.inf
    #: Whether squares of what tells most points apart are in the range of doubles, beside the greatest.
    is_in_range: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of points n and m."""
        return self.a.shape[0], self.b.shape[0]

    def transposed(self) -> Geometry:
        """Exchange the roles of the two sets."""
        return self._replace(a=self.b, b=self.a, a_low=self.b_low, b_low=self.a_low)

    def taken(self, rows: IntArray, cols: IntArray) -> Geometry:
        """Take some points of each set, in the given order."""
        a, b, a_low, b_low = self.a[rows], self.b[cols], self.a_low[rows], self.b_low[cols]
        return self._replace(a=a, b=b, a_low=a_low, b_low=b_low)

    def residuals(self) -> FloatArray:
        """Return ``a - b`` of sets that are paired, with all digits even where points nearly coincide."""
        exact: FloatArray = (self.a - self.b) + (self.a_low - self.b_low)
        return exact

    def mean_square(self) -> float:
        """Return the mean squared distance of all points from the mean of a."""
        centre, n = self.a.mean(axis=0), sum(self.shape)
        mean = _sum_of_squares(self.a, self.b) / n
        # Mostly that is the origin, but for rounding.
        if centre @ centre <= _ROUNDING * mean:
            return mean
        return _sum_of_squares(self.a - centre, self.b - centre) / n

    def ordinary_share(self) -> float:
        """Return the share of the mean square that says when points coincide: 1, mostly.

        Where single points are so far out that the mean square says nothing of the others, it is as much less
        as the least squared length of a point is.
        """
        mean, least = self.mean_square(), self.least * self.least
        return least / mean if least < FAR_OUT * mean else 1.0


def _sum_of_squares(*sets: FloatArray) -> float:
    return float(sum(np.einsum("ij,ij", points, points) for points in sets))


def common_coordinates(x: FloatArray, y: FloatArray, affine: Affine) -> Geometry:
    """Bring two checked sets into common coordinates under a given map."""
    scale, scale_exponent = math.frexp(affine.scale)
    extents = least_exponent(x), least_exponent(y) + scale_exponent, least_exponent(affine.shift)
    exponent = nonzero_exponent(1 + max(extents))
    given, units = (x, y), ((1.0, -exponent), (scale, scale_exponent - exponent))
    x, x_factor = power_factor(x, -exponent)
    y, y_factor = power_factor(y, scale_exponent - exponent)
    shift = times_power(affine.shift, -exponent)
    origin = _origin(x, x_factor)
    parts, greatest = _about(origin, x, x_factor, y, y_factor, scale, shift)
    least, is_in_range = least_magnitude(given, units, shift, greatest)
    if least < math.ldexp(SMALL, greatest):
        # Some points are far out, and the origin may be: then it costs those near zero their digits.
        costs_digits = (np.abs(x) * x_factor < SMALL * np.abs(origin)).any(axis=0)
        if costs_digits.any():
            origin = np.where(costs_digits, 0.0, origin)
            parts, greatest = _about(origin, x, x_factor, y, y_factor, scale, shift)
    if greatest < _CANCELLED:
        sizes = x * x_factor, y * y_factor, shift
        is_in_range &= not any(map(_has_lost_digits, (*given, affine.shift), sizes))
    return in_unit(parts, exponent, least, is_in_range)


def _about(
    origin: FloatArray,
    x: FloatArray,
    x_factor: float,
    y: FloatArray,
    y_factor: float,
    scale: float,
    shift: FloatArray,
) -> tuple[list[FloatArray], int]:
    """Give coordinates a and b about an origin, their rounding errors, and the exponent of the greatest."""
    offset, offset_low = two_sum(shift, -origin)
    parts = a, b, a_low, b_low = [np.empty_like(points) for points in (x, y, x, y)]
    shift_points(x, x_factor, -origin, a, a_low)
    map_points(y, y_factor, scale, offset, offset_low, b, b_low)
    return parts, max(least_exponent(a), least_exponent(b))


def _has_lost_digits(given: FloatArray, in_unit: FloatArray) -> bool:
    """Say whether some coordinates other than 0 are too small in the unit of the greatest."""
    return bool((np.abs(in_unit[given != 0.0]) < _LEAST).any())


def in_unit(parts: list[FloatArray], exponent: int, least: float, is_in_range: bool) -> Geometry:
    """Put coordinates a and b and their rounding errors, in units of ``2**exponent``, into their own unit."""
    a, b, a_low, b_low = parts
    # A large common offset is gone now: what is left may be much smaller than the unit.
    greatest = max(least_exponent(a), least_exponent(b))
    typical = max(least_exponent(typical_size(a)), least_exponent(typical_size(b)))
    extent = nonzero_exponent(max(min(greatest, typical + _TYPICAL), greatest - _GREATEST))
    for part in parts:
        times_power(part, -extent, out=part)
    with np.errstate(over="ignore"):  # infinite if what is left is that much smaller
        least = float(np.ldexp(least, -extent))
    return Geometry(a, b, a_low, b_low, exponent + extent, extent >= greatest, least, is_in_range)


def _origin(points: FloatArray, factor: float) -> FloatArray:
    """Return the mean of ``factor * points``, or a median if single points have moved the mean far away."""
    mean = column_means(points, factor)
    centre, size = typical_centre(points)
    return factor * centre if is_moved(mean, factor * centre, factor * size) else mean


def is_moved(mean: FloatArray, centre: FloatArray, size: float) -> bool:
    """Say whether single points have moved a mean so far from a median that it is no origin."""
    return bool(np.abs(mean - centre).max() > _MOVED * size)


def column_means(points: FloatArray, factor: float) -> FloatArray:
    """Return the column means of ``factor * points``, summed about the first point."""
    origin = points[0] * factor
    total = np.zeros_like(origin)
    _add_deviations(points, factor, origin, total)
    return origin + total / len(points)


@kernel
def _add_deviations(points, factor, origin, total):
    n, d = points.shape
    for i in range(n):
        for k in range(d):
            total[k] += points[i, k] * factor - origin[k]


@kernel
def shift_points(points, factor, shift, high, low):
    """Add a shift to ``factor * points``, a power of two, with the rounding errors in `low`."""
    n, d = points.shape
    for i in range(n):
        for k in range(d):
            high[i, k], low[i, k] = _two_sum_kernel(points[i, k] * factor, shift[k])


@kernel
def map_points(points, factor, scale, offset, offset_low, high, low):
    """Map ``factor * points``, a power of two, by scale and offset, with the rounding errors in `low`."""
    n, d = points.shape
    scale_high, scale_low = _split_kernel(scale)
    for i in range(n):
        for k in range(d):
            value = points[i, k] * factor
            # Dekker's product.
            product = scale * value
            value_high, value_low = _split_kernel(value)
            error = (scale_high * value_high - product) + scale_high * value_low + scale_low * value_high
            error += scale_low * value_low
            total, total_low = _two_sum_kernel(product, offset[k])
            high[i, k], low[i, k] = _two_sum_kernel(total, total_low + (error + offset_low[k]))


def two_sum(p: Any, q: Any) -> tuple[Any, Any]:
    """Knuth's sum: ``p + q`` rounded, and the exact error of that rounding."""
    total = p + q
    q_seen = total - p
    return total, (p - (total - q_seen)) + (q - q_seen)


def _split(value: Any) -> tuple[Any, Any]:
    """Veltkamp's splitting of a double into halves of 26 bits."""
    shifted = 134217729.0 * value
    high = shifted - (shifted - value)
    return high, value - high


_two_sum_kernel = inline_kernel(two_sum)
_split_kernel = inline_kernel(_split)
