"""The common coordinates of two large sets: found block by block, and given for some points at a time.

They are those of :func:`lslmatch.geometry.coordinates.common_coordinates`, for sets that ask for nothing
special: of moderate magnitudes, with the mean of x as origin and no points that are far out. For all others
there is no frame here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.alignment.moments import check_range
from lslmatch.geometry.coordinates import FAR_OUT, Geometry, is_moved, map_points, shift_points, two_sum
from lslmatch.geometry.magnitudes import SMALL, squared_lengths, typical_centre, typical_size
from lslmatch.geometry.powers import least_exponent, nonzero_exponent, times_power
from lslmatch.large.points import blocks, doubles
from lslmatch.maps import Affine

#: Coordinates above this power of two, or all below its inverse, are not moderate.
_MODERATE = 400
#: A typical coordinate is at most so many powers of two below the greatest.
_TYPICAL = 10


class Moments(NamedTuple):
    """The mean of a set, and the sum of squares about it."""

    mean: FloatArray
    squares: float
    exponent: int  # of the greatest coordinate


class Frame(NamedTuple):
    """What leads points of x and of y to common coordinates a and b, in units of ``2**exponent``."""

    x_factor: float
    y_factor: float
    scale: float  # between 1/2 and 1
    origin: FloatArray
    offset: FloatArray
    offset_low: FloatArray
    extent: int  # a power of two that is divided by at the end
    exponent: int
    least: float = math.inf
    mean_square: float = 0.0

    def of_x(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give coordinates of points of x, and their rounding errors."""
        high, low = np.empty_like(points), np.empty_like(points)
        shift_points(points, self.x_factor, -self.origin, high, low)
        return self._in_unit(high, low)

    def of_y(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Do so for points of y."""
        high, low = np.empty_like(points), np.empty_like(points)
        map_points(points, self.y_factor, self.scale, self.offset, self.offset_low, high, low)
        return self._in_unit(high, low)

    def _in_unit(self, high: FloatArray, low: FloatArray) -> tuple[FloatArray, FloatArray]:
        return times_power(high, -self.extent, out=high), times_power(low, -self.extent, out=low)

    def ordinary_share(self) -> float:
        """Return what :meth:`~lslmatch.geometry.coordinates.Geometry.ordinary_share` does."""
        least = self.least * self.least
        return least / self.mean_square if least < FAR_OUT * self.mean_square else 1.0


class LargeSets(NamedTuple):
    """Two sets in common coordinates, the smaller one as rows; coordinates are made when asked for."""

    x: FloatArray
    y: FloatArray
    frame: Frame
    is_turned: bool  # whether the rows are points of y

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        n, m = len(self.x), len(self.y)
        return (m, n) if self.is_turned else (n, m)

    def rows(self, some: slice | IntArray) -> tuple[FloatArray, FloatArray]:
        """Give the coordinates of some rows, and their rounding errors."""
        return self._of_y(some) if self.is_turned else self._of_x(some)

    def cols(self, some: slice | IntArray) -> tuple[FloatArray, FloatArray]:
        """Give the coordinates of some columns, and their rounding errors."""
        return self._of_x(some) if self.is_turned else self._of_y(some)

    def taken(self, rows: slice | IntArray, cols: slice | IntArray) -> Geometry:
        """Give the geometry of some rows and columns: that of all, but for the others."""
        (a, a_low), (b, b_low) = self.rows(rows), self.cols(cols)
        return Geometry(a, b, a_low, b_low, self.frame.exponent, True, self.frame.least)

    def _of_x(self, some: slice | IntArray) -> tuple[FloatArray, FloatArray]:
        return self.frame.of_x(doubles(self.x, some))

    def _of_y(self, some: slice | IntArray) -> tuple[FloatArray, FloatArray]:
        return self.frame.of_y(doubles(self.y, some))


def find_moments(points: FloatArray) -> Moments | None:
    """Give the moments of a set; None if not all is finite, of moderate size, and different."""
    n, d = points.shape
    first, total = doubles(points, slice(1))[0], np.zeros(d)
    greatest = 0.0
    for some in blocks(n, d):
        block = doubles(points, some)
        greatest = max(greatest, float(block.max()), -float(block.min()))
        if not math.isfinite(greatest) or not math.isfinite(block.sum()):
            return None
        block -= first
        total += block.sum(axis=0)
    exponent = nonzero_exponent(least_exponent(np.array([greatest])))
    if abs(exponent) > _MODERATE:
        return None
    mean, squares = first + total / n, 0.0
    for some in blocks(n, d):
        block = doubles(points, some)
        block -= mean
        squares += float(np.einsum("ij,ij", block, block))
    return Moments(mean, squares, exponent) if squares > 0.0 else None


def affine_of(x: Moments, y: Moments, n: int, m: int) -> Affine:
    """Estimate scale and shift as :func:`lslmatch.alignment.moments.estimate_affine` does."""
    scale = math.sqrt(x.squares / y.squares * (m / n))
    return check_range(Affine(scale, x.mean - scale * y.mean))


def find_frame(x: FloatArray, y: FloatArray, affine: Affine, of_x: Moments, of_y: Moments) -> Frame | None:
    """Find the frame of two sets under a map; None if they ask for something special."""
    scale, scale_exponent = math.frexp(affine.scale)
    extents = of_x.exponent, of_y.exponent + scale_exponent, least_exponent(affine.shift)
    exponent = nonzero_exponent(1 + max(extents))
    powers = -exponent, scale_exponent - exponent
    if max(map(abs, (*powers, exponent))) > 2 * _MODERATE:
        return None
    factors = math.ldexp(1.0, powers[0]), math.ldexp(1.0, powers[1])
    origin, shift = of_x.mean * factors[0], times_power(affine.shift, -exponent)
    centre, size = typical_centre(doubles(x, _sample(len(x))))
    if is_moved(origin, factors[0] * centre, factors[0] * size):
        return None
    offset, offset_low = two_sum(shift, -origin)
    frame = Frame(*factors, scale, origin, offset, offset_low, 0, exponent)
    sets = LargeSets(x, y, frame, False)
    greatest, squares, total = 0.0, 0.0, np.zeros(x.shape[1])
    for count, side in ((len(x), sets.rows), (len(y), sets.cols)):
        for some in blocks(count, x.shape[1]):
            block, _ = side(some)
            greatest = max(greatest, float(block.max()), -float(block.min()))
            squares += float(np.einsum("ij,ij", block, block))
            total += block.sum(axis=0) if side == sets.rows else 0.0
    extent = least_exponent(np.array([greatest]))
    typical = max(
        least_exponent(typical_size(side(_sample(count))[0]))
        for count, side in ((len(x), sets.rows), (len(y), sets.cols))
    )
    if abs(extent) > _MODERATE or extent > typical + _TYPICAL:
        return None
    least = _least_length(x, y, (factors[0], factors[1] * scale), shift, extent)
    centre = total / len(x)
    mean_square = squares / (len(x) + len(y))
    if least is None or centre @ centre > 2.0**-80 * mean_square:
        return None
    return frame._replace(
        extent=extent,
        exponent=exponent + extent,
        least=math.ldexp(least, -extent) if math.isfinite(least) else least,
        mean_square=math.ldexp(mean_square, -2 * extent),
    )


def _sample(n: int) -> slice:
    """Choose points that tell what most are like, as :mod:`lslmatch.geometry.magnitudes` does."""
    return slice(None, None, max(n // 65, 1))


def _least_length(
    x: FloatArray, y: FloatArray, factors: tuple[float, float], shift: FloatArray, extent: int
) -> float | None:
    """Return the least length of a point as given, infinite if it is not small; None if it is very small."""
    d = shift.size
    least = float(np.linalg.norm(shift))
    if least >= math.ldexp(SMALL * math.sqrt(d), extent):
        return math.inf
    least_square = math.inf
    for points, factor in zip((x, y), factors, strict=True):
        for some in blocks(len(points), d):
            squares = squared_lengths(doubles(points, some), factor, 0)
            least_square = min(least_square, float(squares.min(where=squares > 0.0, initial=math.inf)))
    least = math.sqrt(max(least_square, least * least))
    return None if least < math.ldexp(SMALL, extent) else least
