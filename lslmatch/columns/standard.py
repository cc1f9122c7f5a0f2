"""Both sets in standard units: columns of mean 0 and of mean square 1, each set by its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.maps import Affine, AnyMap, ColumnMap, as_column_map

#: The ratio of a standard deviation to the median absolute deviation, of normal variables.
_NORMAL = 1.4826
#: Squares of units above this, and below its inverse, are in the range of float64.
_LEAST_UNIT = 2.0**-450


class Standard(NamedTuple):
    """Two sets of scores, and what leads back to the units of the sets."""

    a: FloatArray  # (n, d)
    b: FloatArray  # (m, d)
    a_unit: FloatArray  # (d,)
    a_centre: FloatArray
    b_unit: FloatArray
    b_centre: FloatArray

    @property
    def identity(self) -> ColumnMap:
        """The map that standardises every column."""
        d = self.a_unit.size
        return ColumnMap(np.ones(d), np.zeros(d))

    def given(self, found: AnyMap) -> ColumnMap:
        """Give a map of scores in the units of the sets."""
        scales = self.a_unit * (as_column_map(found).scales / self.b_unit)
        return ColumnMap(scales, self.a_centre + self.a_unit * found.shift - scales * self.b_centre)

    def of(self, found: Affine | ColumnMap) -> ColumnMap:
        """Give a map in the units of the sets as one of scores."""
        scales = found.scales if isinstance(found, ColumnMap) else found.scale
        shift = (found.shift + scales * self.b_centre - self.a_centre) / self.a_unit
        return ColumnMap(scales * self.b_unit / self.a_unit, shift)

    def turned(self, signs: FloatArray) -> Standard:
        """Turn columns of the second set whose sign is -1: their units are negative then."""
        return self._replace(b=self.b * signs, b_unit=self.b_unit * signs)

    @property
    def are_moderate(self) -> bool:
        """Whether units and their squares are in the range of float64: variances are learned from them."""
        units, centres = (
            np.abs(np.concatenate([self.a_unit, self.b_unit])),
            np.concatenate([self.a_centre, self.b_centre]),
        )
        squares = bool(((units > _LEAST_UNIT) & (units < 1.0 / _LEAST_UNIT)).all())
        return squares and bool((np.abs(centres) < 1.0 / _LEAST_UNIT).all())

    def robust(self) -> tuple[ColumnMap, FloatArray]:
        """Give the map that takes medians and median deviations onto each other, and those of the scores."""
        a_centre, b_centre = np.median(self.a, axis=0), np.median(self.b, axis=0)
        a_size, b_size = _deviation(self.a, a_centre), _deviation(self.b, b_centre)
        usable = (a_size > 0.0) & (b_size > 0.0)
        scales = np.ones(a_size.size)
        np.divide(a_size, b_size, out=scales, where=usable)
        centres = np.where(usable, a_centre - scales * b_centre, 0.0)
        return ColumnMap(scales, centres), np.where(usable, a_size, 1.0)


@np.errstate(all="ignore")
def standard_units(x: FloatArray, y: FloatArray, one_scale: bool = False) -> Standard:
    """Standardise the columns of two checked sets; one that is constant in either keeps the units of both.

    With `one_scale` all columns of a set have one unit, the greatest of theirs.
    """
    a, a_unit, a_centre = _scores(x)
    b, b_unit, b_centre = _scores(y)
    if one_scale:
        units = []
        for part, own in ((a, a_unit), (b, b_unit)):
            unit = np.full(own.size, own.max() or 1.0)
            part *= np.where(own > 0.0, own / unit, 1.0 / unit)
            units.append(unit)
        return Standard(a, b, units[0], a_centre, units[1], b_centre)
    constant = (a_unit == 0.0) | (b_unit == 0.0)
    if constant.any():
        unit = np.where(constant, np.maximum(a_unit, b_unit), 1.0)
        unit[unit == 0.0] = 1.0
        a[:, constant] = (x[:, constant] - a_centre[constant]) / unit[constant]
        b[:, constant] = (y[:, constant] - b_centre[constant]) / unit[constant]
        a_unit, b_unit = np.where(constant, unit, a_unit), np.where(constant, unit, b_unit)
    return Standard(a, b, a_unit, a_centre, b_unit, b_centre)


@np.errstate(all="ignore")
def _scores(points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    origin = points[0]
    centre = origin + (points - origin).mean(axis=0)
    apart = points - centre
    # In a unit of its own no square over- or underflows.
    greatest = np.abs(apart).max(axis=0)
    scale = np.where(greatest > 0.0, greatest, 1.0)
    apart /= scale
    size = np.sqrt((apart**2).mean(axis=0))
    # What is but rounding of a common offset is no spread.
    size[greatest <= 4.0 * np.finfo(float).eps * np.abs(centre)] = 0.0
    return apart / np.where(size > 0.0, size, 1.0), size * scale, centre


def _deviation(points: FloatArray, centre: FloatArray) -> FloatArray:
    return _NORMAL * np.median(np.abs(points - centre), axis=0)
