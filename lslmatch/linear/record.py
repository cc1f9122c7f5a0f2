"""What was learned, as it is kept in a result: the regression, the map, and the costs again from both."""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.covariance.metric import Metric
from lslmatch.linear.climbing import Learned
from lslmatch.linear.coordinates import Axes, Sets
from lslmatch.linear.ridge import Pairs, fit_ridge, left_out_costs
from lslmatch.maps import LinearMap
from lslmatch.results import MatchResult, Regression


def regression_of(sets: Sets, learned: Learned, start: str) -> Regression:
    """Describe what was learned, with all that its costs are made of."""
    ridge, metric = learned.ridge, learned.metric
    of_metric = None
    if metric is not None:
        of_metric = np.zeros(len(sets.a))
        of_metric[ridge.pairs.rows] = metric.weight
    return Regression(
        *sets.x_axes,
        *sets.y_axes,
        ridge.pairs.partner,
        ridge.pairs.weight,
        ridge.penalty,
        sets.prior,
        of_metric,
        0.0 if metric is None else metric.ridge,
        learned.cross_entropy,
        math.nan,
        learned.rounds,
        start,
    )


def map_of(sets: Sets, learned: Learned) -> LinearMap:
    """Give the map from y to x that all pairs together say."""
    # Coordinates of x are orthogonal projections: back by the pseudoinverse.
    back = np.linalg.pinv(sets.x_axes.basis)
    coefficients = learned.ridge.coefficients
    matrix = (sets.y_axes.basis @ coefficients[1:] @ back).T
    shift = sets.x_axes.centre + coefficients[0] @ back - matrix @ sets.y_axes.centre
    return LinearMap(np.ascontiguousarray(matrix), shift)


def costs_of(x: FloatArray, y: FloatArray, result: MatchResult, workers: int = 1) -> FloatArray:
    """Compute the costs of all pairs of a result again, each with its own points left out."""
    learned = result.regression
    assert learned is not None
    a, b = Axes(learned.x_centre, learned.x_basis).of(x), Axes(learned.y_centre, learned.y_basis).of(y)
    pairs = Pairs(learned.reference, learned.weight)
    ridge = fit_ridge(a, b, pairs, None, learned.prior, learned.penalty)
    metric = None
    if learned.metric_weight is not None:
        residuals, weight = ridge.left_out_residuals(), learned.metric_weight[pairs.rows]
        weighted = residuals * np.sqrt(weight)[:, None]
        matrix = weighted.T @ weighted
        matrix[np.diag_indices(len(matrix))] += learned.metric_ridge
        metric = Metric.of(matrix, residuals, weight, learned.metric_ridge)
    return left_out_costs(ridge, metric, workers)
