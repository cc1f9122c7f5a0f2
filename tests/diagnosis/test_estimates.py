"""Estimates of noise, separation and distortion against the truth, and against their definitions."""

import itertools
import math

import numpy as np
import pytest

from lslmatch import Affine, diagnose, match, theory
from lslmatch.diagnosis import outcome as diagnosis
from lslmatch.diagnosis.estimates import (
    _undo_centring,
    distortion_of,
    midpoints,
    noise_levels,
    separation_of,
)
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.diagnosis import N, planted
from tests.support.simulation import naive_deviations

# With n pairs in d dimensions the relative error of a mean noise level is about 1 / sqrt(2 n d).


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


def test_shrinking_leaves_a_low_level_among_high_ones_low():
    rng = np.random.default_rng(4)
    n, d, draws = 100, 8, 40
    levels = np.array([1.0] + [30.0] * (n - 1))
    errors = []
    for _ in range(draws):
        x, y = 1000.0 + levels[:, None] * rng.normal(size=(2, n, d))
        pairs = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
        errors.append(np.log(np.ldexp(noise_levels(pairs), pairs.exponent)) - np.log(levels))
    low, high = np.mean(errors, axis=0)[0], np.array(errors)[:, 1:]
    # Half the logarithm of a chi-square variable of 8 degrees of freedom has a standard deviation of 0.27. By
    # no more may the low level be drawn to the others; shrunk like them it would be by 1.2.
    assert -3.0 * 0.27 / np.sqrt(draws) < low < 0.27 * (1.0 + 3.0 / np.sqrt(draws))
    assert high.std() < 0.27


def test_estimates_notice_a_wrong_matching():
    _, x, y = planted()
    result = match(x, y)
    right = diagnose(x, y, result)
    wrong = diagnose(x, y, result._replace(permutation=np.roll(result.permutation, 1), row_dual=None))
    assert right.verdict.endswith(diagnosis.ABOVE_FLOOR)
    assert wrong.verdict == diagnosis.BELOW_FLOOR
    assert wrong.noise.min() > 2 * right.noise.max()


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_units_change_the_noise_alone(factor):
    _, x, y = planted(n=20, d=3, noise_ratio=4.0)
    found = diagnose(x, y, match(x, y), margins="exact")
    scaled = diagnose(factor * x, factor * y, match(factor * x, factor * y), margins="exact")
    np.testing.assert_allclose(scaled.noise / factor, found.noise, rtol=1e-9)
    np.testing.assert_allclose(scaled.margin, found.margin, atol=1e-9)
    # They settle from the duals, of which there are several: up to so much.
    np.testing.assert_allclose(scaled.confidence, found.confidence, atol=1e-3)
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


# The estimators, one by one, against loops.


def unordered(n=9, m=12, d=3):
    """Two sets, partners in some order, a map between them, and what is matched in common coordinates."""
    rng = np.random.default_rng([n, m, d])
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    rows, cols = np.arange(n)[::2], rng.permutation(m)[: (n + 1) // 2]
    affine = Affine(3.0, np.linspace(-1.0, 1.0, d))
    geometry = common_coordinates(x, y, affine)
    return x[rows], 3.0 * y[cols] + affine.shift, geometry.taken(rows, cols), geometry.exponent


def test_matched_pairs_are_partners_in_the_same_row():
    x, y, pairs, exponent = unordered()
    np.testing.assert_allclose(np.ldexp(pairs.a - pairs.b, exponent), x - y, rtol=1e-12, atol=1e-14)


def test_midpoints_lie_between_the_partners():
    x, y, pairs, exponent = unordered()
    middle, found = (x + y) / 2, np.ldexp(midpoints(pairs).a, exponent)
    np.testing.assert_allclose(found - found[0], middle - middle[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("size", [1e-3, 0.1, 3.0])
def test_separation_is_the_least_over_all_pairs_of_midpoints_less_what_noise_adds(size):
    x, y, pairs, exponent = unordered()
    middle, d = (x + y) / 2, x.shape[1]
    levels = size * np.linspace(1.0, 2.0, len(x))
    s = naive_deviations(levels)
    least = min(
        math.dist(middle[i], middle[j]) ** 2 / (s[i] ** 2 + s[j] ** 2)
        for i, j in itertools.combinations(range(len(x)), 2)
    )
    found = separation_of(midpoints(pairs), np.ldexp(levels, -exponent), 1)
    assert found == pytest.approx(math.sqrt(max(least - d / 2, 0.0)), rel=1e-9)
    assert (found == 0.0) == (size == 3.0)


@pytest.mark.parametrize("size", [1e-3, 0.1, 3.0])
def test_distortion_is_the_spread_of_midpoints_less_what_noise_adds(size):
    x, y, pairs, exponent = unordered()
    middle, (k, d) = (x + y) / 2, x.shape
    levels = size * np.linspace(1.0, 2.0, k)
    spread = sum(math.dist(row, middle.mean(axis=0)) ** 2 for row in middle)
    expected = spread / sum(level**2 for level in levels) - (k - 1) / k * d / 2
    found = distortion_of(midpoints(pairs), np.ldexp(levels, -exponent))
    assert found == pytest.approx(math.sqrt(max(expected, 0.0)), rel=1e-9)
    assert (found == 0.0) == (size == 3.0)


def test_distances_that_differ_no_more_than_by_chance_have_one_level():
    # Nearly equal distances; their sum is not 0, so that no centring is undone.
    rng = np.random.default_rng(2)
    x, steps = rng.normal(size=(30, 4)), rng.normal(size=(30, 4))
    steps *= np.linspace(0.9, 1.1, 30)[:, None] / np.linalg.norm(steps, axis=1, keepdims=True)
    pairs = common_coordinates(x + steps, x, Affine(1.0, np.zeros(4)))
    expected = math.sqrt((np.linspace(0.9, 1.1, 30) ** 2).mean() / (2 * 4))
    np.testing.assert_allclose(
        np.ldexp(noise_levels(pairs), pairs.exponent), np.full(30, expected), rtol=1e-12
    )


@pytest.mark.parametrize("levels", [np.ones(2), np.ones(7), np.linspace(1.0, 3.0, 12)])
def test_what_centring_does_to_the_levels_is_undone(levels):
    np.testing.assert_allclose(_undo_centring(naive_deviations(levels) ** 2), levels**2, rtol=1e-12)


def test_a_level_that_centring_hides_keeps_half_of_what_is_seen():
    levels = np.array([1e-3, *np.ones(9)])
    seen = naive_deviations(levels) ** 2
    assert _undo_centring(seen)[0] == pytest.approx(seen[0] / 2, rel=1e-12)
