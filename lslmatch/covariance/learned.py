"""Matching with a covariance that is learned: the starts, the choice beside isotropic noise, the result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.alignment.moments import standardize
from lslmatch.alignment.robust import improve_moments
from lslmatch.assignment.orientation import partners
from lslmatch.covariance.evidence import sampled_surprises, surprises
from lslmatch.covariance.fit import Aligned, isotropic_white
from lslmatch.covariance.iteration import Learned, judges_all, learn
from lslmatch.covariance.known import match_known
from lslmatch.covariance.leave_out import cost_matrix
from lslmatch.covariance.metric import equal_metric
from lslmatch.covariance.worth import doubt_estimate
from lslmatch.geometry.columns import column_weights
from lslmatch.results import Affine, Covariance, MatchResult

#: A covariance of fewer pairs than this says nothing.
_LEAST_PAIRS = 4
#: Squares of coordinates must be in the range of float64: the covariance is one.
_GREATEST_EXPONENT = 450


class Solver(Protocol):
    """Matches two checked sets with isotropic noise."""

    def __call__(
        self, x: FloatArray, y: FloatArray, alignment: str | Affine, objective: str = ...
    ) -> MatchResult:
        """Match under an alignment, by the objective of the call or by another one."""
        ...


def match_learned(
    solve: Solver,
    x: FloatArray,
    y: FloatArray,
    base: MatchResult,
    objective: str,
    alignment: str | Affine,
    compare: bool,
    workers: int,
) -> MatchResult:
    """Match two checked sets under a covariance that is learned; if `compare`, only if that is better.

    `base` is the matching by LSL with isotropic noise.
    """
    learned, reason = _learn(solve, x, y, alignment, base, workers)
    isotropic = isotropic_surprises(x, y, base, workers)
    if learned is not None and compare:

        def learn_unrelated(y: FloatArray) -> FloatArray | None:
            other = solve(x, y, alignment, "lsl")
            found, _ = _learn(solve, x, y, alignment, other, workers, learned.rounds)
            return None if found is None else found.surprises

        reason = doubt_estimate(learned.surprises, isotropic, y, learn_unrelated)
    if learned is None or reason:
        result = base if objective == "lsl" else solve(x, y, base.affine)._replace(profile=base.profile)
        nothing = Covariance(np.empty((0, x.shape[1])), 1.0, reason=reason)
        if learned is not None:
            nothing = nothing._replace(cross_entropy=learned.cross_entropy, rounds=learned.rounds)
        return result._replace(covariance=nothing._replace(isotropic_cross_entropy=float(isotropic.mean())))
    record = describe(x, y, learned)._replace(isotropic_cross_entropy=float(isotropic.mean()))
    if objective != "lsl":
        assert isinstance(learned.fit.affine, Affine)
        result = match_known(solve, x, y, record.matrix, learned.fit.affine, None, workers)
        # One metric for all pairs: of the record, only how it was learned is left to say.
        one = record._replace(reference=None, weight=None, leave_out=False, undecided=0)
        assert result.covariance is not None
        one = one._replace(factor=result.covariance.factor, ridge=0.0)
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
    solve: Solver,
    x: FloatArray,
    y: FloatArray,
    alignment: str | Affine,
    base: MatchResult,
    workers: int,
    most: int | None = None,
) -> tuple[Learned | None, str]:
    """Learn the covariance, in `most` rounds, or say why that is impossible."""
    if x.shape[1] == 1:
        return None, "in one dimension a covariance has no shape"
    if min(len(x), len(y)) < _LEAST_PAIRS:
        return None, f"a covariance needs at least {_LEAST_PAIRS} pairs"
    # An alignment that was given, or chosen to be none at all, is not ours to change.
    fixed = isinstance(alignment, tuple) or (base.scale == 1.0 and not base.shift.any())
    sets = Aligned.at(x, y, base.affine)
    if sets.residuals(base.permutation) is None:
        return None, "the pairs have no residuals to learn from"
    if abs(sets.exponent) > _GREATEST_EXPONENT:
        return None, "the squares of the coordinates exceed the range of float64"
    learned = learn(x, y, base.affine, _starts(solve, x, y, base), not fixed, workers, most)
    return learned, "" if learned is not None else "a start has no residuals to learn from"


def _starts(solve: Solver, x: FloatArray, y: FloatArray, base: MatchResult) -> Iterator[IntArray]:
    """Give the matchings to begin with: LSL, least squares, LSL with the covariance of the sets whitened.

    And LSL under robust estimates of scale and shift, where pairs stand out more with them.
    """
    yield base.permutation
    yield solve(x, y, base.affine, "lss").permutation
    robust = improve_moments(x, y, base.affine).affine
    if robust is not None:
        yield solve(x, y, robust, "lsl").permutation
    if not (np.ptp(x, axis=0).any() and np.ptp(y, axis=0).any()):
        return  # a set that is one point has no covariance
    a, b = standardize(x) * np.sqrt(len(x)), standardize(y) * np.sqrt(len(y))
    d = a.shape[1]
    if d > len(a) + len(b):
        basis = np.linalg.qr(np.vstack([a, b]).T)[0]
        a, b = a @ basis, b @ basis
    white = equal_metric(np.vstack([a, b]), d).white
    identity = Affine(1.0, np.zeros(a.shape[1]))
    yield solve(white[: len(a)], white[len(a) :], identity, "lsl").permutation


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
