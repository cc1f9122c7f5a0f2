"""Choosing the pairs of a matching that are worth keeping: their number, and a confidence for each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.covariance.pair_costs import costs_of_result, match_pairs
from lslmatch.covariance.trimmed import can_be_relearned, match_again
from lslmatch.partnership import Partnership, judge_pairs
from lslmatch.results import FalseShare, MatchResult

#: Number of pairs n * m up to which pairs can be chosen: several matrices of that size are made.
_MOST_ENTRIES = 1 << 26
#: Fewer pairs than this say nothing about each other.
_LEAST_PAIRS = 6
#: How often a covariance is learned again at most, and from which share of the pairs at least.
_ROUNDS, _LEAST_SHARE = 10, 0.1
#: By what share fewer pairs may be right under a covariance, for its cross-entropy beside that of isotropic
#: noise: isotropic noise that predicts its pairs badly is too sure of them.
_FEWER_RIGHT = ((1.0 / 3.0, 0.1), (0.9, 0.02))
#: Otherwise so many more must be.
_MORE_RIGHT = 0.02
#: By what factor fewer pairs are tried where the target is missed.
_FEWER = 0.95


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
    x: FloatArray, y: FloatArray, result: MatchResult, target: FalseShare | None, refit: bool, workers: int
) -> MatchResult:
    """Keep the pairs of a matching that are probably true, or so many that few are expected to be false.

    A covariance that was learned from all pairs is learned again from those that are kept; if `refit`,
    with scale and shift.
    """
    most = min(len(x), len(y))
    if most < _LEAST_PAIRS:
        return _decided(result, f"pairs: all {most}, which are too few to choose from")
    result, costs, judged = _judge(x, y, result, refit, workers)
    k = judged.accepted if target is None else judged.within(target.share, can_be_relearned(result))
    chosen = result
    while True:
        if k == 0:
            return _without_pairs(result, costs, judged)
        if k == most:
            chosen = result
        elif can_be_relearned(result):
            chosen = _surest(result, judged, k)
        else:
            chosen = match_pairs(x, y, result, k, workers)
        chosen = chosen._replace(confidence=_confidence(chosen, result, judged))
        if target is None or _false_share(chosen) <= target.share:
            break
        # The cheapest k pairs need not be the k cheapest of all: a few may be other pairs.
        k = int(_FEWER * k)
    if k == most:
        why = "as none is more probably of points without a partner"
    elif target is None or k == judged.accepted:
        why = "as the others are more probably of points without a partner"
    else:
        why = f"as more would have an expected share of false pairs above {target.share:g}"
    line = f"pairs: {k} of at most {most}, {why} (expected share of false pairs {_false_share(chosen):.2g})"
    return _decided(chosen, line)


def _surest(result: MatchResult, judged: Partnership, k: int) -> MatchResult:
    """Take the pairs that are most probably true out of the matching of all points.

    The cheapest pairs need not be these under a learned covariance: in many dimensions some points are near
    to all others.
    """
    surest = np.argsort(-judged.true, kind="stable")[:k]
    rows = judged.rows[surest]
    permutation = np.full(result.permutation.size, -1, np.intp)
    permutation[rows] = result.permutation[rows]
    total = float(judged.cost[surest].sum())
    return result._replace(permutation=permutation, objective=total, chosen_from=result.permutation)


def better_choice(plain: MatchResult, learned: MatchResult) -> MatchResult:
    """Take the choice with isotropic noise or that under a learned covariance: where more is probably right.

    Somewhat fewer will do under a covariance that predicts its own pairs clearly better.
    """
    covariance = learned.covariance
    if (
        covariance is None
        or covariance.is_isotropic
        or plain.confidence is None
        or learned.confidence is None
    ):
        return learned
    without, under = float(np.nansum(plain.confidence)), float(np.nansum(learned.confidence))
    how = f"{under:.0f} pairs are probably right under it, {without:.0f} with isotropic noise"
    how += f", and its cross-entropy is {covariance.cross_entropy:.3g}"
    how += f" against {covariance.isotropic_cross_entropy:.3g}"
    least = (1.0 + _MORE_RIGHT) * without
    for ratio, fewer in reversed(_FEWER_RIGHT):
        if covariance.cross_entropy < ratio * covariance.isotropic_cross_entropy:
            least = (1.0 - fewer) * without
    if under > least:
        return _decided(learned, f"covariance: learned, as {how}")
    isotropic = covariance._replace(factor=covariance.factor[:0], ridge=1.0, reference=None, weight=None)
    isotropic = isotropic._replace(leave_out=False, undecided=0, reason=how)
    return _decided(plain._replace(covariance=isotropic), f"covariance: isotropic, as {how}")


class _Judged(NamedTuple):
    result: MatchResult  # all pairs, under the final covariance
    costs: FloatArray
    partnership: Partnership


def _judge(x: FloatArray, y: FloatArray, result: MatchResult, refit: bool, workers: int) -> _Judged:
    """Judge all pairs; learn a covariance again from those that are probably true, until these come back."""
    seen: set[bytes] = set()
    while True:
        costs = costs_of_result(x, y, result, workers)
        judged = judge_pairs(costs, result, x.shape[1])
        rows = judged.probable
        if len(seen) == _ROUNDS or rows.size < max(_LEAST_PAIRS, _LEAST_SHARE * judged.rows.size):
            break
        kept = np.full(len(x), -1, np.intp)
        kept[rows] = result.permutation[rows]
        if kept.tobytes() in seen:
            break
        seen.add(kept.tobytes())
        again = match_again(x, y, result, kept, refit, workers)
        if again is None:
            break
        result = again
    return _Judged(result, costs, judged)


def _confidence(chosen: MatchResult, all_pairs: MatchResult, judged: Partnership) -> FloatArray:
    """Give the pairs that were judged their probability, and pairs that came in later the least of these."""
    confidence = np.zeros(chosen.permutation.size)
    confidence[judged.rows] = judged.right
    matched = chosen.permutation >= 0
    same = matched & (chosen.permutation == all_pairs.permutation)
    least = float(confidence[same].min()) if same.any() else 0.0
    return np.where(same, confidence, np.where(matched, least, np.nan))


def _false_share(result: MatchResult) -> float:
    assert result.confidence is not None
    return 1.0 - float(np.nanmean(result.confidence))


def _without_pairs(result: MatchResult, costs: FloatArray, judged: Partnership) -> MatchResult:
    """Give the matching of no pairs: no price below the least cost buys one."""
    n, m = costs.shape
    line = (
        "pairs: none, as the best pairs do not stand out from other candidates "
        f"({judged.stands_out:.2g} of what chance would give; mean margin {judged.margin:.2g})"
        if judged.accepted == 0
        else "pairs: none, as even the cheapest pairs have a greater expected share of false ones"
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
