"""The choice between one scale and one for each column, and between isotropic and diagonal noise.

Each predicts the pairs of its own matching, with the judged pair left out; what they are surprised by is
compared point by point. One scale is kept unless columns predict clearly better, or the pairs themselves
contradict one scale; where nearly all pairs are certain and do not contradict it, nothing is looked for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.columns.learning import Learner, clearly_better, learn_columns
from lslmatch.columns.matching import learn_beside, result_of
from lslmatch.columns.slopes import find_slopes
from lslmatch.covariance.evidence import sampled_surprises, surprises
from lslmatch.covariance.fit import white_of
from lslmatch.covariance.iteration import judges_all
from lslmatch.covariance.learned import isotropic_surprises
from lslmatch.covariance.leave_out import cost_matrix
from lslmatch.results import ColumnMap, MatchResult

#: Cross-entropy below which nearly all pairs are certain.
_CERTAIN = 0.02


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
    for, which may be the same. Columns compete if the alignment is "auto", diagonal noise if the covariance is.
    """
    if x.shape[1] == 1:
        return None
    best = isotropic_surprises(x, y, base, workers)
    if result is not base:
        learned = _surprises(x, y, result, workers)
        best = learned if learned is not None and learned.mean() < best.mean() else best
    slopes = find_slopes(x, y, base.permutation) if alignment == "auto" else None
    contradicted = slopes is not None and slopes.contradict
    if best.mean() < _CERTAIN and not contradicted:
        return None
    chosen = None
    if covariance == "auto":
        diagonal = learn_beside(x, y, base, alignment, workers)
        if diagonal is not None and clearly_better(diagonal.surprises, best):
            line = _line("covariance: diagonal", diagonal, best, "isotropic or correlated noise")
            best, chosen = diagonal.surprises, Chosen(diagonal, line)
    if alignment == "auto":
        kinds = ("diagonal", "full")
        columns = learn_columns(x, y, kinds, None, workers)
        if columns is not None:
            better = clearly_better(columns.surprises, best)
            as_good = contradicted and not clearly_better(best, columns.surprises)
            if better or as_good:
                chosen = Chosen(columns, _line("alignment: a scale for each column", columns, best, "one scale"))
    return chosen


def _line(what: str, one: Learner, other: FloatArray, instead: str) -> str:
    return (
        f"{what}, which predicts the pairs by a cross-entropy of {one.cross_entropy:.3g}; {instead} by "
        f"{other.mean():.3g}"
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
        return result._replace(decisions=(chosen.decision,))
    return result._replace(profile=before.profile, decisions=(*before.decisions, chosen.decision))
