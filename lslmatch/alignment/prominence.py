"""How far partners stand out from all other candidates, as a measure of a map between two sets.

Under a map, let y_j be the nearest to x_i. The pair stands out if all other candidates of x_i and of y_j
are farther away: its *prominence* is log(D' / D), D its squared distance and D' the least among the other
pairs of x_i and of y_j. It is 0 if another pair is as near, also if points of one set coincide. Under the
right map true pairs are prominent, whatever their noise is beside that of others. Under a wrong one, and for
points without a partner, prominences are those of chance.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lslmatch._jit import fused_kernel, kernel, step_kernel
from lslmatch._types import FloatArray, IntArray

#: Pairs of points that are looked at to judge a map, and the least number of points that are asked.
_PAIRS, _ASKED = 1 << 16, 64
#: No pair counts for more than this: one that coincides by construction proves little.
_GREATEST = math.log(1e4)
#: Squared distances are not below this, in units of the squared spread: such points coincide.
FLOOR = 2.0**-80
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
        self._a_lines, self._b_lines = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
        self.rows = asked_rows(len(a), len(b))

    def judge(self, map_: Map, rows: IntArray | None = None) -> Judged:
        """Find the nearest partners of some points, by default of those that are asked."""
        rows = self.rows if rows is None else rows
        cols, prominence = np.empty(len(rows), np.intp), np.empty(len(rows))
        fill_prominences(rows, *map_, self._a_lines, self._b_lines, FLOOR, cols, prominence)
        return Judged(map_, cols, prominence)

    def rank(self, scales: FloatArray, shifts: FloatArray, rows: IntArray) -> FloatArray:
        """Give the sum of the prominences of some points under each of many maps."""
        total = np.empty(len(scales))
        _rank_maps(scales, shifts, rows, self._a_lines, self._b_lines, total)
        return total

    def chance(self) -> float:
        """Give the mean prominence that chance would give: of points beside others of their own set."""
        return float(mean_by_chance(self.rows, self._a_lines, FLOOR))


@lru_cache(maxsize=256)
def asked_rows(n: int, m: int) -> IntArray:
    """Choose those of n points that are asked for their nearest among m."""
    asked = min(n, max(_ASKED, _PAIRS // m))
    return np.unique(np.linspace(0, n - 1, asked).astype(np.intp))


@kernel
def fill_prominences(rows, scale, shift, a, b, floor, cols, prominence):
    """Fill the nearest partners of some points of `a` under a map, and how far they stand out."""
    room, point, squares = np.empty((2, max(a.shape[1], b.shape[1]))), np.empty(a.shape[0]), np.empty((2, 2))
    for i in range(rows.size):
        cols[i], prominence[i] = _stand_out(rows[i], scale, shift, a, b, floor, room, point, squares)


@kernel
def mean_by_chance(rows, a, floor):
    """Give the mean prominence of points beside others of their own set; coincident ones do not count."""
    room, point, squares = np.empty(a.shape[1]), np.empty(a.shape[0]), np.empty(2)
    total = 0.0
    for i in rows:
        for k in range(point.size):
            point[k] = a[k, i]
        note_two_nearest(point, a, 0.0, room, squares)
        total += _log_ratio(squares[1], squares[0], floor)
    return total / rows.size


@kernel
def _rank_maps(scales, shifts, rows, a, b, total):
    """Fill the sum of the prominences of `rows` under each map."""
    room, point, squares = np.empty((2, max(a.shape[1], b.shape[1]))), np.empty(a.shape[0]), np.empty((2, 2))
    for k in range(scales.size):
        total[k] = 0.0
        for i in rows:
            _, prominence = _stand_out(i, scales[k], shifts[k], a, b, FLOOR, room, point, squares)
            total[k] += prominence


@step_kernel
def _stand_out(i, scale, shift, a, b, floor, room, point, squares):
    """Return the nearest partner of a point, and how far the pair stands out."""
    for k in range(point.size):
        point[k] = (a[k, i] - shift[k]) / scale
    near = note_two_nearest(point, b, -1.0, room[0], squares[0])
    for k in range(point.size):
        point[k] = scale * b[k, near] + shift[k]
    back = note_two_nearest(point, a, -1.0, room[1], squares[1])
    # Of the column's pairs the least that is not the row's own.
    other = squares[1, 1] if back == i else squares[1, 0]
    other = min(other, squares[0, 1] * (scale * scale))
    return near, _log_ratio(other, squares[0, 0] * (scale * scale), floor)


@step_kernel
def _log_ratio(other, own, floor):
    ratio = max(other, floor) / max(own, floor)
    # Where a map is out of range there is no partner, and no number.
    return min(math.log(ratio), _GREATEST) if ratio > 1.0 else 0.0


@fused_kernel
def note_two_nearest(point, columns, above, room, squares):
    """Return the nearest column, and write the two least squared distances that are greater than `above`."""
    d, m = columns.shape
    row = room[:m]
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
