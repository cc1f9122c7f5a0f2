"""The usual course of the search against the search itself."""

import math

import numpy as np
import pytest

from lslmatch import check_certificate, estimate_affine
from lslmatch.alignment.profile import _ScaleSearch
from lslmatch.alignment.small_profile import GAIN, fit_quickly


def noisy_copy(n, m, d, noise, seed=0, offset=1.0):
    rng = np.random.default_rng([n, m, d, seed])
    features = rng.standard_normal((m, d))
    levels = noise * rng.uniform(0.8, 1.2, (m, 1))
    x = features + levels * rng.standard_normal((m, d)) + offset
    y = (features + levels * rng.standard_normal((m, d))) / 2.0 - offset
    return x[:n], rng.permutation(y)


def searched(x, y):
    """What the search with all its steps comes to."""
    search = _ScaleSearch(x, y, estimate_affine(x, y), 1)
    search.visit(search.recentre(search.propose()))
    return search.finish()


@pytest.mark.parametrize("noise", [0.05, 0.4])
@pytest.mark.parametrize(("n", "m", "d"), [(20, 20, 40), (50, 50, 20), (16, 20, 90)])
def test_the_usual_course_ends_where_the_search_does(n, m, d, noise):
    usual = 0
    for seed in range(4):
        x, y = noisy_copy(n, m, d, noise, seed)
        first, last, curve = fit_quickly(x, y)
        assert first.affine.scale == pytest.approx(estimate_affine(x, y).scale, rel=1e-14)
        if last is None:
            continue
        usual += 1
        expected = searched(x, y)
        np.testing.assert_array_equal(last.permutation, expected.assignment.col_ind)
        assert last.scale == pytest.approx(expected.affine.scale, rel=1e-9)
        np.testing.assert_allclose(last.shift, expected.affine.shift, rtol=1e-8, atol=1e-9)
        assert last.objective - n * math.log(last.scale) == pytest.approx(expected.value, abs=1e-7)
        np.testing.assert_allclose(curve.scale, expected.curve.scale, rtol=1e-9)
        np.testing.assert_allclose(curve.value, expected.curve.value, rtol=1e-7, atol=1e-7)
        assert check_certificate(x, y, last) < 1e-9
    assert usual >= 2


def test_a_large_offset_costs_no_digits():
    x, y = noisy_copy(20, 20, 40, 0.1)
    x, y = (np.round(points * 2.0**20) / 2.0**20 for points in (x, y))
    near, far = fit_quickly(x, y), fit_quickly(x + 2.0**30, y - 2.0**30)
    assert near.last is not None
    np.testing.assert_array_equal(near.last.permutation, far.last.permutation)
    assert far.last.scale == pytest.approx(near.last.scale, rel=1e-9)
    np.testing.assert_allclose(far.curve.value, near.curve.value, atol=1e-5)


def test_undecided_points_are_left_to_the_search():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((60, 3))
    noise = np.where(np.arange(60) < 6, 1e-5, 0.5)[:, None]
    x, y = (features + noise * rng.standard_normal((60, 3)) for _ in range(2))
    first, last, curve = fit_quickly(x, y)
    assert first is not None
    assert last is None
    assert curve is None


def test_sets_without_noise_have_no_window_and_are_left_to_it_too():
    x = np.random.default_rng(0).standard_normal((20, 3))
    assert fit_quickly(x, x[::-1].copy()).last is None


def test_so_are_large_sets():
    x = np.random.default_rng(0).standard_normal((2100, 60))
    assert fit_quickly(x, x[::-1].copy()).first is None


@pytest.mark.parametrize("seed", range(6))
def test_no_scale_of_the_curve_is_much_better(seed):
    x, y = noisy_copy(30, 30, 30, 1.2, seed)
    _, last, curve = fit_quickly(x, y)
    assert (last is None) == (curve is None)
    if curve is not None:
        here = np.argmin(np.abs(curve.scale / last.scale - 1.0))
        assert (np.diff(curve.scale) > 0.0).all()
        assert curve.value[here] <= curve.value.min() + GAIN
