"""Matching with a covariance that is learned: the starts, the choice beside isotropic noise, the result."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.alignment.moments import standardize
from lslmatch.alignment.robust import improve_moments
from lslmatch.assignment.orientation import partners
from lslmatch.covariance.evidence import sampled_surprises, surprises
from lslmatch.covariance.fit import Aligned, isotropic_white
from lslmatch.covariance.isotropic import match_isotropic
from lslmatch.covariance.iteration import Learned, judges_all, learn
from lslmatch.covariance.known import match_known
from lslmatch.covariance.leave_out import cost_matrix
from lslmatch.covariance.metric import equal_metric
from lslmatch.covariance.pair_costs import match_pairs
from lslmatch.covariance.row import CovarianceRow, Matched
from lslmatch.covariance.worth import doubt_estimate
from lslmatch.geometry.columns import column_weights
from lslmatch.request import Request
from lslmatch.results import Affine, Covariance, MatchResult

#: A covariance of fewer pairs than this says nothing.
_LEAST_PAIRS = 4
#: Squares of coordinates must be in the range of float64: the covariance is one.
_GREATEST_EXPONENT = 450


def match_learned(
    x: FloatArray, y: FloatArray, request: Request, base: MatchResult, compare: bool
) -> MatchResult:
    """Match two checked sets under a covariance that is learned; if `compare`, only if that is better.

    `base` is the matching of all points by LSL with isotropic noise.
    """
    result = _match_all(x, y, request, base, compare)
    return result if request.pairs is None else match_pairs(x, y, result, request.pairs, request.workers)


def _match_all(
    x: FloatArray, y: FloatArray, request: Request, base: MatchResult, compare: bool
) -> MatchResult:
    objective, workers = request.objective, request.workers
    learned, reason = _learn(x, y, request, base)
    isotropic = isotropic_surprises(x, y, base, workers)
    if learned is not None and compare:

        def learn_unrelated(y: FloatArray) -> FloatArray | None:
            other = match_isotropic(x, y, request.by("lsl"))
            found, _ = _learn(x, y, request, other, learned.rounds)
            return None if found is None else found.surprises

        reason = doubt_estimate(learned.surprises, isotropic, y, learn_unrelated)
    if learned is None or reason:
        result = base
        if objective != "lsl":
            result = match_isotropic(x, y, request.by(objective, base.affine))._replace(profile=base.profile)
        nothing = Covariance(np.empty((0, x.shape[1])), 1.0, reason=reason)
        if learned is not None:
            nothing = nothing._replace(cross_entropy=learned.cross_entropy, rounds=learned.rounds)
        return result._replace(covariance=nothing._replace(isotropic_cross_entropy=float(isotropic.mean())))
    record = describe(x, y, learned)._replace(isotropic_cross_entropy=float(isotropic.mean()))
    if objective != "lsl":
        assert isinstance(learned.fit.affine, Affine)
        known = request.by(objective, learned.fit.affine)._replace(covariance=record.matrix)
        result = match_known(x, y, known)
        # One metric for all pairs: of the record, only how it was learned is left to say.
        one = record._replace(reference=None, weight=None, leave_out=False, undecided=0)
        assert result.covariance is not None
        metric = result.covariance
        one = one._replace(factor=metric.factor, ridge=metric.ridge, units=metric.units)
        return result._replace(covariance=one, profile=base.profile)
    assignment = learned.assignment
    return base._replace(
        permutation=partners(len(x), assignment.row_ind, assignment.col_ind),
        objective=assignment.objective,
        row_dual=assignment.row_dual,
        col_dual=assignment.col_dual,
        covariance=record,
    ).with_map(learned.fit.affine)


def _learn(
    x: FloatArray, y: FloatArray, request: Request, base: MatchResult, most: int | None = None
) -> tuple[Learned | None, str]:
    """Learn the covariance, in `most` rounds, or say why that is impossible."""
    if x.shape[1] == 1:
        return None, "in one dimension a covariance has no shape"
    if min(len(x), len(y)) < _LEAST_PAIRS:
        return None, f"a covariance needs at least {_LEAST_PAIRS} pairs"
    # An alignment that was given, or chosen to be none at all, is not ours to change.
    fixed = request.given_map is not None or (base.scale == 1.0 and not base.shift.any())
    sets = Aligned.at(x, y, base.affine)
    if sets.residuals(base.permutation) is None:
        return None, "the pairs have no residuals to learn from"
    if abs(sets.exponent) > _GREATEST_EXPONENT:
        return None, "the squares of the coordinates exceed the range of float64"
    starts = _starts(x, y, request, base)
    learned = learn(x, y, base.affine, starts, not fixed, request.workers, most)
    return learned, "" if learned is not None else "a start has no residuals to learn from"


def _starts(x: FloatArray, y: FloatArray, request: Request, base: MatchResult) -> Iterator[IntArray]:
    """Give the matchings to begin with: LSL, least squares, LSL with the covariance of the sets whitened.

    And LSL under robust estimates of scale and shift, where pairs stand out more with them.
    """
    yield base.permutation
    yield match_isotropic(x, y, request.by("lss", base.affine)).permutation
    robust = improve_moments(x, y, base.affine).affine
    if robust is not None:
        yield match_isotropic(x, y, request.by("lsl", robust)).permutation
    if not (np.ptp(x, axis=0).any() and np.ptp(y, axis=0).any()):
        return  # a set that is one point has no covariance
    a, b = standardize(x) * np.sqrt(len(x)), standardize(y) * np.sqrt(len(y))
    d = a.shape[1]
    if d > len(a) + len(b):
        basis = np.linalg.qr(np.vstack([a, b]).T)[0]
        a, b = a @ basis, b @ basis
    white = equal_metric(np.vstack([a, b]), d).white
    identity = Affine(1.0, np.zeros(a.shape[1]))
    yield match_isotropic(white[: len(a)], white[len(a) :], request.by("lsl", identity)).permutation


def isotropic_surprises(x: FloatArray, y: FloatArray, base: MatchResult, workers: int) -> FloatArray:
    """Give how much each pair of a matching surprises under isotropic noise."""
    white = isotropic_white(x, y, base.permutation, base.map)
    if judges_all(x, y):  # as those of a learned covariance, with which they are compared
        return surprises(cost_matrix(white, workers), base.permutation, x.shape[1])
    return sampled_surprises(white)


def describe(x: FloatArray, y: FloatArray, learned: Learned) -> Covariance:
    """Describe the metric in the units of x."""
    fit = learned.fit
    rows = np.flatnonzero(fit.reference >= 0)
    residuals = x[rows] - fit.affine.apply(y[fit.reference[rows]])
    if fit.units is not None:
        residuals *= column_weights(fit.units, x.shape[1])
    factor = residuals * np.sqrt(fit.metric.weight)[:, None]
    if len(factor) > factor.shape[1]:
        factor = np.linalg.qr(factor)[1]
    weight = np.zeros(len(x))
    weight[rows] = fit.metric.weight
    return Covariance(
        factor,
        float(np.ldexp(fit.metric.ridge, 2 * fit.exponent)),
        fit.reference,
        weight,
        learned.leave_out,
        learned.cross_entropy,
        rounds=learned.rounds,
        undecided=learned.undecided,
        units=fit.units,
    )


def _estimate(x: FloatArray, y: FloatArray, request: Request) -> Matched:
    return Matched(match_learned(x, y, request, match_isotropic(x, y, request.by("lsl")), False))


ESTIMATE = CovarianceRow(
    "estimate", "learned from the pairs; each pair is judged by the others, without itself", _estimate
)
