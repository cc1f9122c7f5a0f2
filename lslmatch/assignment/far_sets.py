"""Sets that are far apart: the same problem with sets that overlap.

There a cost is nearly the sum of a part of its row and one of its column, and what tells pairs apart is lost
beside them. Both parts can be taken off exactly. Squared distances become those of the centred sets: with D
the difference of the means, and z and w the deviations of a row and of a column from theirs,

    |D + w - z|^2 = |w - z|^2 - 2 D.z + (|D|^2 + 2 D.w).

For their logarithms the rows are mirrored in a plane between the sets. With S the squared distance of
a column and a mirrored row, and g and h their distances from the plane,

    log(S + 4 g h) = log(1 + S / (4 g h)) + log(2 g) + log(2 h).

Duals of the problem without the parts, plus the parts, are duals of the problem with them. If the sets
differ in size, the parts of the columns also tell which of them remain unmatched: about those that are
farthest away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.dense import DualState
from lslmatch.assignment.problem import Problem
from lslmatch.assignment.routes import COSTS, Route
from lslmatch.assignment.screening import make_screen
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.shortlists import Shortlists, renew_shortlists
from lslmatch.assignment.streamed import complete, solve_streamed
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry
from lslmatch.geometry.powers import least_exponent, nonzero_exponent, times_power

#: No point is nearer to the plane than this share of the distance of the mean of its set.
_CLEAR = 0.25


class _Overlapping(NamedTuple):
    """A problem whose costs are less by a part of the row and one of the column."""

    geometry: Geometry
    rule: CostRule
    row_part: FloatArray
    col_part: FloatArray

    def taken(self, cols: IntArray) -> _Overlapping:
        """Leave out all columns but some."""
        rows = np.arange(self.row_part.size)
        geometry, rule = self.geometry.taken(rows, cols), self.rule.taken(rows, cols)
        return _Overlapping(geometry, rule, self.row_part, self.col_part[cols])


def match_far_sets(problem: Problem) -> DualState | None:
    """Match every row, n <= m; None if the sets are not far apart."""
    geometry, rule = problem.geometry, problem.rule
    if rule.root or not _are_far(geometry, problem.settings.far_means):
        return None
    overlap = _mirrored(geometry, rule) if rule.logarithm else _centred(geometry, rule)
    if overlap is None or not all(
        np.isfinite(part).all() for part in (*overlap.rule[3:], overlap.row_part, overlap.col_part)
    ):
        return None
    # A matrix does not pay, where there is one. Single precision is quicker even where it is coarse.
    settings, workers = problem.settings._replace(dense_pairs=0, double=False), problem.workers
    n, m = geometry.shape
    if n == m:
        state = solve_streamed(overlap.geometry, overlap.rule, workers=workers, settings=settings)
    else:
        state = _solve_unequal(overlap, settings, workers)
    state.row_dual[:] += overlap.row_part
    state.col_dual[:] += overlap.col_part
    if n < m:
        np.minimum(state.col_dual, 0.0, out=state.col_dual)
        state.col_dual[state.row_of_col < 0] = 0.0
    return state


def _are_far(geometry: Geometry, limit: float) -> bool:
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


@np.errstate(all="ignore")
def _centred(geometry: Geometry, rule: CostRule) -> _Overlapping | None:
    """Take the parts off squared distances that have one weight."""
    weight = rule.x_weight[0] + rule.y_weight[0]
    if rule.x_weight.max() + rule.y_weight.max() > rule.x_weight.min() + rule.y_weight.min():
        return None
    a_mean, b_mean = geometry.a.mean(axis=0), geometry.b.mean(axis=0)
    a, b = (geometry.a - a_mean) + geometry.a_low, (geometry.b - b_mean) + geometry.b_low
    difference = b_mean - a_mean
    row_part = (a * difference).sum(axis=1) * (-2.0 / weight)
    col_part = ((b * difference).sum(axis=1) * 2.0 + (difference * difference).sum()) / weight
    extent = _extent(a, b)
    weights = np.full(len(a), np.ldexp(weight, -2 * extent)), np.zeros(len(b))
    rule = rule._replace(x_weight=weights[0], y_weight=weights[1])
    return _Overlapping(_geometry(a, b, extent, geometry), rule, row_part, col_part)


@np.errstate(all="ignore")
def _mirrored(geometry: Geometry, rule: CostRule) -> _Overlapping | None:
    """Take the parts off logarithms; None if the plane does not clearly separate the sets."""
    a_mean, b_mean = geometry.a.mean(axis=0), geometry.b.mean(axis=0)
    difference = b_mean - a_mean
    length = np.sqrt((difference * difference).sum())
    direction = difference / length
    a, b = (geometry.a - a_mean) + geometry.a_low, (geometry.b - b_mean) + geometry.b_low
    a_along, b_along = -(a * direction).sum(axis=1), (b * direction).sum(axis=1)
    a_height, b_height = a_along + length / 2, b_along + length / 2
    if min(a_height.min(), b_height.min()) < _CLEAR * length / 2:
        return None
    a = a + 2.0 * a_along[:, None] * direction
    extent = _extent(a, b)
    points = _geometry(a, b, extent, geometry)
    a_part, b_part = np.log(2.0 * a_height), np.log(2.0 * b_height)
    a_height, b_height = times_power(a_height, -extent), times_power(b_height, -extent)
    # log(1 + t) is at least t / (1 + t / 2), so the cost is at least S over S / 2 + 4 g h. That is at most
    # 2 (g^2 + h^2) and the squared distances from the axis through the means.
    x_weight = 2.0 * a_height**2 + _squares_across(points.a, direction)
    y_weight = 2.0 * b_height**2 + _squares_across(points.b, direction)
    rule = CostRule(False, False, 0.0, 0.0, x_weight, y_weight, 0.5 / a_height, 0.5 / b_height)
    return _Overlapping(points, rule, a_part, b_part)


def _squares_across(points: FloatArray, direction: FloatArray) -> FloatArray:
    along = (points * direction).sum(axis=1)
    across: FloatArray = np.square(points - along[:, None] * direction).sum(axis=1)
    return across


def _extent(a: FloatArray, b: FloatArray) -> int:
    return nonzero_exponent(max(least_exponent(a), least_exponent(b)))


def _geometry(a: FloatArray, b: FloatArray, extent: int, geometry: Geometry) -> Geometry:
    """Make a geometry whose largest coordinate is about 1."""
    a, b = times_power(a, -extent), times_power(b, -extent)
    return Geometry(a, b, np.zeros_like(a), np.zeros_like(b), geometry.exponent + extent)


def _solve_unequal(problem: _Overlapping, settings: SolverSettings, workers: int) -> DualState:
    """Match the rows with the nearest columns, as many as there are rows; then admit the others.

    In terms of the whole costs, duals of columns that remain unmatched must be 0, and all others at most 0.
    A shift between the duals of rows and columns makes all pairs with other columns feasible. Columns whose
    dual is above 0 then are as far away as they: these are unmatched, and their rows are matched anew.
    """
    n, m = problem.geometry.shape
    order = np.argsort(problem.col_part, kind="stable")
    near, far = np.sort(order[:n]), np.sort(order[n:])
    part = problem.taken(near)
    inner = solve_streamed(part.geometry, part.rule, workers=workers, settings=settings)
    level = (
        _least_offers(problem.taken(far), inner.row_dual, settings, workers) + problem.col_part[far]
    ).min()
    dual = inner.col_dual + part.col_part - level
    state = DualState(
        inner.row_dual + level, -problem.col_part, np.full(n, -1, np.intp), np.full(m, -1, np.intp)
    )
    state.col_dual[near] += np.minimum(dual, 0.0)
    stays = dual[inner.col_of_row] <= 0.0
    rows = np.flatnonzero(stays)
    state.col_of_row[rows] = near[inner.col_of_row[rows]]
    state.row_of_col[state.col_of_row[rows]] = rows
    screen = make_screen(problem.geometry, problem.rule, settings)
    lists = Shortlists.empty(n, min(settings.list_size, m))
    every, block_rows = np.arange(n), screen.block_rows(settings)
    renew_shortlists(screen, lists, state.col_dual, every, settings.list_size, block_rows, workers)
    free_rows = np.flatnonzero(~stays)
    complete(screen, lists, state, free_rows, settings, workers, duals_are_known=True)
    return state


def _least_offers(
    problem: _Overlapping, row_dual: FloatArray, settings: SolverSettings, workers: int
) -> FloatArray:
    """Give a lower bound, mostly sharp, of every column's least cost beyond the duals of the rows."""
    geometry, rule = problem.geometry.transposed(), problem.rule.transposed()
    screen = make_screen(geometry, rule, settings)
    m = geometry.shape[0]
    lists = Shortlists.empty(m, 1)
    renew_shortlists(screen, lists, row_dual, np.arange(m), 1, screen.block_rows(settings), workers)
    least: FloatArray = np.minimum(lists.cost[:, 0] - row_dual[lists.col[:, 0]], lists.bound)
    return least


ROUTE = Route(
    "far",
    COSTS,
    can=lambda task: task.d > 1,
    pays=lambda task, settings: not task.warm and task.pairs > settings.matrix_pairs,
    solve=match_far_sets,
    why="Sets far apart are matched as sets that overlap, whose nearest partners differ.",
)
