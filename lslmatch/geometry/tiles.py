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

from lslmatch._jit import fused_kernel, inline_kernel, step_kernel
from lslmatch.geometry.coordinates import Geometry

#: Points of the second set (columns) in a tile, at most.
TILE_COLS = 1024
#: Columns that take as long as the beginning and the end of the loops over a row of a tile.
_START_OF_ROW = 64
#: Rows that are paired with a tile before the next tile is loaded, so that a tile is in the cache meanwhile.
TILE_ROWS = 64
#: Rows whose distances to a tile are computed together, so that what is loaded of it is used four times.
FEW_ROWS = 4
#: Columns that vector loops over a tile take together, where they look for least or cancelled values.
LANES = 32

#: Bytes of a line of the cache, which are also those of the longest vectors.
_LINE = 64

#: Where the expanded form has lost more than about 8 bits to cancellation, it is computed anew.
_CANCELLATION = 2.0**-8

#: Mean squared difference of coordinates below which two points are close.
_CLOSE = 2.0**-6


class Tiles(NamedTuple):
    """What expanded squares are made of, in single or in double precision.

    The second set is cut into tiles of equally many points, the last filled up with points at infinity.
    """

    a: NDArray[np.floating]  # (n, d) times -2
    b: NDArray[np.floating]  # (tiles, d, columns)
    a_squares: NDArray[np.floating]  # (n,) squared norms
    b_squares: NDArray[np.floating]  # (tiles, columns)
    a_limits: NDArray[np.floating]  # (n,) squared norms times _CANCELLATION
    b_limits: NDArray[np.floating]  # (tiles, columns)
    lowered: float  # an expanded square times this is never above the exact one


