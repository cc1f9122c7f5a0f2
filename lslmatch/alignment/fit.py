"""What ways of aligning two sets return, and the matching by LSL under a given map."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.assignment.from_points import are_plain, match_points
from lslmatch.assignment.plan import plan_from_points
from lslmatch.assignment.solve import assign_points
from lslmatch.assignment.warm_start import WarmStart
from lslmatch.costs import log_rule
from lslmatch.geometry.coordinates import Geometry, common_coordinates
from lslmatch.results import Affine, Assignment, MatchResult, ProfileCurve


class Alignment(NamedTuple):
    """A map from y to x, with what was found on the way to it."""

    affine: Affine
    assignment: Assignment | None = None  # the optimal matching by LSL under the map, where it is known
    curve: ProfileCurve | None = None
    decision: str = ""  # what was chosen, and why; empty if nothing was to be chosen

    @property
    def decisions(self) -> tuple[str, ...]:
        """The lines for the result."""
        return (self.decision,) if self.decision else ()


class AlignmentRow(NamedTuple):
    """A way to align two sets, as a row of the table of alignments: either `align` or `match` is given."""

    name: str
    help: str
    """What the command line says of it."""
    align: Callable[[FloatArray, FloatArray, int], Alignment] | None = None
    """From two checked sets and a number of threads to a map from y to x."""
    match: Callable[..., MatchResult] | None = None
    """From two checked sets and a :class:`~lslmatch.request.Request` to a matching, where the map is learned
    together with the noise."""
    direct: Callable[[int], Affine | None] | None = None
    """Gives the map for a dimension where it is known before the sets are; None where kernels find it."""


class MapFit(NamedTuple):
    """A matching that is optimal by LSL under a map, with what the likelihood says of both."""

    affine: Affine
    assignment: Assignment
    value: float  # the profile likelihood f: the objective minus K / d times log_volume
    curve: ProfileCurve | None = None
    moments: Affine | None = None  # scale and shift by moments, where a search began with them

    def alignment(self) -> Alignment:
        """Return the map and the matching without their likelihood."""
        return Alignment(self.affine, self.assignment, self.curve)


def fit_at(x: FloatArray, y: FloatArray, affine: Affine, workers: int) -> MapFit:
    """Match two checked sets by LSL under a given map."""
    fit = fit_small(x, y, affine)
    return fit_geometry(common_coordinates(x, y, affine), affine, workers) if fit is None else fit


def fit_small(x: FloatArray, y: FloatArray, affine: Affine) -> MapFit | None:
    """Do so by a route from points; None if there is none."""
    plan = plan_from_points(x.shape, len(y), "lsl")
    if not (plan and are_plain(x, y)):
        return None
    result = match_points(x, y, "lsl", affine, plan)
    return None if result is None else as_fit(result)


def as_fit(result: MatchResult) -> MapFit:
    """Take a proven matching by LSL with its likelihood."""
    assert result.row_dual is not None
    assert result.col_dual is not None
    rows = np.flatnonzero(result.permutation >= 0)
    cols = result.permutation[rows]
    assignment = Assignment(rows, cols, result.row_dual, result.col_dual, result.objective)
    return _fit(result.affine, assignment)


def fit_geometry(
    geometry: Geometry,
    affine: Affine,
    workers: int,
    col_dual: FloatArray | None = None,
    warm_start: WarmStart | None = None,
) -> MapFit:
    """Match two sets that the map brought into common coordinates; a warm start may be given if n = m."""
    assignment = assign_points(geometry, log_rule(geometry), workers, col_dual, warm_start)
    return _fit(affine, assignment)


def _fit(affine: Affine, assignment: Assignment) -> MapFit:
    """Give the profile likelihood as well: a map that makes volumes smaller makes costs lower."""
    value = assignment.objective - assignment.row_ind.size * affine.log_volume / affine.shift.size
    return MapFit(affine, assignment, value)
