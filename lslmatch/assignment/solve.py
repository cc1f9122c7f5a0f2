"""The public functions of the solvers: they see to orientation, sign and units, and raise the errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_cost_matrix, check_number
from lslmatch.assignment.dense import DualState, solve_dense
from lslmatch.assignment.orientation import sides_as_given, smaller_as_rows
from lslmatch.assignment.path import PartialSolution, solve_partial
from lslmatch.assignment.plan import plan_for
from lslmatch.assignment.problem import Problem
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.warm_start import WarmStart
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry
from lslmatch.results import Assignment

#: Costs above 2**960 are solved in smaller units, so that sums and differences stay finite.
_GREATEST_EXPONENT = 960


def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> tuple[IntArray, IntArray]:
    """Solve the linear sum assignment problem; a drop-in for SciPy's function of that name.

    Parameters
    ----------
    cost_matrix : array_like of shape (n, m)
        The costs; an infinite cost forbids a pair.
    maximize : bool, default False
        Look for the greatest sum instead of the least.

    Returns
    -------
    row_ind, col_ind : ndarray of shape (min(n, m),)
        Rows, ascending, and their columns; ``cost_matrix[row_ind, col_ind].sum()`` is optimal.

    Raises
    ------
    ValueError
        If `cost_matrix` is not 2-dimensional, has a NaN or an infinity of the wrong sign, or allows
        no assignment at all.

    Examples
    --------
    >>> from lslmatch import linear_sum_assignment
    >>> rows, columns = linear_sum_assignment([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
    >>> columns.tolist()
    [1, 0, 2]
    """
    assignment = solve_assignment(cost_matrix, maximize=maximize)
    return assignment.row_ind, assignment.col_ind


def solve_assignment(
    cost_matrix: Any, *, maximize: bool = False, unmatched: float | None = None
) -> Assignment:
    """Solve the linear sum assignment problem and return the dual variables that prove it.

    Parameters
    ----------
    cost_matrix : array_like of shape (n, m)
        The costs; an infinite cost forbids a pair.
    maximize : bool, default False
        Look for the greatest sum instead of the least; the inequalities of the duals are reversed.
    unmatched : float, optional
        The price of a pair that is left unmatched: then any number of pairs, also none, is matched, such that
        the sum of ``cost - unmatched`` over them is least. So no pair that costs more is matched, and all
        pairs are those that are worth it. (One that costs exactly as much may be matched or not.) It must
        be finite; all pairs that can be matched are if it is large beside the costs, and then the
        duals have only the digits that are left beside it.

    Returns
    -------
    Assignment
        ``row_ind``, ``col_ind``, ``row_dual``, ``col_dual`` and ``objective``. For every pair
        ``row_dual[i] + col_dual[j] <= cost_matrix[i, j]`` up to rounding, with equality on the
        matched pairs, and on the longer side the duals are at most 0, and 0 where unmatched: so no
        assignment can cost less. With a price for unmatched pairs,
        ``row_dual[i] + col_dual[j] + unmatched <= cost_matrix[i, j]``, and all duals are at most 0, and 0
        where unmatched; ``objective`` is the sum of the matched costs, without the price.

    Raises
    ------
    ValueError
        As for :func:`linear_sum_assignment`; but with a price for unmatched pairs none has to be matched.

    Examples
    --------
    >>> import numpy as np
    >>> from lslmatch import solve_assignment
    >>> cost = np.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]])
    >>> result = solve_assignment(cost)
    >>> result.objective
    5.0
    >>> bool((result.row_dual[:, None] + result.col_dual <= cost + 1e-12).all())
    True

    Only pairs that cost less than 1.5:

    >>> result = solve_assignment(cost, unmatched=1.5)
    >>> result.row_ind.tolist(), result.col_ind.tolist()
    ([1], [1])
    """
    costs = check_cost_matrix(cost_matrix, maximize)
    if maximize:
        costs = -costs
    if unmatched is None:
        assignment = assign(costs)
    else:
        price = check_number(unmatched, "unmatched")
        assignment = assign_at_price(costs, -price if maximize else price)
    if not maximize:
        return assignment
    return assignment._replace(
        row_dual=-assignment.row_dual, col_dual=-assignment.col_dual, objective=-assignment.objective
    )


def assign(costs: FloatArray) -> Assignment:
    """Assign the columns of a checked cost matrix to its rows (or, if fewer, its rows to its columns)."""
    n, m = costs.shape
    transposed = n > m
    work = np.ascontiguousarray(costs.T) if transposed else costs
    exponent = _excess_exponent(costs)
    if exponent:
        work = np.ldexp(work, -exponent)
    solution = solve_dense(work)
    if solution is None:
        raise ValueError(
            "cost matrix is infeasible: every complete assignment uses a forbidden (infinite) pair"
        )
    if exponent:
        solution = _in_units(solution, exponent)
    assignment = _assignment(solution, transposed, 0.0)
    with np.errstate(over="ignore"):
        objective = float(costs[assignment.row_ind, assignment.col_ind].sum())
    return assignment._replace(objective=objective)


def assign_at_price(costs: FloatArray, price: float) -> Assignment:
    """Match those pairs of a checked cost matrix that are worth a price; the duals leave it out."""
    exponent = max(_excess_exponent(costs), math.frexp(price)[1] - _GREATEST_EXPONENT, 0)
    work, price = (np.ldexp(costs, -exponent), math.ldexp(price, -exponent)) if exponent else (costs, price)
    solution = solve_partial(work, price=price)
    assignment = partial_assignment(costs, solution)
    with np.errstate(over="ignore"):
        row_dual, col_dual = np.ldexp(solution.row_dual, exponent), np.ldexp(solution.col_dual, exponent)
    return assignment._replace(row_dual=row_dual, col_dual=col_dual)


def partial_assignment(costs: FloatArray, solution: PartialSolution) -> Assignment:
    """Turn a matching of some pairs into an assignment of their rows and columns."""
    rows = np.flatnonzero(solution.col_of_row >= 0)
    cols = solution.col_of_row[rows]
    with np.errstate(over="ignore"):
        objective = float(costs[rows, cols].sum())
    return Assignment(rows, cols, solution.row_dual, solution.col_dual, objective)


def _in_units(solution: DualState, exponent: int) -> DualState:
    """Multiply the duals by a large power of two, balanced so that they stay in range if they can."""
    row_dual, col_dual = solution.row_dual, solution.col_dual
    if row_dual.size == col_dual.size:
        middle = (col_dual.max() + col_dual.min() - row_dual.max() - row_dual.min()) / 4.0
        row_dual, col_dual = row_dual + middle, col_dual - middle
    with np.errstate(over="ignore"):
        return solution._replace(row_dual=np.ldexp(row_dual, exponent), col_dual=np.ldexp(col_dual, exponent))


def assign_points(
    geometry: Geometry,
    rule: CostRule,
    workers: int = 1,
    col_dual: FloatArray | None = None,
    warm_start: WarmStart | None = None,
    settings: SolverSettings | None = None,
) -> Assignment:
    """Assign the points of the smaller set of a geometry to points of the larger one.

    `col_dual` and `warm_start` are for sets of equal size; `settings` are the default ones unless given, as
    in :class:`~lslmatch.assignment.problem.Problem`.
    """
    n, m = geometry.shape
    geometry, rule = smaller_as_rows(geometry, rule)
    problem = Problem(
        geometry, rule, workers=workers, col_dual=col_dual, warm_start=warm_start, settings=settings
    )
    solution: DualState = problem.solve(plan_for(problem.task, problem.settings))
    costs = solution.row_dual + solution.col_dual[solution.col_of_row] + rule.offset
    return _assignment(solution._replace(row_dual=solution.row_dual + rule.offset), n > m, float(costs.sum()))


def _assignment(solution: DualState, transposed: bool, objective: float) -> Assignment:
    """Turn a solution for the smaller side as rows into one for the sides as they were given."""
    duals = solution.row_dual, solution.col_dual
    row_dual, col_dual = duals[::-1] if transposed else duals
    return Assignment(*sides_as_given(solution.col_of_row, transposed), row_dual, col_dual, objective)


def _excess_exponent(costs: FloatArray) -> int:
    """How many powers of two the finite costs are above what the solver can add up safely."""
    if not costs.size:
        return 0
    greatest = max(costs.max(), -costs.min())
    if greatest == math.inf:
        greatest = np.abs(costs, where=np.isfinite(costs), out=np.zeros_like(costs)).max()
    return max(0, math.frexp(greatest)[1] - _GREATEST_EXPONENT)
