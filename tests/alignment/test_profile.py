"""The alignment that the likelihood chooses: what is returned, and how it follows the data."""

import itertools
import math

import numpy as np
import pytest

from lslmatch import ProfileCurve, check_certificate, match
from lslmatch.alignment.profile import GAIN, _mean, _window
from tests.support.alignment import adversarial, draw, likelihood, match_by_one_scale, searches
from tests.support.reference import SMALL

shapes = pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 3), (2, 3), (20, 20), (14, 20), (20, 14)])
larger_shapes = pytest.mark.parametrize(
    ("n", "m"), [(16, 16), (12, 16), (16, 12)] if SMALL else [(40, 40), (30, 40), (40, 30)]
)


# ---------------------------------------------------------------------------- what is returned


@searches
@shapes
@pytest.mark.parametrize("d", [1, 2, 3, 15])
def test_the_matching_is_proven_optimal_at_the_scale_that_is_returned(alignment, n, m, d):
    x, y = draw(n, m, d)
    result = match_by_one_scale(x, y, alignment)
    assert check_certificate(x, y, result) < 1e-9
    again = match(x, y, alignment=result.affine)
    assert again.objective == pytest.approx(result.objective, abs=1e-9)


@shapes
@pytest.mark.parametrize("d", [1, 2, 3, 15])
@pytest.mark.parametrize("seed", range(1 if SMALL else 3))
def test_the_curve_is_least_at_the_scale_that_is_returned_and_equals_f_there(n, m, d, seed):
    x, y = draw(n, m, d, seed)
    result = match(x, y, alignment="profile")
    curve = result.profile
    assert isinstance(curve, ProfileCurve)
    assert curve.scale.shape == curve.value.shape
    assert (np.diff(curve.scale) > 0).all()
    here = np.argmin(np.abs(np.log(curve.scale / result.scale)))
    assert curve.scale[here] == pytest.approx(result.scale, rel=1e-14)
    assert curve.value[here] <= curve.value.min() + GAIN
    value = result.objective - min(n, m) * math.log(result.scale)
    assert curve.value[here] == pytest.approx(value, abs=1e-9)
    # Two points on a line are matched exactly, so that their residuals are rounding.
    if min(n, m) > 2 or d > 1:
        assert value == pytest.approx(likelihood(x, y, result), abs=1e-8)


@pytest.mark.parametrize(("n", "d"), [(2, 2), (3, 1), (3, 2), (4, 1), (4, 2), (5, 2)])
@pytest.mark.parametrize("seed", range(5))
def test_no_matching_and_no_scale_of_the_window_is_better(n, d, seed):
    x, y = draw(n, n, d, seed)
    result = match(x, y, alignment="profile")
    z, w = x - x.mean(axis=0), y - y.mean(axis=0)

    def value(permutation, scale):
        squares = ((z - scale * w[permutation]) ** 2).sum(axis=1)
        information = (w[permutation] ** 2).sum(axis=1) / squares
        return np.log(squares).sum() - n * math.log(scale) + math.log(information.sum())

    scales = np.geomspace(result.profile.scale[0], result.profile.scale[-1], 100)
    found = value(result.permutation, result.scale)
    others = (value(list(p), t) for p in itertools.permutations(range(n)) for t in scales)
    assert found <= min(others) + GAIN


# Standardising is off where noise differs so much, and says so.
@pytest.mark.filterwarnings("ignore::lslmatch.AlignmentWarning")
@pytest.mark.parametrize(("n", "m", "d"), [(40, 40, 3), (30, 40, 5), (40, 30, 5)])
@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_is_not_worse_than_after_standardising(n, m, d, seed):
    x, y = draw(n, m, d, seed)
    one, other = match(x, y, alignment="profile"), match(x, y)
    assert likelihood(x, y, one) <= likelihood(x, y, other) + GAIN


def test_new_centres_that_make_it_worse_are_given_up():
    # In the plane pairs are weighed equally, so with points left over the centres follow wrong pairs.
    at_the_mean = []
    for seed in range(30):
        x, y = draw(4, 6, 2, seed)
        result = match(x, y, alignment="profile")
        assert check_certificate(x, y, result) < 1e-9
        at_the_mean.append(np.allclose(result.shift, x.mean(axis=0) - result.scale * y.mean(axis=0)))
    assert any(at_the_mean)
    assert not all(at_the_mean)


@pytest.mark.parametrize("workers", [2, 3])
@searches
def test_workers_change_nothing(alignment, workers):
    _, x, y = adversarial(rng=0)
    one, other = (match(x, y, alignment=alignment, workers=k) for k in (1, workers))
    assert one.scale == other.scale
    np.testing.assert_array_equal(one.shift, other.shift)
    np.testing.assert_array_equal(one.permutation, other.permutation)
    np.testing.assert_array_equal(one.row_dual, other.row_dual)
    np.testing.assert_array_equal(one.profile.value, other.profile.value)


def test_a_match_without_a_search_has_no_curve():
    x, y = draw(5, 5, 2)
    assert match(x, y).profile is None
    assert match(x, y, alignment="identity").profile is None


