"""Strangers made by deletion: each step against the same by hand."""

import numpy as np
import pytest

from lslmatch import linear_sum_assignment
from lslmatch.choice import deletion
from lslmatch.choice.deletion import _local_rates, _log_odds, _strangers, isotonic, stranger_rates


def drawn(n=23, m=26, seed=0):
    rng = np.random.default_rng([n, m, seed])
    costs = rng.normal(size=(n, m))
    permutation = np.full(n, -1)
    rows, cols = linear_sum_assignment(costs)
    permutation[rows] = cols
    return costs, permutation


def naive_odds(costs, rows, cols, rate):
    """Give the mean of the two log-odds of each pair, once means of rows and columns are taken off."""
    centred = costs - costs.mean(axis=1)[:, None] - costs.mean(axis=0)[None] + costs.mean()
    weights, found = np.exp(-rate * centred), []
    for i, j in zip(rows, cols, strict=True):
        of_row = weights[i, j] / (weights[i].sum() - weights[i, j])
        of_col = weights[i, j] / (weights[:, j].sum() - weights[i, j])
        found.append((np.log(of_row) + np.log(of_col)) / 2.0)
    return np.array(found)


@pytest.mark.parametrize("rate", [0.5, 3.0])
def test_odds_are_those_beside_all_other_candidates(rate):
    costs, permutation = drawn()
    rows = np.arange(0, 23, 2)
    kept = costs.copy()
    found = _log_odds(costs + 100.0, rows, permutation[rows], rate)
    np.testing.assert_allclose(found, naive_odds(costs, rows, permutation[rows], rate), rtol=1e-9)
    np.testing.assert_array_equal(costs, kept)
    # Costs that are far apart do not under- or overflow.
    found = _log_odds(1e4 * costs, rows, permutation[rows], rate)
    assert np.isfinite(found).all()


def test_strangers_are_the_new_partners_of_points_that_lost_theirs():
    costs, permutation = drawn()
    without_y, without_x = np.array([1, 8, 9]), np.array([2, 20])
    kept_x = [i for i in range(23) if i not in without_x]
    kept_y = [j for j in range(26) if j not in permutation[without_y]]
    rest = costs[np.ix_(kept_x, kept_y)]
    rows, cols = linear_sum_assignment(rest)
    alone = [
        k
        for k, (i, j) in enumerate(zip(rows, cols, strict=True))
        if kept_x[i] in without_y or kept_y[j] in permutation[without_x]
    ]
    assert 3 <= len(alone) <= 5
    expected = naive_odds(rest, rows, cols, 1.3)[alone]
    found = _strangers(costs, permutation, without_y, without_x, 1.3)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def recorded(monkeypatch, strangers_each):
    """Record which pairs are torn apart; strangers are numbers from 0 on, so many for each part."""
    parts, given = [], []

    def strangers(costs, permutation, without_y, without_x, rate):
        parts.append((list(without_y), list(without_x)))
        return np.full(strangers_each, float(len(parts)))

    monkeypatch.setattr(deletion, "_strangers", strangers)
    monkeypatch.setattr(deletion, "_local_rates", lambda pairs, drawn: given.append((pairs, drawn)))
    return parts, given


