"""Strangers made by deletion, and pairs that can be trusted: what they say of planted sets."""

import numpy as np
import pytest

from lslmatch import FalseShare, match
from lslmatch.choice.deletion import isotonic, stranger_rates
from lslmatch.choice.partnership import judge_pairs
from lslmatch.covariance.pair_costs import costs_of_result
from lslmatch.covariance.trimmed import Relearned, trust_pairs
from tests.support.reference import SMALL
from verification.scenarios.strangers import LIKE, draw_partly_common

PAIRS, STRANGERS = (40, 20) if SMALL else (80, 40)


def drawn(pairs=PAIRS, strangers=STRANGERS, separation=6.0, seed=0, d=8):
    return draw_partly_common(
        LIKE,
        "normal",
        pairs=pairs,
        strangers=(strangers, strangers),
        d=d,
        separation=separation,
        noise_ratio=1.0,
        rng=np.random.default_rng([seed, pairs, d]),
    )


def rates(sets):
    result = match(sets.x, sets.y, alignment=sets.affine)
    costs = costs_of_result(sets.x, sets.y, result, 1)
    rate = judge_pairs(costs, result, sets.x.shape[1]).rate
    return stranger_rates(costs, result.permutation, rate), result.permutation == sets.partner


def test_pairs_of_strangers_are_recognised_and_true_ones_are_not():
    found, right = rates(drawn())
    assert found.min() >= 0.0
    assert found.max() <= 1.0
    assert found[right].mean() < 0.15
    assert found[~right].mean() > 0.75


def test_without_strangers_no_pair_is_one():
    found, right = rates(drawn(strangers=0))
    assert right.mean() > 0.97
    assert found.mean() < 0.02


def test_of_unrelated_sets_more_pairs_are_than_of_related_ones():
    # By itself deletion does not tell that nothing is in common: all pairs are the best that there are.
    found, _ = rates(drawn(pairs=0, strangers=PAIRS))
    assert found.mean() > 0.4
    assert found.mean() > 3.0 * rates(drawn(strangers=STRANGERS // 4))[0].mean()


def test_the_order_of_the_points_and_of_the_sets_does_not_matter():
    sets = drawn()
    result = match(sets.x, sets.y, alignment=sets.affine)
    costs = costs_of_result(sets.x, sets.y, result, 1)
    found = stranger_rates(costs, result.permutation, 2.0)
    order = np.random.default_rng(1).permutation(len(costs))
    other = stranger_rates(costs[order], result.permutation[order], 2.0)
    np.testing.assert_allclose(other, found[order])
    turned = stranger_rates(np.ascontiguousarray(costs.T), np.argsort(result.permutation), 2.0)
    np.testing.assert_allclose(turned[result.permutation], found)


@pytest.mark.parametrize("seed", range(5))
def testisotonic_regression_is_the_best_ascending_sequence(seed):
    rng = np.random.default_rng(seed)
    values, weight = rng.standard_normal(7), rng.uniform(0.5, 2.0, 7)
    found = isotonic(values, weight)
    assert (np.diff(found) >= 0.0).all()
    # The greatest least mean of the stretches around each place (Barlow et al. 1972, theorem 1.4.4).
    means = np.array(
        [
            [np.average(values[i : j + 1], weights=weight[i : j + 1]) if j >= i else np.nan for j in range(7)]
            for i in range(7)
        ]
    )
    expected = [max(min(means[i, k:]) for i in range(k + 1)) for k in range(7)]
    np.testing.assert_allclose(found, expected)


def correlated(sets, strength=4.0):
    """Add noise in one direction, the same for no two points."""
    rng = np.random.default_rng(3)
    d = sets.x.shape[1]
    direction = np.ones(d) / np.sqrt(d) * sets.x.std()
    x = sets.x + strength * rng.standard_normal((len(sets.x), 1)) * direction
    y = sets.y + strength * rng.standard_normal((len(sets.y), 1)) * direction / sets.affine.scale
    return x, y


def test_trusted_pairs_are_few_and_nearly_all_right():
    sets = drawn(strangers=PAIRS, separation=10.0)
    x, y = correlated(sets)
    learned = match(x, y, alignment=sets.affine, covariance="estimate")
    costs = costs_of_result(x, y, learned, 1)
    kept = trust_pairs(x, y, Relearned(learned, costs), False, 1)
    trusted = kept >= 0
    assert 10 <= trusted.sum() <= PAIRS
    assert (kept == sets.partner)[trusted].mean() >= 0.9
    # The control: of all pairs half or more are false.
    assert (learned.permutation == sets.partner).mean() <= 0.5


@pytest.mark.skipif(SMALL, reason="many matchings")
def test_a_share_of_false_pairs_that_was_asked_for_is_kept_near_the_noise_floor():
    false, every, kept = [], [], []
    for seed in range(8):
        sets = drawn(pairs=84, strangers=36, separation=4.2, seed=seed, d=20)
        result = match(sets.x, sets.y, alignment="robust", pairs=FalseShare(0.1))
        false.append(sets.score(result.permutation)[1])
        kept.append(sets.score(result.permutation)[0])
        every.append(sets.score(match(sets.x, sets.y, alignment=sets.affine).permutation)[1])
    assert np.mean(false) <= 0.1
    assert np.mean(kept) >= 0.3
    # The control: the matching of all points has many more.
    assert np.mean(every) >= 0.3
