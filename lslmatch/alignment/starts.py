"""Maps to begin with that a minority of wild points cannot spoil, and the units in which they are sought."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from lslmatch.alignment.prominence import Map
from lslmatch.alignment.sound_moments import ASKED
from lslmatch.geometry.powers import times_power
from lslmatch.results import Affine

#: Factors of the scale that are tried beside the ratio of median distances.
_FACTORS = 2.0 ** np.array([0.0, -0.5, 0.5, -1.0, 1.0])
#: Steps towards the spatial median, and towards the centre of the nearest half.
_MEDIAN_STEPS, _HALF_STEPS = 12, 6
#: Coordinates beyond this are wild enough; so their squares are in the range of float64.
_WILDEST = 2.0**200


class Central(NamedTuple):
    """A set in units of its own: the spatial median is 0, the median distance from it 1."""

    points: FloatArray  # (n, d)
    centre: FloatArray  # in the units as given
    unit: float
    core: FloatArray  # (d,): the mean of the half of the points that is nearest to itself


def central(points: FloatArray) -> Central | None:
    """Take a set in robust units; None if there are none, as half of its points coincide."""
    some = points[spread_evenly(len(points), ASKED)]
    start = np.median(some / 2.0, axis=0) * 2.0
    deviations = some - start
    typical = float(np.median(np.abs(deviations).max(axis=1)))
    if not 0.0 < typical < math.inf:
        return None
    exponent = math.frexp(typical)[1]
    deviations = np.clip(times_power(deviations, -exponent), -_WILDEST, _WILDEST)
    # Rows that repeat, as failed readings do, count once.
    once = deviations[_first_occurrences(deviations)]
    middle = _spatial_median(once)
    unit = float(np.median(_norms(once - middle)))
    size = float(np.ldexp(unit, exponent))
    if not 0.0 < size < math.inf:
        return None
    scaled = (times_power(points - start, -exponent) - middle) / unit
    return Central(
        np.clip(scaled, -_WILDEST, _WILDEST, out=scaled),
        start + times_power(middle, exponent),
        size,
        _core((once - middle) / unit),
    )


def spread_evenly(n: int, count: int) -> IntArray:
    """Choose `count` of n rows that are evenly spread; all if there are not more."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.intp))


def robust_starts(a: Central, b: Central) -> Iterator[Map]:
    """Give maps from the units of b to those of a: centres on centres, at several scales."""
    for factor in _FACTORS:
        yield Map(float(factor), np.zeros_like(a.core))
        yield Map(float(factor), a.core - factor * b.core)


def in_units(affine: Affine, a: Central, b: Central) -> Map:
    """Express a map in the units of the two sets: from those of b to those of a."""
    shift = (affine.shift + affine.scale * b.centre - a.centre) / a.unit
    return Map(affine.scale * (b.unit / a.unit), shift)


def as_given(map_: Map, a: Central, b: Central) -> Affine:
    """Express a map between the units of two sets as one between the sets."""
    scale = map_.scale * (a.unit / b.unit)
    return Affine(scale, a.centre + a.unit * map_.shift - scale * b.centre)


def _first_occurrences(points: FloatArray) -> NDArray[np.bool_]:
    """Tell which rows are not equal to another one before them, by a projection that equal rows share."""
    order = np.argsort(points @ np.cos(np.arange(points.shape[1]) ** 2 + 1.0), kind="stable")
    repeated = np.zeros(len(points), np.bool_)
    repeated[order[1:]] = (points[order[1:]] == points[order[:-1]]).all(axis=1)
    return ~repeated


def _spatial_median(points: FloatArray) -> FloatArray:
    """Approach the point with the least sum of distances, by Weiszfeld's steps from the origin."""
    centre = np.zeros(points.shape[1])
    for _ in range(_MEDIAN_STEPS):
        distance = _norms(points - centre)
        weight = 1.0 / np.maximum(distance, 1e-9)
        centre = weight @ points / weight.sum()
    return centre


def _core(points: FloatArray) -> FloatArray:
    """Find the mean of the half of the points that is nearest to that mean."""
    centre = np.zeros(points.shape[1])
    half = (len(points) + 1) // 2
    for _ in range(_HALF_STEPS):
        nearest = np.argpartition(_norms(points - centre), half - 1)[:half]
        centre = points[nearest].mean(axis=0)
    return centre


def _norms(points: FloatArray) -> FloatArray:
    return np.sqrt(np.einsum("ij,ij->i", points, points))
