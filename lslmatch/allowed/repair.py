"""Forbidden pairs: solve without them first, and repair the matching where it uses one.

An optimal matching of all pairs that uses no forbidden one is optimal among those that are allowed, with the
same duals. If it uses some, these are taken out. Their rows and columns are free then, the duals still hold
for all other pairs, and a shortest augmenting path from each of these rows makes the matching optimal again.
Of small problems the matrix is solved anew; of others the costs of a row are computed when a path gets there.

Columns that stay free in the larger set have a dual of 0. They count as taken by one more row, for which
every column costs 0 and whose dual is 0: a column that is given up gets its dual of 0 by a path through it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lslmatch._progress import tell
from lslmatch._types import FloatArray, IntArray
from lslmatch.allowed.infeasible import infeasible, say_infeasible
from lslmatch.assignment.orientation import sides_as_given
from lslmatch.assignment.solve import assign, assign_points
from lslmatch.costs import CostRule, cost_matrix
from lslmatch.geometry.coordinates import Geometry
from lslmatch.given import Block, in_order
from lslmatch.results import Assignment

#: Pairs of points up to which the matrix of all costs is solved anew (128 MB).
MOST_ENTRIES = 1 << 24
#: A column that nobody has, and one that the row of those that stay free has.
_HOLE, _SPARE = -1, -2


def assign_without(
    geometry: Geometry, rule: CostRule, forbidden: IntArray, block: Block, workers: int = 1
) -> Assignment:
    """Assign two sets without some pairs, given as row and column numbers of these sets.

    That is the `block` of all points that they are; the error names its points if there is no such matching.
    """
    n, m = geometry.shape
    if min(n, m) > 1:
        found = assign_points(geometry, rule, workers)
        if not _used(found, forbidden, m).any():
            return found
        if n * m > MOST_ENTRIES:
            return repair(geometry, rule, forbidden, block, found)
    costs = cost_matrix(geometry, rule, workers)
    costs[forbidden[:, 0], forbidden[:, 1]] = np.inf
    return assign_finite(costs, block)


def assign_finite(costs: FloatArray, block: Block) -> Assignment:
    """Assign by a matrix in which some costs are infinite; the error names points of the block."""
    try:
        return assign(costs)
    except ValueError:
        say_infeasible(np.isfinite(costs), block)


def _used(found: Assignment, forbidden: IntArray, m: int) -> NDArray[np.bool_]:
    """Say which pairs of a matching are forbidden."""
    return np.isin(found.row_ind * m + found.col_ind, forbidden[:, 0] * m + forbidden[:, 1])


def repair(
    geometry: Geometry,
    rule: CostRule,
    forbidden: IntArray,
    block: Block,
    found: Assignment,
    names: tuple[str, str] = ("x", "y"),
) -> Assignment:
    """Make a matching that is optimal among all pairs optimal among those that are not forbidden."""
    n, m = geometry.shape
    if n > m:
        turned = Assignment(found.col_ind, found.row_ind, found.col_dual, found.row_dual, found.objective)
        forbidden, block = in_order(forbidden[:, ::-1]), Block(block.cols, block.rows)
        rows = repair(geometry.transposed(), rule.transposed(), forbidden, block, turned, names[::-1])
        order = np.argsort(rows.col_ind)
        return Assignment(
            rows.col_ind[order], rows.row_ind[order], rows.col_dual, rows.row_dual, rows.objective
        )
    search = _Search(geometry, rule, forbidden, found)
    free = found.row_ind[_used(found, forbidden, m)]
    for done, row in enumerate(free.tolist()):
        tell("forbidden pairs replaced", done, free.size)
        stuck = search.augment(row)
        if stuck is not None:
            raise infeasible(block.rows[stuck[0]], block.cols[stuck[1]], *names)
    return search.assignment()


class _Search:
    """Shortest augmenting paths; the costs of a row are computed when they are needed."""

    def __init__(self, geometry: Geometry, rule: CostRule, forbidden: IntArray, found: Assignment) -> None:
        self.geometry, self.rule = geometry, rule
        n, m = geometry.shape
        self.forbidden = np.split(forbidden[:, 1], np.searchsorted(forbidden[:, 0], np.arange(1, n)))
        self.u, self.v = found.row_dual.copy(), found.col_dual.copy()
        kept = ~_used(found, forbidden, m)
        self.col_of_row, self.row_of_col = np.full(n, -1, np.intp), np.full(m, _SPARE, np.intp)
        self.row_of_col[found.col_ind] = _HOLE
        self.col_of_row[found.row_ind[kept]] = found.col_ind[kept]
        self.row_of_col[found.col_ind[kept]] = found.row_ind[kept]

    def costs(self, i: int) -> FloatArray:
        """Compute the costs of a row, infinite where it is forbidden."""
        g, rule = self.geometry, self.rule
        apart = (g.a[i] - g.b) + (g.a_low[i] - g.b_low)
        costs = rule.of(np.einsum("ij,ij->i", apart, apart), i, slice(None))
        costs[self.forbidden[i]] = np.inf
        return costs

    def augment(self, start: int) -> tuple[list[int], list[int]] | None:
        """Match a free row along the shortest path to a column that nobody has.

        If there is none, return the rows that were reached, and all columns that they may have.
        """
        m = self.v.size
        shortest, open_to = np.full(m, np.inf), np.full(m, np.inf)
        before = np.full(m, -1, np.intp)
        closed: list[int] = []
        is_open = np.ones(m, np.bool_)
        levels = {start: 0.0}
        row, level, spare = start, 0.0, -1
        while True:
            reduced = -self.v if row == _SPARE else self.costs(row) - self.u[row] - self.v
            length = level + np.maximum(reduced, 0.0)
            better = is_open & (length < shortest)
            shortest[better], before[better] = length[better], row
            np.copyto(open_to, np.where(is_open, shortest, np.inf))
            j = int(open_to.argmin())
            level = float(open_to[j])
            while level < np.inf and self.row_of_col[j] == _SPARE and spare >= 0:
                is_open[j], open_to[j] = False, np.inf  # which that row has left already
                closed.append(j)
                j = int(open_to.argmin())
                level = float(open_to[j])
            if level == np.inf:
                return sorted(levels), closed
            is_open[j] = False
            closed.append(j)
            row = int(self.row_of_col[j])
            if row == _HOLE:
                break
            if row == _SPARE:
                spare = j
            levels[row] = level
        self._move_duals(closed, shortest, levels, level)
        self._flip(j, start, before, spare)
        return None

    def _move_duals(
        self, closed: list[int], shortest: FloatArray, levels: dict[int, float], length: float
    ) -> None:
        """Make the arcs of the shortest paths tight."""
        self.v[closed] -= length - shortest[closed]
        for row, level in levels.items():
            if row != _SPARE:
                self.u[row] += length - level
        if _SPARE in levels:  # the dual of that row stays 0: all others move instead
            risen = length - levels[_SPARE]
            self.u -= risen
            self.v += risen

    def _flip(self, sink: int, start: int, before: IntArray, spare: int) -> None:
        j = sink
        while True:
            row = int(before[j])
            self.row_of_col[j] = row
            if row == _SPARE:
                j = spare
                continue
            self.col_of_row[row], j = j, int(self.col_of_row[row])
            if row == start:
                return

    def assignment(self) -> Assignment:
        """Give the matching."""
        rows, cols = sides_as_given(self.col_of_row, False)
        if rows.size < self.v.size:
            np.minimum(self.v, 0.0, out=self.v)
        taken = self.geometry.taken(rows, cols).residuals()
        costs = self.rule.of(np.einsum("ij,ij->i", taken, taken), rows, cols)
        return Assignment(rows, cols, self.u, self.v, float(costs.sum()))
