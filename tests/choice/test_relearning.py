"""Judging under a covariance that is learned again: who is asked what, and in which order."""

import numpy as np
import pytest

from lslmatch import match
from lslmatch.choice import relearning
from lslmatch.choice.partnership import Partnership
from lslmatch.choice.relearning import (
    Judged,
    _judge_twice,
    _relearn,
    is_beyond_chance,
    judge_all,
    judge_by_levels,
    taken,
)
from lslmatch.covariance.trimmed import Relearned
from lslmatch.results import Affine, Covariance

N = 12
RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 3))
RESULT = match(X, Y)
COSTS = RNG.normal(size=(N, N))
LEARNED = RESULT._replace(covariance=Covariance(np.eye(3), 0.5, np.arange(N), None, True))


def thought(true, rows=None, **more):
    true = np.asarray(true, float)
    rows = np.arange(true.size) if rows is None else rows
    found = Partnership(rows, COSTS[0, : true.size], true, np.ones(true.size), 9.0, 9.0, 1.25)
    return found._replace(**more)


def patched(monkeypatch, **functions):
    for name, function in functions.items():
        monkeypatch.setattr(relearning, name, function)


@pytest.mark.parametrize("twice", [False, True])
def test_a_covariance_that_was_not_learned_is_not_learned_again(twice, monkeypatch):
    patched(
        monkeypatch,
        judged_costs=lambda *a: COSTS,
        judge_pairs=lambda *a: ("once", *a),
        _judge_twice=lambda *a: ("twice", *a),
    )
    found = judge_all(X, Y, RESULT, True, twice, 1)
    assert found.result is RESULT
    assert found.costs is COSTS
    assert found.partnership == ("twice" if twice else "once", COSTS, RESULT, 3)


def ends(monkeypatch, mine, others=(), chance=(), is_by_levels=True):
    """Give stand-ins for ends of learning, by their start; what was begun with is noted."""
    asked = []

    def relearn(x, y, start, refit, workers, growing=(), by_levels=False):
        assert (refit, workers, by_levels) == (True, 3, is_by_levels)
        asked.append((y is Y, start, growing))
        return found[len(asked) - 1]

    found = [Judged(LEARNED, COSTS, end) for end in (mine, *others, *chance)]
    patched(
        monkeypatch,
        judged_costs=lambda *a: COSTS,
        _relearn=relearn,
        tempered_starts=lambda x, y, result: ((y is Y, result.scale, power) for power in (1, 2)),
        beside_isotropic=lambda x, y, result, workers: ("beside", result, workers),
    )
    other = RESULT.with_map(Affine(7.0, np.zeros(3)))
    if is_by_levels:
        return judge_by_levels(X, Y, LEARNED, other, True, 3), asked
    return judge_all(X, Y, LEARNED, True, False, 3), asked


def test_the_covariance_of_all_pairs_is_the_only_start_without_levels(monkeypatch):
    found, asked = ends(monkeypatch, thought(np.full(N, 0.1)), is_by_levels=False)
    assert found.result == ("beside", LEARNED, 3)
    assert [(own, growing) for own, _, growing in asked] == [(True, ())]
    assert asked[0][1] == Relearned(LEARNED, COSTS)


@pytest.mark.parametrize("best", [0, 1, 2])
def test_of_several_starts_the_one_with_most_right_pairs_is_taken(best, monkeypatch):
    true = [np.full(N, 0.7 if place == best else 0.6) for place in range(3)]
    by_chance = thought(np.full(N, 0.4), margin=2.0)
    found, asked = ends(monkeypatch, thought(true[0]), [thought(part) for part in true[1:]], [by_chance] * 18)
    assert (found.partnership.true == 0.7).all()
    assert found.partnership.is_confirmed
    assert [start for _, start, _ in asked[1:3]] == [(True, 7.0, 1), (True, 7.0, 2)]
    assert all(growing == relearning.GROWING for _, _, growing in asked[1:])


def test_pairs_that_stand_out_are_compared_with_chance_as_well(monkeypatch):
    # Several starts find pairs that stand out in sets that have nothing in common, too.
    mine, less = thought(np.full(N, 0.7)), thought(np.full(N, 0.1))
    assert mine.accepted.size == N
    found, _ = ends(monkeypatch, mine, [less, less], [mine] * 18)
    assert found.partnership.accepted.size == 0
    assert found.right == 0.0


