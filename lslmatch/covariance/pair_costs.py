"""The costs by which a result was matched, again: for another number of pairs, with all else as it is."""

from __future__ import annotations

from lslmatch._types import FloatArray
from lslmatch.assignment.all_or_some import assign_costs, assign_sets
from lslmatch.costs import CostRule, cost_matrix
from lslmatch.covariance.dropped import streamed_problem
from lslmatch.covariance.fit import white_of
from lslmatch.covariance.known import known_problem, with_pairs
from lslmatch.covariance.leave_out import White
from lslmatch.covariance.leave_out import cost_matrix as left_out_costs
from lslmatch.geometry.columns import mapped_coordinates
from lslmatch.geometry.coordinates import Geometry
from lslmatch.objectives.table import make_rule
from lslmatch.results import MatchResult


def match_pairs(x: FloatArray, y: FloatArray, result: MatchResult, pairs: int, workers: int) -> MatchResult:
    """Match the given number of pairs under the alignment and the covariance of a result."""
    problem = problem_of_result(x, y, result)
    if isinstance(problem, White):
        priced = assign_costs(left_out_costs(problem, workers), pairs)
    else:
        priced = assign_sets(*problem, pairs, workers)
    return with_pairs(result, priced)


def costs_of_result(x: FloatArray, y: FloatArray, result: MatchResult, workers: int) -> FloatArray:
    """Compute the matrix of the costs of all pairs, of shape (n, m)."""
    problem = problem_of_result(x, y, result)
    if isinstance(problem, White):
        return left_out_costs(problem, workers)
    return cost_matrix(*problem, workers)


def problem_of_result(x: FloatArray, y: FloatArray, result: MatchResult) -> tuple[Geometry, CostRule] | White:
    """Give the points and the rule of the costs; if the judged pair is left out, what they are made of."""
    covariance, units = result.covariance, None
    if covariance is not None and covariance.reference is not None:
        white, offset = white_of(x, y, result.map, covariance)
        white = white._replace(offset=white.offset + offset)
        return white if covariance.leave_out else streamed_problem(white)
    if covariance is not None and covariance.is_diagonal:
        units = covariance.units
    elif covariance is not None and not covariance.is_isotropic:
        return known_problem(x, y, result)
    geometry = mapped_coordinates(x, y, result.map, units)
    return geometry, make_rule(result.criterion, geometry, result.scale, result.noise)
