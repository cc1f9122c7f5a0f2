"""The nearest partner of every point that no earlier one has taken."""

from __future__ import annotations

import numpy as np

from lslmatch._jit import kernel
from lslmatch._threads import over_rows
from lslmatch._types import FloatArray, IntArray
from lslmatch.geometry.coordinates import Geometry
from lslmatch.geometry.panels import FEW_ROWS
from lslmatch.geometry.tiles import correct_cancelled, cut_tiles, expand_tile

#: Coordinates of pairs after which the kernel returns to Python, so that Ctrl-C is heard.
_COORDINATES_PER_CALL = 100_000_000


def choose_nearest(geometry: Geometry) -> tuple[IntArray, FloatArray]:
    """Let each row in turn choose its nearest column among those left, n <= m; return the squares, too."""
    n, m = geometry.shape
    tiles, taken = cut_tiles(geometry, np.float64), np.zeros(m, np.bool_)
    choice, least = np.empty(n, np.intp), np.empty(n)

    def run(_: int, first: int, last: int) -> None:
        _choose_in_turn(geometry, tiles, first, last, taken, choice, least)

    step = max(FEW_ROWS, _COORDINATES_PER_CALL // (m * (geometry.a.shape[1] + 1)))
    over_rows(run, n, step, workers=1)
    return choice, least


@kernel
def _choose_in_turn(geometry, tiles, start, stop, taken, choice, least):
    """Fill for some rows in turn their nearest column that is not taken, and the squared distance."""
    m = geometry.b.shape[0]
    cols = tiles.b_squares.shape[1]
    squares = np.empty((FEW_ROWS, cols))
    distances = np.empty((FEW_ROWS, m))
    for first in range(start, stop, FEW_ROWS):
        last = min(first + FEW_ROWS, stop)
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
