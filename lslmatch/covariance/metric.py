"""A covariance of the noise from the residuals of matched pairs.

With residuals r_k and weights w_k whose mean is 1, and k = 1, ..., K, the estimate is

    A = (1 - s) / K * sum of w_k r_k r_k^T + s * mean variance * I,

where the shrinkage s is that of Ledoit and Wolf (J. Multivariate Anal. 88, 2004). Only the shape of A
matters to a matching, so the units of the weights are free.

Columns may first be divided by their noise levels (`column_units`). A is then shrunk to a diagonal matrix
and not to a multiple of I: where columns are not equally noisy, as few pairs say more of that than of
correlations.

Weights are equal, or those of Tyler (Ann. Statist. 15, 1987), which suit noise of unequal levels: inverse
to the quadratic form of the residual. Here the residual is left out of the matrix of its own quadratic
form, because with as many dimensions as pairs each residual would otherwise explain itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.geometry.powers import least_exponent, nonzero_exponent, times_power

#: Rounds of Tyler's fixed point. It need not settle: any weights make a valid metric.
_TYLER_ROUNDS = 6
#: It has settled if no weight changes by more than this share.
_SETTLED = 1e-2
#: A residual whose quadratic form is below this share of the mean one gets no greater weight for it.
_LEAST_FORM = 1e-12
#: Noise levels of columns are found in so many rounds, and drawn to those before by so many pairs' weight.
_UNIT_ROUNDS, _UNIT_PRIOR = 2, 5.0
#: The least shrinkage, times the number of pairs: what keeps a matrix of low rank from being singular.
_LEAST_SHRINKAGE = 1e-3


class Metric(NamedTuple):
    """A covariance ``A = sum of weight[k] * r_k r_k^T + ridge * I`` and its Cholesky factor."""

    factor: FloatArray  # (d, d), lower triangular, factor @ factor.T = A
    weight: FloatArray  # (K,), with (1 - s) / K in them
    ridge: float
    white: FloatArray  # (K, d): the residuals r_k in coordinates where the metric is Euclidean

    @classmethod
    def of(cls, matrix: FloatArray, residuals: FloatArray, weight: FloatArray, ridge: float) -> Metric:
        """Factor the matrix A of some residuals."""
        factor = np.linalg.cholesky(matrix).astype(np.float64)
        return cls(factor, weight, ridge, _whiten(factor, residuals))

    def whiten(self, points: FloatArray) -> FloatArray:
        """Map points such that Euclidean distances become those of the metric."""
        return _whiten(self.factor, points)

    def log_determinant(self) -> float:
        """Compute the logarithm of the determinant of A."""
        return 2.0 * float(np.log(np.diag(self.factor)).sum())


def equal_metric(residuals: FloatArray, dimension: int, weight: FloatArray | None = None) -> Metric:
    """Estimate the covariance with equal weights.

    `dimension` is that of the space, which may exceed the columns of `residuals` if only a subspace with all
    points in it is looked at. `weight`, where Tyler's iteration may begin, is not needed here.
    """
    return _shrunken(residuals, np.ones(len(residuals)), dimension)


def tyler_metric(residuals: FloatArray, dimension: int, weight: FloatArray | None = None) -> Metric:
    """Estimate the covariance with weights inverse to each residual's own quadratic form.

    The iteration begins with `weight`, or with equal ones.
    """
    squares = np.einsum("ij,ij->i", residuals, residuals)
    weights = np.ones(len(residuals))
    if weight is not None and float(weight @ squares) > 0.0:
        weights = weight * (squares.sum() / float(weight @ squares))
    metric = _shrunken(residuals, weights, dimension)
    for _ in range(_TYLER_ROUNDS):
        forms = left_out_forms(metric)
        before, weights = weights, 1.0 / np.maximum(forms, _LEAST_FORM * forms.mean())
        weights *= squares.sum() / float(weights @ squares)
        if np.allclose(weights, before, rtol=_SETTLED, atol=0.0):
            break
        metric = _shrunken(residuals, weights, dimension)
        if not metric.weight.any():  # shrunk to a multiple of I, whatever the weights
            break
    return metric


def column_units(residuals: FloatArray) -> FloatArray:
    """Give the noise levels of the columns, of shape (d,), each residual in units of its own length.

    Their logarithms are shrunk to the mean as much as chance alone would spread them: with K pairs a variance
    has a relative error of about 2 / K.
    """
    count, d = residuals.shape
    units = np.ones(d)
    for _ in range(_UNIT_ROUNDS):
        squares = np.square(residuals / units)
        form = squares.mean(axis=1)
        squares /= np.maximum(form, _LEAST_FORM * form.mean())[:, None]
        units *= np.sqrt((squares.sum(axis=0) + _UNIT_PRIOR) / (count + _UNIT_PRIOR))
    logarithms = np.log(units)
    logarithms -= logarithms.mean()
    spread = 4.0 * float(np.square(logarithms).sum()) / max(d - 1, 1)  # of the variances
    kept = max(1.0 - 2.0 / count / spread, 0.0) if spread > 0.0 else 0.0
    shrunk: FloatArray = np.exp(kept * logarithms)
    return shrunk


def left_out_forms(metric: Metric) -> FloatArray:
    """Compute ``r^T A^-1 r`` of each residual with that residual left out of A."""
    forms = np.einsum("ij,ij->i", metric.white, metric.white)
    left: FloatArray = forms / np.maximum(1.0 - metric.weight * forms, np.finfo(float).eps)
    return left


def _shrunken(residuals: FloatArray, weights: FloatArray, dimension: int) -> Metric:
    count, columns = residuals.shape
    weighted = residuals * np.sqrt(weights)[:, None]
    # In a unit in which no fourth power overflows.
    unit = nonzero_exponent(least_exponent(weighted))
    weighted = times_power(weighted, -unit)
    scatter = weighted.T @ weighted / count
    squares = np.einsum("ij,ij->i", weighted, weighted)
    mean = float(squares.mean()) / dimension
    # Squared Frobenius norms: of the scatter, of its distance to a multiple of I, and of its sampling error.
    norm = float(np.vdot(scatter, scatter))
    distance = norm - dimension * mean**2
    error = (float((squares**2).mean()) - norm) / count
    shrinkage = 1.0
    if distance > 0.0:
        shrinkage = min(max(error / distance, _LEAST_SHRINKAGE / count), 1.0)
    ridge = shrinkage * mean
    scatter *= 1.0 - shrinkage
    scatter[np.diag_indices(columns)] += ridge
    scatter, ridge = times_power(scatter, 2 * unit), math.ldexp(ridge, 2 * unit)
    return Metric.of(scatter, residuals, weights * ((1.0 - shrinkage) / count), ridge)


def _whiten(factor: FloatArray, points: FloatArray) -> FloatArray:
    from scipy.linalg import solve_triangular  # takes longer than the rest of the import

    white: FloatArray = solve_triangular(factor, points.T, lower=True, check_finite=False).T
    return np.ascontiguousarray(white)
