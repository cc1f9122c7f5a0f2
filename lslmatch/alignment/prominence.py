"""How far partners stand out from all other candidates, as a measure of a map between two sets.

Under a map, let y_j be the nearest to x_i. The pair stands out if all other candidates of x_i and of y_j
are farther away: its *prominence* is log(D' / D), D its squared distance and D' the least among the other
pairs of x_i and of y_j. It is 0 if another pair is as near, also if points of one set coincide. Under the
right map true pairs are prominent, whatever their noise is beside that of others. Under a wrong one, and for
points without a partner, prominences are those of chance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._jit import fused_kernel, kernel
from lslmatch._types import FloatArray, IntArray

#: Pairs of points that are looked at to judge a map, and the least number of points that are asked.
_PAIRS, _ASKED = 1 << 16, 64
#: No pair counts for more than this: one that coincides by construction proves little.
_GREATEST = math.log(1e4)
#: Squared distances are not below this, in units of the squared spread: such points coincide.
_FLOOR = 2.0**-80
#: Columns that are examined together where the nearest is looked for.
_BLOCK = 64
_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


class Map(NamedTuple):
    """``b -> scale * b + shift``, onto the coordinates of a."""

    scale: float
    shift: FloatArray


class Judged(NamedTuple):
    """A map, and what it makes of the points that are asked."""

    map: Map
    cols: IntArray  # the nearest point of b
    prominence: FloatArray

    @property
    def mean(self) -> float:
        """The mean prominence, by which maps are compared."""
        return float(self.prominence.mean())


class Judge:
    """Two sets in robust units, a not larger than b, and the points of a that are asked."""

    def __init__(self, a: FloatArray, b: FloatArray) -> None:
        self.a, self.b = a, b
        self._a_columns, self._b_columns = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
        asked = min(len(a), max(_ASKED, _PAIRS // len(b)))
        self.rows = np.unique(np.linspace(0, len(a) - 1, asked).astype(np.intp))

    def judge(self, map_: Map, rows: IntArray | None = None) -> Judged:
        """Find the nearest partners of some points, by default of those that are asked."""
        rows = self.rows if rows is None else rows
        scale, shift = map_
        cols, squares = _two_nearest((self.a[rows] - shift) / scale, self._b_columns)
        back, back_squares = _two_nearest(scale * self.b[cols] + shift, self._a_columns)
        # Of the column's pairs the least that is not the row's own.
        other = np.where(back == rows, back_squares[:, 1], back_squares[:, 0])
        other = np.minimum(other, squares[:, 1] * (scale * scale))
        own = np.maximum(squares[:, 0] * (scale * scale), _FLOOR)
        prominence = np.log(np.maximum(other, _FLOOR) / own)
        # Where a map is out of range there is no partner.
        return Judged(map_, cols, np.clip(np.nan_to_num(prominence, nan=0.0), 0.0, _GREATEST))

    def rank(self, scales: FloatArray, shifts: FloatArray, rows: IntArray) -> FloatArray:
        """Give the sum of the prominences of some points under each of many maps."""
        total = np.empty(len(scales))
        _rank_maps(scales, shifts, rows, self.a, self.b, self._a_columns, self._b_columns, total)
        return total

    def chance(self) -> float:
        """Give the mean prominence that chance would give: of points beside others of their own set."""
        _, squares = _two_nearest(self.a[self.rows], self._a_columns, True)
        squares = np.maximum(squares, _FLOOR)
        # Where all others coincide with a point there is no second one.
        prominence = np.nan_to_num(np.log(squares[:, 1] / squares[:, 0]), nan=0.0)
        return float(np.minimum(prominence, _GREATEST).mean())


def _two_nearest(
    points: FloatArray, columns: FloatArray, others_only: bool = False
) -> tuple[IntArray, FloatArray]:
    """Give the nearest of the points in `columns` (d, m), and the squared distances of the two nearest.

    If `others_only`, points at distance 0 do not count.
    """
    nearest, squares = np.empty(len(points), np.intp), np.empty((len(points), 2))
    _fill_two_nearest(points, columns, 0.0 if others_only else -1.0, nearest, squares)
    return nearest, squares


@kernel
def _fill_two_nearest(points, columns, above, nearest, squares):
    """Fill the two least squared distances that are greater than `above`, and the column of the least."""
    row = np.empty(columns.shape[1])
    for i in range(points.shape[0]):
        nearest[i] = note_two_nearest(points[i], columns, above, row, squares[i])


@fused_kernel
def note_two_nearest(point, columns, above, row, squares):
    """Return the nearest column, and write the two least squared distances that are greater than `above`."""
    d, m = columns.shape
    for j in range(m):
        row[j] = 0.0
    together = d - d % 5
    for k in range(0, together, 5):
        p0, p1, p2, p3, p4 = point[k], point[k + 1], point[k + 2], point[k + 3], point[k + 4]
        b0, b1, b2, b3, b4 = columns[k], columns[k + 1], columns[k + 2], columns[k + 3], columns[k + 4]
        for j in range(m):
            total = row[j] + (p0 - b0[j]) * (p0 - b0[j]) + (p1 - b1[j]) * (p1 - b1[j])
            total = total + (p2 - b2[j]) * (p2 - b2[j]) + (p3 - b3[j]) * (p3 - b3[j])
            row[j] = total + (p4 - b4[j]) * (p4 - b4[j])
    for k in range(together, d):
        value, column = point[k], columns[k]
        for j in range(m):
            row[j] += (column[j] - value) * (column[j] - value)
    for j in range(m):
        row[j] = row[j] if row[j] > above else np.inf
    # The block of the least, by bit patterns, so that these are vector loops.
    least = second = _GREATEST_BITS
    start = 0
    for block in range(0, m, _BLOCK):
        part, bits = row[block : block + _BLOCK], _GREATEST_BITS
        for j in range(part.size):
            bits = min(np.float64(part[j]).view(np.int64), bits)
        if bits < least:
            second, least, start = least, bits, block
        else:
            second = min(bits, second)
    squares[0], squares[1] = np.int64(least).view(np.float64), np.inf
    if second < _GREATEST_BITS:
        squares[1] = np.int64(second).view(np.float64)
    nearest = -1
    for j in range(start, min(start + _BLOCK, m)):
        if nearest < 0 and row[j] == squares[0]:
            nearest = j
        else:
            squares[1] = min(squares[1], row[j])
    return nearest


@kernel
def _rank_maps(scales, shifts, rows, a, b, a_columns, b_columns, total):
    """Fill the sum of the prominences of `rows` under each map, as `Judge.judge` computes them."""
    row, back_row = np.empty(b.shape[0]), np.empty(a.shape[0])
    squares, back_squares = np.empty(2), np.empty(2)
    for k in range(scales.size):
        total[k] = 0.0
        for i in rows:
            near = note_two_nearest((a[i] - shifts[k]) / scales[k], b_columns, -1.0, row, squares)
            point = scales[k] * b[near] + shifts[k]
            back = note_two_nearest(point, a_columns, -1.0, back_row, back_squares)
            squares *= scales[k] * scales[k]
            other = min(squares[1], back_squares[1] if back == i else back_squares[0])
            ratio = max(other, _FLOOR) / max(squares[0], _FLOOR)
            if ratio > 1.0:
                total[k] += min(np.log(ratio), _GREATEST)
