"""Coordinates under a map with a scale for each column, or a matrix, for the certificate: on its own.

Nothing here comes from `lslmatch.geometry`: y is mapped, and both sets are weighted, each step with
what it lost in rounding.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_map, check_units
from lslmatch.certificate.coincident import ordinary_share, typical_point
from lslmatch.certificate.exact import exact_product, exact_sum
from lslmatch.certificate.matrices import mapped_exactly, matrix_reach
from lslmatch.maps import MATRIX_MAPS, as_column_map
from lslmatch.results import MatchResult


class ColumnSets(NamedTuple):
    """Both sets in units of ``2**exponent``, and what the coordinates lost in rounding."""

    x: FloatArray
    x_rest: FloatArray
    y: FloatArray
    y_rest: FloatArray
    exponent: int
    #: The sets and the shift as they were given, weighted and scaled, in the same unit.
    given: tuple[FloatArray, FloatArray, FloatArray]

    def share(self, mean_square: float, shrunk: int) -> float:
        """Say when points coincide, in a unit that is ``2**shrunk`` times as large."""
        x, y, shift = self.given
        sets = (x, 1.0, -shrunk), (y, 1.0, -shrunk)
        return ordinary_share(mean_square, sets, np.ldexp(shift, -shrunk))


def has_columns(result: MatchResult) -> bool:
    """Say whether columns have scales, or variances, of their own, or are mixed."""
    covariance = result.covariance
    has_map = result.column_map is not None or result.matrix_map is not None
    return has_map or (covariance is not None and covariance.is_diagonal)


def column_weights(result: MatchResult, dimension: int) -> FloatArray:
    """Give what columns are multiplied by: inverse units, their product being 1."""
    covariance = result.covariance
    if covariance is None or covariance.units is None:
        return np.ones(dimension)
    units = check_units(covariance.units, "result.covariance.units", dimension)
    logarithms = np.log(units)
    return np.exp(float(logarithms.sum()) / dimension - logarithms)


def column_sets(x: FloatArray, y: FloatArray, result: MatchResult) -> ColumnSets:
    """Weight the columns of both sets, map those of y, and centre both, with all digits."""
    d = x.shape[1]
    found, weights = check_map(result.map, "result.map", d, y.shape[1]), column_weights(result, d)
    # Powers of two that keep columns and their weights in range.
    fraction, power = np.frexp(weights)
    if isinstance(found, MATRIX_MAPS):
        own = matrix_reach(y, found.matrix)
    else:
        found = as_column_map(found)
        scale, scale_power = np.frexp(found.scales)
        own = _raised(np.full(d, -(10**6)), y, scale_power)
    own = _raised(_raised(own, x), found.shift[None])
    own = np.where(own > -(10**5), own, 0)
    exponent = 2 + int((own + power).max())
    unit = power - exponent
    origin = typical_point(x)
    x_part, x_lost = exact_sum(np.ldexp(x, -own), -np.ldexp(origin, -own))
    if isinstance(found, MATRIX_MAPS):
        product, lost = mapped_exactly(y, found.matrix, own)
    else:
        product, lost = exact_product(scale, np.ldexp(y, scale_power - own))
    offset, offset_lost = exact_sum(np.ldexp(found.shift, -own), -np.ldexp(origin, -own))
    mapped, sum_lost = exact_sum(product, offset)
    mapped, y_lost = exact_sum(mapped, sum_lost + (lost + offset_lost))
    sides: list[FloatArray] = []
    for part, rest in ((x_part, x_lost), (mapped, y_lost)):
        weighted, lost = exact_product(fraction, part)
        weighted, lost = exact_sum(weighted, lost + fraction * rest)
        sides += [np.ldexp(weighted, unit + own), np.ldexp(lost, unit + own)]
    given = (
        np.ldexp(fraction * np.ldexp(x, -own), unit + own),
        np.ldexp(fraction * product, unit + own),
        np.ldexp(fraction * np.ldexp(found.shift, -own), unit + own),
    )
    return ColumnSets(sides[0], sides[1], sides[2], sides[3], exponent, given)


def metric_sets(x: FloatArray, y: FloatArray, result: MatchResult) -> ColumnSets:
    """Take both sets to where a covariance that was given is the identity, with all digits.

    The axes are principal ones, of columns whose variances are taken off first.
    """
    assert result.covariance is not None
    sets, factor = column_sets(x, y, result), result.covariance.factor
    sizes = np.sqrt((factor**2).sum(axis=0))
    axes, lengths = np.linalg.svd((factor / sizes).T)[:2]
    volume = math.exp(float(np.log(sizes).mean() + np.log(lengths).mean()))
    matrix = (axes * (volume / lengths)).T / sizes
    unit = int(max(matrix_reach(points, matrix).max() for points in (sets.x, sets.y)))
    unit = unit if unit > -(10**5) else 0
    sides: list[FloatArray] = []
    for part, rest in ((sets.x, sets.x_rest), (sets.y, sets.y_rest)):
        mapped, lost = mapped_exactly(part, matrix, np.full(len(matrix), unit))
        sides += exact_sum(mapped, lost + np.ldexp(rest @ matrix.T, -unit))
    return ColumnSets(sides[0], sides[1], sides[2], sides[3], sets.exponent + unit, sets.given)


def _raised(own: IntArray, points: FloatArray, more: IntArray | int = 0) -> IntArray:
    """Raise powers of two to where no coordinate of some points, times ``2**more``, reaches them."""
    size, exponents = np.frexp(np.abs(points).max(axis=0))
    return np.where(size > 0.0, np.maximum(own, exponents + more), own)


def plain_sets(
    x: FloatArray, y: FloatArray, result: MatchResult
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give both sets, weighted and y mapped by a matrix, and ``x[i] - y[j]`` of the reference pairs."""
    sets = column_sets(x, y, result)
    assert result.covariance is not None
    difference = np.zeros_like(sets.x)
    reference = result.covariance.reference
    if reference is not None:
        rows = np.flatnonzero(reference >= 0)
        cols = reference[rows]
        difference[rows] = (sets.x[rows] - sets.y[cols]) + (sets.x_rest[rows] - sets.y_rest[cols])
    x, y, difference = (np.ldexp(part, sets.exponent) for part in (sets.x, sets.y, difference))
    return x, y, difference
