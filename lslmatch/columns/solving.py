"""The matching under a map and a covariance that are known, by any objective, at any size."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.allowed.solving import (
    assign_allowed,
    assign_allowed_pairs,
    assign_allowed_points,
    check_pairs_fit,
)
from lslmatch.assignment.all_or_some import PricedAssignment, assign_costs, assign_sets
from lslmatch.assignment.greedy import choose_nearest
from lslmatch.assignment.orientation import partners, sides_as_given, smaller_as_rows
from lslmatch.assignment.solve import assign
from lslmatch.costs import CostRule, cost_matrix
from lslmatch.covariance.candidates import assign_candidates, has_few_candidates
from lslmatch.covariance.known import with_pairs
from lslmatch.covariance.leave_out import White
from lslmatch.covariance.leave_out import cost_matrix as left_out_costs
from lslmatch.covariance.pair_costs import problem_of_result
from lslmatch.geometry.coordinates import Geometry
from lslmatch.given import Given
from lslmatch.maps import AnyMap
from lslmatch.results import Covariance, MatchResult


def solve_under(
    x: FloatArray,
    y: FloatArray,
    objective: str,
    found: AnyMap,
    covariance: Covariance | None,
    pairs: int | None,
    levels: tuple[FloatArray, FloatArray] | None,
    workers: int,
    given: Given | None = None,
) -> MatchResult:
    """Match two checked sets under a checked map and a covariance, with the proof that no matching is better.

    What is proven is what the certificate computes: costs come from the map and the covariance that are
    returned, not from those of a search.
    """
    n = len(x)
    nobody = np.full(n, -1, np.intp)
    empty = MatchResult(
        nobody,
        found.scale,
        found.shift,
        0.0,
        None,
        None,
        objective,
        levels,
        covariance=covariance,
        given=given,
    ).with_map(found)
    problem = problem_of_result(x, y, empty)
    if given is not None:
        return with_pairs(empty, _assign_given(problem, given, pairs, workers))
    if isinstance(problem, White):
        if pairs is not None:
            return with_pairs(empty, assign_costs(left_out_costs(problem, workers), pairs))
        if has_few_candidates(*problem.shape):
            assignment = assign_candidates(problem, workers)
        else:
            assignment = assign(left_out_costs(problem, workers))
        return with_pairs(empty, PricedAssignment(assignment, None))
    geometry, rule = problem
    if objective == "greedy":
        choice, least = choose_nearest(smaller_as_rows(geometry, rule)[0])
        total = float((np.log(np.maximum(least, rule.floor)) + rule.offset).sum())
        permutation = partners(n, *sides_as_given(choice, n > len(y)))
        return empty._replace(permutation=permutation, objective=total)
    return with_pairs(empty, assign_sets(geometry, rule, pairs, workers))


def _assign_given(
    problem: tuple[Geometry, CostRule] | White, given: Given, pairs: int | None, workers: int
) -> PricedAssignment:
    """Assign what may be partners of each other."""
    if isinstance(problem, White):
        costs = left_out_costs(problem, workers)
    elif pairs is None:
        return PricedAssignment(assign_allowed_points(*problem, given, workers), None)
    else:
        check_pairs_fit(given, *problem[0].shape, pairs)
        costs = cost_matrix(*problem, workers)
    if pairs is None:
        return PricedAssignment(assign_allowed(costs, given), None)
    return assign_allowed_pairs(costs, given, pairs)
