"""Points sorted by regions of space, so that far regions need not be looked at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._jit import inline_kernel
from lslmatch._types import FloatArray, IntArray

#: Boxes are larger than their points by this: more than the rounding errors of coordinates of about 1. So
#: they are by this share of larger coordinates.
_SLACK = 1e-15
#: A region is too far if this share of its least squared distance exceeds the nearest so far.
CLEARLY = 0.8


class Boxes(NamedTuple):
    """The bounding boxes of groups of points."""

    low: FloatArray  # (groups, d)
    high: FloatArray  # (groups, d)


def sort_by_region(points: FloatArray, size: int) -> IntArray:
    """Return an order in which each `size` consecutive points are close to each other.

    The set is halved across its widest side, and so are the halves.
    """
    order = np.arange(len(points))
    parts = [(0, len(points))]
    while parts:
        start, stop = parts.pop()
        groups = -(-(stop - start) // size)
        if groups < 2:
            continue
        part = order[start:stop]
        inside = points[part]
        side = int(np.argmax(inside.max(axis=0) - inside.min(axis=0)))
        half = groups // 2 * size
        order[start:stop] = part[np.argpartition(inside[:, side], half)]
        parts += [(start, start + half), (start + half, stop)]
    return order


def bound_groups(points: FloatArray, size: int) -> Boxes:
    """Return the boxes around each `size` consecutive points."""
    starts = np.arange(0, len(points), size)
    low, high = np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)
    slack = _SLACK * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
    return Boxes(low - slack, high + slack)


def squared_gaps(box: Boxes, others: Boxes) -> FloatArray:
    """Return the least squared distances of points in a box from points in others."""
    gaps = np.maximum(np.maximum(others.low - box.high, box.low - others.high), 0.0)
    squares: FloatArray = np.einsum("ij,ij->i", gaps, gaps)
    return squares


@inline_kernel
def squared_gap(point, low, high):
    """Return the least squared distance of a point from points in a box."""
    total = 0.0
    for k in range(point.size):
        gap = max(max(low[k] - point[k], point[k] - high[k]), 0.0)
        total += gap * gap
    return total
