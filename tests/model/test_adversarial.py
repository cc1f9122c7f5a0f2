"""`adversarial_configuration`: the family of the paper, and that it does what it is for."""

import math

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.spatial.distance import cdist

from lslmatch import theory
from lslmatch.model import adversarial_configuration
from tests.support.simulation import FALSE_FAIL, pair_separations

# ------------------------------------------------------------------ adversarial_configuration

FAMILY = [
    # n, d, noise_ratio, separation, strength
    (6, 2, 1.0, 1.0, 1.0),
    (6, 2, 100.0, 3.0, 2.0),
    (8, 3, 4.0, 2.0, 1.0),
    (40, 6, 900.0, 5.0, 1.0),
    (60, 15, 25.0, 0.01, 0.3),
    (60, 15, 1.0, 8.0, 2.0),
    (30, 15, 1e8, 4.0, 1.0),
]


@pytest.fixture(params=FAMILY, ids=str)
def member(request):
    n, d, noise_ratio, separation, strength = request.param
    truth = adversarial_configuration(
        n, d, noise_ratio=noise_ratio, separation=separation, strength=strength, rng=3
    )
    return truth, request.param


def test_the_adversarial_pair_and_no_other_attains_the_separation(member):
    truth, (_, _, _, separation, _) = member
    (closest, pair), (second, _), *_ = pair_separations(truth.features, truth.noise)
    assert pair == (0, 1)
    assert closest == pytest.approx(separation, rel=1e-7)
    assert second == pytest.approx(1.001 * separation, rel=1e-7)
    assert theory.separation(truth.features, truth.noise) == pytest.approx(separation, rel=1e-7)


def test_the_adversarial_family_is_that_of_the_paper(member):
    truth, (n, d, noise_ratio, _, strength) = member
    features, root = truth.features, math.sqrt(noise_ratio)
    scale_of_features = abs(features).max()
    assert np.array_equal(truth.noise, [1] * 4 + [root] * (n - 4))
    assert (truth.scale, list(truth.shift), list(truth.permutation)) == (1.0, [0.0] * d, list(range(n)))
    np.testing.assert_allclose(features.mean(axis=0), 0, atol=1e-15 * scale_of_features)
    # The pairs lie on one line through 0, the inflators are opposite, equally far out and orthogonal to it.
    axis = features[0] / np.linalg.norm(features[0])
    assert np.linalg.norm(features[0]) == pytest.approx(strength * root * math.sqrt(n * d))
    np.testing.assert_allclose(
        features[:4], np.outer(features[:4] @ axis, axis), atol=1e-15 * scale_of_features
    )
    assert list(np.sign(features[:4] @ axis)) == [1, 1, -1, -1]
    inflators = features[4:]
    assert np.array_equal(inflators[0::2], -inflators[1::2])
    np.testing.assert_allclose(inflators @ axis, 0, atol=1e-15 * scale_of_features)
    radii = np.linalg.norm(inflators, axis=1)
    np.testing.assert_allclose(radii, radii[0], rtol=1e-13)


def test_the_mirror_pair_is_a_little_wider_about_the_same_centre(member):
    truth, _ = member
    first, second, third, fourth = truth.features[:4]
    size = abs(truth.features).max()
    np.testing.assert_allclose(third + fourth, -(first + second), atol=1e-15 * size)
    np.testing.assert_allclose(third - fourth, 1.001 * (second - first), atol=1e-14 * size)


def test_no_smaller_radius_separates_the_inflators(member):
    truth, (_, _, _, separation, _) = member
    inflators = (value for value, (i, _) in pair_separations(truth.features, truth.noise) if i >= 4)
    assert next(inflators) == pytest.approx(1.001 * separation, rel=1e-12)


def test_inflator_directions_are_uniform():
    d, angles = 4, []
    for seed in range(300):
        truth = adversarial_configuration(10, d, noise_ratio=4.0, separation=1.0, strength=9.0, rng=seed)
        inflators = truth.features[4::2, 1:]
        angles.extend(inflators[:, 0] / np.linalg.norm(inflators, axis=1))
    # Archimedes: a coordinate of a uniform point of the sphere in three dimensions is uniform.
    assert stats.kstest((np.array(angles) + 1) / 2, "uniform").pvalue > FALSE_FAIL
    assert stats.kstest(np.abs(angles), stats.arcsine.cdf).pvalue < FALSE_FAIL  # the control: a circle


