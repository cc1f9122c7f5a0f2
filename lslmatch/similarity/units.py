"""Both sets in robust units: the spatial median is the origin, and the median distance from it is 1."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.maps import Similarity

#: Steps of Weiszfeld's method for the spatial median, and the change at which it ends.
_STEPS, _SETTLED = 60, 1e-6
#: For starts only, points beyond this many median distances are drawn in to it.
_FAR = 3.0


class Units(NamedTuple):
    """One set in its own robust units."""

    points: FloatArray  # (n, d)
    centre: FloatArray  # (d,)
    unit: float

    @property
    def core(self) -> FloatArray:
        """The points, those far out drawn in: for starts, which go by squares."""
        lengths = np.linalg.norm(self.points, axis=1, keepdims=True)
        return self.points * np.minimum(1.0, _FAR / np.maximum(lengths, _FAR))


class Turn(NamedTuple):
    """A similarity between two sets in robust units: ``a`` is about ``scale * b @ rotation.T + shift``."""

    rotation: FloatArray  # (d, d)
    scale: float
    shift: FloatArray  # (d,)

    def inverse(self) -> Turn:
        """Give the map from a to b."""
        back = np.ascontiguousarray(self.rotation.T)
        return Turn(back, 1.0 / self.scale, -(back @ self.shift) / self.scale)

    def apply(self, b: FloatArray) -> FloatArray:
        """Map points."""
        mapped: FloatArray = self.scale * (b @ self.rotation.T) + self.shift
        return mapped


def robust_units(points: FloatArray) -> Units | None:
    """Bring a checked set into robust units; None if half of its points coincide, or overflow."""
    with np.errstate(all="ignore"):
        origin = np.median(points, axis=0)
        apart = points - origin
        size = float(np.median(np.linalg.norm(apart, axis=1)))
        if not 0.0 < size < math.inf:
            return None
        apart /= size
        centre = _spatial_median(apart)
        apart -= centre
        unit = float(np.median(np.linalg.norm(apart, axis=1)))
        if not 0.0 < unit * size < math.inf:
            return None
        apart /= unit
        # What overflows is out of reach of any partner.
        np.nan_to_num(apart, copy=False, nan=0.0, posinf=1e100, neginf=-1e100)
        np.clip(apart, -1e100, 1e100, out=apart)
    return Units(apart, origin + size * centre, unit * size)


def _spatial_median(points: FloatArray) -> FloatArray:
    """Give the point with the least sum of distances to all others."""
    centre = np.zeros(points.shape[1])
    for _ in range(_STEPS):
        distances = np.linalg.norm(points - centre, axis=1)
        weight = 1.0 / np.maximum(distances, 1e-9)
        weight[~np.isfinite(distances)] = 0.0
        weight /= weight.sum()
        moved = weight @ np.where(weight[:, None] > 0.0, points, 0.0)
        if np.abs(moved - centre).max() < _SETTLED:
            return moved
        centre = moved
    return centre


def as_similarity(turn: Turn, a: Units, b: Units) -> Similarity:
    """Give a map between sets in robust units as one between the sets as they were given."""
    scale = turn.scale * (a.unit / b.unit)
    shift = a.centre + a.unit * turn.shift - scale * (turn.rotation @ b.centre)
    return Similarity(scale, turn.rotation, shift)


def as_turn(found: Similarity, a: Units, b: Units) -> Turn:
    """Give a map between the sets as they were given as one between sets in robust units."""
    shift = (found.apply(b.centre[None])[0] - a.centre) / a.unit
    return Turn(found.rotation, found.scale * (b.unit / a.unit), shift)
