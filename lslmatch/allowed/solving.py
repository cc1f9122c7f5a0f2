"""The cheapest matching among those that are allowed, with its proof.

Known pairs are taken as they are, and their points out of the problem. What is left falls into one problem
for each group, under the map and the floor that are common to all. Of a known pair the dual of x is its cost
and that of y is 0, so that the duals still add up to the objective; both are outside of what is proven.
"""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.allowed.repair import assign_finite, assign_without
from lslmatch.allowed.small_groups import assign_small
from lslmatch.assignment.all_or_some import PricedAssignment
from lslmatch.assignment.path import solve_partial
from lslmatch.assignment.solve import assign, assign_points
from lslmatch.costs import CostRule, cost_matrix
from lslmatch.geometry.coordinates import Geometry
from lslmatch.given import Block, Given
from lslmatch.results import Assignment

#: Pairs of points up to which fewer pairs than all may be chosen among those that are allowed: in a matrix.
_MOST_ENTRIES = 1 << 26


def assign_allowed_points(
    geometry: Geometry, rule: CostRule, given: Given | None, workers: int = 1
) -> Assignment:
    """Assign the points of two sets in common coordinates as far as they may be partners."""
    if given is None:
        return assign_points(geometry, rule, workers)
    n, m = geometry.shape
    parts = _Parts(given, n, m)
    known = given.known
    parts.fix(cost_of_pairs(geometry, rule, known[:, 0], known[:, 1]))
    blocks = given.blocks(n, m)
    if not len(given.forbidden):
        blocks = assign_small(geometry, rule, blocks, parts.add)
    for block in blocks:
        some, of_some = geometry.taken(block.rows, block.cols), rule.taken(block.rows, block.cols)
        forbidden = parts.forbidden_in(block)
        if forbidden.size:
            found = assign_without(some, of_some, forbidden, block, workers)
        elif block.pairs == 1:
            found = _assign_one(cost_matrix(some, of_some))
        else:
            found = assign_points(some, of_some, workers)
        parts.add(block, found)
    return parts.whole()


def assign_allowed(costs: FloatArray, given: Given | None) -> Assignment:
    """Assign by a matrix of finite costs."""
    if given is None:
        return assign(costs)
    parts = _Parts(given, *costs.shape)
    parts.fix(costs[given.known[:, 0], given.known[:, 1]])
    for block in given.blocks(*costs.shape):
        some = costs[np.ix_(block.rows, block.cols)]
        forbidden = parts.forbidden_in(block)
        some[forbidden[:, 0], forbidden[:, 1]] = np.inf
        parts.add(block, assign_finite(some, block))
    return parts.whole()


def assign_allowed_pairs(costs: FloatArray, given: Given, pairs: int) -> PricedAssignment:
    """Match so many pairs, the known ones among them, of those that are allowed.

    The price and the duals of all other points are those of the others: both 0 for the known.
    """
    n, m = costs.shape
    most = given.most_pairs(n, m)
    if pairs == most:
        return PricedAssignment(assign_allowed(costs, given), None)
    if not len(given.known) <= pairs <= most:
        raise ValueError(
            f"pairs must be from {len(given.known)}, the number of known pairs, to {most}, as many as are "
            f"allowed; got {pairs}"
        )
    parts = _Parts(given, n, m)
    own = costs[given.known[:, 0], given.known[:, 1]]
    allowed = masked(costs, given)
    if pairs == len(given.known):
        price = float(np.nanmin(np.where(np.isfinite(allowed), allowed, np.nan)))
        parts.fix(own - price)
        return PricedAssignment(parts.whole(own.sum()), price)
    solution = solve_partial(allowed, pairs - len(given.known))
    rows = np.flatnonzero(solution.col_of_row >= 0)
    cols = solution.col_of_row[rows]
    if rows.size < pairs - len(given.known):
        raise ValueError(
            f"forbidden must leave {pairs} pairs that can be matched at once; there are "
            f"{rows.size + len(given.known)}"
        )
    parts.row_dual[:], parts.col_dual[:] = solution.row_dual, solution.col_dual
    parts.fix(own - solution.price)
    parts.rows.append(rows)
    parts.cols.append(cols)
    return PricedAssignment(parts.whole(float(own.sum() + costs[rows, cols].sum())), solution.price)


