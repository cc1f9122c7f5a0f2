"""Routes: the ways from two sets to an optimal matching with its proof, and the choice among them.

A *task* is all that decides which routes come into question: what is given, what is asked for, and how many
points there are. Each route says itself which tasks it can solve (`can`) and for which it is worth trying
(`pays`). A plan is the tuple of those that do both, in the order of the table
(:mod:`lslmatch.assignment.plan`). They are tried one after the other. A route may refuse, by returning None;
what it has seen stays with the problem, for those after it.

Tests hold problems to some routes by the setting `routes`. The logger "lslmatch" says at the level DEBUG
which route solved what.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from lslmatch.assignment.settings import SolverSettings

#: Kinds of tasks: all pairs of two arrays of points; all pairs of two sets in common coordinates, by a rule
#: for their costs; or a given number of those pairs.
POINTS, COSTS, SOME_PAIRS = "points", "costs", "some pairs"

LOG = logging.getLogger("lslmatch")


class Task(NamedTuple):
    """What decides which routes are taken."""

    kind: str
    n: int  # points of the smaller set
    m: int  # points of the larger set
    d: int
    objective: str = ""  # of points; with a rule for the costs, its name does not matter
    warm: bool = False  # whether there are column duals to start from
    has_matrix: bool = True  # whether the matrix of the costs can be computed

    @property
    def pairs(self) -> int:
        """The number of pairs of points."""
        return self.n * self.m


class Route(NamedTuple):
    """A way to solve some tasks."""

    name: str
    kind: str
    can: Callable[[Task], bool]  # whether it solves such tasks, however long that takes
    pays: Callable[[Task, SolverSettings], bool]  # whether it is worth trying
    solve: Callable[..., Any]  # returns None to refuse
    why: str


class NoRouteError(RuntimeError):
    """All routes have refused, which happens only if the settings hold a problem to some of them."""


def has_matrix(task: Task) -> bool:
    """Say whether a route may compute the matrix of the costs."""
    return task.has_matrix


def always(*_: object) -> bool:
    """Say that a route solves every task of its kind, or is always worth trying."""
    return True


def choose(table: Iterable[Route], task: Task, settings: SolverSettings) -> tuple[Route, ...]:
    """Give the routes to try for a task, in their order."""
    able = [route for route in table if route.kind == task.kind and route.can(task)]
    if settings.routes is not None:
        named = tuple(route for name in settings.routes for route in able if route.name == name)
        if named or task.kind == POINTS:
            return named
    return tuple(route for route in able if route.pays(task, settings))
