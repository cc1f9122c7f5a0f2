"""The model and its configurations: what they promise is measured here with loops and simulation.

Statistical tests run under a seed fixed beforehand and fail with probability at most FALSE_FAIL if
the code is right; each has a control that the same test must reject.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.spatial.distance import cdist

from lslmatch import theory
from lslmatch.model import Configuration, adversarial_configuration, random_configuration

FALSE_FAIL = 1e-6


def pair_separations(features, noise):
    """Every pair with its separation, closest first, from the covariance of the centred noise."""
    n = len(noise)
    p = np.eye(n) - np.ones((n, n)) / n
    s = np.sqrt(np.diag(p @ np.diag(np.square(noise)) @ p))
    pairs = itertools.combinations(range(n), 2)
    return sorted((math.dist(features[i], features[j]) / math.hypot(s[i], s[j]), (i, j)) for i, j in pairs)


def cycle(n):
    """A permutation that is not its own inverse."""
    return np.roll(np.arange(n), -1)


# ------------------------------------------------------------------------------ Configuration


def test_sample_follows_the_direction_of_the_permutation():
    features = np.random.default_rng(0).standard_normal((5, 3))
    truth = Configuration(features, np.full(5, 1e-9), 4.0, np.array([1.0, -2.0, 30.0]), cycle(5))
    x, y = truth.sample(0)
    np.testing.assert_allclose(x, features, atol=1e-7)
    for i in range(5):
        np.testing.assert_allclose(features[i], 4 * y[(i + 1) % 5] + [1, -2, 30], atol=1e-7)


def test_sample_has_the_noise_of_the_model_in_both_sets():
    n, d, scale, shift = 4000, 2, 3.0, np.array([5.0, -5.0])
    noise = np.geomspace(1, 50, n)
    features = np.random.default_rng(1).standard_normal((n, d))
    x, y = Configuration(features, noise, scale, shift, cycle(n)).sample(2)
    partners = np.array([y[(i + 1) % n] for i in range(n)])
    first = (x - features) / noise[:, None]
    second = (scale * partners + shift - features) / noise[:, None]
    joint = np.hstack([first, second])
    assert stats.kstest(joint.ravel(), "norm").pvalue > FALSE_FAIL
    # Independent columns: n times the squared correlation is close to a chi-square variable.
    correlation = np.corrcoef(joint.T)[np.triu_indices(2 * d, 1)]
    assert stats.chi2.sf(n * (correlation**2).sum(), len(correlation)) > FALSE_FAIL
    # The control: noise of the second set that forgets the scale.
    wrong = (scale * (partners - features / scale + shift / scale)) / noise[:, None] / scale
    assert stats.kstest(wrong.ravel(), "norm").pvalue < FALSE_FAIL


def test_sample_draws_in_the_documented_order():
    truth = random_configuration(6, 2, separation=2.0, noise_ratio=4.0, scale=3.0, shift=1.0, rng=3)
    rng = np.random.default_rng(4)
    xi, xi_diese = rng.standard_normal((6, 2)), rng.standard_normal((6, 2))
    x, y = truth.sample(4)
    for i, j in enumerate(truth.permutation):
        np.testing.assert_allclose(x[i], truth.features[i] + truth.noise[i] * xi[i], rtol=1e-14)
        second = (truth.features[i] - 1 + truth.noise[i] * xi_diese[i]) / 3
        np.testing.assert_allclose(y[j], second, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("make", [int, np.random.SeedSequence, np.random.default_rng, np.random.PCG64])
def test_the_same_seed_gives_the_same_sample_and_leaves_the_truth_alone(make):
    truth = random_configuration(6, 2, separation=2.0, rng=0)
    before = [np.copy(field) for field in truth]
    x, y = truth.sample(make(7))
    again_x, again_y = truth.sample(make(7))
    assert np.array_equal(x, again_x)
    assert np.array_equal(y, again_y)
    assert not np.array_equal(x, truth.sample(make(8))[0])
    assert all(np.array_equal(old, new) for old, new in zip(before, truth, strict=True))


def test_sample_without_a_seed_differs_from_call_to_call():
    truth = random_configuration(6, 2, separation=2.0, rng=0)
    assert not np.array_equal(truth.sample()[0], truth.sample()[0])


@pytest.mark.parametrize(
    ("field", "value", "error", "match"),
    [
        ("features", np.zeros(3), ValueError, "features must be 2-dimensional"),
        ("noise", np.zeros(3), ValueError, "noise must be positive"),
        ("noise", np.ones(2), ValueError, r"noise must have shape \(3,\)"),
        ("scale", -1.0, ValueError, "scale must be positive"),
        ("shift", np.zeros(2), ValueError, r"shift must have shape \(3,\)"),
        ("permutation", np.array([0, 0, 1]), ValueError, "permutation must hold each of 0, ..., 2 once"),
        ("permutation", np.array([0.0, 1.0, 2.0]), TypeError, "permutation must hold whole numbers"),
    ],
)
def test_sample_refuses_a_configuration_that_is_none(field, value, error, match):
    truth = Configuration(np.eye(3), np.ones(3), 1.0, np.zeros(3), np.arange(3))._replace(**{field: value})
    with pytest.raises(error, match=match):
        truth.sample(0)


# ----------------------------------------------------------------------- random_configuration


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(2, 15),
    d=st.integers(1, 6),
    separation=st.floats(1e-3, 1e3),
    noise_ratio=st.floats(1.0, 1e8),
    seed=st.integers(0, 2**32 - 1),
)
def test_random_configuration_has_the_separation_and_noise_ratio_asked_for(
    n, d, separation, noise_ratio, seed
):
    truth = random_configuration(n, d, separation=separation, noise_ratio=noise_ratio, rng=seed)
    smallest, _ = pair_separations(truth.features, truth.noise)[0]
    # On a line two of 15 points may be as close as 1e-9, which rounds the rescaled gap to 1e-7.
    assert smallest == pytest.approx(separation, rel=1e-7)
    assert truth.noise.min() == 1.0
    assert truth.noise.max() ** 2 == pytest.approx(noise_ratio, rel=1e-14)
    assert sorted(truth.permutation) == list(range(n))
    assert truth.features.shape == (n, d)
    assert truth.scale == 1.0
    assert not truth.shift.any()


def test_equal_noise_is_exactly_one():
    assert np.array_equal(random_configuration(30, 2, separation=1.0, rng=0).noise, np.ones(30))


def test_noise_is_log_uniform_between_its_ends():
    noise = random_configuration(2000, 2, separation=1.0, noise_ratio=1e4, rng=1).noise
    inner = np.sort(noise)[1:-1]
    assert stats.kstest(np.log(inner) / math.log(100), "uniform").pvalue > FALSE_FAIL
    assert stats.kstest((inner - 1) / 99, "uniform").pvalue < FALSE_FAIL  # the control: uniform itself


def test_the_permutation_and_the_order_of_the_noise_are_uniform():
    drawn = [random_configuration(3, 1, separation=1.0, noise_ratio=9.0, rng=seed) for seed in range(1200)]
    orders = {order: k for k, order in enumerate(itertools.permutations(range(3)))}
    permutations = np.bincount([orders[tuple(truth.permutation)] for truth in drawn], minlength=6)
    noise_orders = np.bincount([orders[tuple(np.argsort(truth.noise))] for truth in drawn], minlength=6)
    assert stats.chisquare(permutations).pvalue > FALSE_FAIL
    assert stats.chisquare(noise_orders).pvalue > FALSE_FAIL
    together = np.bincount([orders[tuple(np.argsort(truth.noise)[truth.permutation])] for truth in drawn])
    assert stats.chisquare(together).pvalue > FALSE_FAIL  # and neither follows the other
    biased = permutations * [2, 1, 1, 1, 1, 1]
    assert stats.chisquare(biased).pvalue < FALSE_FAIL  # the control: the identity twice as often


@pytest.mark.parametrize(
    ("shift", "expected"), [(None, [0, 0, 0]), (2, [2, 2, 2]), (-1.5, [-1.5] * 3), ([1, 2, 3], [1, 2, 3])]
)
def test_shift_is_nothing_a_number_or_a_vector(shift, expected):
    truth = random_configuration(5, 3, separation=1.0, shift=shift, scale=2, rng=0)
    assert np.array_equal(truth.shift, expected)
    assert truth.shift.dtype == np.float64
    assert truth.scale == 2.0


def test_affine_parameters_do_not_move_the_first_set():
    plain = random_configuration(5, 3, separation=1.0, rng=0)
    moved = random_configuration(5, 3, separation=1.0, scale=9.0, shift=1e6, rng=0)
    assert np.array_equal(plain.features, moved.features)
    assert np.array_equal(plain.sample(1)[0], moved.sample(1)[0])


@pytest.mark.parametrize("make", [int, np.random.SeedSequence, np.random.default_rng])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: random_configuration(6, 2, separation=1.0, noise_ratio=4.0, rng=rng),
        lambda rng: adversarial_configuration(8, 4, noise_ratio=4.0, separation=1.0, rng=rng),
    ],
    ids=["random", "adversarial"],
)
def test_the_same_seed_gives_the_same_configuration(draw, make):
    first, again, other = draw(make(5)), draw(make(5)), draw(make(6))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first.features, other.features)


def test_random_configuration_draws_in_the_documented_order():
    rng = np.random.default_rng(9)
    exponents = np.concatenate([[0, 1], rng.random(3)])
    noise = rng.permutation(5.0**exponents)
    permutation = rng.permutation(5)
    features = rng.standard_normal((5, 2))
    truth = random_configuration(5, 2, separation=1.0, noise_ratio=25.0, rng=9)
    np.testing.assert_allclose(truth.noise, noise, rtol=1e-14)
    assert np.array_equal(truth.permutation, permutation)
    ratio = truth.features / features
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-14)


def test_many_points_on_a_line_stay_finite_and_separated():
    truth = random_configuration(3000, 1, separation=5.0, rng=2)
    assert np.isfinite(truth.features).all()
    assert theory.separation(truth.features, truth.noise) == pytest.approx(5.0, rel=1e-6)


class CoincidentAtFirst(np.random.Generator):
    """A generator whose first normal draw puts every point in the same place."""

    normal_draws = 0

    def standard_normal(self, size):
        self.normal_draws += 1
        return np.ones(size) if self.normal_draws == 1 else super().standard_normal(size)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: random_configuration(8, 3, separation=2.0, rng=rng),
        lambda rng: adversarial_configuration(8, 3, noise_ratio=4.0, separation=2.0, strength=9.0, rng=rng),
    ],
    ids=["random", "adversarial"],
)
def test_coincident_features_are_drawn_again(draw):
    rng = CoincidentAtFirst(np.random.PCG64(0))
    truth = draw(rng)
    assert rng.normal_draws == 2
    assert theory.separation(truth.features, truth.noise) == pytest.approx(2.0)


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

RANDOM = {"n": 5, "d": 2, "separation": 1.0}
ADVERSARIAL = {"n": 10, "d": 4, "noise_ratio": 4.0, "separation": 1.0}


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"n": 1}, ValueError, "n must be at least 2; got 1"),
        ({"n": 2.5}, TypeError, "n must be a whole number; got 2.5"),
        ({"d": 0}, ValueError, "d must be at least 1; got 0"),
        ({"separation": 0}, ValueError, "separation must be positive; got 0"),
        ({"separation": math.inf}, ValueError, "separation must be finite; got inf"),
        ({"separation": 1.7e308}, ValueError, "features, rescaled to this separation, must be finite"),
        ({"noise_ratio": 0.5}, ValueError, "noise_ratio must be at least 1; got 0.5"),
        ({"scale": 0}, ValueError, "scale must be positive; got 0"),
        ({"shift": [1.0]}, ValueError, r"shift must have shape \(2,\); got shape \(1,\)"),
        ({"shift": math.nan}, ValueError, "shift must be finite"),
        ({"shift": "far"}, TypeError, "shift must be real numbers"),
    ],
)
def test_random_configuration_refuses_bad_input_by_name(change, error, match):
    with pytest.raises(error, match=match):
        random_configuration(**{**RANDOM, **change}, rng=0)


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
