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

from lslmatch._jit import kernel, step_kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.alignment.two_nearest import FEW, find_two_nearest, make_room

#: Pairs of points that are looked at to judge a map, and the least number of points that are asked.
_PAIRS, _ASKED = 1 << 16, 64
#: No pair counts for more than this: one that coincides by construction proves little.
_GREATEST = math.log(1e4)
#: Squared distances are not below this, in units of the squared spread: such points coincide.
FLOOR = 2.0**-80


class Map(NamedTuple):
    """``b -> scale * b + shift``, onto the coordinates of a."""

    scale: float
    shift: FloatArray


class JudgedMap(NamedTuple):
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

    def judge(self, map_: Map, rows: IntArray | None = None) -> JudgedMap:
        """Find the nearest partners of some points, by default of those that are asked."""
        rows = self.rows if rows is None else rows
        cols, prominence = np.empty(len(rows), np.intp), np.empty(len(rows))
        _judge(rows, *map_, self._a_lines, self._b_lines, FLOOR, cols, prominence)
        return JudgedMap(map_, cols, prominence)

    def rank(self, scales: FloatArray, shifts: FloatArray, rows: IntArray) -> FloatArray:
        """Give the sum of the prominences of some points under each of many maps."""
        total = np.empty(len(scales))
        _rank_maps(scales, shifts, rows, self._a_lines, self._b_lines, total)
        return total

    def chance(self) -> float:
        """Give the mean prominence that chance would give: of points beside others of their own set."""
        return float(_chance(self.rows, self._a_lines, FLOOR))


@lru_cache(maxsize=256)
def asked_rows(n: int, m: int) -> IntArray:
    """Choose those of n points that are asked for their nearest among m."""
    asked = min(n, max(_ASKED, _PAIRS // m))
    return np.unique(np.linspace(0, n - 1, asked).astype(np.intp))


@kernel
def _judge(rows, scale, shift, a, b, floor, cols, prominence):
    fill_prominences(rows, scale, shift, a, b, floor, cols, prominence)


@kernel
def _chance(rows, a, floor):
    return mean_by_chance(rows, a, floor)


@step_kernel
def fill_prominences(rows, scale, shift, a, b, floor, cols, prominence):
    """Fill the nearest partners of some points of `a` under a map, and how far they stand out."""
    points, room, near, squares = make_room(a.shape[0], max(a.shape[1], b.shape[1]))
    back, back_squares, last = np.empty(FEW, np.int64), np.empty((FEW, 2)), rows.size - 1
    for i in range(0, rows.size, FEW):
        for p in range(FEW):
            for k in range(shift.size):
                points[p, k] = (a[k, rows[min(i + p, last)]] - shift[k]) / scale
        find_two_nearest(points, b, -1.0, room, near, squares)
        for p in range(FEW):
            for k in range(shift.size):
                points[p, k] = scale * b[k, near[p]] + shift[k]
        find_two_nearest(points, a, -1.0, room, back, back_squares)
        for p in range(min(FEW, rows.size - i)):
            # Of the column's pairs the least that is not the row's own.
            other = back_squares[p, 1] if back[p] == rows[i + p] else back_squares[p, 0]
            other = min(other, squares[p, 1] * (scale * scale))
            cols[i + p] = near[p]
            prominence[i + p] = _log_ratio(other, squares[p, 0] * (scale * scale), floor)


@step_kernel
def mean_by_chance(rows, a, floor):
    """Give the mean prominence of points beside others of their own set; coincident ones do not count."""
    points, room, near, squares = make_room(*a.shape)
    total, last = 0.0, rows.size - 1
    for i in range(0, rows.size, FEW):
        for p in range(FEW):
            for k in range(a.shape[0]):
                points[p, k] = a[k, rows[min(i + p, last)]]
        find_two_nearest(points, a, 0.0, room, near, squares)
        for p in range(min(FEW, rows.size - i)):
            total += _log_ratio(squares[p, 1], squares[p, 0], floor)
    return total / rows.size


@kernel
def _rank_maps(scales, shifts, rows, a, b, total):
    """Fill the sum of the prominences of `rows` under each map."""
    cols, prominence = np.empty(rows.size, np.int64), np.empty(rows.size)
    for k in range(scales.size):
        fill_prominences(rows, scales[k], shifts[k], a, b, FLOOR, cols, prominence)
        total[k] = 0.0
        for i in range(rows.size):
            total[k] += prominence[i]


@step_kernel
def _log_ratio(other, own, floor):
    ratio = max(other, floor) / max(own, floor)
    # Where a map is out of range there is no partner, and no number.
    return min(math.log(ratio), _GREATEST) if ratio > 1.0 else 0.0
