"""The nearest partner of every point, taken once or as often as it is chosen."""

from __future__ import annotations

import numpy as np

from lslmatch._jit import kernel
from lslmatch.distances import TILE_ROWS, Geometry, cut_tiles, expand_squares, multiply_tile
from lslmatch.results import FloatArray, IntArray


def choose_nearest(geometry: Geometry, *, exclusive: bool) -> tuple[IntArray, FloatArray]:
    """Return each row's nearest column and their squared distance, n <= m.

    With `exclusive` the rows choose in turn among the columns that are left.
    """
    n = geometry.shape[0]
    choice, least = np.empty(n, np.intp), np.empty(n)
    _choose_in_turn(geometry, cut_tiles(geometry, np.float64), exclusive, choice, least)
    return choice, least


@kernel
def _choose_in_turn(geometry, tiles, exclusive, choice, least):
    """Fill for each row in turn its nearest column that is not taken, and the squared distance."""
    n, m = geometry.a.shape[0], geometry.b.shape[0]
    taken = np.zeros(m, np.bool_)
    rows, cols = TILE_ROWS, tiles.b.shape[2]
    products = np.empty((rows, cols))
    distances = np.empty((rows, m))
    for first in range(0, n, rows):
        last = min(first + rows, n)
        for t in range(tiles.b.shape[0]):
            width = multiply_tile(tiles, first, last, t, products)
            for i in range(first, last):
                row = distances[i - first][t * cols : t * cols + width]
                expand_squares(geometry, tiles, i, t * cols, products[i - first], row)
        for i in range(first, last):
            row = distances[i - first]
            best = -1
            for j in range(m):
                if not taken[j] and (best < 0 or row[j] < row[best]):
                    best = j
            taken[best] = exclusive
            choice[i] = best
            least[i] = row[best]
