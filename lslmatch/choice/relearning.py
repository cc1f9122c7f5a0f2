"""Judging the pairs of a matching, under a covariance that is learned from the pairs that are true.

Which pairs are true depends on the covariance, and it on them. It is learned from few pairs that can be
trusted (:mod:`lslmatch.covariance.trimmed`), then from all that differ from strangers made by deletion
(:mod:`lslmatch.choice.deletion`), and then from those that the model of true pairs and strangers
(:mod:`lslmatch.choice.partnership`) accepts, too, until these come back. That begins with the covariance of
all pairs.

Where many points are strangers, more is found if columns are divided by their noise levels, and from costs
that know nothing of the noise (:mod:`lslmatch.choice.tempered`): the end with the most right pairs counts.
Whether anything is in common at all is doubtful where pairs hardly stand out. Then the same is done with sets
that have nothing in common with x for certain (:mod:`lslmatch.choice.unrelated`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.orientation import partners
from lslmatch.assignment.solve import assign
from lslmatch.choice.deletion import stranger_rates
from lslmatch.choice.partnership import Partnership, judge_pairs
from lslmatch.choice.tempered import tempered_starts
from lslmatch.choice.unrelated import unrelated_sets
from lslmatch.covariance.evidence import best_rate
from lslmatch.covariance.trimmed import (
    GROWING,
    Relearned,
    beside_isotropic,
    can_be_relearned,
    match_again,
    trust_pairs,
)
from lslmatch.known.costs import judged_costs
from lslmatch.results import Affine, MatchResult

#: Fewer pairs than this teach nothing.
_LEAST_PAIRS = 6
#: Rounds in which a covariance is learned from pairs that differ from strangers, and the greatest probability
#: of a stranger in them.
_FIRST_ROUNDS, _STRANGER = 3, 0.3
#: Rounds, at most, in which it is learned from the accepted pairs.
_ROUNDS = 6
#: So many times as many pairs must be right as in sets that have nothing in common.
_MORE_RIGHT = 2.0


class Judged(NamedTuple):
    """All pairs, under the final covariance, their costs, and what is thought of each."""

    result: MatchResult
    costs: FloatArray
    partnership: Partnership

    @property
    def right(self) -> float:
        """How many are right of the pairs that are probably right."""
        return _right(self.partnership)


def judge_all(
    x: FloatArray, y: FloatArray, result: MatchResult, refit: bool, twice: bool, workers: int
) -> Judged:
    """Judge the pairs of a matching of all points; a covariance that was learned is learned again.

    With it scale and shift, if `refit`. Otherwise the model alone judges, or deletion as well if `twice`.
    """
    costs = judged_costs(x, y, result, workers)
    if result.given is not None or result.regression is not None:
        judge = _judge_twice if twice else judge_pairs
        return Judged(result, costs, _with_known(judge(costs, result, x.shape[1]), result))
    if not can_be_relearned(result):
        judge = _judge_twice if twice else judge_pairs
        return Judged(result, costs, judge(costs, result, x.shape[1]))
    found = _relearn(x, y, Relearned(result, costs), refit, workers)
    return found._replace(result=beside_isotropic(x, y, found.result, workers))


def judge_by_levels(
    x: FloatArray, y: FloatArray, result: MatchResult, beside: MatchResult, refit: bool, workers: int
) -> Judged:
    """Judge under a covariance that begins with the noise levels of the columns, from several starts.

    `beside` is the matching with isotropic noise, whose map no covariance has a part in.
    """
    plain = result.with_map(beside.map) if isinstance(result.map, Affine) else result
    own = Relearned(result, judged_costs(x, y, result, workers))
    ends = [_relearn(x, y, own, refit, workers, by_levels=True)]
    ends += _from_tempered(x, y, plain, refit, workers)
    found = max(ends, key=lambda end: end.right)
    # Several starts find more by chance than one: whatever they find is compared with that.
    chance = (end for other in unrelated_sets(y) for end in _from_tempered(x, other, plain, refit, workers))
    judged = found.partnership
    if _is_confirmed(found, chance):
        found = found._replace(partnership=judged._replace(is_confirmed=True))
    else:
        found = found._replace(partnership=judged._replace(true=np.zeros_like(judged.true)))
    return found._replace(result=beside_isotropic(x, y, found.result, workers))


def _from_tempered(
    x: FloatArray, y: FloatArray, plain: MatchResult, refit: bool, workers: int
) -> Iterator[Judged]:
    for start in tempered_starts(x, y, plain):
        yield _relearn(x, y, start, refit, workers, GROWING, by_levels=True)


def _with_known(judged: Partnership, result: MatchResult) -> Partnership:
    """Take known pairs for right."""
    if result.given is None:
        return judged
    known = np.isin(judged.rows, result.given.known[:, 0])
    return judged._replace(true=np.where(known, 1.0, judged.true), own=np.where(known, 1.0, judged.own))


def _is_confirmed(found: Judged, chance: Iterator[Judged]) -> bool:
    """Tell whether more pairs are right, and by greater margins, than ever by chance."""
    own = found.partnership
    return own.are_many and all(
        found.right > _MORE_RIGHT * other.right and own.margin > other.partnership.margin for other in chance
    )


def _right(judged: Partnership) -> float:
    return float(judged.right[judged.right > 0.5].sum())


def is_beyond_chance(x: FloatArray, y: FloatArray, result: MatchResult, right: float, workers: int) -> bool:
    """Tell whether more pairs are right than under the same map with points that have nothing in common."""
    for other in unrelated_sets(y):
        costs = judged_costs(x, other, result, workers)
        found = assign(costs)
        permutation = partners(len(x), found.row_ind, found.col_ind)
        matched = result._replace(permutation=permutation, row_dual=found.row_dual, col_dual=found.col_dual)
        if not right > _MORE_RIGHT * _right(_judge_twice(costs, matched, x.shape[1])):
            return False
    return True


def _relearn(
    x: FloatArray,
    y: FloatArray,
    present: Relearned,
    refit: bool,
    workers: int,
    growing: tuple[float, ...] = (),
    by_levels: bool = False,
) -> Judged:
    """Learn a covariance from ever better pairs."""
    kept = trust_pairs(x, y, present, refit, workers, growing, by_levels)
    seen: set[bytes] = set()
    judged: Partnership | None = None  # what is thought of the present pairs, if that is known
    for done in range(_FIRST_ROUNDS + _ROUNDS + 1):
        if np.count_nonzero(kept >= 0) < _LEAST_PAIRS or kept.tobytes() in seen:
            break
        again = match_again(x, y, present.result, kept, refit, workers, by_levels)
        if again is None:
            break
        present, judged = again, None
        if done < _FIRST_ROUNDS:
            first = judge_pairs(present.costs, present.result, x.shape[1])
            strangers = stranger_rates(present.costs, present.result.permutation, first.rate)
            kept = taken(present.result, first.rows[strangers < _STRANGER])
        else:
            seen.add(kept.tobytes())
            judged = _judge_twice(present.costs, present.result, x.shape[1])
            kept = taken(present.result, judged.probable)
    if judged is None:
        judged = _judge_twice(present.costs, present.result, x.shape[1])
    return Judged(*present, judged)


def _judge_twice(costs: FloatArray, result: MatchResult, dimension: int) -> Partnership:
    """Judge pairs by the model and by deletion: a true pair is one for both.

    Exchanges are judged by the rate at which pairs predict themselves best: under a learned covariance those
    that it was learned from. With isotropic noise they are those of the model, for which the rate is d / 2,
    and the rate is lowered only where another is better by more than the step between those that are tried.
    """
    learned = result.covariance or result.regression
    reference = None if learned is None else learned.reference
    torn = None
    if reference is not None:
        rate = best_rate(costs, reference, dimension)
        judged = judge_pairs(costs, result, dimension, rate)
    else:
        judged = judge_pairs(costs, result, dimension)
        # Pairs that the model takes for strangers, which may be of a kind of their own, are not torn apart.
        torn = judged.rows[judged.true > 0.5]
        rate = 2.0 * best_rate(costs, taken(result, torn), dimension) if torn.size else dimension / 2.0
        if rate < dimension / 2.0:
            judged = judge_pairs(costs, result, dimension, rate)
    strangers = stranger_rates(costs, result.permutation, judged.rate, torn)
    return judged._replace(true=np.minimum(judged.true, 1.0 - strangers))


def taken(result: MatchResult, rows: IntArray) -> IntArray:
    """Give the partners of some rows, and -1 for all others."""
    kept = np.full(result.permutation.size, -1, np.intp)
    kept[rows] = result.permutation[rows]
    return kept
