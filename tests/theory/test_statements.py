"""Proposition 1 and the two theorems: by hand, and that they cover while smaller bounds do not."""

import math

import numpy as np
import pytest
from scipy import optimize

from lslmatch import theory
from tests.support.simulation import (
    CONFIGURATIONS,
    centred_noise,
    centring,
    each_configuration,
    naive_separation,
    refuted,
)

# ----------------------------------------------------------------------------- Proposition 1


@each_configuration
def test_expected_sum_of_squares_is_the_trace_of_the_quadratic_form(name):
    features, noise = CONFIGURATIONS[name]
    n, d = features.shape
    form = np.kron(np.diag(noise) @ centring(n) @ np.diag(noise), np.eye(d))
    signal = np.linalg.norm(centring(n) @ features) ** 2
    assert theory.expected_sum_of_squares(features, noise) == pytest.approx(
        signal + np.trace(form), rel=1e-12
    )


@each_configuration
def test_expected_sum_of_squares_is_the_mean_of_simulated_sums(name):
    features, noise = CONFIGURATIONS[name]
    n, d = features.shape
    p = centring(n)
    form = np.diag(noise) @ p @ np.diag(noise)
    signal = p @ features
    variance = 4 * np.sum((noise[:, None] * signal) ** 2) + 2 * d * np.linalg.norm(form) ** 2
    z = signal + centred_noise(noise, d, 20_000, np.random.default_rng(5))
    sums = (z**2).sum(axis=(1, 2))

    def far_off(mean):  # 20,000 terms: normal to far more digits than 6 standard errors need
        return abs(sums.mean() - mean) > 6 * math.sqrt(variance / len(sums))

    expected = theory.expected_sum_of_squares(features, noise)
    assert not far_off(expected)
    control = np.sum(signal**2) + d * np.sum(noise**2)  # the factor (n - 1) / n dropped
    if name != "large distortion":  # where the noise adds too little for anyone to see
        assert far_off(control)


def test_proposition_1_by_hand_where_its_logarithm_is_one():
    features = [[2.0, 0, 0, 0], [-2.0, 0, 0, 0], [2.0, 0, 0, 0], [-2.0, 0, 0, 0]]  # ||mu|| = 4
    noise = [1.0, 2.0, 2.0, 2.0]  # ||sigma||^2 = 13, ||sigma||_4^2 = 7
    cross = 16 * math.sqrt(2)
    bounds = theory.sum_of_squares_bounds(features, noise, 2 / math.e)
    assert bounds == pytest.approx((27 - cross, 104 + cross))
    bounds = theory.frobenius_bounds(features, noise, 2 / math.e)
    assert bounds == pytest.approx((14 - cross, 91 + cross))


@pytest.mark.parametrize("bounds", [theory.sum_of_squares_bounds, theory.frobenius_bounds])
@pytest.mark.parametrize("delta", [0.01, 0.1])
@each_configuration
def test_proposition_1_covers_and_a_tenth_of_its_deviation_does_not(name, delta, bounds):
    features, noise = CONFIGURATIONS[name]
    z = features - features.mean(axis=0)
    z = z + centred_noise(noise, features.shape[1], 3000, np.random.default_rng(6))
    sums = (z**2).sum(axis=(1, 2))
    lower, upper = bounds(features, noise, delta)
    assert not refuted(sums > upper, delta)
    assert not refuted(sums < lower, delta)
    mean = sums.mean()
    assert refuted(sums > mean + (upper - mean) / 10, delta)
    assert refuted(sums < mean + (lower - mean) / 10, delta)


def test_proposition_1_needs_its_bias_term_in_high_dimension():
    features, noise, delta = np.zeros((4, 400)), np.ones(4), 0.5
    sums = (centred_noise(noise, 400, 200, np.random.default_rng(7)) ** 2).sum(axis=(1, 2))
    lower = theory.sum_of_squares_bounds(features, noise, delta).lower
    assert not refuted(sums < lower, delta)
    assert refuted(sums < lower + 400 / 4 * 4, delta)  # d/n ||sigma||^2 dropped


# --------------------------------------------------------------------------------- Theorem 1


