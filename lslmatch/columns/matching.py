"""Matching with a unit for each column, and with variances that differ between columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.alignment.fit import AlignmentRow
from lslmatch.columns.learning import Learner, learn_columns, learn_diagonal
from lslmatch.columns.solving import solve_under
from lslmatch.columns.standard import standard_units
from lslmatch.covariance.isotropic import match_isotropic
from lslmatch.covariance.known import known_covariance, mapped_sets
from lslmatch.covariance.learned import isotropic_surprises
from lslmatch.covariance.row import CovarianceRow, Matched
from lslmatch.maps import MATRIX_MAPS, LinearMap, Similarity
from lslmatch.request import Request
from lslmatch.results import ColumnMap, Covariance, MatchResult

#: The kinds of noise that are learned with the map, by the name of the covariance. Isotropic noise has no
#: meaning where every column has a unit of its own.
_KINDS = {
    "isotropic": ("diagonal", "full"),
    "auto": ("diagonal", "full"),
    "diagonal": ("diagonal",),
    "estimate": ("full",),
}


def match_columns(x: FloatArray, y: FloatArray, request: Request) -> MatchResult:
    """Match two checked sets with a scale and a shift for each column, learned or given."""
    objective, covariance, pairs = request.objective, request.covariance, request.pairs
    levels, workers, given = request.noise, request.workers, request.given_map
    signed = request.alignment == SIGNED_COLUMNS.name
    if not isinstance(covariance, str):
        known = known_covariance(covariance, x.shape[1])
        learned = None if given is not None else learn_columns(x, y, ("diagonal",), None, workers, signed)
        found = given or (columns_by_moments(x, y) if learned is None else learned).map
        return solve_under(x, y, objective, found, known, pairs, levels, workers)
    kinds = _KINDS[covariance]
    if given is not None and covariance == "isotropic":
        return solve_under(x, y, objective, given, None, pairs, levels, workers)
    if isinstance(given, MATRIX_MAPS):
        learned = _learn_after(x, y, kinds, given, workers)
    else:
        assert given is None or isinstance(given, ColumnMap)
        learned = learn_columns(x, y, kinds, given, workers, signed) or columns_by_moments(x, y)
    if given is not None:
        learned = learned._replace(map=given)
    return result_of(x, y, learned, objective, pairs, levels, workers)


def match_diagonal(x: FloatArray, y: FloatArray, request: Request) -> MatchResult:
    """Match two checked sets by one scale, under variances of the columns that are learned."""
    objective, pairs, levels, workers = request.objective, request.pairs, request.noise, request.workers
    base = match_isotropic(x, y, request.by("lsl"))
    learned = learn_beside(x, y, base, request.alignment, workers)
    if learned is None:
        reason = "variances of columns need two columns and four pairs at least"
        nothing = Covariance(np.empty((0, x.shape[1])), 1.0, reason=reason)
        result = solve_under(x, y, objective, base.map, None, pairs, levels, workers)
        return result._replace(covariance=nothing, profile=base.profile, decisions=base.decisions)
    result = result_of(x, y, learned, objective, pairs, levels, workers)
    return result._replace(profile=base.profile, decisions=base.decisions)


def learn_beside(
    x: FloatArray, y: FloatArray, base: MatchResult, alignment: Any, workers: int
) -> Learner | None:
    """Learn variances of the columns, with one scale, from a matching with isotropic noise."""
    # An alignment that was given, or chosen to be none at all, is not ours to change.
    fixed = isinstance(alignment, tuple) or (base.scale == 1.0 and not base.shift.any())
    learned = learn_diagonal(x, y, base, fixed, workers)
    if learned is None:
        return None
    isotropic = float(isotropic_surprises(x, y, base, workers).mean())
    return learned._replace(covariance=learned.covariance._replace(isotropic_cross_entropy=isotropic))


def result_of(
    x: FloatArray,
    y: FloatArray,
    learned: Learner,
    objective: str,
    pairs: int | None,
    levels: tuple[FloatArray, FloatArray] | None,
    workers: int,
) -> MatchResult:
    """Match by an objective under what was learned by LSL."""
    covariance = learned.covariance if objective == "lsl" else one_metric(learned.covariance)
    return solve_under(x, y, objective, learned.map, covariance, pairs, levels, workers)


def one_metric(covariance: Covariance) -> Covariance:
    """Give a covariance that is the same for all pairs: of the record, only how it was learned is left."""
    if covariance.is_diagonal or covariance.is_isotropic:
        return covariance
    matrix = covariance._replace(units=None).matrix
    return covariance._replace(
        factor=np.ascontiguousarray(np.linalg.cholesky(matrix).T),
        ridge=0.0,
        reference=None,
        weight=None,
        leave_out=False,
        undecided=0,
    )


def _learn_after(
    x: FloatArray, y: FloatArray, kinds: tuple[str, ...], given: Similarity | LinearMap, workers: int
) -> Learner:
    """Learn a covariance from sets of which the second was mapped by a matrix, so that columns correspond."""
    a, b = mapped_sets(x, y, given)
    d = x.shape[1]
    learned = learn_columns(a, b, kinds, ColumnMap(np.ones(d), np.zeros(d)), workers)
    return learned or columns_by_moments(a, b)


def columns_by_moments(x: FloatArray, y: FloatArray) -> Learner:
    """Give each column's own standard units, where there are too few pairs to learn anything."""
    sets = standard_units(x, y)
    with np.errstate(all="ignore"):
        found, logarithms = sets.given(sets.identity), np.log(sets.a_unit)
        units = np.exp(logarithms - logarithms.mean())
    # A unit of 0, or one beyond float64, makes one of these 0, infinite or no number.
    factors = np.concatenate([sets.a_unit, sets.b_unit, found.scales, units])
    if not (np.isfinite(factors).all() and factors.min() > 0.0 and np.isfinite(found.shift).all()):
        raise ValueError(
            "x and y must have columns whose spread is in the range of float64 for alignment='columns'; "
            "multiply both sets by a constant first"
        )
    covariance = Covariance(np.empty((0, x.shape[1])), 1.0, units=units)
    nobody = np.full(len(x), -1, np.intp)
    return Learner(found, covariance, np.full(1, math.nan), nobody)


COLUMNS = AlignmentRow(
    "columns", "a scale and a shift for each column: other units, or units far apart", match=match_columns
)
SIGNED_COLUMNS = AlignmentRow(
    "signed-columns",
    "the same, where columns may also run the other way, as depths do beside heights",
    match=match_columns,
)
DIAGONAL = CovarianceRow(
    "diagonal",
    "a variance for each column, learned from the pairs",
    lambda x, y, request: Matched(match_diagonal(x, y, request)),
)
