"""Coordinates for regression: principal ones of each set, or those of columns that correspond.

With as many coordinates as pairs a map explains whatever is matched. So no set has more than a third as many
coordinates as there are pairs: the leading principal ones.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.results import ColumnMap

#: So many times as many pairs as coordinates, at least.
_PAIRS = 3
#: Axes whose spread is below this share of the greatest are rounding errors.
_FLAT = 1e-10
#: The greatest coordinate is within these powers of two, so that no square over- or underflows.
_GREATEST_EXPONENT = 400


class Axes(NamedTuple):
    """What takes points to coordinates: ``(points - centre) @ basis``."""

    centre: FloatArray  # (d,)
    basis: FloatArray  # (d, k)

    def of(self, points: FloatArray) -> FloatArray:
        """Give the coordinates of points."""
        found: FloatArray = (points - self.centre) @ self.basis
        return found


class Sets(NamedTuple):
    """Both sets in coordinates, and the matrix between them that a penalty draws to (None: 0)."""

    a: FloatArray
    b: FloatArray
    x_axes: Axes
    y_axes: Axes
    prior: FloatArray | None = None

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, x_axes: Axes, y_axes: Axes, prior: bool = False) -> Sets:
        """Take the coordinates of both."""
        a, b = x_axes.of(x), y_axes.of(y)
        return cls(a, b, x_axes, y_axes, np.eye(a.shape[1]) if prior else None)


def principal_sets(x: FloatArray, y: FloatArray, by_column: bool) -> Sets:
    """Take the principal coordinates of each set; if `by_column`, of columns divided by their spread."""
    most = max(min(len(x), len(y)) // _PAIRS, 1)
    return Sets.of(x, y, principal_axes(x, most, by_column), principal_axes(y, most, by_column))


def corresponding_sets(x: FloatArray, y: FloatArray, found: ColumnMap) -> Sets:
    """Take coordinates of columns that correspond, divided by the spread of those of x.

    If there are too many, those of the principal axes of both sets together are taken.
    """
    most = max(min(len(x), len(y)) // _PAIRS, 1)
    centre, spread = _centre(x), _spread(x)
    apart = (x - centre) / spread
    other = (found.apply(y) - centre) / spread
    basis = np.eye(len(spread))
    if len(spread) > most:
        pooled = np.vstack([apart, other])
        basis = np.linalg.svd(pooled - pooled.mean(axis=0), full_matrices=False)[2][:most].T
    # found.apply(y) - centre is scales * (y - where the map takes to the centre).
    origin = (centre - found.shift) / found.scales
    x_axes = Axes(centre, basis / spread[:, None])
    y_axes = Axes(origin, basis * (found.scales / spread)[:, None])
    return Sets.of(x, y, x_axes, y_axes, prior=True)


def principal_axes(points: FloatArray, most: int, by_column: bool) -> Axes:
    """Give the leading principal axes of a set, in a unit in which a column's mean square is about 1."""
    centre = _centre(points)
    apart = points - centre
    unit = _spread(points) if by_column else np.full(points.shape[1], _mean_spread(apart))
    values, axes = np.linalg.svd(apart / unit, full_matrices=False)[1:]
    count = min(most, int((values > _FLAT * values[0]).sum()))
    return Axes(centre, np.ascontiguousarray(axes[:count].T) / unit[:, None])


def check_spread(points: FloatArray, name: str) -> None:
    """Raise if points do not differ, or by more than can be squared."""
    with np.errstate(over="ignore"):
        greatest = float(np.abs(points - _centre(points)).max())
    if greatest == 0.0:
        raise ValueError(f"{name} must have points that differ, for alignment 'linear'; all are equal")
    if not math.isfinite(greatest) or abs(math.frexp(greatest)[1]) > _GREATEST_EXPONENT:
        raise ValueError(
            f"{name} must have moderate units for alignment 'linear'; points differ by up to {greatest:.3g}"
        )


def _centre(points: FloatArray) -> FloatArray:
    centre: FloatArray = points[0] + (points - points[0]).mean(axis=0)
    return centre


def _spread(points: FloatArray) -> FloatArray:
    """Give the standard deviation of each column; the greatest spread for one that is constant."""
    apart = points - _centre(points)
    greatest = np.abs(apart).max(axis=0)
    constant = greatest <= 4.0 * np.finfo(float).eps * np.abs(points).max(axis=0)
    unit = np.where(constant, 1.0, greatest)
    return np.where(
        constant, max(float(greatest.max()), 1e-300), unit * np.sqrt(((apart / unit) ** 2).mean(axis=0))
    )


def _mean_spread(apart: FloatArray) -> float:
    greatest = float(np.abs(apart).max())
    return greatest * math.sqrt(float(((apart / greatest) ** 2).mean()))
