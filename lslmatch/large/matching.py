"""Matching large sets of which every point has a nearest partner of its own, in little memory.

If all nearest partners are different, they are the optimum, and their costs its proof. That is so above the
noise floor. Neither all pairs nor all coordinates are ever in memory: points are read where they are, in the
precision that they have, and few of their coordinates bound distances (:mod:`lslmatch.large.leading`). Where
partners clash, the usual routes follow.
"""

from __future__ import annotations

import logging
import math
from typing import Any, NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch._validation import check_affine
from lslmatch.assignment.nearest_partners import NearestPartners
from lslmatch.assignment.orientation import partners, sides_as_given
from lslmatch.assignment.routes import LOG
from lslmatch.assignment.settings import DEFAULT
from lslmatch.costs import COINCIDENT, CostRule
from lslmatch.large.frame import Frame, LargeSets, affine_of, find_frame, find_moments
from lslmatch.large.leading import MOST_COORDINATES, Lead
from lslmatch.large.nearest import find_among, find_nearest
from lslmatch.large.outlook import look
from lslmatch.large.points import doubles, is_array
from lslmatch.maps import Affine
from lslmatch.objectives.row import Terms
from lslmatch.objectives.table import OBJECTIVES
from lslmatch.request import Request
from lslmatch.results import MatchResult

#: Sets are large from this number of pairs and of dimensions on.
LEAST_PAIRS, LEAST_DIMENSIONS = 40_000**2, 13
#: Fewer rows than this share with a nearest partner of their own, to whom they are nearest, are too few.
_MUTUAL = 0.9
#: Alignments, and objectives, of which nothing is searched for nor chosen.
_ALIGNMENTS, _OBJECTIVES = ("standardize", "identity"), ("lsl", "lss", "distance")
#: Pairs that tell whether a map should be doubted.
_SAMPLED = 1 << 12


class _Seen(NamedTuple):
    """What the rule of the costs is made from: it looks like a geometry with one point in each set."""

    frame: Frame
    shape: tuple[int, int]
    a: FloatArray
    b: FloatArray
    exponent: int
    is_in_range: bool = True

    def mean_square(self) -> float:
        """Give the mean squared distance of all points from the mean of x."""
        return self.frame.mean_square

    def ordinary_share(self) -> float:
        """Give the share of it that says when points coincide."""
        return self.frame.ordinary_share()


def are_large(x: Any, y: Any) -> bool:
    """Say whether two sets may be matched here: plain arrays of floats, in memory or not, and large."""
    if not (is_array(x) and is_array(y) and len(x) * len(y) >= LEAST_PAIRS):
        return False
    return bool(x.shape[1] == y.shape[1]) and LEAST_DIMENSIONS <= x.shape[1] <= MOST_COORDINATES


def match_large(x: FloatArray, y: FloatArray, request: Request) -> MatchResult | None:
    """Match two large sets by their nearest partners; None if these clash, or need something special."""
    given = request.alignment
    if request.objective not in _OBJECTIVES or (isinstance(given, str) and given not in _ALIGNMENTS):
        return None
    found = _frame(x, y, request)
    if found is None:
        return None
    affine, frame = found
    sets = LargeSets(x, y, frame, len(x) > len(y))
    rule = _rule(sets, request.objective)
    outlook = look(sets)
    if outlook.mutual < _MUTUAL:
        return None

    def find(rows: Lead, cols: Lead, rule: CostRule) -> NearestPartners:
        return find_among(rows, cols, rule, sets.shape[1], DEFAULT, request.workers)

    nearest, cost = find_nearest(sets, rule, outlook, find)
    (n, m), turned = sets.shape, sets.is_turned
    is_solved = nearest.distinct(m) == n and bool((cost <= nearest.bound).all())
    if LOG.isEnabledFor(logging.DEBUG):
        outcome = "solved" if is_solved else "refused"
        LOG.debug("large, %d x %d, by %s coordinates: %s by large", n, m, outlook.sizes, outcome)
    if not is_solved:
        return None
    cost += rule.offset
    duals = cost, np.zeros(m)
    row_dual, col_dual = duals[::-1] if turned else duals
    permutation = partners(len(x), *sides_as_given(nearest.col, turned))
    return MatchResult(permutation, *affine, float(cost.sum()), row_dual, col_dual, request.objective, None)


def _frame(x: FloatArray, y: FloatArray, request: Request) -> tuple[Affine, Frame] | None:
    of_x, of_y = find_moments(x), find_moments(y)
    if of_x is None or of_y is None:
        return None
    given = request.alignment
    if isinstance(given, tuple):
        affine = check_affine(given, "alignment", x.shape[1])
    elif given == "identity":
        affine = Affine(1.0, np.zeros(x.shape[1]))
    else:
        affine = affine_of(of_x, of_y, len(x), len(y))
    frame = find_frame(x, y, affine, of_x, of_y)
    return None if frame is None else (affine, frame)


def _rule(sets: LargeSets, objective: str) -> CostRule:
    # Every coordinate is below 1, and the greatest is not far below.
    one = np.full((1, 1), math.nextafter(1.0, 0.0))
    seen: Any = _Seen(sets.frame, sets.shape, one, one, sets.frame.exponent)
    return OBJECTIVES[objective].rule(seen, Terms(1.0, None, COINCIDENT))


def sample_pairs(
    x: FloatArray, y: FloatArray, result: MatchResult
) -> tuple[FloatArray, FloatArray, MatchResult]:
    """Take some pairs of a matching, evenly spread over x, as a matching of their own."""
    rows = np.flatnonzero(result.permutation >= 0)
    rows = rows[np.linspace(0, rows.size - 1, min(rows.size, _SAMPLED)).astype(np.intp)]
    x, y = doubles(x, rows), doubles(y, result.permutation[rows])
    return x, y, result._replace(permutation=np.arange(rows.size))
