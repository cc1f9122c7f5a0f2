"""The four lemmas: their arguments redone, and that they cover while smaller bounds do not."""

import math

import numpy as np
import pytest
from scipy import optimize

from lslmatch import theory
from tests.support.simulation import centred_noise, mixed_configuration, naive_deviations, refuted


@pytest.mark.parametrize(
    "weights", [[1.0], [1.0, 0.0, 0.1], np.linspace(0, 1, 30)], ids=["one", "few", "many"]
)
def test_lemma_1_covers_and_a_tenth_of_its_bounds_does_not(weights):
    y = np.random.default_rng(10).standard_normal((20_000, len(weights)))
    t = (y**2 - 1) @ np.asarray(weights)
    for x in (0.5, 2.0, 4.0):
        lower, upper = theory.chi_square_deviation_bounds(weights, x)
        assert not refuted(t >= upper, math.exp(-x))
        assert not refuted(t <= lower, math.exp(-x))
    assert refuted(t >= upper / 10, math.exp(-x))
    assert refuted(t <= lower / 10, math.exp(-x))


def test_lemma_1_is_the_optimised_chernoff_bound_of_equal_weights():
    # For T = chi^2_k - k Laurent and Massart bound the log-moment generating function by
    # k t^2 / (1 - 2t), t > 0, and k t^2, t < 0; minimise (level + x) / t over t numerically.
    k, x = 7, 1.5
    lower, upper = theory.chi_square_deviation_bounds(np.ones(k), x)
    above = optimize.minimize_scalar(
        lambda t: (k * t**2 / (1 - 2 * t) + x) / t, bounds=(1e-6, 0.5 - 1e-6), method="bounded"
    )
    below = optimize.minimize_scalar(lambda t: (k * t**2 + x) / t, bounds=(1e-6, 10), method="bounded")
    assert upper == pytest.approx(above.fun, rel=1e-6)
    assert -lower == pytest.approx(below.fun, rel=1e-6)


def test_lemma_2_is_the_optimised_chernoff_bound():
    vectors, noise = mixed_configuration(6, 3)
    stacked = vectors.ravel()
    variance = stacked @ np.kron(np.diag(noise**2), np.eye(3)) @ stacked
    x = 1.3 * math.sqrt(variance)
    best = optimize.minimize_scalar(lambda t: t * t * variance / 2 - t * x, bracket=(0, 1 / x))
    assert theory.gaussian_tail(x, vectors, noise) == pytest.approx(2 * math.exp(best.fun), rel=1e-9)


def test_lemma_2_covers_and_its_square_does_not():
    vectors, noise = mixed_configuration(6, 3)
    y = noise[:, None] * np.random.default_rng(11).standard_normal((20_000, 6, 3))
    t = abs((vectors * y).sum(axis=(1, 2)))
    for level in np.quantile(t, [0.5, 0.9, 0.99]):
        assert not refuted(t >= level, min(1.0, theory.gaussian_tail(level, vectors, noise)))
    assert refuted(t >= level, theory.gaussian_tail(level * math.sqrt(2), vectors, noise))


def test_lemma_2_of_a_constant_is_certain():
    assert theory.gaussian_tail(1e-300, np.zeros((3, 2)), 1.0) == 0.0
    assert theory.gaussian_tail(1e200, np.ones((3, 2)), 1.0) == 0.0


def root(tail, level):
    """The t at which a decreasing tail bound reaches a level."""
    return optimize.brentq(lambda t: math.log(tail(t)) - math.log(level), 1e-9, 36, xtol=1e-13)


@pytest.mark.parametrize("n", [1, 8, 1000])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0.9), (0.49, 1e-4)])
def test_lemma_3_is_its_net_argument_redone_with_a_root_finder(n, epsilon, delta):
    at_net = root(lambda t: 3 * n**3 * 2 * math.exp(-t * t / 2), delta / 2)
    largest = root(lambda t: 2 * n * 2 * math.exp(-t * t / 2), delta / 2)
    expected = at_net + epsilon / n * math.sqrt(2) * largest
    assert theory.linear_supremum_bound(n, epsilon, delta) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (8, 3), (1000, 50)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0.9), (0.49, 1e-4)])
def test_lemma_4_is_its_net_argument_redone_with_lemma_1(n, d, epsilon, delta):
    x = root(lambda x: 3 * n**3 * 2 * math.exp(-x), delta / 2)
    at_net = theory.chi_square_deviation_bounds(np.ones(d), x).upper
    x = root(lambda x: 2 * n * math.exp(-x), delta / 2)
    largest = d + theory.chi_square_deviation_bounds(np.ones(d), x).upper
    expected = at_net + epsilon / n * 4 * largest
    assert theory.quadratic_supremum_bound(n, d, epsilon, delta) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("noise", [np.ones(6), np.array([1.0, 1, 2, 4, 8, 16])], ids=["equal", "mixed"])
def test_lemmas_3_and_4_cover_and_a_tenth_of_their_bounds_does_not(noise):
    n, d, epsilon, delta, trials = len(noise), 3, 0.4, 0.3, 1000
    rng = np.random.default_rng(12)
    first, second = (centred_noise(noise, d, trials, rng) for _ in range(2))  # correlated, as allowed
    directions = rng.standard_normal((n, n, d))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    variance = naive_deviations(noise) ** 2
    linear, quadratic = np.zeros(trials), np.zeros(trials)
    for a in np.linspace(1 - epsilon, 1 + epsilon, 33):
        difference = first[:, :, None] - a * second[:, None]
        scale = variance[:, None] + a * a * variance
        projected = abs((directions * difference).sum(axis=3)) / np.sqrt(scale)
        linear = np.maximum(linear, projected.max(axis=(1, 2)))
        deviation = abs((difference**2).sum(axis=3) / scale - d)
        quadratic = np.maximum(quadratic, deviation.max(axis=(1, 2)))

    bound = theory.linear_supremum_bound(n, epsilon, delta)
    assert not refuted(linear > bound, delta)
    assert refuted(linear > bound / 10, delta)
    bound = theory.quadratic_supremum_bound(n, d, epsilon, delta)
    assert not refuted(quadratic > bound, delta)
    assert refuted(quadratic > bound / 10, delta)
