"""Margins and confidences of matchings that leave points of both sets without a partner."""

import itertools

import numpy as np
import pytest

from lslmatch import diagnose, match, match_path
from lslmatch.diagnosis import judging
from tests.support.matching import PROVEN, noise_of
from tests.support.partial import least_costs
from tests.support.reference import SMALL, costs

COVARIANCE = np.diag([1.0, 3.0])


def draw(n, m, noise=0.5, seed=0):
    rng = np.random.default_rng([n, m, seed])
    features = rng.normal(size=(max(n, m), 2))
    x, y = (features + noise * rng.normal(size=features.shape) for _ in range(2))
    return x[:n], y[::-1][:m]


def forbidden_rises(cost, result):
    """By how much the best matching of as many pairs costs more if a pair is forbidden, by trying all."""
    k = np.count_nonzero(result.permutation >= 0)
    rises = np.full(len(cost), np.nan)
    for i in np.flatnonzero(result.permutation >= 0):
        without = cost.copy()
        without[i, result.permutation[i]] = np.inf
        rises[i] = least_costs(without)[k] - least_costs(cost)[k]
    return rises


@pytest.mark.parametrize("objective", PROVEN)
@pytest.mark.parametrize(("n", "m", "k"), [(4, 4, 2), (4, 4, 3), (3, 5, 2), (5, 3, 2)])
def test_margins_are_what_forbidding_the_pair_costs(objective, n, m, k):
    x, y = draw(n, m)
    noise = noise_of(objective, n, m)
    result = match(x, y, objective=objective, noise=noise, pairs=k)
    expected = forbidden_rises(costs(objective, x, y, result.scale, result.shift, noise), result)
    exact = diagnose(x, y, result, margins="exact").margin
    np.testing.assert_allclose(exact, expected, rtol=1e-8, atol=1e-8)
    bound = diagnose(x, y, result).margin
    matched = result.permutation >= 0
    assert (bound[matched] <= exact[matched] + 1e-9).all()
    assert (bound[matched] >= 0.0).all()
    assert np.isnan(bound[~matched]).all()


@pytest.mark.parametrize("covariance", ["isotropic", COVARIANCE, "estimate"], ids=str)
def test_clear_pairs_are_certain_and_unclear_ones_are_not(covariance):
    x, y = draw(14, 14, noise=0.01)
    # The last two points of x want the same y: one of them stays alone, and which one is a toss-up.
    x[-1] = x[-2] + 1e-9
    y = y[np.arange(14) != match(x, y, alignment="identity").permutation[-1]]
    result = match(x, y, alignment="identity", covariance=covariance, pairs=12)
    found = diagnose(x, y, result)
    matched = result.permutation >= 0
    assert np.isnan(found.confidence[~matched]).all()
    assert ((found.confidence[matched] > 0.0) & (found.confidence[matched] <= 1.0)).all()
    twins = [i for i in (12, 13) if matched[i]]
    for i in twins:
        assert found.confidence[i] < 0.6
    clear = np.setdiff1d(np.flatnonzero(matched), twins)
    assert np.median(found.confidence[clear]) > 0.95


def test_confidences_are_those_of_all_matchings_of_as_many_pairs_where_two_compete():
    """Two points of either set far from each other, one pair to be matched of each, and one left out."""
    x = np.array([[0.0, 0.0], [0.0, 1.0], [40.0, 0.0], [40.0, 40.0], [0.0, 40.0]])
    y = np.array([[0.0, 0.4], [40.0, 0.1], [40.1, 40.0], [0.0, 40.1]])
    result = match(x, y, objective="lsns", noise=(1.0, 1.0), alignment="identity", pairs=3)
    found = diagnose(x, y, result)
    cost = costs("lsns", x, y, noise=(np.ones(5), np.ones(4)))
    rate = 0.5 * 2 * found.distortion**2 / (2 * found.distortion**2 + 2)
    weights, total = np.zeros_like(cost), 0.0
    for rows in itertools.combinations(range(5), 3):
        for cols in itertools.permutations(range(4), 3):
            weight = np.exp(-rate * cost[rows, cols].sum())
            total += weight
            weights[rows, cols] += weight
    matched = np.flatnonzero(result.permutation >= 0)
    exact = (weights / total)[matched, result.permutation[matched]]
    np.testing.assert_allclose(found.confidence[matched], exact, atol=0.15)


def test_the_verdict_does_not_claim_the_theorem():
    x, y = draw(12, 12, noise=1e-4)
    assert diagnose(x, y, match(x, y, pairs=9)).threshold == np.inf


def test_one_pair_is_refused():
    x, y = draw(5, 5)
    with pytest.raises(ValueError, match="at least 2 pairs"):
        diagnose(x, y, match(x, y, pairs=1))


def test_exact_margins_of_too_many_points_are_refused(monkeypatch):
    monkeypatch.setattr(judging, "MOST_PAIRS", 20)
    x, y = draw(6, 6)
    result = match(x, y, pairs=4)
    assert diagnose(x, y, result).confidence is None
    with pytest.raises(ValueError, match="margins must be 'bound' for a partial matching"):
        diagnose(x, y, result, margins="exact")


def test_a_result_with_another_price_is_refused():
    x, y = draw(6, 6)
    result = match(x, y, pairs=4)
    with pytest.raises(ValueError, match="its dual variables do not add up"):
        diagnose(x, y, result._replace(price=result.price + 0.1))


@pytest.mark.parametrize("change", [-1e200, 0.1])
def test_duals_of_another_result_are_refused(change):
    x, y = draw(6, 6)
    result = match(x, y, pairs=4)
    row_dual = result.row_dual.copy()
    row_dual[result.permutation < 0] += change
    with pytest.raises(ValueError, match="not those of a price"):
        diagnose(x, y, result._replace(row_dual=row_dual))


@pytest.mark.skipif(SMALL, reason="many pairs")
def test_the_last_pair_before_a_gap_is_certain():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(40, 5))
    x = np.vstack([features, 20.0 + rng.normal(size=(6, 5))])
    y = np.vstack([features[::-1] + 0.01 * rng.normal(size=(40, 5)), rng.normal(size=(4, 5)) - 20.0])
    path = match_path(x, y, alignment="identity")
    right = diagnose(x, y, path.matching(40), margins="exact")
    assert np.nanmin(right.confidence) > 0.99
    assert np.nanmin(right.margin) > 5.0
    assert np.nanmin(diagnose(x, y, path.matching(43)).confidence) < 0.5
