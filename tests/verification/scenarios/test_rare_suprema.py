"""Importance sampling agrees with plain simulation where that can reach."""

import numpy as np
import pytest

from verification.scenarios.configurations import centred_noise, noise_levels
from verification.scenarios.rare_suprema import linear_weight, members, quadratic_weight
from verification.scenarios.suprema import linear_supremum, quadratic_supremum

N = 5


def agree(weights, events):
    gap = np.mean(weights) - np.mean(events)
    error = np.hypot(np.std(weights) / len(weights) ** 0.5, np.std(events) / len(events) ** 0.5)
    return abs(gap) < 4.5 * error


@pytest.mark.parametrize("noise", ["equal", "spread"])
def test_both_suprema(noise):
    rng = np.random.default_rng(0)
    grid = members(noise_levels(noise, N), 0.49)
    units = rng.standard_normal((N, N, 2))
    units /= np.linalg.norm(units, axis=2, keepdims=True)
    linear, quadratic = [], []
    for _ in range(1500):
        eta, other = (centred_noise(grid.noise, 2, rng) for _ in range(2))
        along, across = np.einsum("ijk,ik->ij", units, eta), np.einsum("ijk,jk->ij", units, other)
        linear.append(linear_supremum(along, across, grid.spread, 0.49) > 2.8)
        quadratic.append(quadratic_supremum(eta, other, grid.spread, 0.49) > 8.0)
    weights = [linear_weight(grid, units, 2.8, rng) for _ in range(400)]
    assert 0.01 < np.mean(linear) < 0.5
    assert agree(weights, linear)
    assert not agree([2 * weight for weight in weights], linear)
    assert agree([quadratic_weight(grid, 2, 8.0, rng) for _ in range(400)], quadratic)


def test_the_error_does_not_grow_as_the_probability_falls():
    rng = np.random.default_rng(1)
    grid = members(np.ones(N), 0.49)
    rare = np.array([quadratic_weight(grid, 2, 80.0, rng) for _ in range(200)])
    assert 0 < rare.mean() < 1e-13
    assert rare.std() / len(rare) ** 0.5 < 0.2 * rare.mean()


def test_a_level_below_the_dimension_is_refused():
    with pytest.raises(ValueError, match="at least d"):
        quadratic_weight(members(np.ones(N), 0.3), 10, 4.0, np.random.default_rng(0))
