"""Maps from two points of either set, for sets whose centres say nothing about each other.

Two points of x and two of y that are their partners give scale and shift. There is no rotation, so the
differences of true partners are parallel up to the noise; in more than a few dimensions those of others
hardly ever are. So for some pairs of points of a, those pairs of b are tried that are most nearly parallel,
and the maps are ranked by the prominence of a few points.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import kernel
from lslmatch._types import FloatArray
from lslmatch.alignment.prominence import Judge, Map

#: Pairs of points of a that are drawn: with half of the points without a partner, one in a hundred sets of
#: draws has no pair with two partners.
_DRAWS = 16
#: Points of either set that take part, at most: those in the middle.
_MIDDLE = 512
#: Rank maps by 4 points, rank the best 128 again by 24, return 6.
_FEW_POINTS, _RANKED, _POINTS, _GIVEN = 4, 128, 24, 6
#: Scales farther than this factor from the ratio of median distances are not tried.
_FARTHEST = 8.0


def two_point_maps(judge: Judge, a_core: FloatArray, b_core: FloatArray) -> list[Map]:
    """Give the most promising maps from two points of either set; none in one dimension."""
    d = judge.a.shape[1]
    if d == 1:
        return []
    a, b = _middle(judge.a, a_core), _middle(judge.b, b_core)
    lengths = _distances(b)
    rng = np.random.default_rng(0)
    # In few dimensions many differences are nearly parallel by chance.
    pairs = np.empty((max(256 >> min(d - 1, 4), 16), 2), np.intp)
    scales, shifts = [], []
    for _ in range(_DRAWS):
        i, j = rng.choice(len(a), size=2, replace=False)
        difference = a[i] - a[j]
        length = math.sqrt(difference @ difference)
        count = _find_parallel(b @ difference, lengths, length / _FARTHEST, length * _FARTHEST, pairs)
        first, second = pairs[:count].T
        scale = length / lengths[first, second]
        scales.append(scale)
        shifts.append((a[i] + a[j] - scale[:, None] * (b[first] + b[second])) / 2.0)
    scale, shift = np.concatenate(scales), np.concatenate(shifts)
    for points, kept in ((_FEW_POINTS, _RANKED), (_POINTS, _GIVEN)):
        rows = judge.rows[np.linspace(0, judge.rows.size - 1, points).astype(np.intp)]
        best = np.argsort(-judge.rank(scale, shift, rows), kind="stable")[:kept]
        scale, shift = scale[best], shift[best]
    return [Map(float(scale[k]), shift[k]) for k in range(len(scale))]


def _middle(points: FloatArray, core: FloatArray) -> FloatArray:
    if len(points) <= _MIDDLE:
        return points
    distance = ((points - core) ** 2).sum(axis=1)
    return points[np.argsort(distance, kind="stable")[:_MIDDLE]]


@kernel
def _distances(points):
    """Compute the distances of all points from each other."""
    n, d = points.shape
    distances = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            square = 0.0
            for k in range(d):
                square += (points[i, k] - points[j, k]) ** 2
            distances[i, j] = distances[j, i] = np.sqrt(square)
    return distances


@kernel
def _find_parallel(along, lengths, shortest, longest, pairs):
    """Fill `pairs` with those of least angle to a direction, and return how many there are.

    `along` are the coordinates of the points in that direction. The pairs found so far are a heap, the one of
    greatest angle at its root.
    """
    size = pairs.shape[0]
    cosines = np.empty(size)
    count = 0
    for i in range(along.size):
        for j in range(i):
            length = lengths[i, j]
            rise = abs(along[i] - along[j])
            if not (shortest < length < longest):
                continue
            if count == size and rise <= cosines[0] * length:
                continue
            first, second = (i, j) if along[i] > along[j] else (j, i)
            cosine = rise / length
            if count < size:
                at = count
                count += 1
                while at > 0 and cosines[(at - 1) // 2] > cosine:
                    cosines[at], pairs[at] = cosines[(at - 1) // 2], pairs[(at - 1) // 2]
                    at = (at - 1) // 2
            else:
                at = 0
                while 2 * at + 1 < size:
                    child = 2 * at + 1
                    if child + 1 < size and cosines[child + 1] < cosines[child]:
                        child += 1
                    if cosines[child] >= cosine:
                        break
                    cosines[at], pairs[at] = cosines[child], pairs[child]
                    at = child
            cosines[at], pairs[at, 0], pairs[at, 1] = cosine, first, second
    return count
