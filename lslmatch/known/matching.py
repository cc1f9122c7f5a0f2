"""Matching where known pairs, groups or forbidden pairs were given, under every alignment but "linear"."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.alignment.doubt import AlignmentWarning
from lslmatch.alignment.registry import align
from lslmatch.columns.learning import is_better, learn_columns
from lslmatch.columns.matching import COLUMNS, SIGNED_COLUMNS, columns_by_moments, one_metric
from lslmatch.columns.solving import solve_under
from lslmatch.known.climbing import Climbed, Sets, climb, start_from_known
from lslmatch.known.families import EACH_COLUMN, ONE_SCALE, RIGID, ROTATED, TURNED, Family
from lslmatch.known.misfits import misfits, say_misfits
from lslmatch.known.noise import (
    Noise,
    choose_noise,
    diagonal_noise,
    equal_noise,
    full_noise,
    given_noise,
)
from lslmatch.maps import AnyMap
from lslmatch.request import Request
from lslmatch.results import Covariance, MatchResult
from lslmatch.similarity.finding import find_similarity
from lslmatch.summary import count

#: What turned sets may be, by the name of the alignment: mirrored, and of another size (None) or not.
_TURNS: dict[str, tuple[Family, bool, float | None]] = {
    "similarity": (TURNED, True, None),
    "rotation": (ROTATED, False, None),
    "rigid": (RIGID, False, 1.0),
}
#: Cross-entropy below which nearly all pairs are certain.
_CERTAIN = 0.02


def match_given(x: FloatArray, y: FloatArray, request: Request) -> MatchResult:
    """Match two checked sets by the cheapest matching among those that are allowed."""
    assert request.given is not None
    found, decision = _learn(x, y, request)
    covariance = found.covariance
    if covariance is not None and request.objective != "lsl":
        covariance = one_metric(covariance)
    result = solve_under(
        x,
        y,
        request.objective,
        found.map,
        covariance,
        request.pairs,
        request.noise,
        request.workers,
        request.given,
    )
    return result._replace(decisions=(decision,))


def warn_of_misfits(x: FloatArray, y: FloatArray, result: MatchResult) -> MatchResult:
    """Warn of known pairs that do not fit the others, and say so in the result."""
    said = say_misfits(result, misfits(x, y, result))
    if not said:
        return result
    warnings.warn(
        f"{said}. They are in the answer, and count little for the map", AlignmentWarning, stacklevel=3
    )
    return result._replace(decisions=(*result.decisions, f"known: {said}"))


class _Start(NamedTuple):
    """A family of maps, and where to begin."""

    family: Family | None
    maps: list[AnyMap]
    words: list[str]
    units: FloatArray | None = None
    doubt: str = ""


def _learn(x: FloatArray, y: FloatArray, request: Request) -> tuple[Noise, str]:
    """Learn map and noise from what is allowed, by LSL."""
    alignment = request.alignment
    found, decision = _learn_under(x, y, request, _start(x, y, request))
    certain = found.surprises is not None and found.surprises.mean() < _CERTAIN
    if alignment != "auto" or x.shape[1] == 1 or certain:
        return found, decision
    other, words = _learn_under(x, y, request, _start(x, y, request._replace(alignment="columns")))
    if other.surprises is None or found.surprises is None or not is_better(other.surprises, found.surprises):
        return found, decision
    return other, words


def _start(x: FloatArray, y: FloatArray, request: Request) -> _Start:
    """Give the maps to begin with: what the alignment finds without the known pairs, and what these say."""
    alignment, workers = request.alignment, request.workers
    assert request.given is not None
    if not isinstance(alignment, str):
        return _Start(None, [alignment], ["the map that was given"])
    if alignment == "identity":
        return _Start(None, [align(x, y, alignment, workers).affine], ["none"])
    sets = Sets(x, y, request.given, None, workers)
    if alignment in _TURNS:
        family, mirror, scale = _TURNS[alignment]
        known = start_from_known(sets, family, None)
        if known is not None:
            return _Start(family, [known], [_from_known(request)])
        turned = find_similarity(x, y, mirror, scale, workers)
        return _Start(family, [turned.map], [turned.decision.removeprefix("alignment: ")], None, turned.doubt)
    if alignment in (COLUMNS.name, SIGNED_COLUMNS.name):
        signed = alignment == SIGNED_COLUMNS.name
        learned = learn_columns(x, y, ("diagonal",), None, workers, signed) or columns_by_moments(x, y)
        start = _Start(EACH_COLUMN, [learned.map], ["a scale for each column"], learned.covariance.units)
    else:
        aligned = align(x, y, alignment, workers)
        words = aligned.decision.removeprefix("alignment: ") or f"one scale, {alignment}"
        start = _Start(ONE_SCALE, [aligned.affine], [words])
    assert start.family is not None
    known = start_from_known(sets._replace(units=start.units), start.family, start.maps[0])
    if known is None:
        # Without known pairs the moments are those of the paper.
        return start._replace(family=None) if alignment == "standardize" else start
    return start._replace(maps=[*start.maps, known], words=[*start.words, _from_known(request)])


def _from_known(request: Request) -> str:
    assert request.given is not None
    return f"from {count(len(request.given.known), 'known pair')}"


def _learn_under(x: FloatArray, y: FloatArray, request: Request, start: _Start) -> tuple[Noise, str]:
    """Climb from each map, and learn the noise that was asked for."""
    assert request.given is not None
    sets = Sets(x, y, request.given, start.units, request.workers)
    by_columns = start.family is EACH_COLUMN
    covariance = request.covariance
    is_named = isinstance(covariance, str)
    is_equal = is_named and covariance == "isotropic" and not by_columns
    judged = request.alignment == "auto"
    if start.family is None and is_equal and not judged:  # there is nothing to learn
        return Noise(start.maps[0], None, None, np.empty(0, np.intp)), f"alignment: {start.words[0]}"
    variances = x.shape[1] > 1 and (by_columns or (is_named and covariance == "diagonal"))
    ends = [climb(sets, start.family, found, variances) for found in start.maps]
    best = min(range(len(ends)), key=lambda k: ends[k].value)
    end, decision = ends[best], f"alignment: {start.words[best]}"
    if start.doubt:
        warnings.warn(f"{start.doubt}. See result.decisions", AlignmentWarning, stacklevel=7)
    if not is_named:
        return given_noise(sets, end, covariance), decision
    if is_equal:
        return equal_noise(sets, end, judged), decision
    return _noise(sets, start, end, covariance, by_columns), decision


def _noise(sets: Sets, start: _Start, end: Climbed, covariance: str, by_columns: bool) -> Noise:
    """Learn the noise of the kind that was asked for, or choose a kind."""
    free = start.family is not None
    if covariance == "diagonal":
        return diagonal_noise(sets, end)
    full = full_noise(sets, end, free)
    if covariance == "estimate":
        if not isinstance(full, str):
            return full
        base = diagonal_noise(sets, end) if by_columns else equal_noise(sets, end)
        nothing = base.covariance or Covariance(np.empty((0, sets.x.shape[1])), 1.0)
        return base._replace(covariance=nothing._replace(reason=full))
    if by_columns:
        return choose_noise(sets, [diagonal_noise(sets, end), full])
    kinds: list[Noise | str] = [equal_noise(sets, end)]
    if sets.x.shape[1] > 1:
        kinds.append(diagonal_noise(sets, climb(sets, start.family, end.map, True)))
    chosen = choose_noise(sets, [*kinds, full])
    first = kinds[0]
    assert not isinstance(first, str)
    if chosen.covariance is None or first.surprises is None:
        reason = "isotropic noise predicts the pairs as well"
        return chosen._replace(covariance=Covariance(np.empty((0, sets.x.shape[1])), 1.0, reason=reason))
    entropy = float(first.surprises.mean())
    return chosen._replace(covariance=chosen.covariance._replace(isotropic_cross_entropy=entropy))
