"""The alignments that the likelihood chooses: "profile" and "auto"."""

import itertools
import math

import numpy as np
import pytest
from reference import SMALL

from lslmatch import Affine, ProfileCurve, check_certificate, match
from lslmatch.model import adversarial_configuration, random_configuration
from lslmatch.alignment.profile import _GAIN
from lslmatch.alignment.likelihood import MatchedResiduals, find_centres

searches = pytest.mark.parametrize("alignment", ["profile", "auto"])
shapes = pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 3), (2, 3), (20, 20), (14, 20), (20, 14)])


def draw(n, m, d, seed=0, scale=2.0, shift=1.0, quietest=0.01):
    """Partners in random order, with noise levels over two decades."""
    rng = np.random.default_rng([n, m, d, seed])
    features = rng.standard_normal((max(n, m), d))
    noise = quietest ** rng.random((max(n, m), 1))
    x = features + noise * rng.standard_normal(features.shape)
    y = (features + noise * rng.standard_normal(features.shape) - shift) / scale
    return rng.permutation(x[:n]), rng.permutation(y[:m])


def likelihood(x, y, result):
    """f of the paper: the sum of log(r**2 / scale) over the pairs."""
    rows = np.flatnonzero(result.permutation >= 0)
    rest = x[rows] - result.scale * y[result.permutation[rows]] - result.shift
    return float((np.log((rest**2).sum(axis=1)) - math.log(result.scale)).sum())


compiled = pytest.mark.skipif(SMALL, reason="the effect shows only with many points")


def adversarial(rng):
    n = 60 if SMALL else 600
    truth = adversarial_configuration(n, 12, noise_ratio=900.0, separation=6.0, strength=2.0, rng=rng)
    return truth, *truth.sample(rng + 100)


# ---------------------------------------------------------------------------- what is returned


@searches
@shapes
@pytest.mark.parametrize("d", [1, 2, 3, 15])
def test_the_matching_is_proven_optimal_at_the_scale_that_is_returned(alignment, n, m, d):
    x, y = draw(n, m, d)
    result = match(x, y, alignment=alignment)
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
    assert curve.value[here] <= curve.value.min() + _GAIN
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
    assert found <= min(others) + _GAIN


@pytest.mark.parametrize(("n", "m", "d"), [(40, 40, 3), (30, 40, 5), (40, 30, 5)])
@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_is_not_worse_than_after_standardising(n, m, d, seed):
    x, y = draw(n, m, d, seed)
    one, other = match(x, y, alignment="profile"), match(x, y)
    assert likelihood(x, y, one) <= likelihood(x, y, other) + _GAIN


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


@pytest.mark.parametrize(("n", "m"), [(40, 40), (30, 40), (40, 30)])
@pytest.mark.parametrize("d", [2, 3, 10])
def test_scaled_and_shifted_sets(n, m, d):
    x, y = draw(n, m, d)
    one = match(x, y, alignment="profile")
    other = match(8.0 * x + 3.0, y / 4.0 - 5.0, alignment="profile")
    np.testing.assert_array_equal(one.permutation, other.permutation)
    assert other.scale == pytest.approx(32.0 * one.scale, rel=1e-6)
    expected = 8.0 * one.shift + 3.0 + 5.0 * other.scale
    np.testing.assert_allclose(other.shift, expected, rtol=1e-6)


@pytest.mark.parametrize(("n", "m"), [(40, 40), (30, 40), (40, 30)])
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


# ---------------------------------------------------------------------------- degenerate data


@searches
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


