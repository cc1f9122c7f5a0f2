"""The choice between one scale and one for each column, and between isotropic and diagonal noise.

Each predicts the pairs of its own matching, with the judged pair left out; what they are surprised by is
compared point by point. Isotropic noise takes no part in that: where one column outweighs the others, or
there are many, its wrong pairs are as near to each other as true ones, and surprise it less. Variances of
columns are shrunk to each other as far as chance would spread them: isotropic noise loses nothing by that.

One scale is kept unless columns predict better, or the pairs contradict one scale. Where nearly all pairs are
certain and neither contradict it nor depend on one column alone, nothing else is looked for.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from lslmatch._types import FloatArray, IntArray
from lslmatch.columns.doubt import OUTWEIGHS, spread_shares
from lslmatch.columns.learning import Learner, is_better, learn_columns
from lslmatch.columns.matching import learn_beside, result_of
from lslmatch.columns.slopes import find_slopes
from lslmatch.covariance.evidence import sampled_surprises, surprises
from lslmatch.covariance.fit import white_of
from lslmatch.covariance.isotropic import match_isotropic
from lslmatch.covariance.iteration import SURE, judges_all
from lslmatch.covariance.learned import isotropic_surprises, match_learned
from lslmatch.covariance.leave_out import cost_matrix
from lslmatch.covariance.roundness import LEAST_PAIRS, are_round
from lslmatch.covariance.row import CovarianceRow, Matched
from lslmatch.covariance.worth import are_surer, reflect
from lslmatch.maps import AnyMap, ColumnMap
from lslmatch.request import Request
from lslmatch.results import Covariance, MatchResult

#: Cross-entropy below which nearly all pairs are certain.
_CERTAIN = 0.02
#: By how many standard errors columns must be better, and by what factor standard deviations must differ for
#: noise not to be isotropic.
_BETTER, _DIFFER = 1.0, 1.5


def match_by_one_scale(x: FloatArray, y: FloatArray, request: Request) -> Matched:
    """Match two checked sets under isotropic noise; columns compete if the alignment is chosen."""
    result = match_isotropic(x, y, request)
    if request.alignment != "auto":
        return Matched(result)
    base = result
    if request.objective != "lsl" or request.pairs is not None:
        base = match_isotropic(x, y, request.by("lsl", result.affine))
    return Matched(choose_columns(x, y, request, base, result).result)


def match_auto(x: FloatArray, y: FloatArray, request: Request) -> Matched:
    """Match two checked sets under isotropic noise, and under a covariance that is learned if that is better.

    Where pairs are chosen afterwards, the comparison is left to that choice.
    """
    base = match_isotropic(x, y, request.by("lsl"))
    reason = _why_nothing_is_learned(x, y, base, request.workers)
    if reason:
        return Matched(_isotropic(x, y, request, base, reason), base)
    return choose_columns(x, y, request, base, match_learned(x, y, request, base, request.choice is None))


def choose_columns(
    x: FloatArray, y: FloatArray, request: Request, base: MatchResult, result: MatchResult
) -> Matched:
    """Put a scale for each column in place of one, or diagonal noise in place of other, if that is better."""
    alignment, objective, pairs = request.alignment, request.objective, request.pairs
    chosen = weigh_columns(x, y, base, result, alignment, request.covariance, request.workers)
    if chosen is None:
        return Matched(result, base)
    placed = put_in_place(x, y, result, chosen, objective, pairs, request.noise, request.workers)
    if request.choice is None or isinstance(chosen.learned.map, ColumnMap):
        return Matched(placed)
    return Matched(result, base, placed)


def _why_nothing_is_learned(x: FloatArray, y: FloatArray, base: MatchResult, workers: int) -> str:
    """Say why isotropic noise and one scale are enough for a matching; nothing if they need not be.

    To learn shapes of noise takes a hundred times as long as to see that residuals have none.
    """
    if x.shape[1] == 1 or min(len(x), len(y)) < LEAST_PAIRS or spread_shares(x).max() > OUTWEIGHS:
        return ""
    slopes = find_slopes(x, y, base.permutation)
    if slopes is None or slopes.contradict:
        return ""
    if are_round(x, y, base):
        return "residuals of the pairs point in all directions alike"
    if isotropic_surprises(x, y, base, workers).mean() < _CERTAIN:
        return "nearly all pairs are certain"
    return ""


def _isotropic(x: FloatArray, y: FloatArray, request: Request, base: MatchResult, reason: str) -> MatchResult:
    """Give the matching with isotropic noise, and why it is kept."""
    result = base
    if request.objective != "lsl" or request.pairs is not None:
        again = request._replace(alignment=base.affine, choice=None)
        result = match_isotropic(x, y, again)._replace(profile=base.profile, decisions=base.decisions)
    return result._replace(covariance=Covariance(np.empty((0, x.shape[1])), 1.0, reason=reason))


class Chosen(NamedTuple):
    """What is put in place of the matching by one scale."""

    learned: Learner
    decision: str


def weigh_columns(
    x: FloatArray,
    y: FloatArray,
    base: MatchResult,
    result: MatchResult,
    alignment: Any,
    covariance: str,
    workers: int,
) -> Chosen | None:
    """Weigh what was found with one scale against a scale for each column; None if it is kept.

    `base` is the matching by LSL with isotropic noise, and `result` that under the covariance that was asked
    for, which may be the same. Columns compete if the alignment is "auto", diagonal noise if the covariance
    is.
    """
    if x.shape[1] == 1:
        return None
    by_columns, by_variances = alignment == "auto", covariance == "auto"
    slopes = find_slopes(x, y, base.permutation) if by_columns else None
    contradicted = slopes is not None and slopes.contradict
    certain = isotropic_surprises(x, y, base, workers).mean() < _CERTAIN
    if certain and not contradicted and not (by_columns and spread_shares(x).max() > OUTWEIGHS):
        return None
    chosen, best = None, None if result is base else _surprises(x, y, result, workers)
    diagonal = learn_beside(x, y, base, alignment, workers)
    differ = 1.0
    if diagonal is not None:
        units = diagonal.covariance.units
        assert units is not None
        differ = float(units.max() / units.min())
        if best is None or not is_better(best, diagonal.surprises):
            best = diagonal.surprises
            unequal = by_variances and differ > least_ratio(min(len(x), len(y)), x.shape[1]) and not certain
            if unequal and _surer_than_unrelated(x, y, diagonal, alignment, workers):
                line = f"covariance: diagonal, as variances of columns differ by a factor of {differ**2:.3g}"
                chosen = Chosen(diagonal, line)
    columns = learn_columns(x, y, ("diagonal", "full"), None, workers) if by_columns else None
    if columns is not None and best is not None:
        better = is_better(columns.surprises, best, _BETTER) and not certain
        # Isotropic noise is not what these pairs have, and was asked for, or nothing else.
        unequal = not by_variances and not certain and differ > least_ratio(min(len(x), len(y)), x.shape[1])
        as_good = contradicted and not is_better(best, columns.surprises)
        # Two ways to pair that are both certain: what more columns say.
        other = (
            (base.map, base.permutation)
            if chosen is None
            else (chosen.learned.map, chosen.learned.permutation)
        )
        tied = (certain or best.mean() < _CERTAIN) and columns.cross_entropy < _CERTAIN
        more = tied and agreeing(x, y, columns.map, columns.permutation) > agreeing(x, y, *other)
        if better or unequal or as_good or more:
            line = "alignment: a scale for each column, which predicts the pairs by a cross-entropy of "
            line += f"{columns.cross_entropy:.3g}; one scale by {best.mean():.3g}"
            chosen = Chosen(columns, line)
    return chosen


def _surer_than_unrelated(
    x: FloatArray, y: FloatArray, learned: Learner, alignment: Any, workers: int
) -> bool:
    """Say whether variances predict their pairs better than those of an unrelated set do theirs.

    Any two sets that are matched have columns with unequal residuals. Sets that are clearly related are not
    asked.
    """
    if learned.cross_entropy < SURE * math.log(len(x) * len(y)):
        return True
    other = reflect(y)
    if other is None:
        return True
    base = match_isotropic(x, other, Request(alignment=alignment))
    unrelated = learn_beside(x, other, base, alignment, workers)
    return unrelated is None or are_surer(learned.surprises, unrelated.surprises)


def least_ratio(pairs: int, d: int) -> float:
    """Give the ratio of two columns' standard deviations from which noise is not isotropic.

    Logarithms of d equal variances have a standard error of sqrt(2 / pairs) each: two of them are farther
    apart than this in one of twenty draws.
    """
    return max(_DIFFER, math.exp(math.sqrt(2.0 / pairs) * float(ndtri(1.0 - 0.025 / d))))


def agreeing(x: FloatArray, y: FloatArray, found: AnyMap, permutation: IntArray) -> int:
    """Count the columns in which partners are nearer to each other than to the partners of others."""
    rows = np.flatnonzero(permutation >= 0)
    a, b = x[rows], found.apply(y[permutation[rows]])
    other = np.roll(b, max(rows.size // 2, 1), axis=0)
    return int(
        np.count_nonzero(np.median(np.abs(a - b), axis=0) < np.median(np.abs(a - other), axis=0) / 2.0)
    )


def _surprises(x: FloatArray, y: FloatArray, result: MatchResult, workers: int) -> FloatArray | None:
    """Give the surprises of the matching that a covariance was learned from; None if none was kept."""
    covariance = result.covariance
    if covariance is None or covariance.reference is None:
        return None
    white = white_of(x, y, result.map, covariance)[0]
    if judges_all(x, y):
        return surprises(cost_matrix(white, workers), covariance.reference, x.shape[1])
    return sampled_surprises(white)


def put_in_place(
    x: FloatArray,
    y: FloatArray,
    before: MatchResult,
    chosen: Chosen,
    objective: str,
    pairs: int | None,
    levels: tuple[FloatArray, FloatArray] | None,
    workers: int,
) -> MatchResult:
    """Match under what was chosen, and say so."""
    result = result_of(x, y, chosen.learned, objective, pairs, levels, workers)
    if isinstance(chosen.learned.map, ColumnMap):
        kind = "diagonal" if chosen.learned.covariance.is_diagonal else "full"
        return result._replace(
            decisions=(chosen.decision, f"covariance: {kind}, learned with the scales of the columns")
        )
    return result._replace(profile=before.profile, decisions=(*before.decisions, chosen.decision))


ISOTROPIC = CovarianceRow("isotropic", "equal in all directions, uncorrelated", match_by_one_scale)
AUTO = CovarianceRow(
    "auto",
    "learned, and kept only if it predicts pairs clearly better than isotropic, or if more pairs are "
    "probably right under it",
    match_auto,
)
