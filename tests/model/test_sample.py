"""Samples have the direction, the noise and the order of draws that are promised."""

import numpy as np
import pytest
from scipy import stats

from lslmatch.model import Configuration, random_configuration
from tests.support.simulation import FALSE_FAIL


def cycle(n):
    """A permutation that is not its own inverse."""
    return np.roll(np.arange(n), -1)


def test_sample_follows_the_direction_of_the_permutation():
    features = np.random.default_rng(0).standard_normal((5, 3))
    truth = Configuration(features, np.full(5, 1e-9), 4.0, np.array([1.0, -2.0, 30.0]), cycle(5))
    x, y = truth.sample(0)
    np.testing.assert_allclose(x, features, atol=1e-7)
    for i in range(5):
        np.testing.assert_allclose(features[i], 4 * y[(i + 1) % 5] + [1, -2, 30], atol=1e-7)


def test_sample_has_the_noise_of_the_model_in_both_sets():
    n, d, scale, shift = 4000, 2, 3.0, np.array([5.0, -5.0])
    noise = np.geomspace(1, 50, n)
    features = np.random.default_rng(1).standard_normal((n, d))
    x, y = Configuration(features, noise, scale, shift, cycle(n)).sample(2)
    partners = np.array([y[(i + 1) % n] for i in range(n)])
    first = (x - features) / noise[:, None]
    second = (scale * partners + shift - features) / noise[:, None]
    joint = np.hstack([first, second])
    assert stats.kstest(joint.ravel(), "norm").pvalue > FALSE_FAIL
    # Independent columns: n times the squared correlation is close to a chi-square variable.
    correlation = np.corrcoef(joint.T)[np.triu_indices(2 * d, 1)]
    assert stats.chi2.sf(n * (correlation**2).sum(), len(correlation)) > FALSE_FAIL
    # The control: noise of the second set that forgets the scale.
    wrong = (scale * (partners - features / scale + shift / scale)) / noise[:, None] / scale
    assert stats.kstest(wrong.ravel(), "norm").pvalue < FALSE_FAIL


def test_sample_draws_in_the_documented_order():
    truth = random_configuration(6, 2, separation=2.0, noise_ratio=4.0, scale=3.0, shift=1.0, rng=3)
    rng = np.random.default_rng(4)
    xi, xi_diese = rng.standard_normal((6, 2)), rng.standard_normal((6, 2))
    x, y = truth.sample(4)
    for i, j in enumerate(truth.permutation):
        np.testing.assert_allclose(x[i], truth.features[i] + truth.noise[i] * xi[i], rtol=1e-14)
        second = (truth.features[i] - 1 + truth.noise[i] * xi_diese[i]) / 3
        np.testing.assert_allclose(y[j], second, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("make", [int, np.random.SeedSequence, np.random.default_rng, np.random.PCG64])
def test_the_same_seed_gives_the_same_sample_and_leaves_the_truth_alone(make):
    truth = random_configuration(6, 2, separation=2.0, rng=0)
    before = [np.copy(field) for field in truth]
    x, y = truth.sample(make(7))
    again_x, again_y = truth.sample(make(7))
    assert np.array_equal(x, again_x)
    assert np.array_equal(y, again_y)
    assert not np.array_equal(x, truth.sample(make(8))[0])
    assert all(np.array_equal(old, new) for old, new in zip(before, truth, strict=True))


def test_sample_without_a_seed_differs_from_call_to_call():
    truth = random_configuration(6, 2, separation=2.0, rng=0)
    assert not np.array_equal(truth.sample()[0], truth.sample()[0])


@pytest.mark.parametrize(
    ("field", "value", "error", "match"),
    [
        ("features", np.zeros(3), ValueError, "features must be 2-dimensional"),
        ("noise", np.zeros(3), ValueError, "noise must be positive"),
        ("noise", np.ones(2), ValueError, r"noise must have shape \(3,\)"),
        ("scale", -1.0, ValueError, "scale must be positive"),
        ("shift", np.zeros(2), ValueError, r"shift must have shape \(3,\)"),
        ("permutation", np.array([0, 0, 1]), ValueError, "permutation must hold each of 0, ..., 2 once"),
        ("permutation", np.array([0.0, 1.0, 2.0]), TypeError, "permutation must hold whole numbers"),
    ],
)
def test_sample_refuses_a_configuration_that_is_none(field, value, error, match):
    truth = Configuration(np.eye(3), np.ones(3), 1.0, np.zeros(3), np.arange(3))._replace(**{field: value})
    with pytest.raises(error, match=match):
        truth.sample(0)
