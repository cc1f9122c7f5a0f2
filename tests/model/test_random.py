"""`random_configuration`: separation and noise ratio as asked for, the rest uniform."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lslmatch import theory
from lslmatch.model import adversarial_configuration, random_configuration
from tests.support.simulation import FALSE_FAIL, pair_separations

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


# ------------------------------------------------------------------------------------- errors

RANDOM = {"n": 5, "d": 2, "separation": 1.0}


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
