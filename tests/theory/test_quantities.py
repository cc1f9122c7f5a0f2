"""Moments and scalar quantities against matrices, loops and simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from lslmatch import theory
from tests.support.simulation import (
    CONFIGURATIONS,
    FALSE_FAIL,
    centring,
    each_configuration,
    naive_deviations,
)


@each_configuration
def test_centred_moments_are_those_of_the_centring_matrix(name):
    features, noise = CONFIGURATIONS[name]
    mu, s = theory.centred_moments(features, noise)
    np.testing.assert_allclose(mu, centring(len(noise)) @ features, atol=1e-12)
    np.testing.assert_allclose(s, naive_deviations(noise), rtol=1e-12)


@each_configuration
def test_centred_moments_are_those_of_simulated_observations(name):
    features, noise = CONFIGURATIONS[name]
    n, d = features.shape
    x = features + np.swapaxes(np.random.default_rng(4).standard_normal((n, 4000, d)), 0, 1) * noise[:, None]
    z = x - x.mean(axis=1, keepdims=True)
    mu, s = theory.centred_moments(features, noise)

    def smallest_p_value(mu, s):
        # For one i all 4000 d standardised entries are independent N(0, 1).
        standard = (z - mu) / s[:, None]
        size = 4000 * d
        mean = 2 * stats.norm.sf(abs(standard.sum(axis=(0, 2))) / math.sqrt(size))
        square = (standard**2).sum(axis=(0, 2))
        variance = 2 * np.minimum(stats.chi2.sf(square, size), stats.chi2.cdf(square, size))
        return min(mean.min(), variance.min()) * 2 * n

    assert smallest_p_value(mu, s) > FALSE_FAIL
    assert smallest_p_value(mu, noise) < FALSE_FAIL  # the control: as if centring left the noise alone


def test_centred_moments_survive_a_large_offset_and_extreme_units():
    features, noise = np.array([[0.0], [0.0], [1.0]]), np.array([1.0, 2.0, 3.0])
    mu, s = theory.centred_moments(features + 1e9, noise)  # no float64 holds the mean, 1e9 + 1/3
    np.testing.assert_allclose(mu.ravel(), [-1 / 3, -1 / 3, 2 / 3], rtol=1e-14)
    for factor in (1e-300, 1e300):
        scaled_mu, scaled_s = theory.centred_moments(factor * features, factor * noise)
        np.testing.assert_allclose(scaled_mu / factor, mu, rtol=1e-14)
        np.testing.assert_allclose(scaled_s / factor, s, rtol=1e-14)


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
@each_configuration
def test_noise_quantities_are_those_of_loops_in_any_unit(name, factor):
    features, noise = CONFIGURATIONS[name]
    total = math.sqrt(math.fsum(v * v for v in noise))
    mean = [math.fsum(column) / len(noise) for column in features.T]
    distortion = math.sqrt(math.fsum(math.dist(row, mean) ** 2 for row in features)) / total
    largest = max(a * a / (b * b) for a in noise for b in noise)
    assert theory.noise_ratio(factor * noise) == pytest.approx(largest, rel=1e-12)
    assert theory.relative_noise(factor * noise) == pytest.approx(max(noise) / total, rel=1e-12)
    assert theory.distortion_to_noise(factor * features, factor * noise) == pytest.approx(
        distortion, rel=1e-12
    )


def test_relative_noise_meets_both_ends_of_its_range():
    assert theory.relative_noise(np.full(25, 7.0)) == pytest.approx(1 / 5)
    assert theory.relative_noise([1.0] + 9 * [1e-9]) == pytest.approx(1.0)


@each_configuration
def test_obstruction_is_the_largest_signal_to_noise_ratio_times_the_error(name):
    features, noise = CONFIGURATIONS[name]
    mu, s = centring(len(noise)) @ features, naive_deviations(noise)
    expected = max(0.25 * math.hypot(*row) / deviation for row, deviation in zip(mu, s, strict=True))
    assert theory.obstruction(features, noise, 0.25) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert theory.obstruction(features, noise, 0) == 0


def test_noise_floor_changes_regime_at_d_equal_to_log_n():
    n = round(math.exp(9))
    assert theory.noise_floor(n, 2) == theory.noise_floor(n, 8) == pytest.approx(3.0, rel=1e-4)
    assert theory.noise_floor(n, 9 * 16) == pytest.approx(6.0, rel=1e-4)
