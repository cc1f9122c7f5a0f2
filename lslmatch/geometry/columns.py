"""Two sets in common coordinates where each column has a scale, and a weight, of its own, or a matrix maps y.

The coordinates of :mod:`lslmatch.geometry.coordinates`, with the same promise: a double and the rounding
error that it could not hold, so that partners that nearly coincide show their true distance in any units.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.geometry.coordinates import Geometry, common_coordinates, in_unit
from lslmatch.geometry.magnitudes import least_magnitude, typical_centre
from lslmatch.geometry.matrices import (
    greatest_exponents,
    matrix_products,
    nonzero_exponents,
    product_exponents,
)
from lslmatch.geometry.powers import least_exponent, nonzero_exponent
from lslmatch.maps import MATRIX_MAPS, Affine, AnyMap, as_column_map

#: Half of a double's digits: Veltkamp's constant.
_SPLIT = 2.0**27 + 1.0


def mapped_coordinates(
    x: FloatArray, y: FloatArray, found: AnyMap, units: FloatArray | None = None
) -> Geometry:
    """Bring two checked sets into common coordinates under any map.

    If `units` are given, columns of x are divided by them, times the geometric mean of all: volumes stay.
    """
    if isinstance(found, Affine) and units is None:
        return common_coordinates(x, y, found)
    weights = column_weights(units, x.shape[1])
    if isinstance(found, MATRIX_MAPS):
        reach = product_exponents(y, found.matrix)
    else:
        found = as_column_map(found)
        reach = greatest_exponents(y) + np.frexp(found.scales)[1]
    # Every column in a unit of its own, in which nothing over- or underflows.
    extents = np.maximum(greatest_exponents(x), greatest_exponents(found.shift[None]))
    power = 1 + nonzero_exponents(np.maximum(extents, reach))
    if isinstance(found, MATRIX_MAPS):
        linear = matrix_products(y, found.matrix, power)
    else:
        linear = _scaled_columns(y, found.scales, power)
    return _weighted_coordinates(np.ldexp(x, -power), linear, np.ldexp(found.shift, -power), power, weights)


def multiplied(geometry: Geometry, matrix: FloatArray) -> Geometry:
    """Multiply the points of both sets by a matrix, with the digits that the products lose."""
    power, parts = np.zeros(len(matrix), np.intp), []
    for points, lost in ((geometry.a, geometry.a_low), (geometry.b, geometry.b_low)):
        product, low = matrix_products(points, matrix, power)
        parts.append(_two_sum(product, low + lost @ matrix.T))
    highs, lows = zip(*parts, strict=True)
    return in_unit([*highs, *lows], geometry.exponent, math.inf, geometry.is_in_range)


def column_weights(units: FloatArray | None, dimension: int) -> FloatArray:
    """Give what columns are multiplied by for a metric with these units; their product is 1."""
    if units is None:
        return np.ones(dimension)
    logarithms = np.log(units)
    weights: FloatArray = np.exp(logarithms.mean() - logarithms)
    return weights


def _scaled_columns(y: FloatArray, scales: FloatArray, power: IntArray) -> tuple[FloatArray, FloatArray]:
    scale, scale_power = np.frexp(scales)
    return _product(np.ldexp(y, scale_power - power), scale)


def _weighted_coordinates(
    x: FloatArray,
    linear: tuple[FloatArray, FloatArray],
    shift: FloatArray,
    power: IntArray,
    weights: FloatArray,
) -> Geometry:
    """Shift and weight two sets, columns in units of ``2**power``; `linear` is y without its shift."""
    weight, weight_power = np.frexp(weights)
    origin = typical_centre(x)[0]
    a, a_low = _two_sum(x, -origin)
    offset, offset_low = _two_sum(shift, -origin)
    total, total_low = _two_sum(linear[0], offset)
    b, b_low = _two_sum(total, total_low + (linear[1] + offset_low))
    parts = [a, b, a_low, b_low]
    for high, low in ((0, 2), (1, 3)):
        product, lost = _product(parts[high], weight)
        parts[high], parts[low] = _two_sum(product, lost + parts[low] * weight)
    # And then one unit for all columns.
    power = power + weight_power
    exponent = nonzero_exponent(max(_least(part, power) for part in (parts[0], parts[1])))
    for part in parts:
        np.ldexp(part, power - exponent, out=part)
    sets = np.ldexp(x * weight, power - exponent), np.ldexp(linear[0] * weight, power - exponent)
    shift = np.ldexp(shift * weight, power - exponent)
    greatest = max(least_exponent(parts[0]), least_exponent(parts[1]))
    with np.errstate(over="ignore"):  # a shift may be far longer than what is left of both sets
        least, is_in_range = least_magnitude(sets, ((1.0, 0), (1.0, 0)), shift, greatest)
    return in_unit(parts, exponent, least, is_in_range)


def _least(values: FloatArray, power: IntArray) -> int:
    """Give the least e with all ``abs(values) * 2**power < 2**e``."""
    fraction, more = np.frexp(np.abs(values).max(axis=0))
    found = (more + power)[fraction > 0.0]
    return int(found.max()) if found.size else -math.inf  # type: ignore[return-value]


def _two_sum(p: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Knuth's sum: ``p + q`` rounded, and the exact error of that rounding."""
    total = p + q
    back = total - p
    return total, (p - (total - back)) + (q - back)


def _product(values: FloatArray, factors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Dekker's product: ``values * factors`` rounded, and what it lost."""
    product = values * factors
    high, factor_high = _high_half(values), _high_half(factors)
    low, factor_low = values - high, factors - factor_high
    lost = ((high * factor_high - product) + high * factor_low + low * factor_high) + low * factor_low
    return product, lost


def _high_half(values: FloatArray) -> FloatArray:
    shifted = _SPLIT * values
    return shifted - (shifted - values)