# ---------------------------------------------------------------------------- changed data


@larger_shapes
@pytest.mark.parametrize("d", [2, 3, 10])
def test_scaled_and_shifted_sets(n, m, d):
    x, y = draw(n, m, d)
    one = match(x, y, alignment="profile")
    other = match(8.0 * x + 3.0, y / 4.0 - 5.0, alignment="profile")
    np.testing.assert_array_equal(one.permutation, other.permutation)
    assert other.scale == pytest.approx(32.0 * one.scale, rel=1e-6)
    expected = 8.0 * one.shift + 3.0 + 5.0 * other.scale
    np.testing.assert_allclose(other.shift, expected, rtol=1e-6)


@larger_shapes
@pytest.mark.parametrize("d", [1, 2, 10])
@searches
def test_permuted_rows(alignment, n, m, d):
    x, y = draw(n, m, d)
    rng = np.random.default_rng(0)
    rows, cols = rng.permutation(n), rng.permutation(m)
    one, other = match(x, y, alignment=alignment), match(x[rows], y[cols], alignment=alignment)
    assert other.scale == pytest.approx(one.scale, rel=1e-9)
    matched = other.permutation >= 0
    np.testing.assert_array_equal(cols[other.permutation[matched]], one.permutation[rows[matched]])
    assert other.objective == pytest.approx(one.objective, abs=1e-7)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
@searches
def test_very_large_and_very_small_values(alignment, unit):
    x, y = draw(30, 30, 3)
    one, other = match(x, y, alignment="profile"), match(unit * x, unit * y, alignment=alignment)
    np.testing.assert_array_equal(one.permutation, other.permutation)
    assert other.scale == pytest.approx(one.scale, rel=1e-9)


@searches
def test_a_large_common_offset(alignment):
    x, y = draw(30, 30, 3)
    one, other = match(x, y, alignment="profile"), match(x + 2.0**30, y - 2.0**30, alignment=alignment)
    np.testing.assert_array_equal(one.permutation, other.permutation)
    assert other.scale == pytest.approx(one.scale, rel=1e-5)


# ---------------------------------------------------------------------------- objectives


@searches
@pytest.mark.parametrize("objective", ["lss", "lsns", "greedy"])
@pytest.mark.parametrize(("n", "m"), [(20, 20), (15, 20)])
def test_other_objectives_match_at_the_alignment_that_lsl_finds(alignment, objective, n, m):
    x, y = draw(n, m, 3)
    noise = (np.ones(n), np.ones(m)) if objective == "lsns" else None
    result = match_by_one_scale(x, y, alignment, objective, noise)
    found = match_by_one_scale(x, y, alignment)
    assert result.scale == found.scale
    np.testing.assert_array_equal(result.profile.value, found.profile.value)
    expected = match(x, y, objective=objective, alignment=found.affine, noise=noise)
    # Small sets with a given map are summed in another order.
    assert result.objective == pytest.approx(expected.objective, rel=1e-14)
    np.testing.assert_array_equal(result.permutation, expected.permutation)


# ---------------------------------------------------------------------------- the window


@pytest.mark.parametrize(("n", "m", "d"), [(30, 30, 3), (30, 30, 1), (25, 40, 4)])
def test_the_window_is_five_standard_errors_of_the_scale_to_either_side(n, m, d):
    rng = np.random.default_rng([n, m, d])
    b = rng.standard_normal((m, d)) * np.linspace(0.5, 2.0, m)[:, None]
    cols = rng.permutation(m)[:n]
    a = b[cols] + 0.02 * rng.standard_normal((n, d))
    variance = 0.0
    for p, q in zip(a, b[cols], strict=True):
        variance += sum((p + q) ** 2) * sum((p - q) ** 2) / d
    variance /= (2 * (a**2).sum()) ** 2
    if n < m:
        squares = (b**2).sum(axis=1)
        variance += squares.var() / (2 * squares.mean()) ** 2 * (1 / n - 1 / m)
    low, high = _window(a, b, cols)
    assert math.log(high) == pytest.approx(5.0 * math.sqrt(variance), rel=1e-9)
    assert low * high == pytest.approx(1.0, rel=1e-12)
    assert high < 2.0


def test_the_window_is_at_most_a_factor_of_two_and_empty_where_only_rounding_is_left():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((6, 2))
    assert _window(a, 5.0 * rng.standard_normal((6, 2)), np.arange(6)) == pytest.approx((0.5, 2.0))
    assert _window(a, a * (1.0 + 1e-14), np.arange(6)) == (1.0, 1.0)


@pytest.mark.parametrize("unit", [1.0, 2.0**1021, 2.0**-1060])
def test_means_are_in_the_range_of_numbers(unit):
    points = np.array([[1.0, 3.0], [2.0, 3.5], [3.0, 2.5], [2.0, 3.0]])
    np.testing.assert_array_equal(_mean(points * unit), np.array([2.0, 3.0]) * unit)
