"""Squared distances between two aligned sets, a tile at a time.

The fast form ``|a|^2 + |b|^2 - 2 a.b`` comes from a matrix product but cancels when the points are
close; those entries are computed anew from differences of coordinates, whose rounding errors are
carried along, so that every squared distance has a small *relative* error, coincident points included.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lslmatch._jit import inline_kernel
from lslmatch.results import Affine, FloatArray, IntArray

#: Rows of a tile, and multiplications in its product. Up to that number OpenBLAS stays on the calling
#: thread: threads are ours to give (a threaded product of this size waits longer than it works).
_TILE_ROWS = 64
_TILE_PRODUCTS = 1 << 18
_TILE_COLS = 256

_ZERO_EXPONENT = -1_000_000

#: Where the expanded form has lost more than about 8 bits to cancellation, it is computed anew.
_CANCELLATION = 2.0**-8


class Geometry(NamedTuple):
    """Two sets in common coordinates: ``x[i] - scale * y[j] - shift`` is ``2**exponent * (a[i] - b[j])``.

    Units are such that nothing over- or underflows; the origin is near the mean of x. Each coordinate
    is an unevaluated sum of a double and of its rounding error.
    """

    a: FloatArray  # (n, d)
    b: FloatArray  # (m, d)
    a_low: FloatArray  # (n, d) rounding errors of a
    b_low: FloatArray  # (m, d) rounding errors of b
    a_squares: FloatArray  # (n,) squared norms
    b_squares: FloatArray  # (m,)
    b_tiles: FloatArray  # (tiles, d, columns) b transposed, cut into tiles, the last one padded with zeros

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of points n and m."""
        return self.a.shape[0], self.b.shape[0]

    def transposed(self) -> Geometry:
        """Exchange the roles of the two sets."""
        return _geometry(self.b, self.b_low, self.a, self.a_low)

    def relative_error(self) -> float:
        """Bound the relative error of an expanded square: rounding, times what cancellation makes of it."""
        return (self.a.shape[1] + 8) * np.finfo(float).eps / _CANCELLATION

    def take_rows(self, rows: IntArray) -> Geometry:
        """Only some points of the first set, with all of the second."""
        return self._replace(a=self.a[rows], a_low=self.a_low[rows], a_squares=self.a_squares[rows])

    def mean_square(self) -> float:
        """Return the mean squared distance of all points from the origin."""
        return float(self.a_squares.sum() + self.b_squares.sum()) / sum(self.shape)


def common_coordinates(x: FloatArray, y: FloatArray, affine: Affine) -> tuple[Geometry, int]:
    """Bring two checked sets into common coordinates under a given map; return also the unit's exponent."""
    scale, scale_exponent = math.frexp(affine.scale)
    exponent = 1 + max(least_exponent(x), least_exponent(y) + scale_exponent, least_exponent(affine.shift))
    if exponent < _ZERO_EXPONENT // 2:
        exponent = 0
    x, shift = np.ldexp(x, -exponent), np.ldexp(affine.shift, -exponent)
    origin = x[0] + (x - x[0]).mean(axis=0)
    a, a_low = _two_sum(x, -origin)
    product, product_low = _two_product(np.ldexp(y, scale_exponent - exponent), scale)
    offset, offset_low = _two_sum(shift, -origin)
    b, b_low = _two_sum(product, offset)
    b, b_low = _two_sum(b, b_low + (product_low + offset_low))
    return _geometry(a, a_low, b, b_low), exponent


def _geometry(a: FloatArray, a_low: FloatArray, b: FloatArray, b_low: FloatArray) -> Geometry:
    m, d = b.shape
    cols = max(1, min(_TILE_COLS, _TILE_PRODUCTS // (_TILE_ROWS * d), m))
    tiles = -(-m // cols)
    padded = np.zeros((tiles * cols, d))
    padded[:m] = b
    b_tiles = np.ascontiguousarray(padded.reshape(tiles, cols, d).transpose(0, 2, 1))
    a_squares, b_squares = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
    return Geometry(a, b, a_low, b_low, a_squares, b_squares, b_tiles)


@inline_kernel
def expand_tile(geometry, first, last, tile, out):
    """Fill `out` with the squared distances of rows first, ..., last - 1 to the points of a tile.

    Returns the number of columns that are not padding.
    """
    cols = geometry.b_tiles.shape[2]
    start = tile * cols
    width = min(cols, geometry.b.shape[0] - start)
    np.dot(geometry.a[first:last], geometry.b_tiles[tile], out[: last - first])
    b_squares = geometry.b_squares[start : start + width]
    for i in range(first, last):
        row = out[i - first][:width]
        a_square = geometry.a_squares[i]
        for j in range(width):
            row[j] = (a_square + b_squares[j]) - 2.0 * row[j]
        _mend_cancellation(geometry, i, start, row)
    return width


@inline_kernel
def expand_row(geometry, i, tile, row):
    """Fill `row` with the squared distances of one row to the points of a tile: quicker than a product."""
    start = tile * geometry.b_tiles.shape[2]
    b = geometry.b_tiles[tile]
    b_squares = geometry.b_squares[start : start + row.size]
    a_square = geometry.a_squares[i]
    for j in range(row.size):
        row[j] = a_square + b_squares[j]
    for k in range(b.shape[0]):
        factor = -2.0 * geometry.a[i, k]
        b_row = b[k]
        for j in range(row.size):
            row[j] += factor * b_row[j]
    _mend_cancellation(geometry, i, start, row)


@inline_kernel
def _mend_cancellation(geometry, i, start, row):
    """Compute anew the squared distances that have cancelled."""
    a_square = geometry.a_squares[i]
    b_squares = geometry.b_squares[start : start + row.size]
    # Sign bits are collected instead of counting: that keeps the loop a vector loop.
    cancelled = np.int64(0)
    for j in range(row.size):
        limit = _CANCELLATION * (a_square + b_squares[j])
        cancelled |= np.float64(row[j] - limit).view(np.int64)
    if cancelled < 0:
        for j in range(row.size):
            if row[j] < _CANCELLATION * (a_square + b_squares[j]):
                row[j] = exact_distance(geometry, i, start + j)


@inline_kernel
def exact_distance(geometry, i, j):
    """Compute one squared distance from differences of coordinates and of their rounding errors."""
    total = 0.0
    for k in range(geometry.a.shape[1]):
        low = geometry.a_low[i, k] - geometry.b_low[j, k]
        difference = (geometry.a[i, k] - geometry.b[j, k]) + low
        total += difference * difference
    return total


@inline_kernel
def new_tile(geometry):
    """Allocate room for one tile of distances."""
    return np.empty((_TILE_ROWS, geometry.b_tiles.shape[2]))


def least_exponent(values: FloatArray) -> int:
    """Return the least e with all ``abs(values) < 2**e``; far below any other if all values are 0."""
    greatest = max(values.max(), -values.min())
    return math.frexp(greatest)[1] if greatest > 0.0 else _ZERO_EXPONENT


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
