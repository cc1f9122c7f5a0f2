"""Importance sampling of failures agrees with plain simulation, and with the rate that is known."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import lslmatch
from lslmatch import theory
from verification.claims.rare_failures import rate
from verification.scenarios.rare_failures import (
    _combinations,
    covariance_of_pair,
    draw_noise,
    equidistant,
    exchange_rate,
    failure_weight,
    pairs_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::lslmatch.AlignmentWarning")


def plain(features, noise, objective, rng):
    x, y = (features + noise[:, None] * rng.standard_normal(features.shape) for _ in range(2))
    return not np.array_equal(lslmatch.match(x, y, objective=objective).permutation, np.arange(len(features)))


@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize("kind", ["random", "equidistant", "unequal noise"])
def test_the_estimate_is_that_of_plain_simulation(objective, kind):
    rng = np.random.default_rng(0)
    noise = np.array([1.0, 1.0, 3.0, 1.0, 3.0, 3.0]) if kind == "unequal noise" else np.ones(6)
    if kind == "random":
        features = rng.standard_normal((6, 3))
        features *= 2.5 / theory.separation(features, np.ones(6))
    else:
        features = equidistant(noise, 4.0)
    pairs = pairs_of(features, noise, objective, rng)
    weights = np.array([failure_weight(pairs, objective, rng) for _ in range(600)])
    events = np.array([plain(features, noise, objective, rng) for _ in range(1500)])
    assert 0.005 < events.mean() < 0.5
    error = np.hypot(weights.std() / len(weights) ** 0.5, events.std() / len(events) ** 0.5)
    assert abs(weights.mean() - events.mean()) < 4.5 * error
    assert abs(2 * weights.mean() - events.mean()) > 4.5 * error


def test_weights_are_a_ratio_of_densities():
    rng = np.random.default_rng(1)
    noise = np.array([1.0, 2.0, 1.0, 2.0, 1.0])
    pairs = pairs_of(equidistant(noise, 2.0), noise, "lsl", rng)
    weights = np.array([draw_noise(pairs, rng)[2] for _ in range(3000)])
    assert abs(weights.mean() - 1) < 4.5 * weights.std() / len(weights) ** 0.5
    assert weights.std() < 20


@pytest.mark.parametrize("noise", [np.ones(5), np.array([1.0, 2.0, 1.0, 0.5, 3.0])])
def test_the_three_combinations_are_independent(noise):
    combinations = _combinations(1, 3, noise)
    assert np.allclose(combinations @ combinations.T, np.eye(3))
    # Centred differences of the two sets: the same for any common shift of either.
    assert np.allclose((combinations[:, :5] / noise).sum(axis=1), 0)


def test_the_error_does_not_grow_as_the_probability_falls():
    rng = np.random.default_rng(2)
    pairs = pairs_of(equidistant(np.ones(8), 16.0), np.ones(8), "lsl", rng)
    weights = np.array([failure_weight(pairs, "lsl", rng) for _ in range(400)])
    assert 1e-41 < weights.mean() < 1e-37
    assert weights.std() / len(weights) ** 0.5 < 0.4 * weights.mean()


@pytest.mark.parametrize("n", [4, 8, 1000])
def test_the_rate_is_the_least_cost_of_an_exchange(n):
    # Over p and s alone, by brute force, at |D|^2 = 2 (1 - 1/n), where kappa(Z) is 1.
    distance, c = math.sqrt(2 * (1 - 1 / n)), math.sqrt(1 - 2 / n)
    p = np.linspace(0, distance, 200_001)
    s = p / (math.sqrt(2) * c)
    assert np.min((s**2 + (distance - p) ** 2) / 2) == pytest.approx(rate(n), rel=1e-8)
    found = distance**2 * exchange_rate(covariance_of_pair(0, 1, np.ones(n)))
    assert found == pytest.approx(rate(n), rel=1e-6)


@pytest.mark.parametrize("ratio", [1.0, 4.0, 16.0, 100.0])
def test_the_rate_of_a_pair_of_unequal_noise_is_the_least_cost_of_an_exchange(ratio):
    # Over P, Q and S in the plane, by general minimisation from several places.
    n = 300
    noise = np.ones(n)
    noise[0] = math.sqrt(ratio)
    covariance = covariance_of_pair(0, 1, noise)
    inverse = np.linalg.inv(covariance)

    def cost(z):
        return sum(part @ inverse @ part for part in z.reshape(2, 3)) / 2

    def gain(z):
        p, q, s = z.reshape(2, 3).T
        p = p + [1.0, 0.0]
        right, crossed = ((abs(s + o) ** 2).sum() * (abs(s - o) ** 2).sum() for o in (q, p))
        return right - crossed

    starts = np.random.default_rng(0).standard_normal((12, 6)) * 0.5
    constraint = {"type": "ineq", "fun": gain}
    ends = [minimize(cost, start, constraints=constraint, options={"maxiter": 500}) for start in starts]
    least = min(end.fun for end in ends if end.success and gain(end.x) > -1e-9)
    assert exchange_rate(covariance) == pytest.approx(least, rel=1e-4)
    # Between that of equal noise and that of least squares.
    _, level = theory.centred_moments(np.eye(n), noise)
    by_separation = exchange_rate(covariance) * (level[0] ** 2 + level[1] ** 2)
    assert rate(n) * (1 - 1e-6) <= by_separation < 0.5


def test_points_are_equidistant_with_the_separation_asked_for():
    assert theory.separation(equidistant(np.ones(7), 3.5), np.ones(7)) == pytest.approx(3.5)
    noise = np.array([1.0, 5.0, 2.0, 1.0])
    assert theory.separation(equidistant(noise, 3.5), noise) == pytest.approx(3.5)
