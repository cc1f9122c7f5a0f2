"""Choosing the pairs of a matching that are worth keeping: their number, and a confidence for each."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.covariance.pair_costs import costs_of_result, match_pairs
from lslmatch.partnership import Partnership, judge_pairs
from lslmatch.results import FalseShare, MatchResult

#: Number of pairs n * m up to which pairs can be chosen: several matrices of that size are made.
_MOST_ENTRIES = 1 << 26
#: Fewer pairs than this say nothing about each other.
_LEAST_PAIRS = 6
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
    x: FloatArray, y: FloatArray, result: MatchResult, target: FalseShare | None, workers: int
) -> MatchResult:
    """Keep the pairs of a matching that are probably true, or so many that few are expected to be false."""
    most = min(len(x), len(y))
    if most < _LEAST_PAIRS:
        return _decided(result, f"pairs: all {most}, which are too few to choose from")
    costs = costs_of_result(x, y, result, workers)
    judged = judge_pairs(costs, result, x.shape[1])
    k = judged.accepted if target is None else judged.within(target.share)
    chosen = result
    while True:
        if k == 0:
            return _without_pairs(result, costs, judged)
        chosen = result if k == most else match_pairs(x, y, result, k, workers)
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
        f"({judged.stands_out:.2g} of what chance would give)"
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
