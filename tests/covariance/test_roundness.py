"""Whether residuals have a shape: said of noise that has one, and not of noise that has none."""

import numpy as np
import pytest

from lslmatch import MatchResult, match
from lslmatch.covariance.roundness import LEAST_PAIRS, are_round


def draw(seed, n, d, shape, levels=0.0):
    rng = np.random.default_rng([seed, n, d])
    features = 30.0 * rng.normal(size=(n, d))
    noise = [rng.normal(size=(n, d)) @ shape * np.exp(levels * rng.normal(size=(n, 1))) for _ in range(2)]
    return features + noise[0], features + noise[1]


def in_order(n, d):
    """A matching whose partners stand in the same rows."""
    return MatchResult(np.arange(n), 1.0, np.zeros(d), 0.0, None, None, "lsl", None)


def share_round(d, shape, draws=60, n=200, levels=0.0):
    found = []
    for seed in range(draws):
        x, y = draw(seed, n, d, shape, levels)
        found.append(are_round(x, y, in_order(n, d)))
    return np.mean(found)


@pytest.mark.parametrize("d", [2, 5])
def test_noise_without_a_shape_is_round_whatever_its_levels(d):
    assert share_round(d, np.eye(d)) > 0.9
    assert share_round(d, np.eye(d), levels=1.0) > 0.9


def test_variances_that_differ_and_correlations_are_seen():
    assert share_round(5, np.diag(np.exp([0.0, 0.3, -0.3, 0.3, -0.3]))) < 0.05
    mixed = np.linalg.cholesky(0.6 * np.eye(5) + 0.4)
    assert share_round(5, mixed) < 0.05


def test_few_pairs_or_none_that_differ_are_not_judged():
    x, y = draw(0, LEAST_PAIRS - 1, 3, np.eye(3))
    assert not are_round(x, y, in_order(LEAST_PAIRS - 1, 3))
    assert not are_round(x, x, in_order(LEAST_PAIRS - 1, 3))


def test_auto_says_why_it_learns_nothing(monkeypatch):
    for module in ("covariance.roundness", "columns.selection"):
        monkeypatch.setattr(f"lslmatch.{module}.LEAST_PAIRS", 20)
    x, y = draw(0, 40, 3, np.eye(3))
    result = match(x, y, covariance="auto")
    assert result.covariance.is_isotropic
    assert "point in all directions alike" in result.covariance.reason
    again = match(x, y, covariance="auto", objective="lss")
    assert again.criterion == "lss"
    assert again.covariance.reason == result.covariance.reason
    some = match(x, y, covariance="auto", pairs=10)
    assert (some.permutation >= 0).sum() == 10
