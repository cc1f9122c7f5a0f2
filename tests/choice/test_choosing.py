"""The choice itself: which pairs are taken, how many are said to be false, which covariance is preferred."""

import numpy as np
import pytest

from lslmatch import FalseShare, match
from lslmatch.choice import choosing
from lslmatch.choice.choosing import _better, _Choice, _choose, check_choosable, choose_pairs, is_choosable
from lslmatch.choice.partnership import Partnership
from lslmatch.choice.relearning import Judged
from lslmatch.results import Covariance

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(9, 2)), RNG.normal(size=(11, 2))
RESULT = match(X, Y)._replace(decisions=("alignment: so",))
COSTS = RNG.normal(size=(9, 11))


def thought(right, stands_out=9.0, margin=9.0):
    right = np.asarray(right, float)
    rows = np.arange(right.size)
    return Partnership(rows, COSTS[0, : right.size], right, np.ones(right.size), stands_out, margin, 1.0)


def choose(monkeypatch, judged, target=None, result=RESULT, x=X, y=Y):
    monkeypatch.setattr(choosing, "judge_all", lambda *arguments: Judged(result, COSTS, judged))
    return _choose(x, y, result, target, False, False, 1)


def test_sets_of_up_to_so_many_pairs_can_be_chosen_from():
    assert is_choosable(1 << 13, 1 << 13)
    assert is_choosable(1, 1 << 26)
    for n, m in ((1 << 13, (1 << 13) + 1), ((1 << 26) + 1, 1), (1, (1 << 26) + 1)):
        assert not is_choosable(n, m)
        with pytest.raises(
            ValueError, match=f"at most {1 << 26} pairs of points to choose .*; got {n} times {m}"
        ):
            check_choosable(n, m)
    check_choosable(1 << 13, 1 << 13)


@pytest.mark.parametrize(("n", "m"), [(5, 11), (9, 5)])
def test_all_pairs_of_few_points_are_kept(n, m, monkeypatch):
    result = match(X[:n], Y[:m])
    monkeypatch.delattr(choosing, "judge_all")
    found = _choose(X[:n], Y[:m], result, None, False, False, 1)
    assert found == _Choice(
        result._replace(decisions=("pairs: all 5, which are too few to choose from",)), 5.0, 0.0
    )


def test_with_six_points_pairs_are_judged(monkeypatch):
    small = match(X[:6], Y[:6])
    found = choose(monkeypatch, thought(np.full(6, 0.9)), None, small, X[:6], Y[:6])
    assert found.result.confidence is not None


def test_what_is_not_taken_has_no_partner_and_no_confidence(monkeypatch):
    right = np.array([0.9, 0.8, 0.2, 0.7, 0.95, 0.4, 0.6, 0.9, 0.99])
    found = choose(monkeypatch, thought(right, stands_out=7.0))
    kept = right > 0.5
    np.testing.assert_array_equal(found.result.permutation, np.where(kept, RESULT.permutation, -1))
    np.testing.assert_array_equal(found.result.confidence, np.where(kept, right, np.nan))
    np.testing.assert_array_equal(found.result.chosen_from, RESULT.permutation)
    assert found.result.objective == pytest.approx(COSTS[0, :9][kept].sum())
    assert found.right == pytest.approx(right[kept].sum())
    assert found.stands_out == 7.0
    false = 1.0 - right[kept].mean()
    assert found.result.decisions == (
        "alignment: so",
        "pairs: 7 of at most 9, as the others are more probably of points without a partner (expected share "
        f"of false pairs {false:.2g})",
    )


def test_if_all_are_taken_the_matching_stays_as_it_was(monkeypatch):
    right = np.linspace(0.6, 0.9, 9)
    found = choose(monkeypatch, thought(right))
    expected = RESULT._replace(confidence=right, decisions=found.result.decisions)
    assert found.result == expected
    assert found.result.decisions[-1] == (
        "pairs: 9 of at most 9, as none is more probably of points without a partner (expected share of "
        "false pairs 0.25)"
    )


