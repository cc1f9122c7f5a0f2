import numpy as np
import pytest

from verification.scenarios.suprema import linear_supremum, moving_supremum, quadratic_supremum


def draw(seed, n, d):
    rng = np.random.default_rng(seed)
    spread = np.exp(rng.normal(size=n))
    eta, other = (spread[:, None] * rng.normal(size=(n, d)) for _ in range(2))
    mu = np.exp(2 * rng.normal()) * rng.normal(size=(n, d))
    return rng, spread, eta, other, mu - mu.mean(axis=0)


def grid(epsilon):
    return np.linspace(1 - epsilon, 1 + epsilon, 2001)[:, None, None]


def variance(a, spread):
    return spread[:, None] ** 2 + a**2 * spread**2


def assert_supremum(exact, on_grid):
    """The grid cannot exceed the supremum, and comes within its resolution of it."""
    assert on_grid <= exact * (1 + 1e-9)
    assert exact - on_grid <= 1e-4 * exact


cases = pytest.mark.parametrize(
    ("seed", "n", "d", "epsilon"),
    [
        (seed, n, d, epsilon)
        for seed in range(8)
        for n, d, epsilon in [(2, 1, 0.3), (5, 2, 0.49), (6, 4, 0.01), (7, 3, 0.49)]
    ],
)


@cases
def test_linear_supremum_is_that_of_a_fine_grid(seed, n, d, epsilon):
    rng, spread, eta, other, _ = draw(seed, n, d)
    directions = rng.normal(size=(n, n, d))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    p, q = np.einsum("ijk,ik->ij", directions, eta), np.einsum("ijk,jk->ij", directions, other)
    a = grid(epsilon)
    assert_supremum(
        linear_supremum(p, q, spread, epsilon), np.abs((p - a * q) / np.sqrt(variance(a, spread))).max()
    )


@cases
def test_quadratic_supremum_is_that_of_a_fine_grid(seed, n, d, epsilon):
    _, spread, eta, other, _ = draw(seed, n, d)
    a = grid(epsilon)
    squares = ((eta[:, None] - a[..., None] * other) ** 2).sum(axis=-1)
    assert_supremum(
        quadratic_supremum(eta, other, spread, epsilon), np.abs(squares / variance(a, spread) - d).max()
    )


@cases
def test_moving_supremum_is_that_of_a_fine_grid(seed, n, d, epsilon):
    _, spread, eta, other, mu = draw(seed, n, d)
    assert_supremum(
        moving_supremum(mu, eta, other, spread, epsilon), on_grid(mu, eta, other, spread, epsilon)
    )


@pytest.mark.parametrize("factor", [1.0, 1.1, -2.0])
def test_moving_supremum_with_features_on_one_line(factor):
    _, spread, eta, other, mu = draw(3, 5, 3)
    mu[1] = factor * mu[0]
    assert_supremum(moving_supremum(mu, eta, other, spread, 0.4), on_grid(mu, eta, other, spread, 0.4))


def on_grid(mu, eta, other, spread, epsilon):
    a = grid(epsilon)
    direction = mu[:, None] - a[..., None] * mu
    products = (direction * (eta[:, None] - a[..., None] * other)).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.abs(products) / np.linalg.norm(direction, axis=-1) / np.sqrt(variance(a, spread))
    return np.nanmax(ratios)


def test_moving_supremum_of_features_that_coincide_is_zero():
    _, spread, eta, other, mu = draw(1, 4, 2)
    assert moving_supremum(np.zeros_like(mu), eta, other, spread, 0.3) == 0.0
