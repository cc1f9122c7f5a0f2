"""Scale and shift that wild points, and points without a partner, cannot spoil.

Means and mean squares are those of all points, partners or not. Here a map is judged by how far nearest
partners stand out from all other candidates (:mod:`lslmatch.alignment.prominence`); up to the factor d / 2
that is the log-likelihood of a pair beside that of its best alternative, and a false pair adds nothing to it.

1. Begin with the moments; refit scale and shift, as the moments would, on the more prominent half of the
   pairs that stand out; repeat that. Where that changes little, a kernel sees it (`sound_moments.py`).
2. If the best map is not convincing, begin with robust centres on each other at several scales
   (`starts.py`), and if none is convincing yet, with maps from two points of either set (`hypotheses.py`).
   A map is convincing if pairs stand out more than points do from others of their own set, which is chance.
3. The moments are kept unless the best map is better beyond chance, for points that had no part in the
   search if there are any. It is refitted with more points.

Some points of the smaller set are asked, not all of them: the work grows with the number of points, not with
its square.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.alignment.fit import Alignment, AlignmentRow
from lslmatch.alignment.hypotheses import two_point_maps
from lslmatch.alignment.moments import affine_of_moments, check_range
from lslmatch.alignment.prominence import Judge, JudgedMap, Map
from lslmatch.alignment.sound_moments import (
    BEYOND_CHANCE,
    CONVINCING,
    LEAST_PAIRS,
    REFITS,
    begin_with_moments,
)
from lslmatch.alignment.starts import Central, as_given, central, in_units, robust_starts, spread_evenly
from lslmatch.results import Affine

#: Robust starts that are refitted, after all were judged once.
_STARTS = 4
#: Points that are asked whether a map is better than the moments, and for the last refit.
_ASKED_AGAIN, _ASKED_LAST = 128, 256


class Improved(NamedTuple):
    """A map that is better than the moments, if there is one, and why."""

    affine: Affine | None
    decision: str
    beyond_chance: bool  # whether pairs stand out more under it than chance would give


def fit_robust(x: FloatArray, y: FloatArray) -> Alignment:
    """Align two checked sets of which up to half of the points may be wild or without a partner."""
    moments = affine_of_moments(x, y)
    found = improve_moments(x, y, moments)
    return Alignment(moments if found.affine is None else found.affine, decision=found.decision)


# Wild points may be out of the range of float64 in the units of the others; they are nobody's partner.
@np.errstate(all="ignore")
def improve_moments(x: FloatArray, y: FloatArray, moments: Affine) -> Improved:
    """Look for a map that is better than the moments; without one they may be kept."""
    if len(x) > len(y):
        found = _improve(y, x, _inverse(moments))
        affine = None if found.affine is None else _inverse(found.affine)
        found = found._replace(affine=affine)
    else:
        found = _improve(x, y, moments)
    return found if found.affine is None else found._replace(affine=check_range(found.affine))


def _improve(x: FloatArray, y: FloatArray, moments: Affine) -> Improved:
    """Do so if y is not smaller than x."""
    begun = begin_with_moments(x, y, moments)
    if begun is not None and not begun.better:
        return Improved(None, _moments_kept(_words(*begun.seen)), False)
    if begun is not None:
        unit, none = float(begun.numbers[4]), np.zeros(x.shape[1])
        a = Central(begun.a.T, begun.origin, unit, none)
        b = Central(begun.b.T, (begun.origin - moments.shift) / moments.scale, unit / moments.scale, none)
        return _conclude(Judge(a.points, b.points), a, b, *begun.judged(x.shape[1]), begun.seen[2])
    first, second = central(x), central(y)
    if first is None or second is None:
        why = "alignment: moments, as half of the points of a set coincide or are out of range"
        return Improved(None, why, False)
    return _search(first, second, moments)


def _search(a: Central, b: Central, moments: Affine) -> Improved:
    """Do so in the units of the sets, from all starts that are needed."""
    judge = Judge(a.points, b.points)
    chance = judge.chance()
    before = judge.judge(in_units(moments, a, b))
    best = _refined(judge, before)
    for starts in (_central_maps, _two_point_maps):
        if best.mean <= CONVINCING * chance:
            refined = [_refined(judge, judge.judge(map_)) for map_ in starts(judge, a, b)]
            best = max([best, *refined], key=lambda one: one.mean)
    return _conclude(judge, a, b, before, best, chance)


def _conclude(
    judge: Judge, a: Central, b: Central, before: JudgedMap, best: JudgedMap, chance: float
) -> Improved:
    """Decide between the moments and the best map, and refit that with more points."""
    others = np.delete(np.arange(len(judge.a)), judge.rows)
    if others.size and _is_better(best, before):
        # The best of several maps looks better than it is: to points that chose it, not to others.
        rows = others[spread_evenly(others.size, _ASKED_AGAIN)]
        before, best = judge.judge(before.map, rows), judge.judge(best.map, rows)
    seen = _words(best.mean, before.mean, chance)
    if not _is_better(best, before):
        return Improved(None, _moments_kept(seen), False)
    rows = spread_evenly(len(judge.a), _ASKED_LAST)
    last = judge.judge(best.map, rows)
    map_ = _refit(judge, last, rows)
    if map_ is None or judge.judge(map_, rows).mean <= last.mean:
        map_ = best.map
    return Improved(as_given(map_, a, b), f"alignment: robust ({seen})", best.mean > chance)


def _words(best: float, before: float, chance: float) -> str:
    seen = f"{best:.2g} with robust estimates, {before:.2g} with moments, {chance:.2g} by chance"
    return f"pairs stand out by {seen}"


def _moments_kept(seen: str) -> str:
    return f"alignment: moments, which robust estimates do not improve ({seen})"


def _is_better(one: JudgedMap, other: JudgedMap) -> bool:
    """Tell whether the same points stand out more under a map than under another one, beyond chance."""
    gain = one.prominence - other.prominence
    return bool(gain.mean() > BEYOND_CHANCE * gain.std() / math.sqrt(gain.size))


def _central_maps(judge: Judge, a: Central, b: Central) -> list[Map]:
    """Give the best of the maps that take robust centres onto each other."""
    judged = [judge.judge(start) for start in robust_starts(a, b)]
    return [one.map for one in sorted(judged, key=lambda one: -one.mean)[:_STARTS]]


def _two_point_maps(judge: Judge, a: Central, b: Central) -> list[Map]:
    return two_point_maps(judge, a.core, b.core)


def _refined(judge: Judge, judged: JudgedMap) -> JudgedMap:
    """Refit until the pairs stay the same; return the best map on the way."""
    best = judged
    for _ in range(REFITS):
        map_ = _refit(judge, judged, judge.rows)
        if map_ is None:
            break
        before, judged = judged, judge.judge(map_)
        best = max(best, judged, key=lambda one: one.mean)
        if np.array_equal(before.cols, judged.cols):
            break
    return best


def _refit(judge: Judge, judged: JudgedMap, rows: IntArray) -> Map | None:
    """Standardise the more prominent half of the pairs that stand out; None if these are too few."""
    count = np.count_nonzero(judged.prominence > 0.0)
    if count < LEAST_PAIRS:
        return None
    half = np.argsort(-judged.prominence, kind="stable")[: max((count + 1) // 2, LEAST_PAIRS)]
    a, b = judge.a[rows[half]], judge.b[judged.cols[half]]
    a_mean, b_mean = a.mean(axis=0), b.mean(axis=0)
    scale = math.sqrt(np.square(a - a_mean).sum() / np.square(b - b_mean).sum())
    return Map(scale, a_mean - scale * b_mean) if 0.0 < scale < math.inf else None


def _inverse(affine: Affine) -> Affine:
    return Affine(1.0 / affine.scale, -affine.shift / affine.scale)


ROBUST = AlignmentRow(
    "robust",
    "a map that points without a partner and wild points do not disturb",
    align=lambda x, y, workers: fit_robust(x, y),
)
