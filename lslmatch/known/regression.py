"""The alignment "linear", by every objective and under every covariance, whatever was given."""

from __future__ import annotations

from typing import Any

from lslmatch._types import FloatArray
from lslmatch.alignment.fit import AlignmentRow
from lslmatch.allowed.solving import assign_allowed_pairs
from lslmatch.assignment.all_or_some import assign_costs
from lslmatch.columns.matching import match_columns
from lslmatch.covariance.known import with_pairs
from lslmatch.known.matching import match_given
from lslmatch.linear.matching import METRICS, match_by_regression
from lslmatch.linear.record import costs_of
from lslmatch.request import Request
from lslmatch.results import MatchResult


def match_linear(x: FloatArray, y: FloatArray, request: Request) -> MatchResult:
    """Match two checked sets under a linear map that is learned by LSL.

    By another objective, or under a covariance in the coordinates of x, the map is taken as it was learned.
    """
    covariance, given, workers = request.covariance, request.given, request.workers
    metrics = covariance if isinstance(covariance, str) and covariance in METRICS else "isotropic"
    found = match_by_regression(x, y, metrics, given, workers)
    if request.objective == "lsl" and metrics is covariance:
        if request.pairs is None:
            return found
        costs = costs_of(x, y, found, workers)
        if given is None:
            return with_pairs(found, assign_costs(costs, request.pairs))
        return with_pairs(found, assign_allowed_pairs(costs, given, request.pairs))
    named = covariance if metrics is not covariance else "isotropic"
    under = request._replace(alignment=found.map, covariance=named)
    result = match_columns(x, y, under) if given is None else match_given(x, y, under)
    return result._replace(decisions=found.decisions)


LINEAR = AlignmentRow(
    "linear",
    "any linear map, also between sets of different dimensions: other sensors or encoders; learned from "
    "known pairs, from columns that correspond, or from nothing",
    match=match_linear,
)


def is_regression(alignment: Any) -> bool:
    """Say whether a linear map is to be learned, by whatever was given."""
    return isinstance(alignment, str) and alignment == LINEAR.name
