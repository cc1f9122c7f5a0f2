"""The routes with the matrix of all costs, for problems that are not too large."""

from __future__ import annotations

from lslmatch.assignment.dense import DualState, solve_dense
from lslmatch.assignment.path import PartialSolution, solve_partial
from lslmatch.assignment.problem import Problem
from lslmatch.assignment.routes import COSTS, SOME_PAIRS, Route, Task, always, has_matrix
from lslmatch.assignment.settings import SolverSettings
from lslmatch.costs import cost_matrix


def solve_matrix(problem: Problem) -> DualState:
    """Match all rows of a problem, by reductions and shortest paths in the matrix."""
    rule = problem.rule._replace(offset=0.0)
    solution = solve_dense(cost_matrix(problem.geometry, rule, problem.workers))
    assert solution is not None, "all costs are finite"
    return solution


def solve_matrix_of_some(problem: Problem) -> PartialSolution:
    """Match the wanted number of rows, one after the other."""
    assert problem.pairs is not None
    rule = problem.rule._replace(offset=0.0)
    return solve_partial(cost_matrix(problem.geometry, rule, problem.workers), problem.pairs)


def _is_small(task: Task, settings: SolverSettings) -> bool:
    return not task.warm and task.pairs <= min(settings.matrix_pairs, settings.dense_pairs)


ROUTE = Route(
    "matrix",
    COSTS,
    can=has_matrix,
    pays=_is_small,
    solve=solve_matrix,
    why="Of few points, no look at them is worth its time.",
)
ROUTE_TO_SOME = Route(
    "matrix of some",
    SOME_PAIRS,
    can=has_matrix,
    pays=always,
    solve=solve_matrix_of_some,
    why="Of few points, and as the last resort: successive shortest paths find pair after pair.",
)
