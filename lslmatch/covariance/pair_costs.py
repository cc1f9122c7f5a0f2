"""The costs by which a result was matched, again: for another number of pairs, with all else as it is."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.assignment.orientation import partners
from lslmatch.assignment.partial import PricedAssignment, assign_pairs, assign_point_pairs
from lslmatch.costs import CostRule, cost_matrix, make_rule
from lslmatch.covariance.dropped import streamed_problem
from lslmatch.covariance.fit import white_of
from lslmatch.covariance.known import known_map
from lslmatch.covariance.leave_out import White
from lslmatch.covariance.leave_out import cost_matrix as left_out_costs
from lslmatch.geometry.coordinates import Geometry, common_coordinates
from lslmatch.results import Affine, MatchResult


def match_pairs(x: FloatArray, y: FloatArray, result: MatchResult, pairs: int, workers: int) -> MatchResult:
    """Match so many pairs under the alignment and the covariance of a result."""
    problem = _problem(x, y, result)
    if isinstance(problem, White):
        priced = assign_pairs(left_out_costs(problem, workers), pairs)
    else:
        priced = assign_point_pairs(*problem, pairs, workers)
    return with_pairs(result, priced)


def costs_of_result(x: FloatArray, y: FloatArray, result: MatchResult, workers: int) -> FloatArray:
    """Compute the matrix of the costs of all pairs, of shape (n, m)."""
    problem = _problem(x, y, result)
    if isinstance(problem, White):
        return left_out_costs(problem, workers)
    return cost_matrix(*problem, workers)


def with_pairs(result: MatchResult, priced: PricedAssignment) -> MatchResult:
    """Put other pairs and their proof into a result."""
    (rows, cols, row_dual, col_dual, objective), price = priced
    return result._replace(
        permutation=partners(row_dual.size, rows, cols),
        objective=objective,
        row_dual=row_dual,
        col_dual=col_dual,
        price=price,
    )


def _problem(x: FloatArray, y: FloatArray, result: MatchResult) -> tuple[Geometry, CostRule] | White:
    """Give the points and the rule of the costs; if the judged pair is left out, what they are made of."""
    covariance, affine = result.covariance, result.affine
    if covariance is not None and covariance.reference is not None:
        white, offset = white_of(x, y, affine, covariance)
        white = white._replace(offset=white.offset + offset)
        return white if covariance.leave_out else streamed_problem(white)
    if covariance is not None and not covariance.is_isotropic:
        # As in `match_known`: relative to a point of each set, or to the same where nothing is moved.
        linear, origin = known_map(covariance.matrix), x[0]
        other = origin if affine.scale == 1.0 and not np.any(affine.shift) else y[0]
        x, y = linear.forward(x - origin), linear.forward(y - other)
        affine = Affine(affine.scale, linear.forward(affine.shift + (affine.scale * other - origin)))
    geometry = common_coordinates(x, y, affine)
    return geometry, make_rule(result.criterion, geometry, affine.scale, result.noise)