def masked(costs: FloatArray, given: Given) -> FloatArray:
    """Give the costs of the pairs that are left to be matched, and infinite ones to all others."""
    allowed = np.full(costs.shape, np.inf)
    for block in given.blocks(*costs.shape):
        at = np.ix_(block.rows, block.cols)
        allowed[at] = costs[at]
    allowed[given.forbidden[:, 0], given.forbidden[:, 1]] = np.inf
    return allowed


def check_pairs_fit(given: Given, n: int, m: int, pairs: int | None) -> None:
    """Refuse fewer pairs than all of more points than a matrix can hold."""
    if pairs is not None and n * m > _MOST_ENTRIES:
        raise ValueError(
            f"pairs must be 'all' with known pairs, groups or forbidden pairs above {_MOST_ENTRIES} pairs of "
            f"points; got {pairs} of {n} times {m}"
        )


def cost_of_pairs(geometry: Geometry, rule: CostRule, rows: IntArray, cols: IntArray) -> FloatArray:
    """Compute the costs of some pairs from differences of their coordinates."""
    apart = geometry.taken(rows, cols).residuals()
    return rule.of(np.einsum("ij,ij->i", apart, apart), rows, cols)


class _Parts:
    """What has been matched so far, in terms of all points."""

    def __init__(self, given: Given, n: int, m: int) -> None:
        self.given = given
        self.row_dual, self.col_dual = np.zeros(n), np.zeros(m)
        self.rows, self.cols = [given.known[:, 0]], [given.known[:, 1]]
        self.total = 0.0

    def fix(self, costs: FloatArray) -> None:
        """Give the known pairs their duals."""
        self.row_dual[self.given.known[:, 0]] = costs
        self.col_dual[self.given.known[:, 1]] = 0.0
        self.total += float(costs.sum())

    def add(self, block: Block, found: Assignment) -> None:
        """Add what was matched of a block."""
        self.row_dual[block.rows], self.col_dual[block.cols] = found.row_dual, found.col_dual
        self.rows.append(block.rows[found.row_ind])
        self.cols.append(block.cols[found.col_ind])
        self.total += found.objective

    def forbidden_in(self, block: Block) -> IntArray:
        """Give the forbidden pairs of a block as its own row and column numbers."""
        pairs = self.given.forbidden
        if not len(pairs):
            return pairs
        place = [np.full(dual.size, -1, np.intp) for dual in (self.row_dual, self.col_dual)]
        place[0][block.rows], place[1][block.cols] = np.arange(block.rows.size), np.arange(block.cols.size)
        inside = np.stack([place[0][pairs[:, 0]], place[1][pairs[:, 1]]], axis=1)
        return inside[(inside >= 0).all(axis=1)]

    def whole(self, total: float | None = None) -> Assignment:
        """Give the matching of all points."""
        rows, cols = np.concatenate(self.rows), np.concatenate(self.cols)
        order = np.argsort(rows)
        total = self.total if total is None else float(total)
        return Assignment(rows[order], cols[order], self.row_dual, self.col_dual, total)


def _assign_one(costs: FloatArray) -> Assignment:
    """Match the one point of a side with the cheapest of the other."""
    n, m = costs.shape
    best = int(costs.argmin())
    least = float(costs.ravel()[best])
    u, v = np.zeros(n), np.zeros(m)
    if n == 1:
        u[0] = least
    else:
        v[0] = least
    row, col = divmod(best, m)
    return Assignment(np.array([row]), np.array([col]), u, v, least)