def relative_scale_errors(truth, trials, seed):
    rng = np.random.default_rng(seed)
    errors = []
    for _ in range(trials):
        x, y = (points - points.mean(axis=0) for points in truth.sample(rng))
        errors.append(np.linalg.norm(x) / np.linalg.norm(y) - 1)
    return np.array(errors)


@pytest.mark.parametrize("noise_ratio", [1.0, 900.0])
def test_the_obstruction_falls_as_the_separation_grows(noise_ratio):
    obstructions = []
    for separation in (4.0, 8.0, 16.0):
        truth = adversarial_configuration(100, 10, noise_ratio=noise_ratio, separation=separation, rng=1)
        # 400 errors: their root mean square is right to 20 % in all but a share FALSE_FAIL of runs.
        error = math.sqrt(np.mean(relative_scale_errors(truth, 400, seed=2) ** 2))
        obstructions.append(theory.obstruction(truth.features, truth.noise, error))
    assert obstructions[0] > 1.2 * obstructions[1] > 1.2**2 * obstructions[2]


def test_the_family_defeats_standardisation_and_not_a_known_scale():
    truth = adversarial_configuration(500, 15, noise_ratio=900.0, separation=5.0, strength=2.0, rng=0)
    rng = np.random.default_rng(1)
    lost = {"standardised": 0, "known": 0}
    for _ in range(40):
        x, y = (points - points.mean(axis=0) for points in truth.sample(rng))
        for name, scale in [("standardised", np.linalg.norm(x) / np.linalg.norm(y)), ("known", 1.0)]:
            cost = np.log(cdist(x, scale * y, "sqeuclidean"))
            lost[name] += not np.array_equal(optimize.linear_sum_assignment(cost)[1], truth.permutation)
    p_values = {name: stats.binomtest(k, 40, 0.05, alternative="greater").pvalue for name, k in lost.items()}
    assert p_values["known"] > FALSE_FAIL > p_values["standardised"]


# ------------------------------------------------------------------------------------- errors

ADVERSARIAL = {"n": 10, "d": 4, "noise_ratio": 4.0, "separation": 1.0}


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"n": 4}, ValueError, "n must be at least 6; got 4"),
        ({"n": 9}, ValueError, "n must be even; got 9"),
        ({"d": 1}, ValueError, "d must be at least 2; got 1"),
        ({"d": 2}, ValueError, "d must be at least 3 if n > 6"),
        ({"noise_ratio": 0.9}, ValueError, "noise_ratio must be at least 1; got 0.9"),
        ({"separation": -1.0}, ValueError, "separation must be positive; got -1"),
        ({"strength": 0.0}, ValueError, "strength must be positive; got 0"),
        # Too close to the mirror pair, to the inflators alone, and so small that the mirror pair crosses 0.
        ({"strength": 0.01, "noise_ratio": 1.0}, ValueError, "strength must be raised"),
        ({"n": 6, "d": 2, "strength": 0.8, "separation": 5.0}, ValueError, "strength must be raised"),
        ({"strength": 1e-6}, ValueError, "strength must be raised"),
    ],
)
def test_adversarial_configuration_refuses_bad_input_by_name(change, error, match):
    with pytest.raises(error, match=match):
        adversarial_configuration(**{**ADVERSARIAL, **change}, rng=0)


def test_a_raised_strength_is_what_the_error_asks_for():
    few = {"n": 6, "d": 2, "noise_ratio": 4.0, "separation": 5.0, "rng": 0}
    with pytest.raises(ValueError, match="got strength = 0.8, separation = 5"):
        adversarial_configuration(**few, strength=0.8)
    truth = adversarial_configuration(**few, strength=1.2)
    assert pair_separations(truth.features, truth.noise)[0][1] == (0, 1)
