"""Choosing the pairs of a matching that are worth keeping: their number, and a confidence for each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.choice.partnership import Partnership
from lslmatch.choice.relearning import Judged, is_beyond_chance, judge_all, judge_by_levels, taken
from lslmatch.covariance.trimmed import can_be_relearned
from lslmatch.results import FalseShare, MatchResult

#: Number of pairs n * m up to which pairs can be chosen: several matrices of that size are made.
_MOST_ENTRIES = 1 << 26
#: Fewer pairs than this say nothing about each other.
_LEAST_PAIRS = 6
#: By what share fewer pairs may be right under a covariance, for its cross-entropy beside that of isotropic
#: noise: isotropic noise that predicts its pairs badly is too sure of them.
_FEWER_RIGHT = ((1.0 / 3.0, 0.1), (0.9, 0.02))
#: Otherwise so many more must be.
_MORE_RIGHT = 0.02
#: Below this share of right pairs noise levels of the columns are looked at. Where isotropic noise finds some
#: as well, so many times as many must be right with them: few pairs that agree confirm themselves.
_MOST, _CLEARLY = 0.9, 1.5
#: By what factor pairs stand out more where isotropic noise is wrong.
_STANDS_OUT_MORE = 1.5


def is_choosable(n: int, m: int) -> bool:
    """Tell whether there are few enough points to choose pairs from."""
    return n * m <= _MOST_ENTRIES


def check_choosable(n: int, m: int) -> None:
    """Raise if there are too many points to choose pairs from."""
    if not is_choosable(n, m):
        raise ValueError(
            f"x and y must have at most {_MOST_ENTRIES} pairs of points to choose from them; got {n} times "
            f"{m}. Give a number of pairs, or 'all'"
        )


def choose_pairs(
    x: FloatArray,
    y: FloatArray,
    result: MatchResult,
    target: FalseShare | None,
    refit: bool,
    workers: int,
    base: MatchResult | None = None,
    diagonal: MatchResult | None = None,
) -> MatchResult:
    """Keep the pairs of a matching that are probably right, or so many that few are expected to be false.

    A covariance that was learned from all pairs is learned again from those that are kept; if `refit`,
    with scale and shift. Beside it, `base` is the matching with isotropic noise, and `diagonal` that with a
    variance for each column: the better choice is taken.
    """
    twice = target is not None
    found = _choose(x, y, result if diagonal is None else diagonal, target, refit, twice, workers)
    covariance = found.result.covariance
    if base is None or covariance is None or covariance.is_isotropic or found.result.confidence is None:
        return found.result
    # Isotropic noise is not taken for granted here: two opinions are heard, as under a learned covariance.
    plain = _choose(x, y, base, target, False, True, workers)
    usual = found.result if diagonal is not None else _beside(x, y, base, plain, found, workers)
    most = min(len(x), len(y))
    expected = _expected(usual)
    if expected >= _MOST * most or not can_be_relearned(result):
        return usual
    levels = _take_judged(judge_by_levels(x, y, result, base, refit, workers), target, most)
    if levels.right > (_CLEARLY if plain.right > 0.0 else 1.0) * expected:
        how = f"{levels.right:.0f} pairs are probably right under it, {expected:.0f} without"
        return _decided(levels.result, f"covariance: learned with the noise level of each column, as {how}")
    return usual


def _beside(
    x: FloatArray, y: FloatArray, base: MatchResult, plain: _Choice, learned: _Choice, workers: int
) -> MatchResult:
    """Take the better choice; where a covariance finds nothing, isotropic noise is doubted as well."""
    if learned.right == 0.0 < plain.right and not is_beyond_chance(x, y, base, plain.right, workers):
        return learned.result
    return _better(plain, learned)


def _expected(result: MatchResult) -> float:
    """Give how many pairs are expected to be right."""
    assert result.confidence is not None
    return float(result.confidence[result.permutation >= 0].sum())


class _Choice(NamedTuple):
    result: MatchResult
    right: float  # how many of the chosen pairs are probably right
    stands_out: float  # mean prominence of all pairs beside that of chance


def _choose(
    x: FloatArray,
    y: FloatArray,
    result: MatchResult,
    target: FalseShare | None,
    refit: bool,
    twice: bool,
    workers: int,
) -> _Choice:
    most = min(len(x), len(y))
    if most < _LEAST_PAIRS:
        line = f"pairs: all {most}, which are too few to choose from"
        return _Choice(_decided(result, line), float(most), 0.0)
    return _take_judged(judge_all(x, y, result, refit, twice, workers), target, most)


def _take_judged(found: Judged, target: FalseShare | None, most: int) -> _Choice:
    """Take the pairs that are probably right, or as many as a limit allows."""
    result, costs, judged = found
    rows = judged.accepted if target is None else judged.within(target.share)
    if result.given is not None:
        rows = np.union1d(rows, result.given.known[:, 0])
    if rows.size == 0:
        return _Choice(_without_pairs(result, costs, judged), 0.0, judged.stands_out)
    chosen = _take(result, judged, rows)
    if rows.size == most:
        why = "as none is more probably of points without a partner"
    elif target is None or rows.size == judged.accepted.size:
        why = "as the others are more probably of points without a partner"
    else:
        why = f"as more would have an expected share of false pairs above {target.share:g}"
    right = float(judged.right[np.isin(judged.rows, rows)].sum())
    false = 1.0 - right / rows.size
    line = f"pairs: {rows.size} of at most {most}, {why} (expected share of false pairs {false:.2g})"
    return _Choice(_decided(chosen, line), right, judged.stands_out)


def _take(result: MatchResult, judged: Partnership, rows: IntArray) -> MatchResult:
    """Take some pairs out of the matching of all points, with their confidences.

    They need not be the cheapest: points whose noise is high are dear, and in many dimensions some points
    are near to all others.
    """
    chosen = np.isin(judged.rows, rows)
    confidence = np.full(result.permutation.size, np.nan)
    confidence[rows] = judged.right[chosen]
    if chosen.all():
        return result._replace(confidence=confidence)
    return result._replace(
        permutation=taken(result, rows),
        objective=float(judged.cost[chosen].sum()),
        chosen_from=result.permutation,
        confidence=confidence,
    )


def _better(plain: _Choice, learned: _Choice) -> MatchResult:
    """Take the choice with isotropic noise or that under a learned covariance: where more is probably right.

    Somewhat fewer will do under a covariance that predicts its own pairs clearly better; and if its pairs
    stand out clearly more, isotropic noise is wrong, and too sure of its pairs.
    """
    covariance = learned.result.covariance
    assert covariance is not None
    how = f"{learned.right:.0f} pairs are probably right under it, {plain.right:.0f} with isotropic noise"
    how += f", and its cross-entropy is {covariance.cross_entropy:.3g}"
    how += f" against {covariance.isotropic_cross_entropy:.3g}"
    least = (1.0 + _MORE_RIGHT) * plain.right
    for ratio, fewer in reversed(_FEWER_RIGHT):
        if covariance.cross_entropy < ratio * covariance.isotropic_cross_entropy:
            least = (1.0 - fewer) * plain.right
    stands_out = learned.right > 0.0 and learned.stands_out > _STANDS_OUT_MORE * plain.stands_out
    if learned.right > least or stands_out:
        return _decided(learned.result, f"covariance: learned, as {how}")
    isotropic = covariance._replace(factor=covariance.factor[:0], ridge=1.0, reference=None, weight=None)
    isotropic = isotropic._replace(leave_out=False, undecided=0, units=None, reason=how)
    return _decided(plain.result._replace(covariance=isotropic), f"covariance: isotropic, as {how}")


def _without_pairs(result: MatchResult, costs: FloatArray, judged: Partnership) -> MatchResult:
    """Give the matching of no pairs: no price below the least cost buys one."""
    n, m = costs.shape
    line = (
        "pairs: none, as the best pairs do not stand out from other candidates "
        f"({judged.stands_out:.2g} of what chance would give; mean margin {judged.margin:.2g})"
        if judged.accepted.size == 0
        else "pairs: none, as even the surest pairs have a greater expected share of false ones"
    )
    empty = result._replace(
        permutation=np.full(n, -1, np.intp),
        objective=0.0,
        row_dual=np.zeros(n),
        col_dual=np.zeros(m),
        price=float(costs.min()),
        confidence=np.full(n, np.nan),
    )
    return _decided(empty, line)


def _decided(result: MatchResult, line: str) -> MatchResult:
    return result._replace(decisions=(*result.decisions, line))
