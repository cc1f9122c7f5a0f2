"""The plan: which routes a task takes, in which order. It is made once for each task and remembered.

The table of all routes is here; when a route can be taken, when that pays, and why, stands with each of them.
"""

from __future__ import annotations

from functools import lru_cache

from lslmatch.assignment import far_sets, from_points, line, matrix, settings, streamed, streamed_pairs
from lslmatch.assignment.routes import POINTS, Route, Task, choose
from lslmatch.assignment.settings import SolverSettings

#: All routes, in the order in which they are tried.
ROUTES: tuple[Route, ...] = (
    *from_points.ROUTES,
    matrix.ROUTE,
    line.ROUTE,
    far_sets.ROUTE,
    *streamed.ROUTES,
    streamed_pairs.ROUTE,
    matrix.ROUTE_TO_SOME,
)


@lru_cache(maxsize=1 << 12)
def plan_for(task: Task, settings: SolverSettings) -> tuple[Route, ...]:
    """Give the routes that a task takes, under the given settings."""
    return choose(ROUTES, task, settings)


def plan_from_points(shape: tuple[int, ...], m: int, objective: str) -> tuple[Route, ...]:
    """Give the routes from an (n, d) set and one of m points to their matching; none if there is none."""
    return _plan_from_points(shape, m, objective, settings.DEFAULT)


@lru_cache(maxsize=1 << 12)
def _plan_from_points(
    shape: tuple[int, ...], m: int, objective: str, settings: SolverSettings
) -> tuple[Route, ...]:
    n, d = shape
    return choose(ROUTES, Task(POINTS, min(n, m), max(n, m), d, objective), settings)
