"""All pairs, or a given number of the cheapest ones with the price that proves them so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.assignment.orientation import smaller_as_rows
from lslmatch.assignment.path import PartialSolution, solve_partial
from lslmatch.assignment.plan import plan_for
from lslmatch.assignment.problem import Problem
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.solve import assign, assign_points, partial_assignment
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry
from lslmatch.results import Assignment


class PricedAssignment(NamedTuple):
    """An optimal assignment of some pairs. Without a price it is one of all that can be matched."""

    assignment: Assignment
    price: float | None


def assign_costs(costs: FloatArray, pairs: int | None) -> PricedAssignment:
    """Match the given number of pairs of a matrix of finite costs; None: all."""
    if pairs is None or pairs == min(costs.shape):
        return PricedAssignment(assign(costs), None)
    solution = solve_partial(costs, pairs)
    return PricedAssignment(partial_assignment(costs, solution), solution.price)


def assign_sets(
    geometry: Geometry,
    rule: CostRule,
    pairs: int | None,
    workers: int = 1,
    settings: SolverSettings | None = None,
) -> PricedAssignment:
    """Match the given number of pairs of two sets of points; None: all."""
    if pairs is None or pairs == min(geometry.shape):
        return PricedAssignment(assign_points(geometry, rule, workers, settings=settings), None)
    n, m = geometry.shape
    geometry, rule = smaller_as_rows(geometry, rule)
    problem = Problem(geometry, rule, workers=workers, settings=settings, pairs=pairs)
    solution: PartialSolution = problem.solve(plan_for(problem.task, problem.settings))
    rows = np.flatnonzero(solution.col_of_row >= 0)
    cols, price = solution.col_of_row[rows], solution.price + rule.offset
    row_dual, col_dual = solution.row_dual, solution.col_dual
    objective = float((row_dual[rows] + col_dual[cols] + price).sum())
    if n > m:
        order = np.argsort(cols)
        rows, cols, row_dual, col_dual = cols[order], rows[order], col_dual, row_dual
    return PricedAssignment(Assignment(rows, cols, row_dual, col_dual, objective), price)


def with_price_in_duals(assignment: Assignment, price: float) -> Assignment:
    """Take the price into the duals of the smaller side, if all of it is matched."""
    u, v = assignment.row_dual, assignment.col_dual
    u, v = (u + price, v) if u.size <= v.size else (u, v + price)
    return assignment._replace(row_dual=u, col_dual=v)