@pytest.mark.parametrize(("n", "parts"), [(23, 10), (40, 10), (21, 10), (7, 3), (20, 10), (19, 9)])
def test_each_pair_has_its_turn_on_either_side(n, parts, monkeypatch):
    costs, permutation = drawn(n, n + 3)
    found, given = recorded(monkeypatch, 2)
    stranger_rates(costs, permutation, 2.0)
    assert len(found) == parts
    order = np.argsort(costs[np.arange(n), permutation])
    for part, (without_y, without_x) in enumerate(found):
        # Every tenth by cost or so, so that parts are alike, and not the same ones on both sides.
        np.testing.assert_array_equal(without_y, np.sort(order[part::parts]))
        assert without_x == found[(part + parts // 2) % parts][0]
        assert not set(without_y) & set(without_x)
    ((pairs, drawn_ones),) = given
    np.testing.assert_allclose(pairs, naive_odds(costs, np.arange(n), permutation, 2.0), rtol=1e-9)
    np.testing.assert_array_equal(drawn_ones, np.repeat(np.arange(1.0, parts + 1.0), 2))


@pytest.mark.parametrize(("each", "turns"), [(200, 2), (199, 3), (400, 1), (399, 2)])
def test_four_hundred_strangers_are_enough(each, turns, monkeypatch):
    parts, _ = recorded(monkeypatch, each)
    stranger_rates(*drawn(), 2.0)
    assert len(parts) == turns


@pytest.mark.parametrize(("count", "is_heeded"), [(9, False), (10, True)])
def test_pairs_that_are_not_to_be_torn_are_kept_together(count, is_heeded, monkeypatch):
    costs, permutation = drawn()
    permutation[5] = -1
    parts, given = recorded(monkeypatch, 1)
    torn = np.arange(10, 10 + count)
    stranger_rates(costs, permutation, 2.0, torn)
    everybody = {i for without_y, _ in parts for i in without_y}
    assert everybody == set(torn if is_heeded else np.delete(np.arange(23), 5))
    assert given[0][0].size == 22, "all matched pairs are judged"


def naive_rates(pairs, strangers):
    shares = []
    for level in np.quantile(strangers, [0.3, 0.4, 0.5, 0.6]):
        shares.append(np.mean(pairs <= level) / np.mean(strangers <= level))
    share = min(np.mean(shares), 1.0)
    both = sorted(
        [(odds, 0, k) for k, odds in enumerate(pairs)] + [(odds, 1, k) for k, odds in enumerate(strangers)]
    )
    is_pair = np.array([float(kind == 0) for _, kind, _ in both])
    weight = np.where(is_pair > 0.0, 1.0 / pairs.size, 1.0 / strangers.size)
    among = np.maximum(isotonic(is_pair, weight), 1e-6)
    rates = np.empty(pairs.size)
    for (_, kind, k), value in zip(both, among, strict=True):
        if kind == 0:
            rates[k] = min(share * (1.0 - value) / value, 1.0)
    return rates


@pytest.mark.parametrize(("true", "count"), [(30, 50), (5, 50), (0, 30), (60, 200)])
def test_rates_are_shares_of_strangers_at_the_odds_of_a_pair(true, count):
    rng = np.random.default_rng(true)
    pairs = np.concatenate([rng.normal(3.0, 1.0, true), rng.normal(-1.0, 1.0, 40)])
    strangers = rng.normal(-1.0, 1.0, count)
    found = _local_rates(pairs, strangers)
    np.testing.assert_allclose(found, naive_rates(pairs, strangers), rtol=1e-9)
    assert found.min() == 0.0 or true == 0
    order = np.argsort(pairs)
    assert (np.diff(found[order]) <= 1e-12).all()


def test_what_no_stranger_is_below_is_surely_a_strangers():
    # All pairs are below all strangers: all are pooled.
    np.testing.assert_array_equal(_local_rates(np.zeros(4), np.ones(6)), np.ones(4))
    # And above all of them none is one.
    np.testing.assert_array_equal(_local_rates(np.full(4, 2.0), np.ones(6)), np.zeros(4))
    # Below the pairs' own odds there are pairs only in part.
    assert _local_rates(np.array([0.0, 2.0]), np.ones(6))[1] == 0.0


def test_neighbours_that_descend_are_pooled_with_their_weights():
    found = isotonic(np.array([1.0, 4.0, 2.0, 2.0, 9.0]), np.array([1.0, 1.0, 3.0, 1.0, 2.0]))
    np.testing.assert_allclose(found, [1.0, 2.4, 2.4, 2.4, 9.0])
