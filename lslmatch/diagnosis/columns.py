"""A result with units of columns, or a matrix, as one of sets in common units; and what each column says.

What a diagnosis estimates does not need the last digits: columns are divided by their units and y is mapped,
and the rest is that of a map of scale 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._comparison import comparable
from lslmatch._types import FloatArray
from lslmatch.columns.weights import lost_by_weighting, pair_weights
from lslmatch.covariance.known import mapped_sets, seen_from
from lslmatch.geometry.columns import column_weights, mapped_coordinates
from lslmatch.geometry.magnitudes import typical_centre
from lslmatch.maps import as_column_map
from lslmatch.results import Affine, MatchResult


def has_units(result: MatchResult) -> bool:
    """Say whether columns have scales, or variances, of their own, or are mixed."""
    covariance, has_map = result.covariance, result.column_map is not None or result.matrix_map is not None
    return has_map or (covariance is not None and covariance.units is not None)


def units_of(result: MatchResult) -> FloatArray | None:
    """Give the units by which the columns of x are divided; None for 1."""
    return None if result.covariance is None else result.covariance.units


def without_matrix(
    x: FloatArray, y: FloatArray, result: MatchResult
) -> tuple[FloatArray, FloatArray, MatchResult]:
    """Map y by the matrix of a result, if it has one: what is left is a map of scale 1 that does nothing."""
    if result.matrix_map is None:
        return x, y, result
    noise = None if result.noise is None else (result.noise[0], result.noise[1] * result.scale)
    a, b = mapped_sets(x, y, result.matrix_map)
    return a, b, result._replace(noise=noise).with_map(Affine(1.0, np.zeros(x.shape[1])))


def in_common_units(
    x: FloatArray, y: FloatArray, result: MatchResult
) -> tuple[FloatArray, FloatArray, MatchResult]:
    """Give both sets and the result in units in which one scale, 1, and isotropic noise are enough."""
    x, y, result = without_matrix(x, y, result)
    weights, found = column_weights(units_of(result), x.shape[1]), as_column_map(result.map)
    origin, other = typical_centre(x)[0], typical_centre(y)[0]
    with np.errstate(all="ignore"):
        shift = weights * seen_from(origin, other, found)
        a, b = weights * (x - origin), weights * found.scales * (y - other)
    if not all(np.isfinite(part).all() for part in (shift, a, b)):
        raise ValueError(
            "x and y must be in the range of float64 once columns are in common units, or they cannot be "
            "diagnosed; multiply columns by constants first"
        )
    noise = result.noise
    if noise is not None:
        noise = noise[0], noise[1] * result.scale
    reduced = result._replace(covariance=None, noise=noise, profile=None).with_map(Affine(1.0, shift))
    return a, b, reduced


@comparable
class ColumnReport(NamedTuple):
    """What the pairs say of each column; arrays of shape (d,)."""

    factor: FloatArray
    """The scale: by what values of y are multiplied."""
    factor_error: FloatArray
    """Its standard error; NaN if it was not estimated."""
    shift: FloatArray
    """What is added then."""
    shift_error: FloatArray
    """Its standard error."""
    noise: FloatArray
    """The typical difference of partners, as a share of what points differ by that are no partners."""

    @property
    def says_nothing(self) -> NDArray[np.bool_]:
        """(d,) of bool: whether partners differ as much as any two points."""
        return self.noise > _NOTHING


#: Partners that differ by this share of what others do, or more, are not told from them.
_NOTHING = 0.8


@np.errstate(all="ignore")
def report_columns(x: FloatArray, y: FloatArray, result: MatchResult, by_columns: bool) -> ColumnReport:
    """Say for each column what its map is, how surely, and whether it tells pairs apart.

    Standard errors are those of a ratio of standard deviations and of a difference of means, by the influence
    of each pair; they are left out (NaN) where a map was not estimated for each column.
    """
    rows = np.flatnonzero(result.permutation >= 0)
    cols = result.permutation[rows]
    found = as_column_map(result.map)
    geometry = mapped_coordinates(x, y, found).taken(rows, cols)
    apart = np.ldexp(geometry.residuals(), geometry.exponent)
    a, b = x[rows], y[cols]
    spread = np.sqrt((_centred(a) ** 2).mean(axis=0) + (_centred(b) ** 2).mean(axis=0) * found.scales**2)
    noise = _size(apart) / _size_of_spread(a, b, found.scales, spread)
    factor_error = shift_error = np.full(x.shape[1], math.nan)
    if by_columns:
        weight, left = _pair_weights(apart, result)
        factor_error, shift_error = (error / left for error in _errors(a, b, found.scales, weight))
    return ColumnReport(found.scales, factor_error, found.shift, shift_error, noise)


def _pair_weights(apart: FloatArray, result: MatchResult) -> tuple[FloatArray, FloatArray]:
    """Give the pairs the weights with which the map was estimated, and what these leave of slopes."""
    covariance = result.covariance
    if covariance is not None and covariance.weight is not None:
        weight = covariance.weight[result.permutation >= 0]
        d, are_equal = apart.shape[1], np.ptp(weight) <= 1e-6 * weight.max()
        # Tyler's are inverse to squares, of which a column has a share 1 / d; in the plane nothing would
        # be left but for the ridge.
        left = np.full(d, 1.0 if are_equal else max(1.0 - 2.0 / d, 1.0 / 3.0))
        return weight if weight.any() else np.ones(len(apart)), left
    units = np.ones(apart.shape[1]) if covariance is None or covariance.units is None else covariance.units
    return pair_weights(apart / units), lost_by_weighting(apart / units)


def _errors(
    a: FloatArray, b: FloatArray, scales: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Give the standard errors of scale and shift of each column: the sandwich of the pairs' influences."""
    share = (weight / weight.sum())[:, None]
    a_part, b_part = a - (share * a).sum(axis=0), b - (share * b).sum(axis=0)
    a_square, b_square = (share * a_part**2).sum(axis=0), (share * b_part**2).sum(axis=0)
    of_log = share * (a_part**2 / a_square - b_part**2 / b_square) / 2.0
    middle = (share * b).sum(axis=0)
    of_shift = share * (a_part - scales * b_part) - scales * of_log * middle
    n = len(a)
    factor = math.sqrt(n / max(n - 2, 1))
    of_scale = np.abs(scales) * np.sqrt((of_log**2).sum(axis=0))
    return factor * of_scale, factor * np.sqrt((of_shift**2).sum(axis=0))


def _size(apart: FloatArray) -> FloatArray:
    return np.median(np.abs(apart), axis=0)


def _size_of_spread(a: FloatArray, b: FloatArray, scales: FloatArray, spread: FloatArray) -> FloatArray:
    """Give the typical difference of points that are no partners: of each with the partner of another."""
    half = max(len(a) // 2, 1)
    other = np.roll(np.arange(len(a)), half)
    apart = _centred(a) - scales * _centred(b[other])
    found = np.median(np.abs(apart), axis=0)
    return np.where(found > 0.0, found, np.where(spread > 0.0, spread, 1.0))


def _centred(points: FloatArray) -> FloatArray:
    return points - points.mean(axis=0)
