"""Points on a line, where sorting solves the problem.

If the rows and columns of a cost matrix C can be ordered so that ``C[r, s] + C[r + 1, s + 1] <=
C[r, s + 1] + C[r + 1, s]`` throughout (a *Monge* matrix), its diagonal is an optimal assignment, and dual
variables that fit the neighbours of the diagonal fit everywhere. Differences of numbers, and their squares,
are such costs if both sets ascend. Their logarithms are if no number of the one set lies among those of the
other (a logarithm is concave in the difference) and one set ascends while the other descends. Shortest paths
would be slow on just these: a cost is nearly the sum of one of its row and one of its column.

If the set of columns is larger, and apart, its nearest points are matched, because each of them is nearer to
every row than those beyond. The first column beyond them, whose dual is 0, stands next to the farthest one.
"""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.dense import DualState
from lslmatch.assignment.problem import Problem
from lslmatch.assignment.routes import COSTS, Route
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry

#: Sets are apart if their distance is more than this, in units of the largest coordinate.
_APART = 2.0**-20


def solve_on_line(geometry: Geometry, rule: CostRule) -> DualState | None:
    """Match points on a line by sorting them, n <= m; None if that is not known to be optimal."""
    (n, d), m = geometry.a.shape, len(geometry.b)
    if d > 1 or (n != m and not rule.logarithm):
        return None
    a, b = geometry.a[:, 0], geometry.b[:, 0]
    a_low, b_low = geometry.a_low[:, 0], geometry.b_low[:, 0]
    rows, cols = np.lexsort((a_low, a)), np.lexsort((b_low, b))
    if rule.logarithm:
        extent = 1.0 if geometry.is_tame else max(np.abs(a).max(), np.abs(b).max())
        if not max(b.min() - a.max(), a.min() - b.max()) > _APART * extent:
            return None
        cols = cols[::-1]
        is_above = bool(b.min() > a.max())
        beyond = cols[m - n - 1 : m - n] if is_above else cols[n : n + 1]
        cols = cols[m - n :] if is_above else cols[:n]
    elif rule.y_weight.any() or np.ptp(rule.x_weight) > 0.0:
        return None

    def cost(i: IntArray, j: IntArray) -> FloatArray:
        squares: FloatArray = ((a[i] - b[j]) + (a_low[i] - b_low[j])) ** 2
        if rule.logarithm:
            return np.log(squares)
        return (np.sqrt(squares) if rule.root else squares) / rule.x_weight[0]

    own = cost(rows, cols)
    # How far the dual may rise from a column to the next, and how far it must.
    most, least = cost(rows[:-1], cols[1:]) - own[:-1], own[1:] - cost(rows[1:], cols[:-1])
    rises = np.concatenate([[0.0], np.cumsum((most + least) / 2.0)])
    if n < m:
        end = 0 if is_above else n - 1
        rises += own[end] - cost(rows[end : end + 1], beyond)[0] - rises[end]
    state = DualState(np.empty(n), np.zeros(m), np.empty(n, np.intp), np.full(m, -1, np.intp))
    state.col_dual[cols], state.row_dual[rows] = rises, own - rises
    state.col_of_row[rows], state.row_of_col[cols] = cols, rows
    return state


def _match_on_line(problem: Problem) -> DualState | None:
    return solve_on_line(problem.geometry, problem.rule)


ROUTE = Route(
    "line",
    COSTS,
    can=lambda task: task.d == 1,
    pays=lambda task, settings: not task.warm,
    solve=_match_on_line,
    why="On a line, sorting solves what shortest paths would be slow on.",
)