@pytest.mark.parametrize(
    ("share", "count", "why"),
    [
        (0.055, 5, "as more would have an expected share of false pairs above 0.055"),
        (0.5, 7, "as the others are more probably of points without a partner"),
        (0.01, 0, ""),
    ],
)
def test_a_share_of_false_pairs_limits_the_choice(share, count, why, monkeypatch):
    right = np.array([0.95, 0.95, 0.95, 0.95, 0.95, 0.8, 0.8, 0.3, 0.3])
    found = choose(monkeypatch, thought(right), FalseShare(share))
    assert np.count_nonzero(found.result.permutation >= 0) == count
    if count:
        assert why in found.result.decisions[-1]
        assert (
            f"({f'expected share of false pairs {1 - right[:count].mean():.2g}'})"
            in found.result.decisions[-1]
        )
    else:
        assert found.result.decisions[-1].endswith(
            "none, as even the surest pairs have a greater expected share of false ones"
        )


def test_where_pairs_do_not_stand_out_there_are_none_and_a_certificate(monkeypatch):
    found = choose(monkeypatch, thought(np.full(9, 0.9), stands_out=0.25, margin=2.5))
    assert (found.right, found.stands_out) == (0.0, 0.25)
    result = found.result
    np.testing.assert_array_equal(result.permutation, np.full(9, -1))
    assert (result.objective, result.price) == (0.0, COSTS.min())
    np.testing.assert_array_equal(np.concatenate([result.row_dual, result.col_dual]), np.zeros(20))
    assert np.isnan(result.confidence).all()
    assert result.confidence.shape == (9,)
    assert result.decisions[-1] == (
        "pairs: none, as the best pairs do not stand out from other candidates (0.25 of what chance would "
        "give; mean margin 2.5)"
    )


LEARNED = Covariance(
    np.eye(2), ridge=0.5, reference=np.arange(9), leave_out=True, undecided=3, weight=0.7, cross_entropy=1.0,
    isotropic_cross_entropy=1.0,
)  # fmt: skip


def compared(right, plain_right, ratio=1.0, stands_out=1.0, plain_stands_out=1.0):
    covariance = LEARNED._replace(cross_entropy=2.0 * ratio, isotropic_cross_entropy=2.0)
    learned = _Choice(RESULT._replace(covariance=covariance, objective=1.0), right, stands_out)
    found = _better(_Choice(RESULT._replace(objective=2.0), plain_right, plain_stands_out), learned)
    return "learned" if found.objective == 1.0 else "isotropic"


@pytest.mark.parametrize(
    ("ratio", "least"),
    # What predicts its own pairs as well needs more right pairs, what predicts them better may have fewer.
    [(1.0, 102.0), (0.9, 102.0), (0.899, 98.0), (1.0 / 3.0, 98.0), (0.333, 90.0), (0.01, 90.0)],
)
def test_a_covariance_is_preferred_with_enough_right_pairs(ratio, least):
    assert compared(least + 1e-9, 100.0, ratio) == "learned"
    assert compared(least - 1e-9, 100.0, ratio) == "isotropic"


def test_or_if_its_pairs_stand_out_clearly_more():
    assert compared(5.0, 100.0, 1.0, 1.5 + 1e-9, 1.0) == "learned"
    assert compared(5.0, 100.0, 1.0, 1.5, 1.0) == "isotropic"
    assert compared(5.0, 100.0, 1.0, 3.1, 2.0) == "learned"
    assert compared(5.0, 100.0, 1.0, 2.9, 2.0) == "isotropic"
    assert compared(0.5, 100.0, 1.0, 9.0, 1.0) == "learned"
    assert compared(0.0, 100.0, 1.0, 9.0, 1.0) == "isotropic", "none of them is right"


def test_what_was_not_preferred_is_described():
    how = "40 pairs are probably right under it, 50 with isotropic noise"
    how += ", and its cross-entropy is 2 against 2.5"
    covariance = LEARNED._replace(cross_entropy=2.0, isotropic_cross_entropy=2.5)
    plain, learned = RESULT._replace(objective=2.0), RESULT._replace(covariance=covariance, objective=1.0)
    found = _better(_Choice(plain, 50.0, 1.0), _Choice(learned, 40.0, 1.0))
    assert found.decisions[-1] == f"covariance: isotropic, as {how}"
    noted = found.covariance
    assert noted.is_isotropic
    assert noted.factor.shape == (0, 2)
    assert (noted.ridge, noted.reference, noted.weight) == (1.0, None, None)
    assert (noted.leave_out, noted.undecided, noted.reason) == (False, 0, how)
    found = _better(_Choice(plain, 50.0, 1.0), _Choice(learned, 40.0, 2.0))
    assert found == learned._replace(decisions=(*learned.decisions, f"covariance: learned, as {how}"))


