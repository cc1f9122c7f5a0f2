"""In which order rows go over the tiles of all columns, and where they may stop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.screening import Pairs
from lslmatch.geometry.boxes import CLEARLY, Boxes, bound_groups, squared_gaps


class Route(NamedTuple):
    """The way of a block of rows.

    `far` holds bit patterns: no pair with the tile, or with one that comes after it, has a lesser key.
    """

    order: IntArray  # (tiles,)
    far: NDArray[np.signedinteger]  # (tiles,)
    low: FloatArray  # (tiles, d) corners of the tiles' boxes; (0, d) if all tiles are to be seen
    high: FloatArray


def whole_route(pairs: Pairs) -> Route:
    """Lead over all tiles."""
    tiles, d = pairs.tiles.b.shape[:2]
    nowhere = np.empty((0, d))
    return Route(np.arange(tiles), np.zeros(tiles, pairs.infinity.dtype), nowhere, nowhere)


def route_by_gaps(pairs: Pairs, boxes: Boxes, first: int, last: int) -> Route:
    """Lead rows first, ..., last - 1 over the tiles in the order of their distance."""
    gaps = squared_gaps(bound_groups(pairs.geometry.a[first:last], last - first), boxes)
    order = np.argsort(gaps, kind="stable")
    far = (CLEARLY * gaps[order]).astype(pairs.tiles.a.dtype)
    return Route(order, far.view(pairs.infinity.dtype), boxes.low, boxes.high)
