"""Routes from coordinates to dual variables in one kernel, for plain arrays of up to some thousand points.

For a few dozen points, the steps of other routes take less time than what lies between them. These kernels
see to the map, the distances and their rounding, and the matching at once. What is out of the ordinary (units
beyond 2**100, points that all coincide or are not finite) they leave to others, which also say what is wrong
with it.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.assignment.bounded import match_bounded
from lslmatch.assignment.problem import log_outcome
from lslmatch.assignment.routes import LOG, POINTS, Route, Task
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.small_sets import Rooms, make_rooms, match_at_once, result_of
from lslmatch.results import Affine, MatchResult

#: Pairs of points on a line from which on squared distances are matched quicker by sorting.
_FEW_ON_LINE = 100**2
_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)


def are_plain(x: Any, y: Any) -> bool:
    """Say whether two sets are arrays as kernels want them, of at least two points of the same dimension."""
    # For 10 points, this is a tenth of all the time that there is.
    if not (type(x) is _ARRAY and type(y) is _ARRAY and x.dtype is _FLOAT and y.dtype is _FLOAT):
        return False
    if not (x.ndim == 2 and y.ndim == 2):
        return False
    (n, d), (m, e) = x.shape, y.shape
    return n >= 2 and m >= 2 and d == e and d >= 1 and x.flags.carray and y.flags.carray


def match_points(
    x: FloatArray, y: FloatArray, objective: str, affine: Affine | None, plan: tuple[Route, ...]
) -> MatchResult | None:
    """Match two plain arrays, standardised unless a map is given; None if all routes of the plan refuse."""
    n, m = len(x), len(y)
    rooms, logarithm = make_rooms(n + m, 1, x.shape[1], affine), objective == "lsl"
    for route in plan:
        is_solved = route.solve(x, y, logarithm, rooms)
        if LOG.isEnabledFor(logging.DEBUG):
            log_outcome(route, is_solved, Task(POINTS, min(n, m), max(n, m), x.shape[1], objective))
        if is_solved:
            return result_of(rooms, n, m, objective)
    return None


def _match_bounded(x: FloatArray, y: FloatArray, logarithm: bool, rooms: Rooms) -> bool:
    numbers, duals, partners = rooms
    return bool(match_bounded(x, y, logarithm, numbers[0], duals, partners))


def _can_match(task: Task) -> bool:
    return task.objective in ("lsl", "lss")


def _is_sorted(task: Task) -> bool:
    """Say whether the points are sorted on a line."""
    return task.d == 1 and task.objective == "lss" and task.pairs > _FEW_ON_LINE


def _is_bounded(task: Task, settings: SolverSettings) -> bool:
    return settings.is_bounded(task.n, task.m, task.d) and not _is_sorted(task)


def _is_small(task: Task, settings: SolverSettings) -> bool:
    return settings.is_small(task.pairs, task.d) and not _is_sorted(task)


ROUTES = (
    Route(
        "bounded",
        POINTS,
        can=_can_match,
        pays=_is_bounded,
        solve=_match_bounded,
        why="Where nearly every point has a nearest partner of its own, bounds of distances are enough.",
    ),
    Route(
        "small",
        POINTS,
        can=_can_match,
        pays=_is_small,
        solve=match_at_once,
        why="Of few points, all costs fit into a near cache.",
    ),
)
