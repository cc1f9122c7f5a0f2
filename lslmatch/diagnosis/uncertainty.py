"""How uncertain the scale, the shift and the ratio of noise levels are, from the residuals of the pairs.

With both sets centred and y mapped onto x, let a pair have the difference ``r_k`` and the midpoint ``s_k``.
Standardising makes the sums of squares equal, which is ``sum(r_k . s_k) = 0``; the profile likelihood of the
scale is least where ``sum(r_k . s_k / |r_k|^2) = 0``. Both are ``sum(w_k r_k . s_k) = 0``, with weights of
their own. Pairs are independent, so the error of ``log(scale)`` is nearly the sum of their influences

    e_k = w_k r_k . s_k / B,    B = sum(w_k |s_k|^2),

and its standard error is the root of ``sum(e_k^2)``: the sandwich of Huber and White, for which noise levels
may differ in any way. Where weights depend on residuals, B is less by ``2 sum(w_k^2 (r_k . s_k)^2)``. The
influence of a pair on the shift is ``w_k r_k / sum(w) - c e_k`` with c the centre of y, in the units of x.

Where one set is larger, points without a partner took part in standardising: they are a sample, and their
influences are those on a mean. All of this takes the pairs for right and the noise of both sets for equal;
wrong pairs make residuals, and so the errors, larger.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.geometry.coordinates import Geometry, common_coordinates
from lslmatch.results import Affine

#: The probability that the interval of the ratio of noise variances holds it.
_LEVEL = 0.95


@np.errstate(all="ignore")  # errors that are out of range are infinite or NaN
def estimate_errors(
    metric: Geometry,
    x: FloatArray,
    y: FloatArray,
    affine: Affine,
    permutation: IntArray,
    by_profile: bool,
) -> tuple[float, FloatArray]:
    """Give the standard errors of a scale and a shift that were estimated; NaN of a scale 1 and a shift 0.

    `metric` holds the points in coordinates in which noise is isotropic, with y mapped onto x.
    """
    if affine.scale == 1.0 and not affine.shift.any():
        return math.nan, np.full(affine.shift.size, math.nan)
    plain = common_coordinates(x, y, affine)
    centre = np.ldexp(affine.scale * y.mean(axis=0), -plain.exponent)
    errors = profile_errors if by_profile else moment_errors
    of_logarithm, of_shift = errors(metric, plain, permutation, centre)
    return affine.scale * of_logarithm, np.ldexp(of_shift, plain.exponent)


def moment_errors(
    metric: Geometry, plain: Geometry, permutation: IntArray, centre: FloatArray
) -> tuple[float, FloatArray]:
    """Give the standard errors of the logarithm of the scale and of the shift, after standardising.

    `plain` holds the points in the coordinates of x; `centre` is the mean of y, scaled but not shifted, and
    the second result has its units.
    """
    (n, m), rows = plain.shape, np.flatnonzero(permutation >= 0)
    cols = permutation[rows]
    free_x, free_y = _others(n, rows), _others(m, cols)
    x_share, y_share = _shares_of_squares(metric.a) / (2 * n), _shares_of_squares(metric.b) / (2 * m)
    x_part, y_part = _centred(plain.a + plain.a_low) / n, _centred(plain.b + plain.b_low) / m
    scale_variance, shift_variance = 0.0, np.zeros(plain.a.shape[1])
    for of_scale, of_shift in (
        (x_share[rows] - y_share[cols], x_part[rows] - y_part[cols]),
        (x_share[free_x], x_part[free_x]),
        (-y_share[free_y], -y_part[free_y]),
    ):
        if of_scale.size:
            scale_variance += float(_variance_of_sum(of_scale))
            shift_variance += _variance_of_sum(of_shift - np.multiply.outer(of_scale, centre))
    return math.sqrt(scale_variance), np.sqrt(shift_variance)


def profile_errors(
    metric: Geometry, plain: Geometry, permutation: IntArray, centre: FloatArray
) -> tuple[float, FloatArray]:
    """Do the same for the scale at which the profile likelihood is least; NaN in fewer than three dimensions.

    There the likelihood has no curvature at its minimum, and errors are not normal.
    """
    d = plain.a.shape[1]
    rows = np.flatnonzero(permutation >= 0)
    pairs, own = metric.taken(rows, permutation[rows]), plain.taken(rows, permutation[rows])
    r, own_r = pairs.residuals(), own.residuals()
    squares = np.einsum("ij,ij->i", r, r)
    if d < 3 or not squares.min() > 0.0:
        return math.nan, np.full(d, math.nan)
    weight = 1.0 / squares
    s = (pairs.a + pairs.b) / 2
    s -= weight @ s / weight.sum()
    products = np.einsum("ij,ij->i", r, s) * weight
    curvature = float(weight @ np.einsum("ij,ij->i", s, s) - 2.0 * products @ products)
    if not curvature > 0.0:
        return math.nan, np.full(d, math.nan)
    of_scale = products / curvature
    # The same loss of curvature, in all directions alike.
    of_mean = own_r * (weight / (weight.sum() * (1.0 - 2.0 / d)))[:, None]
    weighted = centre + weight @ own.b / weight.sum() - plain.b.mean(axis=0)
    of_shift = of_mean - np.multiply.outer(of_scale, weighted)
    return math.sqrt(_variance_of_sum(of_scale)), np.sqrt(_variance_of_sum(of_shift))


@np.errstate(all="ignore")
def noise_ratio_interval(pairs: Geometry, relative_error: float) -> tuple[float, float]:
    """Bound the largest ratio of two noise variances, from the squared distances of the pairs.

    Each is a noise variance times a chi-square variable of d degrees of freedom. With probability 0.95 all of
    these are between two quantiles at once, so no ratio of squares is off by more than that of the quantiles.
    A distance may also be off by twice the error of the mean residual, and of the scale (`relative_error`)
    times the distance from the centre: where that is all there is, there is no upper bound.
    """
    from scipy.special import gammaincinv

    r, s = pairs.residuals(), _centred(pairs.a)
    k, d = r.shape
    distance = np.linalg.norm(r, axis=1)
    shifted = math.sqrt(float(distance @ distance)) / k
    scaled = 0.0 if math.isnan(relative_error) else relative_error * np.linalg.norm(s, axis=1)
    reach = 2.0 * (shifted + scaled) if not math.isnan(relative_error) else 0.0
    least, greatest = np.maximum(distance - reach, 0.0), distance + reach
    tail = (1.0 - _LEVEL) / (2 * k)
    low, high = gammaincinv(d / 2, [tail, 1.0 - tail])
    at_least = float((least.max() / greatest.min()) ** 2 * low / high)
    at_most = float((greatest.max() / least.min()) ** 2 * high / low)
    return (at_least if at_least > 1.0 else 1.0), (math.inf if math.isnan(at_most) else at_most)


def _shares_of_squares(points: FloatArray) -> FloatArray:
    """Give the squared distances from the mean, by their mean."""
    centred = _centred(points)
    squares: FloatArray = np.einsum("ij,ij->i", centred, centred)
    return squares / (squares.mean() or 1.0)


def _centred(points: FloatArray) -> FloatArray:
    return points - points.mean(axis=0)


def _others(count: int, some: IntArray) -> IntArray:
    others = np.ones(count, np.bool_)
    others[some] = False
    return np.flatnonzero(others)


def _variance_of_sum(terms: FloatArray) -> FloatArray:
    """Estimate the variance of a sum of independent terms by their spread."""
    count = len(terms)
    return ((terms - terms.mean(axis=0)) ** 2).sum(axis=0) * (count / max(count - 1, 1))
