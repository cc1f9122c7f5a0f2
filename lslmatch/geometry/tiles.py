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

from lslmatch._jit import inline_kernel, step_kernel
from lslmatch.geometry.coordinates import Geometry
from lslmatch.geometry.expansion import relative_error
from lslmatch.geometry.panels import PANEL, expand_few_rows, expand_one_row

#: Points of the second set (columns) in a tile, at most.
TILE_COLS = 1024
#: Columns that take as long as the beginning and the end of the loops over a row of a tile.
_START_OF_ROW = 64
#: Rows that are paired with a tile before the next tile is loaded, so that a tile is in the cache meanwhile.
TILE_ROWS = 64
#: Columns that vector loops over a tile take together, where they look for least or cancelled values.
LANES = 32

#: Bytes of a line of the cache, which are also those of the longest vectors.
_LINE = 64

#: Where the expanded form has lost more than about 8 bits to cancellation, it is computed anew.
_CANCELLATION = 2.0**-8

#: So it is where its terms are below this, which is far above all underflow.
_UNDERFLOW = 2.0**-60
#: Exact squares in single precision are 0 below the first, and cut off at the other, which none between
#: points that are not far out exceeds: they are lower bounds like the others, and in range when duals are
#: multiplied to them.
_LEAST_SQUARE, GREATEST_SQUARE = 2.0**-126, 2.0**14

#: Mean squared difference of coordinates below which two points are close.
_CLOSE = 2.0**-6


class Tiles(NamedTuple):
    """What expanded squares are made of, in single or in double precision.

    The second set is cut into tiles of equally many points, the last filled up with points at infinity.
    """

    a: NDArray[np.floating]  # (n, d) times -2
    b: NDArray[np.floating]  # (tiles, columns / PANEL, d, PANEL)
    a_squares: NDArray[np.floating]  # (n,) squared norms
    b_squares: NDArray[np.floating]  # (tiles, columns)
    a_limits: NDArray[np.floating]  # (n,) squared norms times _CANCELLATION
    b_limits: NDArray[np.floating]  # (tiles, columns)
    lowered: float  # an expanded square times this is never above the exact one


def cut_tiles(
    geometry: Geometry, dtype: type[np.floating], dimensions: int | None = None, columns: int = TILE_COLS
) -> Tiles:
    """Prepare the tiles of a geometry in the given precision, or of its leading dimensions only.

    A tile has at most `columns` points of the second set (a power of two, at least `LANES`). In single
    precision points that are far out are moved to the surface of the cube around the others: no distance
    grows by that.
    """
    a, b = geometry.a[:, :dimensions], geometry.b[:, :dimensions]
    if dtype is np.float32 and not geometry.is_tame:
        a, b = np.clip(a, -1.0, 1.0), np.clip(b, -1.0, 1.0)
    m, d = b.shape
    cols = _columns(m, columns)
    tiles = -(-m // cols)
    panels, whole = tiles * cols // PANEL, m // PANEL
    b_tiles = empty_in_line((panels, d, PANEL), dtype)
    b_tiles[:whole] = b[: whole * PANEL].reshape(whole, PANEL, d).transpose(0, 2, 1)
    b_tiles[whole:] = 0.0
    if whole < panels:
        b_tiles[whole, :, : m - whole * PANEL] = b[whole * PANEL :].T
    a_squares, b_squares = np.empty(len(a), dtype), empty_in_line((tiles * cols,), dtype)
    b_squares[m:] = np.inf
    a_squares[:] = np.einsum("ij,ij->i", a, a)
    b_squares[:m] = np.einsum("ij,ij->i", b, b)
    limit = a_squares.dtype.type(_CANCELLATION)
    lost = a_squares.dtype.type(_UNDERFLOW)
    b_limits = empty_in_line(b_squares.shape, dtype)
    b_limits[m:] = 0.0
    b_limits[:m] = limit * b_squares[:m]
    shape = tiles, cols
    # The error counts as often as cancellation has magnified it.
    error = 1.01 * relative_error(d, dtype is np.float32) / _CANCELLATION
    return Tiles(
        np.multiply(a, -2.0, dtype=dtype, casting="same_kind"),
        b_tiles.reshape(tiles, cols // PANEL, d, PANEL),
        a_squares,
        b_squares.reshape(shape),
        limit * a_squares + lost,
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

    `out` has room for `FEW_ROWS` rows. Not by a BLAS, which would start threads, and wait for them, at every
    tile; threads are ours to give.
    """
    expand_few_rows(tiles.a, tiles.a_squares, tiles.b, tiles.b_squares, first, last, tile, out)


@inline_kernel
def expand_row(tiles, i, tile, out):
    """Fill `out` with the expanded squares of one row and the points of a tile, as `expand_tile` does."""
    expand_one_row(tiles.a, tiles.a_squares, tiles.b, tiles.b_squares, i, tile, out)


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
                    square = exact_distance(geometry, i, offset + start + j)
                    if part.itemsize == 4:
                        square = min(square if square >= _LEAST_SQUARE else 0.0, GREATEST_SQUARE)
                    part[j] = square
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
    # Coordinates are about 1 at most: their rounding errors count only where the points are close. Where some
    # are larger, they always may.
    if total < _CLOSE * d or not geometry.is_tame:
        total = 0.0
        for k in range(d):
            difference = (a[i, k] - b[j, k]) + (geometry.a_low[i, k] - geometry.b_low[j, k])
            total += difference * difference
    return total
