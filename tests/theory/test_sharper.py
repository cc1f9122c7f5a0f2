"""The sharper versions of the two theorems: below the paper's, and true in simulation."""

import math

import numpy as np
import pytest

from lslmatch import theory


def test_the_sharp_threshold_has_the_constants_of_the_audit():
    sharper = pytest.importorskip("verification.audit.sharper")
    n, d, delta = 100, 60, 0.05
    found = theory.recovery_threshold(n, d, noise_ratio=4.0, delta=delta, constants="sharp")
    by_hand = (
        float(sharper.FIVE) * (d * math.log(12 * n**3 / delta)) ** 0.25
        + float(sharper.SEVENTEEN) * math.log(24 * n**3 / delta) ** 0.5
        + float(sharper.FIFTY_TWO) * (4 * math.log(4 / delta)) ** 0.5
    )
    assert found == pytest.approx(by_hand, rel=1e-12)
    assert found < theory.recovery_threshold(n, d, noise_ratio=4.0, delta=delta)


def test_the_sharp_scale_error_is_below_the_three_terms_wherever_theorem_1_applies():
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(2000):
        n, d = int(rng.integers(8, 200)), int(10 ** rng.uniform(0, 5))
        options = {"relative_noise": n ** -rng.uniform(0, 0.5), "distortion": 10 ** rng.uniform(-2, 3)}
        least = theory.scale_error_smallest_delta(d, relative_noise=options["relative_noise"])
        if least < 1:
            delta = max(least, 1e-300) ** rng.uniform(0, 1)
            if delta < 1:
                compared += 1
                sharp = theory.scale_error_bound(n, d, **options, delta=delta, constants="sharp")
                assert 0 < sharp < theory.scale_error_bound(n, d, **options, delta=delta)
    assert compared > 500


def test_the_sharp_scale_error_covers_and_a_twentieth_of_it_does_not():
    n, d, delta, noise = 8, 40, 0.02, np.array([1.0, *[0.3] * 7])
    z = np.random.default_rng(1).standard_normal((4000, 2, n, d)) * noise[:, None]
    sums = ((z - z.mean(axis=2, keepdims=True)) ** 2).sum(axis=(2, 3))
    error = abs(sums[:, 0] / sums[:, 1] - 1)
    alpha = theory.relative_noise(noise)
    bound = theory.scale_error_bound(
        n, d, relative_noise=alpha, distortion=0.0, delta=delta, constants="sharp"
    )
    assert np.mean(error > bound) <= 4 * delta / 2
    assert np.mean(error > bound / 20) > 4 * delta


def test_the_sharp_scale_error_is_infinite_where_the_proof_says_nothing():
    error = theory.scale_error_bound(8, 1, relative_noise=1.0, distortion=0.0, delta=0.01, constants="sharp")
    assert error == math.inf


def test_constants_are_the_papers_or_sharp():
    with pytest.raises(ValueError, match="constants must be"):
        theory.recovery_threshold(100, 60, noise_ratio=1.0, delta=0.05, constants="best")


def test_the_repaired_bound_in_expectation_holds_and_fails_in_one_dimension():
    """At d = 16 and one dominating noise, the worst that the repair allows; and the display's witness."""
    rng = np.random.default_rng(2)

    def errors(d, small, trials=4000):
        noise = np.array([1.0, *[small] * 7])
        z = rng.standard_normal((trials, 2, 8, d)) * noise[:, None]
        sums = ((z - z.mean(axis=2, keepdims=True)) ** 2).sum(axis=(2, 3))
        return abs(sums[:, 0] / sums[:, 1] - 1), sums[:, 1], theory.relative_noise(noise)

    error, sums, alpha = errors(16, 1e-3)
    assert error.mean() < 6 * alpha / 4
    assert np.mean(sums**-2.0) < (16 * 7 / 8 - 6 * alpha**2) ** -2.0  # the inverse moment of the proof
    assert errors(1, 1e-3)[0].mean() > 6 * alpha  # which grows without bound as the small noise does not


@pytest.mark.parametrize(
    ("n", "d", "alpha", "ratio"), [(100, 20, 0.1, 10.0), (8, 40, 0.2, 0.0), (30, 3, 0.2, 7.5)]
)
def test_the_sharp_scale_error_is_the_quotient_of_the_proof(n, d, alpha, ratio):
    log = math.log(2 / 0.05)
    cross = 2 * alpha * (math.sqrt(2) * ratio + math.sqrt(d)) * math.sqrt(log)
    by_hand = (2 * cross + 2 * alpha**2 * log) / (ratio**2 + d - d / n - cross)
    options = {"relative_noise": alpha, "distortion": ratio, "delta": 0.05, "constants": "sharp"}
    assert theory.scale_error_bound(n, d, **options) == pytest.approx(by_hand, rel=1e-12)
    with pytest.raises(ValueError, match="distortion must be"):
        theory.scale_error_bound(n, d, **{**options, "distortion": -0.5})


def test_quantities_of_very_different_size_do_not_overflow():
    assert theory.relative_noise([1e-200, 1e200]) == 1.0
