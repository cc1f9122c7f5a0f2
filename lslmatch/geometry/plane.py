"""The plane in which many coordinates are drawn: the first two principal components of one set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.results import MatchResult

#: So many points are enough to say where the principal axes lie.
_MOST = 10_000


class Plane(NamedTuple):
    """Two directions, and the point that is drawn at the origin."""

    axes: FloatArray
    """(2, d): of length 1, the second one 0 if there is only one direction."""
    centre: FloatArray
    """(d,)"""

    def places(self, points: FloatArray) -> FloatArray:
        """Give the places of points, of shape (k, 2)."""
        return (points - self.centre) @ self.axes.T


def principal_plane(x: FloatArray) -> Plane:
    """Give the plane of the first two principal components; coordinates as they are if there are one or two.

    Each component points to where its largest entry is positive.
    """
    n, d = x.shape
    if d <= 2:
        return Plane(np.eye(2, d), np.zeros(d))
    unit = float(np.abs(x).max()) or 1.0
    some = x[:: -(-n // _MOST)] / unit
    mean = some.mean(axis=0)
    found = np.linalg.svd(some - mean, full_matrices=False)[2][:2]
    found *= np.where(found[np.arange(len(found)), np.abs(found).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
    axes = np.zeros((2, d))
    axes[: len(found)] = found
    return Plane(axes, mean * unit)


def midpoints(x: FloatArray, y: FloatArray, result: MatchResult) -> FloatArray:
    """Give the points halfway between partners, in the units of x; x itself if there are no pairs."""
    rows = np.flatnonzero(result.permutation >= 0)
    if not rows.size:
        return x
    return 0.5 * x[rows] + 0.5 * result.transform(y[result.permutation[rows]])
