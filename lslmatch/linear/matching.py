"""Matching by a full linear map, for sets whose coordinates are other ones, and perhaps not as many."""

from __future__ import annotations

import math
import warnings

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.alignment.doubt import AlignmentWarning
from lslmatch.given import Given
from lslmatch.linear.control import mix_objects
from lslmatch.linear.coordinates import check_spread
from lslmatch.linear.learning import Found, learn_linear
from lslmatch.linear.record import map_of, regression_of
from lslmatch.results import MatchResult

#: Fewest points of the smaller set, and most pairs of points: all costs are in memory.
_LEAST_POINTS, _MOST_ENTRIES = 4, 1 << 24
#: The kinds of noise that are tried in the coordinates of the regression, by the name of the covariance.
METRICS = {"isotropic": ("isotropic", "tyler"), "auto": ("isotropic", "tyler"), "estimate": ("tyler",)}
#: By how many standard errors pairs must be surer than those of an unrelated set.
_SURER = 3.0
#: Known pairs that say more than a comparison with an unrelated set.
_ENOUGH_KNOWN = 10


def match_by_regression(
    x: FloatArray, y: FloatArray, covariance: str, given: Given | None, workers: int
) -> MatchResult:
    """Match two checked sets by LSL under a linear map that is learned, each pair judged without itself."""
    few, n, m = min(len(x), len(y)), len(x), len(y)
    if few < _LEAST_POINTS:
        raise ValueError(f"alignment 'linear' needs at least {_LEAST_POINTS} points in each set; got {few}")
    if n * m > _MOST_ENTRIES:
        raise ValueError(
            f"alignment 'linear' takes up to {_MOST_ENTRIES} pairs of points; got {n} times {m}. Learn the "
            "map from some points, and give it: alignment=result.map"
        )
    check_spread(x, "x")
    check_spread(y, "y")
    found = learn_linear(x, y, given, METRICS[covariance], workers)
    if found is None:
        raise ValueError("alignment 'linear' needs noise to learn from, or a start; there is none")
    regression = regression_of(found.sets, found.learned, found.start)
    other = learn_linear(x, mix_objects(y), given, METRICS[covariance], workers, only=found.start)
    if other is not None:
        regression = regression._replace(unrelated_cross_entropy=other.cross_entropy)
    doubt = _doubt(x, y, found, other, given)
    if doubt:
        warnings.warn(doubt, AlignmentWarning, stacklevel=6)
    assignment = found.learned.assignment
    result = MatchResult(
        found.learned.permutation,
        1.0,
        np.zeros(x.shape[1]),
        assignment.objective,
        assignment.row_dual,
        assignment.col_dual,
        "lsl",
        None,
        given=given,
        regression=regression,
        decisions=(f"alignment: linear, from {found.start}" + (f"; {doubt}" if doubt else ""),),
    )
    return result.with_map(map_of(found.sets, found.learned))


def _doubt(x: FloatArray, y: FloatArray, found: Found, other: Found | None, given: Given | None) -> str:
    """Say why the pairs may be no better than those of sets that are not related."""
    known = 0 if given is None else len(given.known)
    n, d = min(len(x), len(y)), min(x.shape[1], y.shape[1])
    if other is not None:
        own, theirs = found.learned.surprises, other.learned.surprises
        error = math.sqrt(own.var() / own.size + theirs.var() / theirs.size)
        if not theirs.mean() - own.mean() > _SURER * error:
            return (
                "the linear map is not confirmed: pairs of a set that is not related are as certain "
                f"(cross-entropy {theirs.mean():.3g} against {own.mean():.3g})"
            )
    if known < _ENOUGH_KNOWN and n < 2 * d:
        return (
            f"cannot tell whether the linear map is right: {n} points are too few for {d} coordinates "
            f"without {_ENOUGH_KNOWN} known pairs"
        )
    return ""
