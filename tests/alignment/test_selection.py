"""Which alignment suits which data, and that "auto" finds it."""

import math

import numpy as np
import pytest

from lslmatch import Affine, match
from lslmatch.alignment import selection
from lslmatch.alignment.fit import MapFit, fit_at
from lslmatch.alignment.profile import fit_profile
from lslmatch.alignment.robust import Improved
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.model import random_configuration
from tests.support.alignment import adversarial, compiled, draw, likelihood, match_by_one_scale

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
        ValueError,
        match="alignment must be one of 'standardize', 'identity', 'profile', .*'auto'; got 'Profile'",
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
    result = match_by_one_scale(x, y, "auto")
    takes = error > 0.1 or beyond_chance
    assert result.decisions[0].startswith("alignment: robust" if takes else "alignment: the profile")


def chosen(monkeypatch, d, *, robust=None, identity=math.inf, beyond_chance=False):
    """Choose between a profile of value 10 and others, with 40 and 30 points; return scale and limit."""
    assignment = fit_at(*draw(2, 2, 2), Affine(1.0, np.zeros(2)), 1).assignment
    limits = []

    def is_worse(x, y, limit, only_some):
        limits.append(limit)
        assert not only_some
        return False

    def fit(scale, value):
        return MapFit(Affine(scale, np.zeros(d)), assignment, value)

    improved = Improved(None if robust is None else Affine(3.0, np.zeros(d)), "", beyond_chance)
    monkeypatch.setattr(selection, "fit_profile", lambda *args: fit(2.0, 10.0))
    monkeypatch.setattr(selection, "improve_moments", lambda *args: improved)
    values = {3.0: robust, 1.0: identity}
    monkeypatch.setattr(
        selection, "fit_at", lambda x, y, affine, workers: fit(affine.scale, values[affine.scale])
    )
    monkeypatch.setattr(selection, "is_worse", is_worse)
    x, y = draw(40, 30, d)
    return selection.fit_best(x, y, 1).affine.scale, limits[0]


def test_clearly_better_is_a_tenth_for_each_pair(monkeypatch):
    assert chosen(monkeypatch, 3, robust=7.1)[0] == 2.0
    assert chosen(monkeypatch, 3, robust=6.9)[0] == 3.0
    assert chosen(monkeypatch, 3, robust=9.9, beyond_chance=True)[0] == 3.0
    assert chosen(monkeypatch, 3, robust=10.1, beyond_chance=True)[0] == 2.0


@pytest.mark.parametrize(("d", "price"), [(1, 4.0), (2, 3.0), (3, 8 / 3), (8, 2.25)])
def test_the_identity_is_spared_the_price_of_d_and_one_parameters(monkeypatch, d, price):
    assert chosen(monkeypatch, d, identity=10.0 + price - 0.01) == (1.0, pytest.approx(10.0 + price))
    assert chosen(monkeypatch, d, identity=10.0 + price + 0.01)[0] == 2.0
    # Whichever of the others is the best is the one to compare with.
    assert chosen(monkeypatch, d, robust=5.0, identity=5.0 + price - 0.01)[0] == 1.0
    assert chosen(monkeypatch, d, robust=5.0, identity=5.0 + price + 0.01)[0] == 3.0


def looked_at(monkeypatch, shape, limit, *, some, least):
    """Ask for a limit, with these least costs of some rows and of each; tell which rows were looked at."""
    x, y = draw(*shape, 2)
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
    rows = geometry.a if len(x) <= len(y) else geometry.b
    looks = []

    def least_costs(part, rule, workers):
        looks.append([int(np.flatnonzero((rows == point).all(axis=1))[0]) for point in part.a])
        n, m = part.shape
        assert m == max(shape)
        return np.full(n, least) if n == min(shape) else np.resize(some, n)

    monkeypatch.setattr(selection, "least_costs", least_costs)
    return selection._may_reach(geometry, limit, 1), looks


@pytest.mark.parametrize("shape", [(128, 130), (130, 128), (128, 128)])
def test_a_quarter_of_the_rows_rules_a_limit_out_if_it_is_six_standard_errors_away(monkeypatch, shape):
    # 32 rows of mean 1 and deviation 2: six standard errors are 12 / sqrt(32).
    bound = 128 * (1.0 - 12.0 / math.sqrt(32.0))
    every, some = list(range(128)), list(range(0, 128, 4))
    reached, looks = looked_at(monkeypatch, shape, bound - 0.1, some=[-1.0, 3.0], least=-9.0)
    assert (reached, looks) == (False, [some])
    reached, looks = looked_at(monkeypatch, shape, bound + 0.1, some=[-1.0, 3.0], least=-9.0)
    assert (reached, looks) == (True, [some, every])


def test_few_rows_are_looked_at_all_at_once(monkeypatch):
    every = list(range(127))
    for limit, reached in ((127 * 2.0 - 0.1, False), (127 * 2.0 + 0.1, True)):
        assert looked_at(monkeypatch, (127, 200), limit, some=[9.0], least=2.0) == (reached, [every])