@pytest.mark.parametrize(
    ("right", "margin", "others", "is_confirmed"),
    [(0.6, 2.5, 5, True), (0.6, 2.5, 6, False), (0.6, 2.4, 1, False), (0.2, 2.5, 0, False)],
)
def test_doubtful_pairs_are_compared_with_those_of_unrelated_sets(
    right, margin, others, is_confirmed, monkeypatch
):
    mine = thought(np.full(N, right), stands_out=0.1, margin=margin)
    assert mine.accepted.size == 0
    less = mine._replace(true=mine.true / 2)
    # Pairs that are probably wrong do not count.
    by_chance = thought(np.where(np.arange(N) < others, 0.6, 0.4), stands_out=9.0, margin=2.4)
    found, asked = ends(monkeypatch, mine, [less, less], [by_chance] * 18)
    assert found.partnership.is_confirmed == is_confirmed
    assert found.partnership.accepted.size == (N if is_confirmed else 0)
    if is_confirmed:
        assert [own for own, _, _ in asked] == [True] * 3 + [False] * 18
    elif right == 0.2:  # too few of them for a comparison
        assert len(asked) == 3
    else:
        assert len(asked) == 4


@pytest.mark.parametrize(("right", "expected"), [(8.1, True), (8.0, False)])
def test_pairs_with_isotropic_noise_are_compared_with_unrelated_ones(right, expected, monkeypatch):
    asked = []

    def judge(costs, result, dimension):
        duals = result.row_dual.sum() + result.col_dual.sum()
        assert costs[np.arange(N), result.permutation].sum() == pytest.approx(duals)
        asked.append(result)
        return thought(np.full(4, 1.0))

    costs = COSTS - COSTS.min() + 1.0
    patched(monkeypatch, judged_costs=lambda x, y, *a: costs, _judge_twice=judge)
    assert is_beyond_chance(X, Y, RESULT, right, 1) == expected
    assert len(asked) == (9 if expected else 1)


class Rounds:
    """Stand-ins for what a covariance is learned from: all that is asked is noted."""

    def __init__(self, monkeypatch, first=(), later=(), trusted=None, fails_at=None):
        self.kept, self.judged = [], []
        first, later = list(first), list(later)
        trusted = np.arange(N) if trusted is None else trusted

        def match_again(x, y, result, kept, refit, workers, by_levels):
            assert (refit, workers, by_levels) == (True, 3, False)
            self.kept.append(list(np.flatnonzero(kept >= 0)))
            np.testing.assert_array_equal(kept[kept >= 0], RESULT.permutation[kept >= 0])
            if len(self.kept) == fails_at:
                return None
            return Relearned(result._replace(objective=float(len(self.kept))), COSTS + len(self.kept))

        def judge_once(costs, result, dimension, rate=None):
            assert dimension == 3
            self.judged.append(("once", result.objective))
            return thought(np.ones(N))

        def stranger_rates(costs, permutation, rate):
            assert rate == 1.25
            rows = first.pop(0) if first else np.arange(N)
            return np.where(np.isin(np.arange(N), rows), 0.3 - 1e-9, 0.3)

        def judge_twice(costs, result, dimension):
            assert dimension == 3
            assert (costs == COSTS + result.objective).all() or not self.kept
            self.judged.append(("twice", result.objective))
            rows = later.pop(0) if later else np.arange(N)
            return thought(np.where(np.isin(np.arange(N), rows), 0.51, 0.5), stands_out=result.objective)

        patched(
            monkeypatch,
            trust_pairs=lambda *a: taken(RESULT, trusted),
            match_again=match_again,
            judge_pairs=judge_once,
            stranger_rates=stranger_rates,
            _judge_twice=judge_twice,
        )
        self.found = _relearn(X, Y, Relearned(LEARNED._replace(objective=0.0), COSTS), True, 3)


def rows(*left_out):
    return [i for i in range(N) if i not in left_out]


def test_three_rounds_ask_for_strangers_and_then_accepted_pairs_are_taken_until_they_come_back(monkeypatch):
    found = Rounds(
        monkeypatch,
        [rows(1), rows(2), rows(3)],
        [rows(4), rows(5), rows(4), rows(6)],
        np.array(rows(0)),
    )
    assert found.kept == [rows(k) for k in (0, 1, 2, 3, 4, 5)]
    assert found.judged == [
        ("once", 1.0),
        ("once", 2.0),
        ("once", 3.0),
        ("twice", 4.0),
        ("twice", 5.0),
        ("twice", 6.0),
    ]
    # What was thought of the last pairs is not found twice.
    assert found.found.result.objective == found.found.partnership.stands_out == 6.0
    assert (found.found.costs == COSTS + 6.0).all()


