"""When two points coincide, for the certificate: on its own, from the definition.

Their squared distance is below a share of the mean square of all points. Where single points are far out,
that says nothing of the others: if the shift and some point of the sets as they were given (times the scale,
for the second set) are shorter than 2**-20 of the root of the mean square, it is the share of the least
squared length of a point other than 0, or of the shift if that is longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from lslmatch._types import FloatArray

#: Lengths below this share of the root mean square are small.
_SMALL = 2.0**-20
#: Lengths are at least this share of the greatest.
_LEAST = 2.0**-400


def ordinary_share(
    mean_square: float, sets: Iterable[tuple[FloatArray, float, int]], shift: FloatArray
) -> float:
    """Give the share of the mean square that says when points coincide: 1, unless single points are far out.

    The sets come with a factor and a power of two that lead to the units of the mean square and of the shift.
    """
    limit = _SMALL * math.sqrt(mean_square)
    least = float(np.sqrt((shift**2).sum()))
    if least >= limit:
        return 1.0
    lengths = [factor * _lengths(points, power) for points, factor, power in sets]
    shortest = min(float(part.min(initial=np.inf)) for part in lengths)
    longest = max(float(part.max(initial=0.0)) for part in lengths)
    least = max(least, shortest, _LEAST * longest)
    return least**2 / mean_square if least < limit else 1.0


def share_of_sets(x: FloatArray, y: FloatArray, scale: float, shift: FloatArray) -> float:
    """Give the same for two sets and the map between them."""
    fraction, power = math.frexp(scale)
    extents = ((x, 0), (y, power), (shift, 0))
    exponent = 2 + max(math.frexp(float(np.abs(part).max()))[1] + more for part, more in extents)
    first, second = np.ldexp(x, -exponent), fraction * np.ldexp(y, power - exponent)
    shift = np.ldexp(shift, -exponent)
    centre = first.mean(axis=0)
    total = ((first - centre) ** 2).sum() + ((second + (shift - centre)) ** 2).sum()
    mean_square = float(total) / (len(x) + len(y))
    return (
        ordinary_share(mean_square, ((first, 1.0, 0), (second, 1.0, 0)), shift) if mean_square > 0.0 else 1.0
    )


def _lengths(points: FloatArray, power: int) -> FloatArray:
    """Give the lengths of points other than 0 times a power of two, with no square out of range."""
    points = points[points.any(axis=1)]
    sizes = np.abs(points).max(axis=1, keepdims=True)
    # Denormal sizes have no inverse: a power of two brings them into range.
    powers = np.frexp(sizes)[1]
    parts = np.ldexp(points, -powers)
    lengths: FloatArray = np.ldexp(np.sqrt(np.einsum("ij,ij->i", parts, parts)), powers[:, 0] + power)
    return lengths


def typical_point(points: FloatArray) -> FloatArray:
    """Give a point among most of the others: the median of each coordinate of some of them."""
    some = np.sort(points[:: len(points) // 500 + 1], axis=0)
    centre: FloatArray = some[len(some) // 2]
    return centre
