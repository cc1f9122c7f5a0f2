"""Costs under one metric for all pairs, for many pairs in few dimensions, and what leaving out would change.

With many pairs a single one hardly moves the metric. Its leverage h = w r^T A^-1 r says how much: leaving
the present pair of x_i out raises its cost by ``-(1 - 1/d) log(1 - h_i)``, and leaving two residuals out
lowers the cost of no other pair by more than ``-log(1 - h_i - max h) / d``. Where an optimal matching's
reduced costs in the row of x_i are greater than the sum of both, the same matching, with the dual of x_i
raised, is optimal with pairs left out too.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.costs import CostRule, cost_matrix, log_rule
from lslmatch.covariance.leave_out import White
from lslmatch.geometry.coordinates import Geometry, common_coordinates
from lslmatch.results import Affine, Assignment

#: Entries of the block of costs of the pass over all pairs (8 MB).
_BLOCK_ENTRIES = 1 << 20


def streamed_problem(white: White) -> tuple[Geometry, CostRule]:
    """Give the points and the cost rule of matching under one metric, with nothing left out."""
    geometry = common_coordinates(white.a, white.b, Affine(1.0, np.zeros(white.a.shape[1])))
    rule = log_rule(geometry)
    floor = math.ldexp(white.floor, -2 * geometry.exponent) or rule.floor
    return geometry, rule._replace(floor=floor, offset=rule.offset + white.offset)


def count_undecided(white: White, assignment: Assignment, workers: int) -> int:
    """Count the points of the smaller set for which leaving out might change the partner."""
    u, v = assignment.row_dual, assignment.col_dual
    partner = np.empty(min(white.shape), np.intp)
    if u.size > v.size:
        white, u, v = white.transposed(), v, u
        partner[assignment.col_ind] = assignment.row_ind
    else:
        partner[assignment.row_ind] = assignment.col_ind
    geometry, rule = streamed_problem(white)
    needed = _needed_slack(white, partner)
    undecided = 0
    step = max(_BLOCK_ENTRIES // v.size, 1)
    for first in range(0, u.size, step):
        rows = slice(first, min(first + step, u.size))
        part = geometry._replace(a=geometry.a[rows], a_low=geometry.a_low[rows])
        slack = cost_matrix(part, rule, workers) - u[rows, None] - v
        slack[np.arange(len(slack)), partner[rows]] = np.inf
        undecided += int(np.count_nonzero(~(slack.min(axis=1) > needed[rows])))
    return undecided


def _needed_slack(white: White, partner: IntArray) -> FloatArray:
    """Give for each row the slack above which leaving out cannot change its partner."""
    row, col = (np.einsum("ij,ij->i", part, part) for part in (white.a_residual, white.b_residual))
    d = white.dimension
    with np.errstate(all="ignore"):
        own = np.where(white.partner == partner, -(1.0 - 1.0 / d) * np.log(1.0 - row), np.inf)
        other = np.log(1.0 - row - col.max()) / d
        return np.nan_to_num(own - other, nan=np.inf, posinf=np.inf)
