"""A look at a few points, to decide what to try first.

What is seen here decides how much is computed, never what is true.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.geometry.coordinates import Geometry

#: Points that are looked at.
_PROBES = 12
#: Shares of the coordinates that are tried, and the fewest that are worth it.
_PARTS = (0.1, 0.2, 0.35, 0.5)
_FEWEST_DIMENSIONS = 4


class Outlook(NamedTuple):
    """What a few points suggest about all of them."""

    mutual: float  # the share of points whose nearest partner is nearest to them too
    dimensions: int | None  # leading coordinates that tell the nearest partner from the others; None: all
    rows: IntArray  # the points
    least: FloatArray  # their squared distances from their nearest partners


def probe(geometry: Geometry) -> Outlook:
    """Look at a few points: are they and their nearest partners nearest to each other, and how clearly."""
    n, d = geometry.a.shape
    rows = np.linspace(0, n - 1, min(n, _PROBES)).astype(np.intp)
    probes = geometry.a[rows]
    ends = [0, *(size for part in _PARTS if (size := int(part * d)) >= _FEWEST_DIMENSIONS), d]
    parts = [_squared_distances(probes[:, i:j], geometry.b[:, i:j]) for i, j in pairwise(ends)]
    partial = list(accumulate(parts))
    nearest = partial[-1].argmin(axis=1)
    returned = _squared_distances(geometry.b[nearest], geometry.a).argmin(axis=1)
    mutual = float((returned == rows).mean())
    least = partial[-1].min(axis=1)
    for size, distances in zip(ends[1:-1], partial[:-1], strict=True):
        distances[np.arange(rows.size), nearest] = np.inf
        if (distances.min(axis=1) > least).all():
            return Outlook(1.0, size, rows, least)
    return Outlook(mutual, None, rows, least)


def _squared_distances(p: FloatArray, q: FloatArray) -> FloatArray:
    squares = np.einsum("ij,ij->i", p, p)[:, None] + np.einsum("ij,ij->i", q, q)
    return squares - 2.0 * (p @ q.T)
