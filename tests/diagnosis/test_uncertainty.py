"""Standard errors and intervals are as large as the spread over many draws; a simpler formula is not."""

import math

import numpy as np
import pytest

from lslmatch import AlignmentWarning, diagnose, estimate_affine, match
from lslmatch.diagnosis.uncertainty import estimate_errors, noise_ratio_interval
from lslmatch.geometry.coordinates import Geometry, common_coordinates
from lslmatch.model import random_configuration
from tests.support.reference import SMALL

DRAWS = 400
#: The spread over draws is itself known up to 3.5 %, and a sandwich errs a little to the low side.
TOLERANCE = 0.15

many_draws = pytest.mark.skipif(SMALL, reason="many draws show nothing else without compilation")


def levels_of(kind, features):
    if kind == "equal":
        return np.full(len(features), 0.1)
    return 0.02 * ((features - features.mean(axis=0)) ** 2).sum(axis=1)  # far from the centre, much noise


def draws(kind, n, m, seed):
    """Give scales and shifts over draws beside their standard errors, and those of the simpler formula."""
    rng = np.random.default_rng(seed)
    size, d = max(n, m), 4
    features = 10.0 + rng.normal(size=(size, d)) * np.linspace(1, 3, d)
    sigma = levels_of(kind, features)[:, None]
    permutation = np.full(n, -1)
    permutation[: min(n, m)] = np.arange(min(n, m))
    found = []
    for _ in range(DRAWS):
        if n != m:  # who is missing is part of what may vary
            features = 10.0 + rng.normal(size=(size, d)) * np.linspace(1, 3, d)
        x = (features + sigma * rng.normal(size=(size, d)))[:n]
        y = ((features + sigma * rng.normal(size=(size, d)) - 2.0) / 3.0)[:m]
        affine = estimate_affine(x, y)
        geometry = common_coordinates(x, y, affine)
        scale_error, shift_error = estimate_errors(geometry, x, y, affine, permutation, False)
        found.append((affine.scale, *affine.shift, scale_error, *shift_error, _equal_noise_error(geometry)))
    table = np.array(found)
    spread = table[:, : d + 1].std(axis=0)
    errors = np.sqrt((table[:, d + 1 :] ** 2).mean(axis=0))
    return spread, errors[: d + 1], 3.0 * errors[-1]


def _equal_noise_error(geometry):
    """What the standard error of log(scale) would be if all noise were equal."""
    if geometry.a.shape != geometry.b.shape:
        return math.nan
    a, b = geometry.a - geometry.a.mean(axis=0), geometry.b - geometry.b.mean(axis=0)
    squares = ((a + b) ** 2).sum() / 4
    return math.sqrt(((a - b) ** 2).mean() / squares)


@many_draws
@pytest.mark.parametrize(("n", "m"), [(60, 60), (60, 90), (90, 60)])
def test_standard_errors_are_the_spread_over_draws(n, m):
    spread, errors, _ = draws("equal", n, m, 11)
    np.testing.assert_allclose(errors / spread, 1.0, atol=TOLERANCE)


@many_draws
def test_unequal_noise_is_allowed_for_and_the_formula_for_equal_noise_is_rejected():
    spread, errors, control = draws("unequal", 60, 60, 12)
    np.testing.assert_allclose(errors / spread, 1.0, atol=TOLERANCE)
    assert abs(control / spread[0] - 1.0) > 2 * TOLERANCE


def test_errors_follow_the_unit_and_survive_extremes():
    x, y = random_configuration(30, 3, separation=8.0, rng=1).sample(rng=2)
    found = diagnose(x, y, match(x, y))
    for unit in (2.0**300, 2.0**-300):
        scaled = diagnose(unit * x, y, match(unit * x, y))
        np.testing.assert_allclose(scaled.scale_error, unit * found.scale_error, rtol=1e-9)
        np.testing.assert_allclose(scaled.shift_error, unit * found.shift_error, rtol=1e-9)
    huge = diagnose(1e200 * x, 1e200 * y, match(1e200 * x, 1e200 * y))
    np.testing.assert_allclose(huge.scale_error, found.scale_error, rtol=1e-6)


def test_what_was_not_estimated_has_no_error():
    x, y = random_configuration(30, 3, separation=8.0, rng=1).sample(rng=2)
    found = diagnose(x, y, match(x, y, alignment="identity"))
    assert math.isnan(found.scale_error)
    assert np.isnan(found.shift_error).all()


def test_the_profile_has_errors_of_its_own_from_three_dimensions_on():
    for d in (2, 5):
        x, y = random_configuration(30, d, separation=12.0, noise_ratio=50.0, rng=1).sample(rng=2)
        result = match(x, y, alignment="profile")
        found = diagnose(x, y, result)
        assert math.isnan(found.scale_error) == (d == 2)
    # Quiet points count more, so that noisy ones do not blur the scale.
    assert found.scale_error < diagnose(x, y, match(x, y)).scale_error


def test_errors_do_not_depend_on_a_known_covariance_that_is_isotropic():
    x, y = random_configuration(30, 3, separation=8.0, rng=1).sample(rng=2)
    plain, known = (diagnose(x, y, match(x, y, covariance=c)) for c in ("isotropic", np.eye(3)))
    np.testing.assert_allclose(known.scale_error, plain.scale_error, rtol=1e-9)
    np.testing.assert_allclose(known.shift_error, plain.shift_error, rtol=1e-9)


# The ratio of noise variances.


def coverage(ratio, degrees, seed):
    """How often the interval holds the ratio, if `degrees` times as many coordinates are pretended."""
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(DRAWS):
        sigma = np.geomspace(1.0, math.sqrt(ratio), 20)[:, None]
        r = np.repeat(sigma * rng.normal(size=(20, 5)), degrees, axis=1)
        low, high = noise_ratio_interval(Geometry(r, 0 * r, 0 * r, 0 * r, 0), math.nan)
        held += low <= ratio * (1 + 1e-12) and ratio <= high
    return held / DRAWS


@pytest.mark.parametrize("ratio", [1.0, 100.0])
def test_the_interval_holds_the_ratio_of_noise_variances(ratio):
    assert coverage(ratio, 1, 13) >= 0.95


def test_an_interval_that_is_too_narrow_is_noticed():
    assert coverage(1.0, 20, 13) < 0.5


def test_the_error_of_the_scale_widens_the_interval():
    rng = np.random.default_rng(4)
    features = 100.0 * rng.normal(size=(20, 30))
    noise = np.geomspace(0.01, 1.0, 20)[:, None]  # the variances differ by a factor of 10,000
    x, y = (features + noise * rng.normal(size=(20, 30)) for _ in range(2))
    with pytest.warns(AlignmentWarning, match="the pairs contradict"):
        result = match(x, y)
    low, high = diagnose(x, y, result).noise_ratio_interval
    assert 1.0 < low <= 1e4 <= high
    rows = np.arange(20)
    pairs = common_coordinates(x, y, result.affine).taken(rows, result.permutation)
    assert noise_ratio_interval(pairs, math.nan)[1] < 1e4  # as if the scale were exact


def test_pairs_that_coincide_leave_the_ratio_open():
    zero = np.zeros((4, 2))
    assert noise_ratio_interval(Geometry(zero, zero, zero, zero, 0), math.nan) == (1.0, math.inf)
