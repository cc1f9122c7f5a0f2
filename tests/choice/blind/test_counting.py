"""The rule by which ranked pairs are kept."""

import numpy as np
import pytest

from lslmatch.choice.blind.counting import count_pairs


def naive(joins, share):
    return max(
        (k for k in range(1, len(joins) + 1) if 1 + np.sum(~joins[:k]) <= share * np.sum(joins[:k])),
        default=0,
    )


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_as_many_are_kept_as_the_rule_allows(seed, share):
    rng = np.random.default_rng(seed)
    joins = rng.random(60) < np.linspace(1.0, 0.5, 60)
    found = count_pairs(joins, share)
    assert found.kept == naive(joins, share)
    assert found.between + found.within == found.kept
    assert (found.between, found.within) == (joins[: found.kept].sum(), (~joins[: found.kept]).sum())
    assert (found.later_between, found.later_within) == (
        joins[found.kept :].sum(),
        (~joins[found.kept :]).sum(),
    )


def test_one_over_the_share_pairs_are_needed():
    assert count_pairs(np.ones(19, bool), 0.05).kept == 0
    assert count_pairs(np.ones(20, bool), 0.05).kept == 20
    assert count_pairs(np.array([False] + [True] * 39), 0.05).kept == 0
    assert count_pairs(np.array([False] + [True] * 40), 0.05).kept == 41
    assert count_pairs(np.empty(0, bool), 0.05).kept == 0


def test_how_probably_a_pair_is_right_falls_with_its_rank():
    joins = np.array([True] * 30 + [True, False] * 20)
    right = count_pairs(joins, 0.1).right
    assert right.size == 50
    assert (np.diff(right) <= 0.0).all()
    assert 0.9 < right[0] < 1.0
    assert right[-1] < 0.1
    # One pair within the sets stands before all others: among the first 32, which are 31 pairs and it.
    assert right[0] == pytest.approx((1 - 2 / 32) / (1 - 1 / 32))


def test_where_all_pairs_join_a_set_to_itself_nothing_is_probable():
    assert count_pairs(np.zeros(10, bool), 0.1).right.size == 0
    found = count_pairs(np.array([False] * 10 + [True]), 0.1)
    assert found.right.tolist() == [0.0]
    assert found.strangers == 20
