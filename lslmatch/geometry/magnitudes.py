"""How large the points of a set are: mostly, and at least, whatever single ones are like.

A table may hold fills, such as 1e20 for "missing". A mean and a mean square are then those of the fills; what
is said here of a set is not moved by some points that are far out.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.geometry.powers import times_power

#: Points that tell what most are like.
_SAMPLED = 65
#: Rows that are looked at together.
_BLOCK = 1 << 13
#: A length below this share of the greatest coordinates is small; that of a mean square is less than twice
#: it.
SMALL = 2.0**-19
#: Points are in the range of each other up to this ratio of magnitudes. Beyond it, squares of what tells them
#: apart get lost in double precision.
GREATEST_RATIO = 2.0**400
#: Far points that an error names.
_NAMED = 5


def typical_centre(points: FloatArray) -> tuple[FloatArray, float]:
    """Return a median of each coordinate, and how far some points mostly are from it by a coordinate."""
    sample = points[:: -(-len(points) // _SAMPLED)]
    middle = len(sample) // 2
    centre = np.partition(sample, middle, axis=0)[middle]
    with np.errstate(over="ignore"):
        sizes = np.abs(sample - centre).max(axis=1)
    return centre, float(np.partition(sizes, middle)[middle])


def typical_size(points: FloatArray) -> FloatArray:
    """Return the greatest coordinate that points mostly have; the greatest of all if most are 0."""
    sizes = np.abs(points[:: -(-len(points) // _SAMPLED)]).max(axis=1)
    middle = len(sizes) // 2
    size = np.partition(sizes, middle)[middle : middle + 1]
    return size if size[0] > 0.0 else np.abs(points).max(keepdims=True)


def least_magnitude(
    sets: tuple[FloatArray, FloatArray],
    units: tuple[tuple[float, int], tuple[float, int]],
    shift: FloatArray,
    exponent: int,
) -> tuple[float, bool]:
    """Return the least length of a point other than 0, in units of the shift, but at least that of the shift.

    Infinite if that is not small beside coordinates of ``2**exponent``. A factor and a power of two lead each
    set to these units, where no coordinate is above 1. Also tells whether points are in range: not if most of
    both sets are too small beside the greatest.
    """
    least = float(np.linalg.norm(shift))
    if least >= math.ldexp(SMALL * math.sqrt(shift.size), exponent):
        return math.inf, True
    squares = [squared_lengths(points, *unit) for points, unit in zip(sets, units, strict=True)]
    greatest = math.sqrt(max(float(part.max()) for part in squares))
    limit = (greatest / GREATEST_RATIO) ** 2
    least_square = min(float(part.min(where=part > 0.0, initial=math.inf)) for part in squares)
    in_range = least**2 >= limit or any(
        np.count_nonzero(points[part < limit].any(axis=1)) <= len(points) / 2
        for points, part in zip(sets, squares, strict=True)
    )
    return math.sqrt(max(least_square, least**2, limit)), in_range


def squared_lengths(points: FloatArray, factor: float, power: int) -> FloatArray:
    """Return squared lengths, which are 0 only for points that are 0."""
    squares = np.empty(len(points))
    for start in range(0, len(points), _BLOCK):
        some = factor * times_power(points[start : start + _BLOCK], power)
        np.einsum("ij,ij->i", some, some, out=squares[start : start + _BLOCK])
    lost = np.flatnonzero(squares < np.finfo(float).tiny)
    squares[lost] = np.where(points[lost].any(axis=1), np.finfo(float).tiny, 0.0)
    return squares


def far_points(sets: tuple[FloatArray, FloatArray]) -> str:
    """Name the points of two sets, called x and y, that are about as large as the largest; "" if all are."""
    sizes, parts = [np.abs(points).max(axis=1) for points in sets], []
    limit = max(float(part.max()) for part in sizes) / math.sqrt(GREATEST_RATIO)
    if all((part > limit).all() or limit == 0.0 for part in sizes):
        return ""
    for name, part in zip("xy", sizes, strict=True):
        rows = np.flatnonzero(part > limit)
        if rows.size:
            more = f" and {rows.size - _NAMED} more" if rows.size > _NAMED else ""
            parts.append(f"{name}[{', '.join(map(str, rows[:_NAMED]))}]{more}")
    return " and ".join(parts)
