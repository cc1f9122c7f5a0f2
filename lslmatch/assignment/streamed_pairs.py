"""The k cheapest pairs of two sets of points, exactly, without the matrix of their costs.

The best matching of k pairs is the best matching at some price (:mod:`lslmatch.assignment.path`), where every
row may stay alone. To solve at a price is what :mod:`lslmatch.assignment.streamed` does, except that a row
whose pairs are not worth it stays alone. A solution at one price is a start for a higher one: its rows that
stayed alone are free again, and all else is still valid.

1. No pair costs less than the least of its row or of its column. So the price is at least the k-th least of
   the rows' least costs, and of the columns'. Where partners are clear, that is the price already.
2. Higher prices are tried while there are too few pairs. A price that gives too many is an upper bound, and
   the search goes on from the solution before it.
3. When few pairs are missing, shortest paths from all rows that stay alone find them one by one, each with
   its price. So the number is exact, also where many pairs have the same price.
"""

from __future__ import annotations

import copy
import math

import numpy as np

from lslmatch.assignment.augmentation import augment_all, augment_cheapest
from lslmatch.assignment.dense import DualState
from lslmatch.assignment.nearest_partners import find_nearest_by_region, find_nearest_partners
from lslmatch.assignment.path import PartialSolution
from lslmatch.assignment.probe import probe
from lslmatch.assignment.problem import Problem
from lslmatch.assignment.routes import SOME_PAIRS, Route, always
from lslmatch.assignment.screening import make_screen
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.shortlists import Shortlists, reduce_rows, renew_shortlists
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry

#: Pairs that are found one by one in any case.
_FEW = 16


def match_at_prices(problem: Problem) -> PartialSolution | None:
    """Match the wanted number of the n rows, n <= m, fewer than all; None if it takes too long.

    Duals and price are without the rule's offset. The result does not depend on the number of workers.
    """
    assert problem.pairs is not None
    search = _Search(problem.geometry, problem.rule, problem.settings, problem.workers)
    return search.run(problem.pairs)


class _Search:
    """A solution at a price, with what is known for higher prices."""

    def __init__(self, geometry: Geometry, rule: CostRule, settings: SolverSettings, workers: int) -> None:
        n, m = geometry.shape
        self.settings, self.workers = settings, workers
        self.screen = make_screen(geometry, rule, settings)
        outlook = probe(geometry, rule)
        found = find_nearest_by_region(self.screen, outlook, settings, workers)
        if found is None:
            if outlook.mutual < settings.kept_mutual and n * m <= settings.kept_pairs:
                self.screen = self.screen.keeping_squares()
            found = find_nearest_partners(self.screen.leading(outlook.dimensions), settings, workers)
        # The nearest partner is a list of one, and the second nearest bounds the others.
        least = found.costs(self.screen)
        self.lists = Shortlists.empty(n, min(settings.list_size, m))
        self.lists.col[:], self.lists.cost[:, 0], self.lists.bound[:] = found.col[:, None], least, found.bound
        self.state = DualState(np.empty(n), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))
        self.row_least = np.minimum(least, found.bound)
        # Where far regions were left out, those of the columns are not known.
        self.col_least = found.col_least if found.col_least.size else np.full(m, -np.inf)
        self.price = -math.inf
        has_resort = n * m <= settings.last_resort * settings.dense_pairs
        self.most_passes = settings.most_passes if has_resort else math.inf

    @property
    def pairs(self) -> int:
        """How many pairs there are at the present price."""
        return int(np.count_nonzero(self.state.col_of_row >= 0))

    def run(self, pairs: int) -> PartialSolution | None:
        """Match this number of pairs; None if the dense solver should."""
        least = np.sort(self.row_least)
        low = max(least[pairs - 1], np.partition(self.col_least, pairs - 1)[pairs - 1])
        if not self.solve_at(float(low)):
            return None
        few = max(self.settings.few_pairs * pairs, _FEW)
        high, too_many = math.inf, 0
        for _ in range(self.settings.prices):
            missing = pairs - self.pairs
            if missing <= few:
                break
            if high == math.inf:
                # As many rows more as pairs are missing; beyond the last, further and further.
                rank = min(pairs + missing, least.size)
                price = max(least[rank - 1], 2.0 * self.price - least[pairs // 2])
            else:
                share = (missing - few / 2) / (too_many + missing)
                price = self.price + min(max(share, 0.1), 0.9) * (high - self.price)
            if not self.price < price < high:
                break
            before = self._copy()
            if not self.solve_at(float(price)):
                return None
            if self.pairs >= pairs:
                high, too_many = price, self.pairs - pairs
                self.state, self.lists, self.price = before
                if not too_many:
                    # The right number, at a price between that of the last pair and that of the next.
                    break
        return self._solution() if self._add(pairs - self.pairs) else None

    def solve_at(self, price: float) -> bool:
        """Match the pairs that are worth a price, not below the present one; False if it takes too long."""
        settings, state, lists = self.settings, self.state, self.lists
        n = state.row_dual.size
        free_rows = np.flatnonzero(state.col_of_row < 0)
        # Without duals for the free rows there is no path: one sweep finds them, whatever the settings.
        for _ in range(max(settings.sweeps, 1)):
            free_rows = reduce_rows(lists, state, free_rows, settings.reduced_rows, price)
            if free_rows.size <= settings.few_free * n:
                break
            exhausted = free_rows[state.row_dual[free_rows] >= lists.bound[free_rows]]
            block_rows = self.screen.block_rows(settings)
            renew_shortlists(
                self.screen, lists, state.col_dual, exhausted, settings.list_size, block_rows, self.workers
            )
        self.price = price
        steps = settings.steps_per_call
        return augment_all(self.screen, lists, state, free_rows, steps, self.most_passes, price)

    def _add(self, count: int) -> bool:
        """Match `count` more pairs, one by one; False if it takes too long."""
        alone, steps = np.flatnonzero(self.state.col_of_row < 0), self.settings.steps_per_call
        return augment_cheapest(self.screen, self.lists, self.state, alone, count, steps, self.most_passes)

    def _copy(self) -> tuple[DualState, Shortlists, float]:
        return copy.deepcopy(self.state), copy.deepcopy(self.lists), self.price

    def _solution(self) -> PartialSolution:
        state = self.state
        is_alone = state.col_of_row < 0
        price = float(state.row_dual[is_alone][0])
        row_dual = np.where(is_alone, 0.0, np.minimum(state.row_dual - price, 0.0))
        return PartialSolution(state.col_of_row, row_dual, state.col_dual, price)


ROUTE = Route(
    "prices",
    SOME_PAIRS,
    can=always,
    pays=lambda task, settings: task.pairs > min(settings.matrix_pairs, settings.dense_pairs),
    solve=match_at_prices,
    why="The best pairs are those that are worth a price, which is found without the matrix.",
)
