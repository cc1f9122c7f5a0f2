"""Maps are fitted to all pairs, not to the nearest ones."""

import numpy as np
import pytest

from lslmatch import diagnose, match
from lslmatch.columns.weights import lost_by_weighting, pair_weights
from tests.support.reference import SMALL


def test_a_map_does_not_lead_through_its_nearest_pairs():
    # With weights inverse to the squares two of these 30 pairs had residuals of 1e-13.
    for seed in range(1 if SMALL else 4):
        rng = np.random.default_rng([3, seed])
        features = rng.normal(size=(30, 2))
        x, y = (features + 0.02 * rng.normal(size=(30, 2)) for _ in range(2))
        result = match(x, 3.0 * y[::-1] - 1.0, alignment="columns")
        squares = ((x - result.transform(3.0 * y - 1.0)[::-1][result.permutation]) ** 2).sum(axis=1)
        assert squares.min() > 1e-12
        assert diagnose(x, 3.0 * y[::-1] - 1.0, result).expected_right > 0.9


def test_one_scale_is_fitted_again_once_pairs_are_known():
    # A column without any relation, which outweighs all others, once left its own ratio in the scale.
    rng = np.random.default_rng(1)
    features = rng.normal(size=(40, 5))
    x, y = (features + 0.05 * rng.normal(size=(40, 5)) for _ in range(2))
    x, y = (np.column_stack([part, 1e5 * rng.normal(size=40)]) for part in (x, y))
    result = match(x, y, covariance="diagonal")
    assert (result.permutation == np.arange(40)).all()
    assert result.scale == pytest.approx(1.0, abs=0.015)


def test_weights_are_bounded_and_ties_have_equal_ones():
    residuals = np.random.default_rng(0).normal(size=(50, 3))
    residuals[0] = 0.0
    residuals[1] *= 1e3
    weights = pair_weights(residuals)
    assert weights[0] == weights.max() == pytest.approx(2.0)
    assert weights[1] == weights.min() < 1e-4
    np.testing.assert_array_equal(pair_weights(np.zeros((4, 3))), np.ones(4))


@pytest.mark.parametrize("d", [1, 2, 6])
def test_what_is_lost_by_weighting_is_the_slope_of_the_weighted_sum(d):
    residuals = np.random.default_rng(d).standard_t(4, size=(400, d))
    typical = np.median((residuals**2).sum(axis=1)) / d

    def total(shift):
        moved = residuals - shift
        return ((3.0 + d) / (3.0 + (moved**2).sum(axis=1) / typical))[:, None] * moved

    step = 1e-5 * np.eye(d)
    weight = pair_weights(residuals).sum()
    slope = [(total(-h) - total(h)).sum(axis=0)[k] / 2e-5 / weight for k, h in enumerate(step)]
    np.testing.assert_allclose(lost_by_weighting(residuals), slope, rtol=1e-6)
