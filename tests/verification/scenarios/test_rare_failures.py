"""Importance sampling of failures agrees with plain simulation, and with the rate that is known."""

import math

import numpy as np
import pytest

import lslmatch
from lslmatch import theory
from verification.claims.rare_failures import rate
from verification.scenarios.rare_failures import (
    _combinations,
    draw_noise,
    equidistant,
    failure_weight,
    pairs_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::lslmatch.AlignmentWarning")


def plain(features, objective, rng):
    x, y = (features + rng.standard_normal(features.shape) for _ in range(2))
    return not np.array_equal(lslmatch.match(x, y, objective=objective).permutation, np.arange(len(features)))


@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize("kind", ["random", "equidistant"])
def test_the_estimate_is_that_of_plain_simulation(objective, kind):
    rng = np.random.default_rng(0)
    if kind == "random":
        features = rng.standard_normal((6, 3))
        features *= 2.5 / theory.separation(features, np.ones(6))
    else:
        features = equidistant(6, 4.0)
    pairs = pairs_of(features, objective, rng)
    weights = np.array([failure_weight(pairs, objective, rng) for _ in range(600)])
    events = np.array([plain(features, objective, rng) for _ in range(1500)])
    assert 0.005 < events.mean() < 0.5
    error = np.hypot(weights.std() / len(weights) ** 0.5, events.std() / len(events) ** 0.5)
    assert abs(weights.mean() - events.mean()) < 4.5 * error
    assert abs(2 * weights.mean() - events.mean()) > 4.5 * error


def test_weights_are_a_ratio_of_densities():
    rng = np.random.default_rng(1)
    pairs = pairs_of(equidistant(5, 2.0), "lsl", rng)
    weights = np.array([draw_noise(pairs, rng)[2] for _ in range(3000)])
    assert abs(weights.mean() - 1) < 4.5 * weights.std() / len(weights) ** 0.5
    assert weights.std() < 20


def test_the_three_combinations_are_independent():
    combinations = _combinations(1, 3, 5)
    assert np.allclose(combinations @ combinations.T, np.eye(3))
    # Centred differences of the two sets: the same for any common shift of either.
    assert np.allclose(combinations[:, :5].sum(axis=1), 0)


def test_the_error_does_not_grow_as_the_probability_falls():
    rng = np.random.default_rng(2)
    pairs = pairs_of(equidistant(8, 16.0), "lsl", rng)
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


def test_points_are_equidistant_with_the_separation_asked_for():
    assert theory.separation(equidistant(7, 3.5), np.ones(7)) == pytest.approx(3.5)
