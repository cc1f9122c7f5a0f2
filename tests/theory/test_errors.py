"""Bad input is refused by name."""

import numpy as np
import pytest

from lslmatch import theory

POINTS = np.eye(3)

SCALE = {"relative_noise": 0.5, "distortion": 1.0, "delta": 0.1}

RECOVERY = {"noise_ratio": 1.0, "delta": 0.1}


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: theory.separation([1.0, 2.0], 1.0), ValueError, "features must be 2-dimensional"),
        (lambda: theory.separation([[1.0]], 1.0), ValueError, "features must have at least 2 points"),
        (lambda: theory.separation(POINTS * np.nan, 1.0), ValueError, "features must be finite"),
        (lambda: theory.separation(POINTS * 1j, 1.0), TypeError, "features must be real numbers"),
        (lambda: theory.separation(POINTS, [1.0, 2.0]), ValueError, r"noise must have shape \(3,\)"),
        (lambda: theory.centred_moments(POINTS, 0.0), ValueError, "noise must be positive"),
        (lambda: theory.distortion_to_noise(POINTS, -1.0), ValueError, "noise must be positive"),
        (lambda: theory.noise_ratio(1.0), ValueError, "noise must be a vector of at least one number"),
        (lambda: theory.relative_noise([]), ValueError, "noise must be a vector of at least one number"),
        (lambda: theory.relative_noise([1.0, 0.0]), ValueError, "noise must be positive"),
        (lambda: theory.obstruction(POINTS, 1.0, -0.1), ValueError, "scale_error must be at least 0"),
        (lambda: theory.noise_floor(1, 5), ValueError, "n must be at least 2"),
        (lambda: theory.noise_floor(10, 2.5), TypeError, "d must be a whole number"),
        (lambda: theory.expected_sum_of_squares(POINTS, 0.0), ValueError, "noise must be positive"),
        (lambda: theory.sum_of_squares_bounds(POINTS, 1.0, 0.0), ValueError, "delta must lie strictly"),
        (lambda: theory.frobenius_bounds(POINTS, 1.0, 1.0), ValueError, "delta must lie strictly"),
        (lambda: theory.scale_error_bound(1, 3, **SCALE), ValueError, "n must be at least 2"),
        (lambda: theory.scale_error_bound(8, 0, **SCALE), ValueError, "d must be at least 1"),
        (
            lambda: theory.scale_error_bound(8, 3, **{**SCALE, "relative_noise": 0.0}),
            ValueError,
            "relative_noise must be positive",
        ),
        (
            lambda: theory.scale_error_bound(8, 3, **{**SCALE, "distortion": -1.0}),
            ValueError,
            "distortion must be at least 0",
        ),
        (
            lambda: theory.scale_error_bound(8, 3, **{**SCALE, "delta": 1.5}),
            ValueError,
            "delta must lie strictly between 0 and 1; got 1.5",
        ),
        (
            lambda: theory.scale_error_smallest_delta(0, relative_noise=1.0),
            ValueError,
            "d must be at least 1",
        ),
        (lambda: theory.recovery_smallest_delta(1, relative_noise=0.0), ValueError, "relative_noise must be"),
        (lambda: theory.recovery_threshold(1, 3, **RECOVERY), ValueError, "n must be at least 2"),
        (
            lambda: theory.recovery_threshold(8, 3, noise_ratio=0.5, delta=0.1),
            ValueError,
            "noise_ratio must be at least 1",
        ),
        (lambda: theory.chi_square_deviation_bounds([1.0, -1.0], 1.0), ValueError, "weights must not be neg"),
        (lambda: theory.chi_square_deviation_bounds(POINTS, 1.0), ValueError, "weights must be a vector"),
        (lambda: theory.chi_square_deviation_bounds([1.0], 0.0), ValueError, "x must be positive"),
        (lambda: theory.gaussian_tail(0.0, POINTS, 1.0), ValueError, "x must be positive"),
        (lambda: theory.gaussian_tail(1.0, [1.0], 1.0), ValueError, "vectors must be 2-dimensional"),
        (lambda: theory.linear_supremum_bound(0, 0.1, 0.1), ValueError, "n must be at least 1"),
        (lambda: theory.linear_supremum_bound(3, 0.5, 0.1), ValueError, "epsilon .* between 0 and 0.5"),
        (lambda: theory.linear_supremum_bound(3, 0.1, 0.0), ValueError, "delta must lie strictly"),
        (lambda: theory.quadratic_supremum_bound(3, 0, 0.1, 0.1), ValueError, "d must be at least 1"),
        (lambda: theory.quadratic_supremum_bound(3, 2, 0.0, 0.1), ValueError, "epsilon .* between 0 and 0.5"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, match):
    with pytest.raises(error, match=match):
        call()