@pytest.mark.parametrize("target", [None, FalseShare(0.1)])
@pytest.mark.parametrize("case", ["base", "no base", "no covariance", "isotropic", "nothing judged"])
def test_two_opinions_are_heard_only_where_a_covariance_was_learned(case, target, monkeypatch):
    asked = []
    covariance = LEARNED._replace(factor=np.empty((0, 2)), ridge=1.0) if case == "isotropic" else LEARNED
    learned = RESULT._replace(
        covariance=None if case == "no covariance" else covariance,
        confidence=None if case == "nothing judged" else np.ones(9),
    )
    base = RESULT._replace(objective=77.0)

    def choice(x, y, result, target, refit, twice, workers):
        asked.append((result is base, target, refit, twice, workers))
        return _Choice(result, 1.0, 1.0)

    monkeypatch.setattr(choosing, "_choose", choice)
    heard = []
    monkeypatch.setattr(choosing, "_better", lambda *both: heard.append(both) or learned)
    found = choose_pairs(X, Y, learned, target, True, 3, None if case == "no base" else base)
    first = (False, target, True, target is not None, 3)
    assert found is learned
    if case == "base":
        assert asked == [first, (True, target, False, True, 3)]
        assert heard == [(_Choice(base, 1.0, 1.0), _Choice(learned, 1.0, 1.0))]
    else:
        assert asked == [first]
        assert not heard


def chosen(monkeypatch, usual, plain, levels, diagonal=None):
    """Choose where so many pairs are right in the usual way, with isotropic noise and by levels."""
    learned = RESULT._replace(covariance=LEARNED, confidence=np.full(9, usual / 9))
    base, by_levels = RESULT._replace(objective=7.0), RESULT._replace(objective=8.0)
    rights = {id(learned): usual, id(base): plain, id(diagonal): usual}
    monkeypatch.setattr(
        choosing, "_choose", lambda x, y, result, *rest: _Choice(result, rights[id(result)], 1.0)
    )
    monkeypatch.setattr(choosing, "_better", lambda plain, other: other.result)
    monkeypatch.setattr(choosing, "can_be_relearned", lambda result: True)
    monkeypatch.setattr(choosing, "judge_by_levels", lambda *rest: rest)
    monkeypatch.setattr(choosing, "_take_judged", lambda *rest: _Choice(by_levels, levels, 1.0))
    found = choose_pairs(X, Y, learned, None, True, 3, base, diagonal)
    if found.objective == 8.0:
        assert "noise level of each column, as" in found.decisions[-1]
        return "levels"
    return "diagonal" if found is diagonal else "usual"


def test_noise_levels_are_taken_if_more_pairs_are_right(monkeypatch):
    assert chosen(monkeypatch, 4.0, 0.0, 4.1) == "levels"
    assert chosen(monkeypatch, 4.0, 0.0, 3.9) == "usual"
    # Clearly more where isotropic noise finds some, too; and none is asked where most pairs are right.
    assert chosen(monkeypatch, 4.0, 1.0, 6.1) == "levels"
    assert chosen(monkeypatch, 4.0, 1.0, 5.9) == "usual"
    assert chosen(monkeypatch, 8.2, 0.0, 9.0) == "usual"


def test_so_they_are_beside_a_variance_for_each_column(monkeypatch):
    diagonal = RESULT._replace(covariance=LEARNED, confidence=np.full(9, 4.0 / 9), objective=5.0)
    assert chosen(monkeypatch, 4.0, 0.0, 4.1, diagonal) == "levels"
    assert chosen(monkeypatch, 4.0, 0.0, 3.9, diagonal) == "diagonal"


@pytest.mark.parametrize("is_beyond", [False, True])
def test_where_a_covariance_finds_nothing_isotropic_noise_must_be_beyond_chance(is_beyond, monkeypatch):
    learned = RESULT._replace(covariance=LEARNED, confidence=np.ones(9))
    base = RESULT._replace(objective=7.0, confidence=np.ones(9))
    monkeypatch.setattr(choosing, "is_beyond_chance", lambda x, y, result, right, workers: is_beyond)
    monkeypatch.setattr(
        choosing, "_choose", lambda x, y, result, *rest: _Choice(result, 3.0 * (result is base), 1.0)
    )
    monkeypatch.setattr(choosing, "_better", lambda plain, other: plain.result)
    assert choose_pairs(X, Y, learned, None, True, 3, base) is (base if is_beyond else learned)
