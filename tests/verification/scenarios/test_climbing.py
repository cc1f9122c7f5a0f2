"""Starts of which a known share is right, and the two ways to learn from them."""

import numpy as np
import pytest

from verification.scenarios.climbing import corrupt, in_sample, leave_pair_out
from verification.scenarios.correlated_noise import autoregressive_covariance, correlated_configuration


@pytest.mark.parametrize("right", [0.0, 0.3, 0.5, 1.0])
def test_a_start_is_a_matching_with_the_share_that_was_asked_for(right):
    truth = np.random.default_rng(0).permutation(20)
    start = corrupt(truth, right, np.random.default_rng(1))
    assert sorted(start) == list(range(20))
    assert (start == truth).sum() == 20 * right


def test_one_wrong_pair_cannot_be():
    truth = np.arange(10)
    assert np.array_equal(corrupt(truth, 0.9, np.random.default_rng(1)), truth)
    assert (corrupt(truth, 0.8, np.random.default_rng(1)) == truth).sum() == 8


def test_leaving_out_climbs_where_the_control_stays_behind():
    shares = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = correlated_configuration(autoregressive_covariance(100, 0.9), 100, level=2.0, rng=rng)
        x, y = truth.sample(rng)
        start = corrupt(truth.permutation, 0.5, rng)
        shares.append([(way(x, y, start) == truth.permutation).mean() for way in (leave_pair_out, in_sample)])
    left_out, control = np.mean(shares, axis=0)
    assert left_out > 0.9
    assert 0.5 <= control < 0.8


def test_without_noise_the_start_is_all_there_is():
    x = np.random.default_rng(0).standard_normal((6, 3))
    start = np.arange(6)
    assert np.array_equal(leave_pair_out(x, x, start), start)
    assert np.array_equal(in_sample(x, x, start), start)
