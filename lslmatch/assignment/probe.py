"""A look at a few points, to decide what to try first.

What is seen here decides how much is computed, never what is true.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry

#: Points that are looked at.
_PROBES = 12
#: Shares of the coordinates that are tried, and the fewest that are worth it.
_PARTS = (0.1, 0.2, 0.35, 0.5)
_FEWEST_DIMENSIONS = 4
#: Operations of a matrix product below which no BLAS starts threads. Threads are ours to give; where other
#: work keeps a processor busy, waiting for them takes ten times as long as all the rest of a match.
_SMALL_PRODUCT = 1 << 17


class Outlook(NamedTuple):
    """What a few points suggest about all of them."""

    mutual: float  # the share of points whose nearest partner is nearest to them too
    dimensions: int | None  # leading coordinates that tell the nearest partner from the others; None: all
    rows: IntArray  # the points
    least: FloatArray  # their squared distances from their nearest partners, over weights if there are any


def probe(geometry: Geometry, rule: CostRule) -> Outlook:
    """Look at a few points: are they and their nearest partners nearest to each other, and how clearly.

    Squared distances are divided by the weights of the rule.
    """
    n, d = geometry.a.shape
    rows = np.linspace(0, n - 1, min(n, _PROBES)).astype(np.intp)
    probes = geometry.a[rows]
    weights = rule.weights(rows[:, None], slice(None))
    nearest, least, second = _two_nearest(probes, geometry.b, weights)
    # Leading coordinates that do not tell the second nearest from the nearest do not tell all others from it.
    told = np.square(probes - geometry.b[second]).cumsum(axis=1)
    told /= rule.weights(rows[:, None], second[:, None])
    for size in (size for part in _PARTS if (size := int(part * d)) >= _FEWEST_DIMENSIONS):
        if (told[:, size - 1] > least).all():
            distances = _squared_distances(probes[:, :size], geometry.b[:, :size]) / weights
            distances[np.arange(rows.size), nearest] = np.inf
            if (distances.min(axis=1) > least).all():
                return Outlook(1.0, size, rows, least)
    returned, _, _ = _two_nearest(
        geometry.b[nearest], geometry.a, rule.weights(slice(None), nearest[:, None])
    )
    return Outlook(float((returned == rows).mean()), None, rows, least)


def _two_nearest(
    p: FloatArray, q: FloatArray, weights: FloatArray | float
) -> tuple[IntArray, FloatArray, IntArray]:
    """Return for each p the nearest q, its squared distance over their weight, and the second nearest."""
    distances, rows = _squared_distances(p, q) / weights, np.arange(len(p))
    nearest = distances.argmin(axis=1)
    least = distances[rows, nearest]
    distances[rows, nearest] = np.inf
    return nearest, least, distances.argmin(axis=1)


def _squared_distances(p: FloatArray, q: FloatArray) -> FloatArray:
    squares = np.einsum("ij,ij->i", p, p)[:, None] + np.einsum("ij,ij->i", q, q)
    step = max(_SMALL_PRODUCT // p.size, 1)
    whole = len(q) - len(q) % step
    products = 2.0 * p @ q[:whole].reshape(-1, step, q.shape[1]).transpose(0, 2, 1)
    squares[:, :whole] -= products.transpose(1, 0, 2).reshape(len(p), whole)
    squares[:, whole:] -= 2.0 * p @ q[whole:].T
    return squares
