"""The nearest partner of every point that no earlier one has taken."""

from __future__ import annotations

import numpy as np

from lslmatch._jit import kernel
from lslmatch.distances import FEW_ROWS, Geometry, correct_cancelled, cut_tiles, expand_tile
from lslmatch.results import FloatArray, IntArray


def choose_nearest(geometry: Geometry) -> tuple[IntArray, FloatArray]:
    """Let each row in turn choose its nearest column among those left, n <= m; return the squares, too."""
    n = geometry.shape[0]
    choice, least = np.empty(n, np.intp), np.empty(n)
    _choose_in_turn(geometry, cut_tiles(geometry, np.float64), choice, least)
    return choice, least


@kernel
def _choose_in_turn(geometry, tiles, choice, least):
    """Fill for each row in turn its nearest column that is not taken, and the squared distance."""
    n, m = geometry.a.shape[0], geometry.b.shape[0]
    taken = np.zeros(m, np.bool_)
    cols = tiles.b.shape[2]
    squares = np.empty((FEW_ROWS, cols))
    distances = np.empty((FEW_ROWS, m))
    for first in range(0, n, FEW_ROWS):
        last = min(first + FEW_ROWS, n)
        for t in range(tiles.b.shape[0]):
            width = min(cols, m - t * cols)
            expand_tile(tiles, first, last, t, squares)
            for i in range(first, last):
                correct_cancelled(
                    geometry, i, t * cols, squares[i - first], tiles.a_limits[i], tiles.b_limits[t]
                )
                distances[i - first][t * cols : t * cols + width] = squares[i - first][:width]
        for i in range(first, last):
            row = distances[i - first]
            best = -1
            for j in range(m):
                if not taken[j] and (best < 0 or row[j] < row[best]):
                    best = j
            taken[best] = True
            choice[i] = best
            least[i] = row[best]
