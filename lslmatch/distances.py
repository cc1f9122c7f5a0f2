"""Squared distances between two aligned sets: exact ones, and tiles of them.

The expanded form ``|a|^2 + |b|^2 - 2 a.b`` comes from a matrix product but cancels when the points are
close; those entries are computed anew from differences of coordinates, whose rounding errors are
carried along, so that every squared distance has a small *relative* error, coincident points included.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import fused_kernel, inline_kernel
from lslmatch.results import Affine, FloatArray

#: Rows and columns of a tile. Rows are multiplied four at a time.
TILE_ROWS = 64
_TILE_COLS = 512

#: Where the expanded form has lost more than about 8 bits to cancellation, it is computed anew.
_CANCELLATION = 2.0**-8

_ZERO_EXPONENT = -1_000_000


class Geometry(NamedTuple):
    """Two sets in common coordinates: ``x[i] - scale * y[j] - shift`` is ``2**exponent * (a[i] - b[j])``.

    The unit is such that the largest coordinate is about 1, and the origin is near the mean of x. Each
    coordinate is an unevaluated sum of a double and of its rounding error.
    """

    a: FloatArray  # (n, d)
    b: FloatArray  # (m, d)
    a_low: FloatArray  # (n, d) rounding errors of a
    b_low: FloatArray  # (m, d) rounding errors of b

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of points n and m."""
        return self.a.shape[0], self.b.shape[0]

    def transposed(self) -> Geometry:
        """Exchange the roles of the two sets."""
        return Geometry(self.b, self.a, self.b_low, self.a_low)

    def mean_square(self) -> float:
        """Return the mean squared distance of all points from the mean of a."""
        centre = self.a.mean(axis=0)
        squares = [np.einsum("ij,ij", points, points) for points in (self.a - centre, self.b - centre)]
        return float(sum(squares)) / sum(self.shape)


class Tiles(NamedTuple):
    """What expanded squares are made of, in single or in double precision."""

    a: NDArray[np.floating]  # (n, d)
    b: NDArray[np.floating]  # (tiles, d, columns): transposed and cut into tiles, the last padded with zeros
    a_squares: NDArray[np.floating]  # (n,) squared norms
    b_squares: NDArray[np.floating]  # (m,)
    lowered: float  # an expanded square times this is never above the exact one


def common_coordinates(x: FloatArray, y: FloatArray, affine: Affine) -> tuple[Geometry, int]:
    """Bring two checked sets into common coordinates under a given map; return also the unit's exponent."""
    scale, scale_exponent = math.frexp(affine.scale)
    exponent = 1 + max(least_exponent(x), least_exponent(y) + scale_exponent, least_exponent(affine.shift))
    exponent = nonzero_exponent(exponent)
    x, shift = times_power(x, -exponent), times_power(affine.shift, -exponent)
    origin = x[0] + (x - x[0]).mean(axis=0)
    a, a_low = _two_sum(x, -origin)
    product, product_low = _two_product(times_power(y, scale_exponent - exponent), scale)
    offset, offset_low = _two_sum(shift, -origin)
    b, b_low = _two_sum(product, offset)
    b, b_low = _two_sum(b, b_low + (product_low + offset_low))
    # A large common offset is gone now: what is left may be much smaller than the unit.
    extent = nonzero_exponent(max(least_exponent(a), least_exponent(b)))
    geometry = Geometry(*(times_power(part, -extent) for part in (a, b, a_low, b_low)))
    return geometry, exponent + extent