def test_theorem_1_by_hand_where_its_logarithm_is_four():
    bound = theory.scale_error_bound(8, 9, relative_noise=0.5, distortion=4.0, delta=4 * math.exp(-4))
    assert bound == pytest.approx(12 * 0.5 * 2 / 5 + 2 * 0.25 * 4 / 25 + 2 * 9 / (8 * 25))
    assert theory.scale_error_bound(8, 9, relative_noise=0.5, distortion=1e200, delta=0.1) < 1e-198


@pytest.mark.parametrize(
    ("smallest_delta", "constant"),
    [(theory.scale_error_smallest_delta, 224), (theory.recovery_smallest_delta, 1024)],
)
def test_smallest_delta_by_hand(smallest_delta, constant):
    assert smallest_delta(constant, relative_noise=1.0) == pytest.approx(4 / math.e)
    assert smallest_delta(2 * constant, relative_noise=0.5) == pytest.approx(4 * math.exp(-8))
    assert smallest_delta(1, relative_noise=1e-200) == 0.0


@pytest.mark.parametrize("spread", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("noise", [np.ones(40), np.linspace(1, 2, 40)], ids=["equal", "mixed"])
def test_theorem_1_covers_and_a_fiftieth_of_its_bound_does_not(noise, spread):
    n, d, scale, trials = 40, 40, 3.0, 200
    rng = np.random.default_rng(8)
    features = spread * rng.standard_normal((n, d))
    alpha = theory.relative_noise(noise)
    delta = theory.scale_error_smallest_delta(d, relative_noise=alpha)
    assert 4 * delta < 0.25, "otherwise there is nothing to test"
    signal = features - features.mean(axis=0)
    first = ((signal + centred_noise(noise, d, trials, rng)) ** 2).sum(axis=(1, 2))
    second = (((signal + centred_noise(noise, d, trials, rng)) / scale) ** 2).sum(axis=(1, 2))
    error = abs(first / second / scale**2 - 1)
    distortion = theory.distortion_to_noise(features, noise)
    bound = theory.scale_error_bound(n, d, relative_noise=alpha, distortion=distortion, delta=delta)
    assert not refuted(error > bound, 4 * delta)
    assert refuted(error > bound / 50, 4 * delta)


# --------------------------------------------------------------------------------- Theorem 2


def test_theorem_2_by_hand_where_its_logarithm_is_sixteen():
    n = 64
    delta = 12 * n**3 / math.exp(16)
    rest = 17 * math.sqrt(16 + math.log(2))
    third = 52 * math.sqrt(math.log(4 / delta))
    assert theory.recovery_threshold(n, 1, noise_ratio=1.0, delta=delta) == pytest.approx(10 + rest + third)
    assert theory.recovery_threshold(n, 81, noise_ratio=9.0, delta=delta) == pytest.approx(
        30 + rest + 3 * third
    )


@pytest.mark.parametrize("noise", [np.ones(100), np.linspace(1, 1.5, 100)], ids=["equal", "mixed"])
def test_theorem_2_recovers_at_its_threshold_and_not_at_a_hundredth_of_it(noise):
    n, d, delta = 100, 80, 0.05
    assert theory.recovery_smallest_delta(d, relative_noise=theory.relative_noise(noise)) < delta
    rho = theory.noise_ratio(noise)
    threshold = theory.recovery_threshold(n, d, noise_ratio=rho, delta=delta)
    rng = np.random.default_rng(9)
    features = rng.standard_normal((n, d))
    features /= naive_separation(features, noise)

    def lost(separation):
        truth, permutation = separation * features, rng.permutation(n)
        x = truth + noise[:, None] * rng.standard_normal((n, d))
        y = np.empty((n, d))
        y[permutation] = (truth + noise[:, None] * rng.standard_normal((n, d)) - 7) / 3
        x, y = (points - points.mean(axis=0) for points in (x, y))
        y *= np.linalg.norm(x) / np.linalg.norm(y)
        cost = np.log(((x[:, None] - y) ** 2).sum(axis=2))
        return not np.array_equal(optimize.linear_sum_assignment(cost)[1], permutation)

    assert not refuted([lost(threshold) for _ in range(20)], 4 * delta)
    assert refuted([lost(threshold / 100) for _ in range(20)], 4 * delta)
