"""Which alignment suits which data, and that "auto" finds it."""

import numpy as np
import pytest

from lslmatch import Affine, match
from lslmatch.alignment import selection
from lslmatch.alignment.fit import fit_at
from lslmatch.alignment.profile import fit_profile
from lslmatch.alignment.robust import Improved
from lslmatch.model import random_configuration
from tests.support.alignment import adversarial, compiled, draw, likelihood

# ---------------------------------------------------------------------------- what it is for


@compiled
@pytest.mark.parametrize("seed", range(4))
def test_points_of_little_noise_far_away_are_recovered_where_standardising_fails(seed):
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


def test_the_centre_follows_the_points_of_little_noise():
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


def test_an_alignment_is_a_name_or_an_affine():
    x, y = draw(5, 5, 2)
    with pytest.raises(
        ValueError, match="alignment must be one of 'standardize', 'identity', 'profile', 'robust', 'auto'"
    ):
        match(x, y, alignment="Profile")
    assert match(x, y, alignment=Affine(2.0, np.zeros(2))).profile is None


@pytest.mark.parametrize("error", [0.003, 0.2])
@pytest.mark.parametrize("beyond_chance", [False, True])
def test_robust_estimates_whose_pairs_do_not_stand_out_must_be_clearly_better(
    monkeypatch, error, beyond_chance
):
    # The profile's estimates are off by an error, and the robust ones are the truth.
    x, y = draw(40, 40, 6)
    good = fit_profile(x, y, 1)
    spoiled = fit_at(x, y, Affine(good.affine.scale * (1.0 + error), good.affine.shift), 1)
    monkeypatch.setattr(selection, "fit_profile", lambda *args: spoiled)
    improved = Improved(good.affine, "", beyond_chance)
    monkeypatch.setattr(selection, "improve_moments", lambda *args: improved)
    result = match(x, y, alignment="auto")
    takes = error > 0.1 or beyond_chance
    assert result.decisions[0].startswith("alignment: robust" if takes else "alignment: the profile")