def cut_tiles(geometry: Geometry, dtype: type[np.floating]) -> Tiles:
    """Prepare the tiles of a geometry in the given precision."""
    m, d = geometry.b.shape
    cols = min(_TILE_COLS, m)
    tiles = -(-m // cols)
    padded = np.zeros((tiles * cols, d), dtype)
    padded[:m] = geometry.b
    b = np.ascontiguousarray(padded.reshape(tiles, cols, d).transpose(0, 2, 1))
    a_squares, b_squares = (np.einsum("ij,ij->i", points, points) for points in (geometry.a, geometry.b))
    # Each of the d + 8 roundings counts as often as cancellation has magnified it.
    error = (d + 8) * float(np.finfo(dtype).eps) / _CANCELLATION
    return Tiles(geometry.a.astype(dtype), b, a_squares.astype(dtype), b_squares.astype(dtype), 1.0 - error)


@inline_kernel
def multiply_tile(tiles, first, last, tile, out):
    """Fill `out` with the inner products of rows first, ..., last - 1 with the points of a tile.

    Returns the number of columns that are not padding. Written out here because a BLAS would start
    threads, and wait for them, at every tile; threads are ours to give. `out` has TILE_ROWS rows.
    """
    b = tiles.b[tile]
    for i in range(first, last, 4):
        a0 = tiles.a[i]
        a1 = tiles.a[min(i + 1, last - 1)]
        a2 = tiles.a[min(i + 2, last - 1)]
        a3 = tiles.a[min(i + 3, last - 1)]
        at = i - first
        _multiply_four_rows(a0, a1, a2, a3, b, out[at], out[at + 1], out[at + 2], out[at + 3])
    return min(b.shape[1], tiles.b_squares.size - tile * b.shape[1])


@fused_kernel
def _multiply_four_rows(a0, a1, a2, a3, b, out0, out1, out2, out3):
    """Four rows and four coordinates at a time, so that what is loaded is used more than once."""
    d, cols = b.shape
    for j in range(cols):
        out0[j] = out1[j] = out2[j] = out3[j] = 0.0
    for k in range(0, d - 3, 4):
        b0, b1, b2, b3 = b[k], b[k + 1], b[k + 2], b[k + 3]
        p0, p1, p2, p3 = a0[k], a0[k + 1], a0[k + 2], a0[k + 3]
        q0, q1, q2, q3 = a1[k], a1[k + 1], a1[k + 2], a1[k + 3]
        r0, r1, r2, r3 = a2[k], a2[k + 1], a2[k + 2], a2[k + 3]
        s0, s1, s2, s3 = a3[k], a3[k + 1], a3[k + 2], a3[k + 3]
        for j in range(cols):
            c0, c1, c2, c3 = b0[j], b1[j], b2[j], b3[j]
            out0[j] = out0[j] + p0 * c0 + p1 * c1 + p2 * c2 + p3 * c3
            out1[j] = out1[j] + q0 * c0 + q1 * c1 + q2 * c2 + q3 * c3
            out2[j] = out2[j] + r0 * c0 + r1 * c1 + r2 * c2 + r3 * c3
            out3[j] = out3[j] + s0 * c0 + s1 * c1 + s2 * c2 + s3 * c3
    for k in range(d - d % 4, d):
        b0 = b[k]
        p0, q0, r0, s0 = a0[k], a1[k], a2[k], a3[k]
        for j in range(cols):
            out0[j] += p0 * b0[j]
            out1[j] += q0 * b0[j]
            out2[j] += r0 * b0[j]
            out3[j] += s0 * b0[j]


@inline_kernel
def expand_squares(geometry, tiles, i, start, products, distances):
    """Turn inner products of row i with the columns from `start` on into squared distances."""
    b_squares = tiles.b_squares[start : start + distances.size]
    a_square = tiles.a_squares[i]
    # Sign bits are collected instead of counting: that keeps the loop a vector loop.
    cancelled = np.int64(0)
    for j in range(distances.size):
        squares = np.float64(a_square + b_squares[j])
        distance = squares - 2.0 * np.float64(products[j])
        distances[j] = distance
        cancelled |= np.float64(distance - _CANCELLATION * squares).view(np.int64)
    if cancelled < 0:
        for j in range(distances.size):
            if distances[j] < _CANCELLATION * np.float64(a_square + b_squares[j]):
                distances[j] = exact_distance(geometry, i, start + j)


@inline_kernel
def exact_distance(geometry, i, j):
    """Compute one squared distance from differences of coordinates and of their rounding errors."""
    total = 0.0
    for k in range(geometry.a.shape[1]):
        low = geometry.a_low[i, k] - geometry.b_low[j, k]
        difference = (geometry.a[i, k] - geometry.b[j, k]) + low
        total += difference * difference
    return total


def least_exponent(values: FloatArray) -> int:
    """Return the least e with all ``abs(values) < 2**e``; far below any other if all values are 0."""
    greatest = max(values.max(), -values.min())
    return math.frexp(greatest)[1] if greatest > 0.0 else _ZERO_EXPONENT


def nonzero_exponent(exponent: int) -> int:
    """Return an exponent from `least_exponent`, but 0 if all values were 0."""
    return exponent if exponent > _ZERO_EXPONENT // 2 else 0


def times_power(values: FloatArray, exponent: int) -> FloatArray:
    """Multiply by ``2**exponent``: what `numpy.ldexp` does, but quickly where the factor is a double."""
    if abs(exponent) < 1000:
        return values * math.ldexp(1.0, exponent)
    return np.ldexp(values, exponent)


def _two_sum(p: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Knuth's sum: ``p + q`` rounded, and the exact error of that rounding."""
    total = p + q
    q_seen = total - p
    return total, (p - (total - q_seen)) + (q - q_seen)


def _two_product(values: FloatArray, factor: float) -> tuple[FloatArray, FloatArray]:
    """Dekker's product: ``factor * values`` rounded, and the exact error of that rounding."""
    product = factor * values
    factor_high, factor_low = _split(factor)
    high, low = _split(values)
    error = ((factor_high * high - product) + factor_high * low + factor_low * high) + factor_low * low
    return product, error


def _split(values: Any) -> tuple[Any, Any]:
    """Veltkamp's splitting of doubles into halves of 26 bits."""
    shifted = 134217729.0 * values
    high = shifted - (shifted - values)
    return high, values - high
