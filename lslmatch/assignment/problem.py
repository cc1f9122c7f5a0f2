"""A problem of costs: two sets in common coordinates with a rule, and what its routes have seen so far."""

from __future__ import annotations

import dataclasses
import functools
import logging
from typing import Any

from lslmatch._types import FloatArray
from lslmatch.assignment.nearest_partners import NearestPartners
from lslmatch.assignment.routes import COSTS, LOG, SOME_PAIRS, NoRouteError, Route, Task
from lslmatch.assignment.screening import PairScreen
from lslmatch.assignment.settings import SolverSettings, or_default
from lslmatch.assignment.warm_start import Recalled, WarmStart
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry


@dataclasses.dataclass
class Seen:
    """What routes that go over all pairs have seen, for those after them."""

    screen: PairScreen
    recalled: Recalled | None = None  # what a similar problem has left, where it is of use
    col_dual: FloatArray | None = None  # column duals to start from
    few: bool = True  # whether a few pairs of a row will mostly do
    fills_squares: bool = False  # whether the pass that makes the lists is the first one over all pairs
    nearest: NearestPartners | None = None
    least: FloatArray | None = None  # (n,) the costs of the nearest partners
    clashes: int = 0  # rows that must share their nearest partner


class Problem:
    """Match the rows of a geometry, n <= m, at the least sum of costs.

    Parameters
    ----------
    geometry : Geometry
        The two sets, the smaller one as rows.
    rule : CostRule
        How a squared distance becomes a cost.
    workers : int
        Threads for the passes over all pairs. The result does not depend on it.
    col_dual : ndarray of shape (m,), optional
        Column duals to start from, if n = m: those of a similar problem save most of the work.
    warm_start : WarmStart, optional
        What the solution of a similar problem has left, which is tried first; this one is left there.
    settings : SolverSettings, optional
        When to try what; the default ones unless given.
    pairs : int, optional
        How many pairs are wanted, if not all.
    """

    def __init__(
        self,
        geometry: Geometry,
        rule: CostRule,
        *,
        workers: int = 1,
        col_dual: FloatArray | None = None,
        warm_start: WarmStart | None = None,
        settings: SolverSettings | None = None,
        pairs: int | None = None,
    ) -> None:
        self.geometry, self.rule, self.workers = geometry, rule, workers
        self.col_dual, self.warm_start, self.pairs = col_dual, warm_start, pairs
        self.settings = or_default(settings)
        (n, d), m = geometry.a.shape, len(geometry.b)
        kind = COSTS if pairs is None else SOME_PAIRS
        self.task = Task(kind, n, m, d, warm=col_dual is not None, has_matrix=not rule.x_factor.size)
        self.seen: Seen | None = None
        #: Whether another route comes after the present one, which may give up then.
        self.has_resort = False

    @functools.cached_property
    def shaped(self) -> SolverSettings:
        """The settings with the size of the lists for this number of rows."""
        return self.settings.for_shape(*self.geometry.a.shape)

    def solve(self, plan: tuple[Route, ...]) -> Any:
        """Try one route after the other."""
        for k, route in enumerate(plan):
            self.has_resort = k + 1 < len(plan)
            solution = route.solve(self)
            log_outcome(route, solution is not None, self.task)
            if solution is not None:
                return solution
        raise NoRouteError(f"no route of {', '.join(route.name for route in plan)} solves this problem")


def log_outcome(route: Route, is_solved: bool, task: Task) -> None:
    """Tell whoever wants to know which route solved what."""
    if LOG.isEnabledFor(logging.DEBUG):
        outcome = "solved by" if is_solved else "refused by"
        LOG.debug(
            "%s, %d x %d in %d dimensions: %s %s", task.kind, task.n, task.m, task.d, outcome, route.name
        )