@searches
@pytest.mark.parametrize(("n", "m"), [(12, 12), (9, 12), (12, 9)])
def test_duplicated_points(alignment, n, m):
    x, y = draw(n, m, 2)
    x[1::2], y[1::2] = x[: 2 * (n // 2) : 2], y[: 2 * (m // 2) : 2]
    result = match(x, y, alignment=alignment)
    assert check_certificate(x, y, result) < 1e-9
    assert sorted(result.permutation[result.permutation >= 0]) == sorted(set(result.permutation) - {-1})


@searches
def test_points_in_the_centre_say_nothing_about_the_scale(alignment):
    x = np.array([[0.0, 0.0], [1.0, 0.5], [-1.0, -0.5]])
    result = match(x, x[[2, 0, 1]], alignment=alignment)
    np.testing.assert_allclose(result.scale * x[[2, 0, 1]][result.permutation] + result.shift, x, atol=1e-12)


@searches
def test_sets_without_a_scale_are_refused(alignment):
    with pytest.raises(ValueError, match="y must have a positive total variance"):
        match([[0.0], [1.0]], [[2.0], [2.0]], alignment=alignment)


@searches
@pytest.mark.parametrize(("n", "m"), [(6, 4), (4, 6), (5, 5)])
def test_scales_out_of_range_are_refused(alignment, n, m):
    rng = np.random.default_rng(1)
    x, y = 1e300 * rng.normal(size=(n, 2)), 1e-10 * rng.normal(size=(m, 2))
    with pytest.raises(ValueError, match="x and y must have comparable units"):
        match(x, y, alignment=alignment)


@searches
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


# ---------------------------------------------------------------------------- objectives


@searches
@pytest.mark.parametrize("objective", ["lss", "lsns", "greedy"])
@pytest.mark.parametrize(("n", "m"), [(20, 20), (15, 20)])
def test_other_objectives_match_at_the_alignment_that_lsl_finds(alignment, objective, n, m):
    x, y = draw(n, m, 3)
    noise = (np.ones(n), np.ones(m)) if objective == "lsns" else None
    result = match(x, y, objective=objective, alignment=alignment, noise=noise)
    found = match(x, y, alignment=alignment)
    assert result.scale == found.scale
    np.testing.assert_array_equal(result.profile.value, found.profile.value)
    expected = match(x, y, objective=objective, alignment=found.affine, noise=noise)
    assert result.objective == expected.objective
    np.testing.assert_array_equal(result.permutation, expected.permutation)


# ---------------------------------------------------------------------------- what it is for


@compiled
@pytest.mark.parametrize("seed", range(4))
def test_quiet_points_far_away_are_recovered_where_standardising_fails(seed):
    truth, x, y = adversarial(rng=seed)
    result = match(x, y, alignment="profile")
    np.testing.assert_array_equal(result.permutation, truth.permutation)
    assert abs(result.scale - 1) < abs(match(x, y).scale - 1)


@compiled
def test_standardising_does_fail_there():
    recovered = []
    for seed in range(4):
        truth, x, y = adversarial(rng=seed)
        recovered.append(np.array_equal(match(x, y).permutation, truth.permutation))
    assert not all(recovered)


def test_the_centre_follows_the_quiet_points():
    rng = np.random.default_rng(0)
    noise = np.where(np.arange(200) < 20, 0.01, 1.0)[:, None]
    features = 5.0 * rng.standard_normal((200, 6))
    x = features + noise * rng.standard_normal((200, 6))
    y = features - 2.0 + noise * rng.standard_normal((200, 6))
    plain, found = match(x, y), match(x, y, alignment="profile")
    assert np.abs(found.shift - 2.0).max() < 0.1 * np.abs(plain.shift - 2.0).max()


def test_auto_leaves_untransformed_points_alone():
    truth, x, y = adversarial(rng=1)
    result = match(x, y, alignment="auto")
    assert (result.scale, result.shift.tolist()) == (1.0, [0.0] * 12)
    assert result.profile is not None
    np.testing.assert_array_equal(result.permutation, truth.permutation)


@pytest.mark.parametrize(("n", "m"), [(60, 60), (50, 60), (60, 50)])
def test_auto_aligns_transformed_points(n, m):
    truth = random_configuration(60, 4, separation=5.0, noise_ratio=9.0, scale=3.0, shift=7.0, rng=0)
    x, y = truth.sample(1)
    one, other = match(x[:n], y[:m], alignment="auto"), match(x[:n], y[:m], alignment="profile")
    assert one.scale != 1.0
    assert likelihood(x[:n], y[:m], one) <= likelihood(x[:n], y[:m], other)


def test_auto_prefers_the_identity_only_if_its_likelihood_is_nearly_as_good():
    truth, x, y = adversarial(rng=2)
    moved = match(x, 1.01 * y, alignment="auto")
    assert moved.scale == pytest.approx(1 / 1.01, rel=1e-3)
    np.testing.assert_array_equal(moved.permutation, truth.permutation)


# ---------------------------------------------------------------------------- the steps


def test_a_pair_alone_gains_nothing_by_coming_close():
    b = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    a = 1.1 * b + np.array([[0.0, 1e-9], [0.3, 0.0], [0.4, -0.4]])
    close = MatchedResiduals.of(a, b, 1e-30).value(1.1)
    a[0, 1] = 1e-12
    assert MatchedResiduals.of(a, b, 1e-30).value(1.1) == pytest.approx(close, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_refining_ends_where_the_value_is_stationary(seed):
    x, y = draw(40, 40, 4, seed)
    pairs = MatchedResiduals.of(x - x.mean(axis=0), y - y.mean(axis=0), 1e-30)
    factor = pairs.refine(2.0)
    step = 1e-5 * factor
    assert pairs.value(factor) <= pairs.value(2.0)
    assert pairs.value(factor) <= min(pairs.value(factor - step), pairs.value(factor + step)) + 1e-9


def test_residuals_are_those_of_the_pairs():
    x, y = draw(6, 6, 3)
    squares = ((x[:, None] - 1.7 * y) ** 2).sum(axis=-1)
    np.testing.assert_allclose(MatchedResiduals.of(x, y, 0.0).residuals(1.7), np.diag(squares))
    np.testing.assert_allclose(MatchedResiduals.all_of(x, y, 0.0).residuals(1.7), squares)
    np.testing.assert_allclose(MatchedResiduals.all_of(x, y, 0.0).costs(1.7), np.log(squares))


def test_a_point_that_underflow_takes_to_the_centre_says_nothing_about_the_scale():
    a = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    b = np.array([[1.0, 0.1], [0.1, 1.0], [1e-170, 0.0]])
    others, pairs = MatchedResiduals.of(a[:2], b[:2], 1e-30), MatchedResiduals.of(a, b, 1e-30)
    np.testing.assert_allclose(pairs.residuals(2.0), [1.04, 1.04, 0.5])
    assert pairs.values(np.array([1.0, 2.0])) @ [1.0, -1.0] == pytest.approx(
        others.values(np.array([1.0, 2.0])) @ [1.0, -1.0] + np.log(2.0)
    )
    np.testing.assert_allclose(MatchedResiduals.all_of(a, b, 1e-30).residuals(2.0).diagonal(), pairs.residuals(2.0))


def test_centres_do_not_collapse_onto_a_single_pair():
    rng = np.random.default_rng(0)
    b = rng.standard_normal((50, 5))
    a = b + rng.standard_normal((50, 5))
    a[0] = b[0] + 3.0  # noiseless, but of another shift
    centres = np.zeros((2, 5))
    factor = find_centres(a, b, 1.0, 1e-30, centres)
    shift = centres[0] - factor * centres[1]
    assert np.linalg.norm(shift) < 1.0


def test_an_alignment_is_a_name_or_an_affine():
    x, y = draw(5, 5, 2)
    with pytest.raises(
        ValueError, match="alignment must be one of 'standardize', 'identity', 'profile', 'auto'"
    ):
        match(x, y, alignment="Profile")
    assert match(x, y, alignment=Affine(2.0, np.zeros(2))).profile is None
