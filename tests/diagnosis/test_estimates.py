"""Estimates of noise, separation and distortion against the truth, and against their definitions."""

import numpy as np
import pytest

from lslmatch import Affine, diagnose, match, theory
from lslmatch.diagnosis import diagnose as diagnosis
from lslmatch.diagnosis.estimates import noise_levels
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.diagnosis import N, planted

# Estimates. With n pairs in d dimensions the relative error of a mean noise level is about 1 / sqrt(2 n d).


def test_estimates_for_equal_noise():
    truth, x, y = planted(scale=3.0, shift=50.0)
    found = diagnose(x, y, match(x, y))
    np.testing.assert_allclose(found.noise, 1.0, rtol=0.15)
    assert found.noise_ratio < 1.5
    assert found.relative_noise == pytest.approx(theory.relative_noise(truth.noise), rel=0.15)
    assert found.separation == pytest.approx(10.0, rel=0.1)
    lambda_ = theory.distortion_to_noise(truth.features, truth.noise)
    assert found.distortion == pytest.approx(lambda_, rel=0.05)
    assert found.noise_floor == theory.noise_floor(N, 20)


def test_estimates_for_unequal_noise():
    truth, x, y = planted(noise_ratio=100.0, d=60)
    found = diagnose(x, y, match(x, y))
    # Half the logarithm of a chi-square variable of 60 degrees of freedom has a standard deviation of 0.092.
    assert np.sqrt(np.mean(np.log(found.noise / truth.noise) ** 2)) < 0.12
    assert 50 < found.noise_ratio < 300
    assert found.separation == pytest.approx(10.0, rel=0.2)


def test_shrinking_takes_out_what_chance_puts_in():
    _, x, y = planted(d=2, separation=50.0)
    result = match(x, y)
    found = diagnose(x, y, result)
    raw = np.linalg.norm(x - result.scale * y[result.permutation] - result.shift, axis=1) / 2
    assert theory.noise_ratio(raw) > 100
    assert found.noise_ratio < 10
    assert np.abs(np.log(found.noise)).mean() < np.abs(np.log(raw)).mean() / 4


def test_shrinking_leaves_a_quiet_point_among_noisy_ones_quiet():
    rng = np.random.default_rng(4)
    n, d, draws = 100, 8, 40
    levels = np.array([1.0] + [30.0] * (n - 1))
    errors = []
    for _ in range(draws):
        x, y = 1000.0 + levels[:, None] * rng.normal(size=(2, n, d))
        pairs = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
        errors.append(np.log(np.ldexp(noise_levels(pairs[0]), pairs[1])) - np.log(levels))
    quiet, noisy = np.mean(errors, axis=0)[0], np.array(errors)[:, 1:]
    # Half the logarithm of a chi-square variable of 8 degrees of freedom has a standard deviation of 0.27. By
    # no more may the quiet level be drawn to the others; shrunk like them it would be by 1.2.
    assert -3.0 * 0.27 / np.sqrt(draws) < quiet < 0.27 * (1.0 + 3.0 / np.sqrt(draws))
    assert noisy.std() < 0.27


def test_estimates_notice_a_wrong_matching():
    _, x, y = planted()
    result = match(x, y)
    right = diagnose(x, y, result)
    wrong = diagnose(x, y, result._replace(permutation=np.roll(result.permutation, 1), row_dual=None))
    assert right.verdict == diagnosis.ABOVE_FLOOR
    assert wrong.verdict == diagnosis.BELOW_FLOOR
    assert wrong.noise.min() > 2 * right.noise.max()


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_units_change_the_noise_alone(factor):
    _, x, y = planted(n=20, d=3, noise_ratio=4.0)
    found = diagnose(x, y, match(x, y), margins="exact")
    scaled = diagnose(factor * x, factor * y, match(factor * x, factor * y), margins="exact")
    np.testing.assert_allclose(scaled.noise / factor, found.noise, rtol=1e-9)
    np.testing.assert_allclose(scaled.margin, found.margin, atol=1e-9)
    np.testing.assert_allclose(scaled.confidence, found.confidence, atol=1e-9)
    for name in ("separation", "noise_ratio", "relative_noise", "distortion"):
        assert getattr(scaled, name) == pytest.approx(getattr(found, name), rel=1e-9)
    assert (scaled.verdict, scaled.threshold) == (found.verdict, found.threshold)


# Degenerate data.


def test_noise_beyond_the_largest_number_is_infinite():
    x = 1e308 * np.array([[-1.0, 1.0], [1.0, -1.0], [0.5, 1.0]])
    result = match(x, x, alignment="identity")._replace(scale=1e300, row_dual=None)
    assert diagnose(x, x, result).noise.max() == np.inf


def test_noise_whose_square_underflows():
    x = 1e-148 * np.random.default_rng(1).normal(size=(10, 3))
    y = x * (1 + 2.0**-50)
    diagnosis = diagnose(x, y, match(x, y, objective="lss", alignment="identity"))
    assert 0.0 < diagnosis.noise.max() < 1e-160
    np.testing.assert_allclose(diagnosis.confidence, 1.0)
