"""Searches on noiseless, duplicated, central and vanishing points."""

import numpy as np
import pytest

from lslmatch import check_certificate, match
from tests.support.alignment import draw, estimates, searches


@estimates
@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 3), (25, 25), (20, 25), (25, 20)])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_noiseless_points(alignment, n, m, d):
    rng = np.random.default_rng([n, m, d])
    points = rng.standard_normal((max(n, m), d))
    x, y = points[:n], rng.permutation((points - 1.0) / 4.0)[:m]
    result = match(x, y, alignment=alignment)
    assert check_certificate(x, y, result) < 1e-7
    if n == m and (n, d) != (2, 1):  # two points on a line are as well exchanged
        np.testing.assert_allclose(result.scale * y[result.permutation] + result.shift, x, atol=1e-12)


@pytest.mark.parametrize("d", [3, 8])
def test_some_noiseless_points_fix_the_scale(d):
    rng = np.random.default_rng(d)
    noise = np.where(np.arange(60) < 10, 0.0, 0.5)[:, None]
    features = rng.standard_normal((60, d))
    x = features + noise * rng.standard_normal((60, d))
    y = (features + noise * rng.standard_normal((60, d))) / 3.0
    result = match(x, y, alignment="profile")
    assert abs(match(x, y).scale / 3.0 - 1) > 1e-3
    assert result.scale == pytest.approx(3.0, rel=1e-9)
    np.testing.assert_array_equal(result.permutation[:10], np.arange(10))


@estimates
@pytest.mark.parametrize(("n", "m"), [(12, 12), (9, 12), (12, 9)])
def test_duplicated_points(alignment, n, m):
    x, y = draw(n, m, 2)
    x[1::2], y[1::2] = x[: 2 * (n // 2) : 2], y[: 2 * (m // 2) : 2]
    result = match(x, y, alignment=alignment)
    assert check_certificate(x, y, result) < 1e-9
    assert sorted(result.permutation[result.permutation >= 0]) == sorted(set(result.permutation) - {-1})


@estimates
def test_points_in_the_centre_say_nothing_about_the_scale(alignment):
    x = np.array([[0.0, 0.0], [1.0, 0.5], [-1.0, -0.5]])
    result = match(x, x[[2, 0, 1]], alignment=alignment)
    np.testing.assert_allclose(result.scale * x[[2, 0, 1]][result.permutation] + result.shift, x, atol=1e-12)


@estimates
def test_sets_without_a_scale_are_refused(alignment):
    with pytest.raises(ValueError, match="y must have a positive total variance"):
        match([[0.0], [1.0]], [[2.0], [2.0]], alignment=alignment)


@estimates
@pytest.mark.parametrize(("n", "m"), [(6, 4), (4, 6), (5, 5)])
def test_scales_out_of_range_are_refused(alignment, n, m):
    rng = np.random.default_rng(1)
    x, y = 1e300 * rng.normal(size=(n, 2)), 1e-10 * rng.normal(size=(m, 2))
    with pytest.raises(ValueError, match="x and y must have comparable units"):
        match(x, y, alignment=alignment)


@estimates
def test_a_shift_beside_which_the_sets_cannot_be_seen(alignment):
    x = np.array([[1e-66, 2e-66], [-1e-66, 3e-66]])
    y = np.array([[1.7e295, 1e-18], [1.7e295, 5.0]])
    result = match(x, y, alignment=alignment)
    assert sorted(result.permutation) == [0, 1]
    assert check_certificate(x, y, result) <= 1e-10


@searches
def test_a_curve_that_ends_out_of_range(alignment):
    rng = np.random.default_rng(2)
    y = rng.normal(size=(6, 2))
    x = 1e308 * (y / np.abs(y).max() + 0.3 * rng.normal(size=(6, 2))).clip(-1.5, 1.5)
    result = match(x, 0.28 * y, alignment=alignment)
    assert 1e307 < result.scale < np.inf
    assert result.profile.scale.max() == np.inf