def cut_tiles(
    geometry: Geometry, dtype: type[np.floating], dimensions: int | None = None, columns: int = TILE_COLS
) -> Tiles:
    """Prepare the tiles of a geometry in the given precision, or of its leading dimensions only.

    A tile has at most `columns` points of the second set (a power of two, at least `LANES`).
    """
    a, b = geometry.a[:, :dimensions], geometry.b[:, :dimensions]
    m, d = b.shape
    cols = _columns(m, columns)
    tiles, whole = -(-m // cols), m // cols
    b_tiles = empty_in_line((tiles, d, cols), dtype)
    b_tiles[:whole] = b[: whole * cols].reshape(whole, cols, d).transpose(0, 2, 1)
    if whole < tiles:
        b_tiles[whole, :, : m - whole * cols] = b[whole * cols :].T
        b_tiles[whole, :, m - whole * cols :] = 0.0
    a_squares, b_squares = np.empty(len(a), dtype), empty_in_line((tiles * cols,), dtype)
    b_squares[m:] = np.inf
    a_squares[:] = np.einsum("ij,ij->i", a, a)
    b_squares[:m] = np.einsum("ij,ij->i", b, b)
    limit = a_squares.dtype.type(_CANCELLATION)
    b_limits = empty_in_line(b_squares.shape, dtype)
    b_limits[m:] = 0.0
    b_limits[:m] = limit * b_squares[:m]
    shape = tiles, cols
    # Each of the d + 8 roundings counts as often as cancellation has magnified it.
    error = (d + 8) * float(np.finfo(dtype).eps) / _CANCELLATION
    return Tiles(
        np.multiply(a, -2.0, dtype=dtype, casting="same_kind"),
        b_tiles,
        a_squares,
        b_squares.reshape(shape),
        limit * a_squares,
        b_limits.reshape(shape),
        1.0 - error,
    )


def _columns(m: int, most: int) -> int:
    """Choose the columns of a tile: many, so that a row of it is a long loop, but few that are filled up.

    A power of two, because least values are found by folding a tile in halves.
    """
    cols = min(max(1 << (m - 1).bit_length(), LANES), most)
    choice = [cols >> halvings for halvings in range(3) if cols >> halvings >= LANES]
    return min(choice, key=lambda cols: -(-m // cols) * (cols + _START_OF_ROW))


def empty_in_line(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Make an array that begins with a line of the cache: a vector across two lines is read twice."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + _LINE, np.uint8)
    start = -room.ctypes.data % _LINE
    return room[start : start + size].view(dtype).reshape(shape)


@inline_kernel
def expand_tile(tiles, first, last, tile, out):
    """Fill the first rows of `out` with the expanded squares of rows first, ..., last - 1 and a tile.

    `out` has room for `FEW_ROWS` rows. Written out here because a BLAS would start threads, and wait
    for them, at every tile; threads are ours to give.
    """
    b, b_squares = tiles.b[tile], tiles.b_squares[tile]
    i1, i2, i3 = min(first + 1, last - 1), min(first + 2, last - 1), last - 1
    s0, s1, s2, s3 = tiles.a_squares[first], tiles.a_squares[i1], tiles.a_squares[i2], tiles.a_squares[i3]
    out0, out1, out2, out3 = out[0], out[1], out[2], out[3]
    for j in range(b.shape[1]):
        square = b_squares[j]
        out0[j] = s0 + square
        out1[j] = s1 + square
        out2[j] = s2 + square
        out3[j] = s3 + square
    a = tiles.a
    _add_products(a[first], a[i1], a[i2], a[i3], b, out0, out1, out2, out3)


@fused_kernel
def _add_products(a0, a1, a2, a3, b, out0, out1, out2, out3):
    """Four rows and four coordinates at a time, so that what is loaded is used more than once."""
    d, cols = b.shape
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
def expand_row(tiles, i, tile, out):
    """Fill `out` with the expanded squares of one row and the points of a tile, as `expand_tile` does."""
    b = tiles.b[tile]
    a = tiles.a[i]
    a_square, b_squares = tiles.a_squares[i], tiles.b_squares[tile]
    for j in range(b.shape[1]):
        out[j] = a_square + b_squares[j]
    _add_products_of_row(a, b, out)


@fused_kernel
def _add_products_of_row(a, b, out):
    d, cols = b.shape
    for k in range(0, d - 3, 4):
        b0, b1, b2, b3 = b[k], b[k + 1], b[k + 2], b[k + 3]
        p0, p1, p2, p3 = a[k], a[k + 1], a[k + 2], a[k + 3]
        for j in range(cols):
            out[j] = out[j] + p0 * b0[j] + p1 * b1[j] + p2 * b2[j] + p3 * b3[j]
    for k in range(d - d % 4, d):
        b0, p0 = b[k], a[k]
        for j in range(cols):
            out[j] += p0 * b0[j]


@inline_kernel
def correct_cancelled(geometry, i, offset, squares, limit, b_limits):
    """Compute anew, from differences, those expanded squares that have lost too much; tell if there are any.

    They are those of row i and of the columns from `offset` on, with their limits in the tiles.
    """
    # Whether there are any, and where about, is found out first: those are vector loops.
    cancelled = _any_cancelled(squares, b_limits, limit)
    if cancelled:
        compute_anew(geometry, i, offset, squares, limit, b_limits)
    return cancelled


@step_kernel
def compute_anew(geometry, i, offset, squares, limit, b_limits):
    """Do what `correct_cancelled` does where some of the squares probably are cancelled."""
    cancelled = False
    for start in range(0, squares.size, LANES):
        part, part_limits = squares[start : start + LANES], b_limits[start : start + LANES]
        if _any_cancelled(part, part_limits, limit):
            cancelled = True
            for j in range(part.size):
                if part[j] - part_limits[j] < limit:
                    part[j] = exact_distance(geometry, i, offset + start + j)
    return cancelled


@inline_kernel
def _any_cancelled(squares, b_limits, limit):
    cancelled = False
    for j in range(squares.size):
        cancelled |= squares[j] - b_limits[j] < limit
    return cancelled


@inline_kernel
def exact_distance(geometry, i, j):
    """Compute one squared distance from differences of coordinates; of close points, with rounding errors."""
    a, b = geometry.a, geometry.b
    d = a.shape[1]
    # Four sums, so that one addition need not wait for the other.
    total0 = total1 = total2 = total3 = 0.0
    for k in range(0, d - 3, 4):
        difference0, difference1 = a[i, k] - b[j, k], a[i, k + 1] - b[j, k + 1]
        difference2, difference3 = a[i, k + 2] - b[j, k + 2], a[i, k + 3] - b[j, k + 3]
        total0 += difference0 * difference0
        total1 += difference1 * difference1
        total2 += difference2 * difference2
        total3 += difference3 * difference3
    for k in range(d - d % 4, d):
        difference0 = a[i, k] - b[j, k]
        total0 += difference0 * difference0
    total = (total0 + total1) + (total2 + total3)
    # Coordinates are about 1 at most: their rounding errors count only where the points are close.
    if total < _CLOSE * d:
        total = 0.0
        for k in range(d):
            difference = (a[i, k] - b[j, k]) + (geometry.a_low[i, k] - geometry.b_low[j, k])
            total += difference * difference
    return total
