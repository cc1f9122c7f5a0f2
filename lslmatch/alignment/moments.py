"""The scalar affine map between two sets: the paper's estimators of scale and shift."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lslmatch._jit import kernel
from lslmatch._types import FloatArray
from lslmatch._validation import check_point_pair, check_points
from lslmatch.alignment.fit import Alignment, AlignmentRow
from lslmatch.geometry.powers import least_exponent, nonzero_exponent, power_factor, times_power
from lslmatch.results import Affine

#: The unit of deviations from the mean is never below this power of two, or its inverse would overflow.
_LEAST_EXPONENT = -1000


def estimate_affine(x: Any, y: Any) -> Affine:
    """Estimate the scale and the shift between two sets without knowing who matches whom.

    The scale tau-hat is the ratio of the root mean squares of the centred sets, and the shift is
    beta-hat = mean(x) - tau-hat * mean(y): the paper's section 1. The paper has sets of equal size and
    so may write sums for means; with sums, a set of 200 points out of 1000 would look shrunken.

    Parameters
    ----------
    x : array_like of shape (n, d)
        The first set, points as rows.
    y : array_like of shape (m, d)
        The second set.

    Returns
    -------
    Affine
        ``scale`` and ``shift`` with ``x[i]`` about ``scale * y[j] + shift`` for partners i and j.

    Examples
    --------
    >>> import numpy as np
    >>> from lslmatch import estimate_affine
    >>> y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> x = 2.0 * y[[2, 0, 1]] + 5.0
    >>> affine = estimate_affine(x, y)
    >>> round(affine.scale, 9), affine.shift.round(9).tolist()
    (2.0, [5.0, 5.0])
    """
    return affine_of_moments(*check_point_pair(x, y))


def affine_of_moments(x: FloatArray, y: FloatArray) -> Affine:
    """Estimate scale and shift of two checked sets."""
    first, second = _moments(x, "x"), _moments(y, "y")
    ratio = math.sqrt(first.sum_of_squares / second.sum_of_squares * (len(y) / len(x)))
    power = first.spread_exponent - second.spread_exponent
    scale = _ldexp(ratio, power)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled_mean = _ldexp(ratio, power + second.exponent - first.exponent) * second.mean
        shift = np.ldexp(first.mean - scaled_mean, first.exponent)
    return check_range(Affine(scale, shift))


def check_range(affine: Affine) -> Affine:
    """Return a map that was computed, if its numbers are in the range of float64."""
    if not (0.0 < affine.scale < math.inf and np.isfinite(affine.shift).all()):
        raise ValueError(
            "x and y must have comparable units: the scale or the shift between them exceeds the range of "
            "float64; multiply one set by a constant first"
        )
    return affine


def standardize(x: Any) -> FloatArray:
    """Centre a set and divide it by its root total sum of squares.

    Matching two standardised sets of equal size is the same as matching with `estimate_affine`'s scale
    and shift (the paper's section 4, "Link to standardization").

    Parameters
    ----------
    x : array_like of shape (n, d)
        The set, points as rows.

    Returns
    -------
    ndarray of shape (n, d)
        Columns of mean 0, squares that sum to 1 over all entries.

    Examples
    --------
    >>> from lslmatch import standardize
    >>> standardize([[1.0], [3.0], [2.0]]).round(4).ravel().tolist()
    [-0.7071, 0.7071, 0.0]
    """
    x = check_points(x, "x")
    moments = _moments(x, "x")
    deviations = times_power(x, -moments.exponent)
    deviations -= deviations[0]
    deviations = times_power(deviations, moments.exponent - moments.spread_exponent)
    return (deviations - moments.mean_deviation) / math.sqrt(moments.sum_of_squares)


class _Moments(NamedTuple):
    """Centred statistics, in units in which nothing over- or underflows."""

    mean: FloatArray  # in units of 2**exponent
    exponent: int
    mean_deviation: FloatArray  # from the first point, in units of 2**spread_exponent
    sum_of_squares: float  # about the mean, in those units squared
    spread_exponent: int


def _moments(points: FloatArray, name: str) -> _Moments:
    exponent = nonzero_exponent(least_exponent(points))
    points, factor = power_factor(points, -exponent)
    origin = points[0] * factor
    greatest, mean_deviation, *spare = np.zeros((4, origin.size))
    _find_greatest_deviations(points, factor, origin, greatest)
    spread = max(nonzero_exponent(least_exponent(greatest)), _LEAST_EXPONENT)
    spread_factor = math.ldexp(1.0, -spread)
    sum_of_squares = _centred_statistics(points, factor, origin, spread_factor, mean_deviation, *spare)
    if not sum_of_squares > 0.0:
        raise ValueError(
            f"{name} must have a positive total variance, or the scale is undefined; all its "
            f"{points.shape[0]} points coincide"
        )
    mean = origin + times_power(mean_deviation, spread)
    return _Moments(mean, exponent, mean_deviation, sum_of_squares, exponent + spread)


@kernel
def _find_greatest_deviations(points, factor, origin, greatest):
    """Find the greatest differences to the first point, by coordinate, in units of 1 / factor."""
    n, d = points.shape
    for i in range(n):
        for k in range(d):
            greatest[k] = max(greatest[k], abs(points[i, k] * factor - origin[k]))


@kernel
def _centred_statistics(points, factor, origin, spread_factor, mean, correction, squares):
    """Add the mean deviation from the first point, the origin, to `mean`; return the sum of squares about it.

    Both in units that the two factors, powers of two, lead to. The second pass corrects what the first
    rounded (Chan, Golub and LeVeque's corrected two-pass algorithm). The last three arrays are 0 before.
    """
    n, d = points.shape
    for i in range(n):
        for k in range(d):
            mean[k] += (points[i, k] * factor - origin[k]) * spread_factor
    for k in range(d):
        mean[k] /= n
    for i in range(n):
        for k in range(d):
            deviation = (points[i, k] * factor - origin[k]) * spread_factor - mean[k]
            correction[k] += deviation
            squares[k] += deviation * deviation
    total = 0.0
    for k in range(d):
        total += squares[k] - correction[k] * (correction[k] / n)
        mean[k] += correction[k] / n
    return total


def _ldexp(value: float, exponent: int) -> float:
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.inf


STANDARDIZE = AlignmentRow(
    "standardize",
    "the means and the mean squares of X and Y",
    align=lambda x, y, workers: Alignment(affine_of_moments(x, y)),
    direct=lambda d: None,
)