def test_pairs_that_do_not_come_back_end_after_some_rounds(monkeypatch):
    found = Rounds(monkeypatch, (), [rows(k) for k in range(N)])
    assert len(found.kept) == 10
    assert found.judged[-1] == ("twice", 10.0)
    assert len(found.judged) == 10


@pytest.mark.parametrize(("count", "is_learned"), [(5, False), (6, True)])
def test_fewer_than_six_pairs_teach_nothing(count, is_learned, monkeypatch):
    found = Rounds(monkeypatch, trusted=np.arange(count))
    assert bool(found.kept) == is_learned
    if not is_learned:
        assert found.judged == [("twice", 0.0)]
        assert found.found.result.objective == 0.0


def test_nor_do_pairs_without_residuals(monkeypatch):
    found = Rounds(monkeypatch, fails_at=3)
    assert len(found.kept) == 3
    assert found.judged == [("once", 1.0), ("once", 2.0), ("twice", 2.0)]
    found = Rounds(monkeypatch, (), [rows(1), rows(2)], fails_at=5)
    assert found.judged[3:] == [("twice", 4.0)], "it is known what is thought of them"
    assert found.found.partnership.stands_out == 4.0


def test_only_few_pairs_that_are_accepted_end_it_too(monkeypatch):
    found = Rounds(monkeypatch, (), [np.arange(5)])
    assert len(found.kept) == 4
    assert found.judged[3:] == [("twice", 4.0)]


def judged_twice(monkeypatch, result, best, true=0.9, strangers=0.0):
    """Judge twice with stand-ins; give what was found, and what was asked."""
    asked = []

    def best_rate(costs, permutation, dimension):
        assert dimension == 3
        asked.append(("rate", list(np.flatnonzero(permutation >= 0))))
        return best

    def judge(costs, found, dimension, rate=None):
        asked.append(("judge", rate))
        return thought(np.broadcast_to(true, N), rate=7.0 if rate is None else rate)

    def stranger_rates(costs, permutation, rate, torn):
        np.testing.assert_array_equal(permutation, RESULT.permutation)
        asked.append(("strangers", rate, None if torn is None else list(torn)))
        return np.broadcast_to(strangers, N)

    patched(monkeypatch, best_rate=best_rate, judge_pairs=judge, stranger_rates=stranger_rates)
    return _judge_twice(COSTS, result, 3), asked


def test_a_true_pair_is_one_for_both(monkeypatch):
    true, strangers = RNG.uniform(size=(2, N))
    found, _ = judged_twice(monkeypatch, LEARNED, 2.0, true, strangers)
    np.testing.assert_allclose(found.true, np.minimum(true, 1.0 - strangers))
    assert 0 < np.count_nonzero(found.true == true) < N


def test_under_a_learned_covariance_its_pairs_say_at_which_rate_they_are_exchanged(monkeypatch):
    reference = np.where(np.arange(N) < 4, -1, np.arange(N))
    result = LEARNED._replace(covariance=LEARNED.covariance._replace(reference=reference))
    _, asked = judged_twice(monkeypatch, result, 2.25)
    assert asked == [("rate", list(range(4, N))), ("judge", 2.25), ("strangers", 2.25, None)]


@pytest.mark.parametrize(
    ("best", "rates"),
    # The rate is half of the dimension, unless half of it or less is better.
    [(0.75, [None]), (0.74, [None, 1.48]), (0.1, [None, 0.2]), (5.0, [None])],
)
@pytest.mark.parametrize("covariance", [None, Covariance(np.eye(3), 0.0)])
def test_with_isotropic_noise_the_rate_is_lowered_if_another_is_clearly_better(
    best, rates, covariance, monkeypatch
):
    true = np.where(np.arange(N) < 5, 0.5, 0.51)
    _, asked = judged_twice(monkeypatch, RESULT._replace(covariance=covariance), best, true)
    torn = list(range(5, N))
    assert [value for what, *more in asked for value in more[:1] if what == "judge"] == rates
    assert asked[1] == ("rate", torn)
    assert asked[-1] == ("strangers", rates[-1] or 7.0, torn)


def test_where_no_pair_is_true_the_rate_stays_as_it_is(monkeypatch):
    _, asked = judged_twice(monkeypatch, RESULT, 0.1, 0.5)
    assert asked == [("judge", None), ("strangers", 7.0, [])]


def test_what_is_not_taken_has_no_partner():
    np.testing.assert_array_equal(
        taken(RESULT, np.array([2, 0])), np.where(np.isin(np.arange(N), [0, 2]), RESULT.permutation, -1)
    )
