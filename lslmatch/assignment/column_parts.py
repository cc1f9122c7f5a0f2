"""Duals to start from where two sets are far apart.

There a cost is nearly the sum of a part of its row and one of its column, and the few rows that are nearest
to the other set are nearest to all of its columns. Let D be the difference of the means, z a row less the
mean of the rows, w a column less the mean of the columns, and t = D.z / D.D. The squared distance
|D + w - z|^2 is that of w and z, but for parts of the row and of the column; that of the row is -2 D.z. To
second order so is its logarithm, in units of D.D, after z was reflected in the direction of D; the part of
the row is -2 t - 2 t^2 then. With that taken off, a column's least cost is a dual as good as for centred
sets. What tells pairs apart is small beside their costs, so that it takes double precision.
"""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.costs import CostRule, cost_matrix
from lslmatch.geometry.coordinates import Geometry


def are_apart(geometry: Geometry, limit: float) -> bool:
    """Tell whether the squared distance of the means is above a multiple of the sum of both variances."""
    a, b = geometry.a, geometry.b
    a_mean, b_mean = a.mean(axis=0), b.mean(axis=0)
    between = np.square(b_mean - a_mean).sum()
    # Most sets are not, and tell so by their sums of squares. These are no variances where means are large.
    if not between > 0.5 * limit * (
        (_mean_square(a) - a_mean @ a_mean) + (_mean_square(b) - b_mean @ b_mean)
    ):
        return False
    return bool(between > limit * (_mean_square(a - a_mean) + _mean_square(b - b_mean)))


def _mean_square(points: FloatArray) -> float:
    return float(np.einsum("ij,ij", points, points)) / len(points)


def column_parts(geometry: Geometry, rule: CostRule, block_rows: int, workers: int) -> FloatArray:
    """Give each column's least cost after the part of each row was taken off."""
    n, m = geometry.shape
    centre = geometry.a.mean(axis=0)
    difference = geometry.b.mean(axis=0) - centre
    along = ((geometry.a - centre) * difference).sum(axis=1)
    if rule.logarithm:
        along /= (difference * difference).sum()
        row_part = -2.0 * along * (1.0 + along)
    else:
        row_part = -2.0 * along / (rule.x_weight + rule.y_weight.mean())
    least, cols = np.full(m, np.inf), np.arange(m)
    rule = rule._replace(offset=0.0)
    for first in range(0, n, block_rows):
        rows = np.arange(first, min(first + block_rows, n))
        costs = cost_matrix(geometry.taken(rows, cols), rule.taken(rows, cols), workers)
        costs -= row_part[rows, None]
        np.minimum(least, costs.min(axis=0), out=least)
    return least
