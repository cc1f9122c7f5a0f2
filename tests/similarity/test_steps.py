"""The steps of the search: units, fits that leave a pair out, climbs, starts."""

import numpy as np
import pytest

from lslmatch._progress import listening
from lslmatch.maps import Similarity
from lslmatch.similarity.axes import all_signs, best_signs, principal_axes, signed_rotations
from lslmatch.similarity.climbing import climb, climb_flips, pair_weights, prominence
from lslmatch.similarity.confirming import is_confirmed, stands_out
from lslmatch.similarity.finding import find_similarity
from lslmatch.similarity.judging import rank_rotations
from lslmatch.similarity.polishing import polish
from lslmatch.similarity.procrustes import Rules, fit_pairs, squares_under
from lslmatch.similarity.profiles import profile_costs, profile_start, soft_start
from lslmatch.similarity.relaxing import relaxed_plans
from lslmatch.similarity.searching import search
from lslmatch.similarity.starting import random_rotation, spread_rotations
from lslmatch.similarity.units import Turn, as_similarity, robust_units
from tests.similarity.test_turned import draw, turn


def sets(seed, n, d, noise=0.02, m=None):
    x, y, partner, given = draw(seed, n, d, noise, m)
    return robust_units(x), robust_units(y), partner, given


def true_turn(a, b, given):
    """Give the true map between sets in robust units."""
    shift = (given.apply(b.centre[None])[0] - a.centre) / a.unit
    return Turn(given.rotation, given.scale * b.unit / a.unit, shift)


def test_robust_units_ignore_what_is_far_out():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(41, 3)) * 7.0 + 100.0
    units = robust_units(points)
    assert np.median(np.linalg.norm(units.points, axis=1)) == pytest.approx(1.0)
    wild = points.copy()
    wild[:4] = 1e30
    other = robust_units(wild)
    assert np.linalg.norm(other.centre - units.centre) < 3.0
    assert 0.5 < other.unit / units.unit < 2.0
    assert np.linalg.norm(other.core, axis=1).max() <= 3.0 + 1e-9
    assert robust_units(np.ones((5, 2))) is None


def test_maps_between_units_are_maps_between_sets():
    a, b, _, given = sets(1, 12, 2, 0.0)
    found = as_similarity(true_turn(a, b, given), a, b)
    assert found.scale == pytest.approx(given.scale)
    np.testing.assert_allclose(found.shift, given.shift, atol=1e-9 * np.abs(given.shift).max())
    back = true_turn(a, b, given).inverse()
    np.testing.assert_allclose(back.apply(true_turn(a, b, given).apply(b.points)), b.points, atol=1e-12)


@pytest.mark.parametrize("d", [2, 4])
def test_a_pair_is_judged_by_the_fit_without_it(d):
    n = 60
    a, b, partner, _ = sets(2, n, d, 0.1)
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, n)
    squares = fit_pairs(a.points, b.points, partner, weight, Rules()).squares()
    plain = fit_pairs(a.points, b.points, partner, weight, Rules())
    before = squares_under(plain.turn, a.points, b.points)
    for i in range(5):
        for j in (partner[i], partner[(i + 1) % n]):
            left = weight.copy()
            left[i] = left[partner == j] = 0.0
            refitted = fit_pairs(a.points, b.points, partner, left, Rules())
            # Only the rotation is left out: the rest is that of the whole fit.
            middle = plain.turn._replace(rotation=refitted.turn.rotation)
            share = weight / weight.sum()
            a_mean, b_mean = share @ a.points, share @ b.points[partner]
            moved = middle.scale * (b.points[j] - b_mean) @ middle.rotation.T
            exact = ((a.points[i] - a_mean - moved) ** 2).sum()
            assert squares[i, j] == pytest.approx(exact, abs=0.3 * abs(before[i, j] - exact) + 1e-3)
    assert (fit_pairs(a.points, b.points, partner, weight, Rules()).squares_of_pairs() > 0).all()


def test_fits_obey_the_rules():
    a, b, partner, given = sets(3, 20, 3)
    mirrored = b.points * [1.0, 1.0, -1.0 if not given.is_mirrored else 1.0]
    fit = fit_pairs(a.points, mirrored, partner, np.ones(20), Rules(mirror=False, scale=0.7))
    assert np.linalg.det(fit.turn.rotation) == pytest.approx(1.0)
    assert fit.turn.scale == 0.7
    flipped = fit_pairs(a.points, b.points, partner, np.ones(20), Rules(), flip=0)
    plain = fit_pairs(a.points, b.points, partner, np.ones(20), Rules())
    assert np.linalg.det(flipped.turn.rotation) == pytest.approx(-np.linalg.det(plain.turn.rotation))


def test_a_climb_ends_at_the_truth_and_not_below_it():
    a, b, partner, given = sets(4, 40, 2, 0.02)
    start = true_turn(a, b, given)
    nearby = start._replace(rotation=start.rotation @ np.array([[0.995, -0.0999], [0.0999, 0.995]]))
    found = climb(a.points, b.points, nearby, Rules())
    assert np.mean(found.partner == partner) > 0.9
    assert is_confirmed(found)
    wrong = climb(a.points, b.points, start._replace(rotation=-start.rotation), Rules())
    assert not is_confirmed(wrong)
    assert wrong.value > found.value
    assert climb_flips(a.points, b.points, found, Rules()).value <= found.value
    assert stands_out(found, [wrong]) <= stands_out(found)


def test_a_flip_repairs_a_reversed_axis():
    rng = np.random.default_rng(5)
    z = rng.normal(size=(50, 2)) * [1.0, 0.03]
    points = robust_units(z).points
    wrong = climb(points, points, Turn(np.diag([1.0, -1.0]), 1.0, np.zeros(2)), Rules(), 3)
    assert np.mean(climb_flips(points, points, wrong, Rules()).partner == np.arange(50)) == 1.0


def test_prominence_is_that_of_the_nearest_other_candidate():
    logarithms = np.array([[0.0, 3.0, 9.0], [2.0, 1.0, 9.0]])
    np.testing.assert_array_equal(prominence(logarithms, np.array([0, 1])), [2.0, 1.0])


def test_weights_are_bounded():
    weight = pair_weights(np.array([0.0, 1.0, 1.0, 1e9]))
    np.testing.assert_allclose(weight, [10.0, 1 / 1.1, 1 / 1.1, 1e-9], rtol=1e-6)


def test_one_of_the_signs_of_the_axes_is_right():
    a, b, _, given = sets(6, 200, 3, 0.001)
    rotations = signed_rotations(principal_axes(a.core), principal_axes(b.core), all_signs(3))
    order, scores = rank_rotations(a.core, b.core, rotations)
    assert np.linalg.norm(rotations[order[0]] - given.rotation) < 0.3
    assert (np.diff(scores[order]) >= 0).all()


def test_random_signs_are_improved():
    rng = np.random.default_rng(7)
    points = rng.normal(size=(40, 8)) * np.linspace(2, 1, 8)
    signs = rng.choice([1.0, -1.0], size=8)
    found = best_signs(points, points * signs, np.random.default_rng(0), 10)
    np.testing.assert_array_equal(found[0], signs)
    assert len({row.tobytes() for row in found}) == len(found)


@pytest.mark.parametrize("m", [60, 75])
def test_profiles_and_relaxed_plans_lead_near_the_map(m):
    a, b, partner, given = sets(8, 60, 2, 0.003, m)
    costs = profile_costs(a.core, b.core, a.core)
    assert costs.shape == (60, m)
    for start in (
        profile_start(a.points, b.points, costs, Rules()),
        *(soft_start(a.points, b.points, plan, Rules()) for plan in relaxed_plans(a.core, b.core, costs, 1)),
    ):
        found = climb(a.points, b.points, start, Rules())
        assert np.mean(found.partner == partner) > 0.9


def test_relaxed_plans_stop_where_nothing_differs():
    points = np.ones((4, 2))
    plans = list(relaxed_plans(points, points, np.zeros((4, 4), np.float32), 1))
    np.testing.assert_allclose(plans[0].sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("d", [2, 3])
def test_spread_rotations_are_near_any(d):
    rng = np.random.default_rng(9)
    rotations = spread_rotations(d, True, rng)
    for mirror in (True, False):
        target = random_rotation(d, mirror, rng)
        assert np.linalg.norm(rotations - target, axis=(1, 2)).min() < 0.5
    determinants = np.linalg.det(spread_rotations(d, False, rng))
    np.testing.assert_allclose(determinants, 1.0)


def test_a_far_larger_set_gives_everyone_the_nearest():
    a, b, partner, given = sets(10, 12, 2, 0.002, 60)
    found = climb(a.points, b.points, true_turn(a, b, given), Rules())
    np.testing.assert_array_equal(found.partner, partner)


def test_large_sets_are_searched_by_a_part_and_polished(monkeypatch):
    monkeypatch.setattr("lslmatch.similarity.searching._MOST_ROWS", 50)
    monkeypatch.setattr("lslmatch.similarity.searching._ROWS", 30)
    x, y, partner, given = draw(11, 80, 2, 0.004)
    a, b = robust_units(x), robust_units(y)
    found = search(a, b, Rules())
    assert found.part.a.shape == (30, 2)
    assert found.confirmed
    last = polish(a.points, b.points, found.best.turn, Rules(), 1)
    assert np.linalg.norm(last.rotation - given.rotation) < 0.02
    told = find_similarity(x, y)
    assert told.confirmed
    np.testing.assert_allclose(told.map.rotation, last.rotation, atol=1e-9)


def test_a_search_tells_how_far_it_is():
    x, y, _, _ = draw(12, 12, 2)
    heard = []
    with listening(lambda what, done, total: heard.append(what)):
        find_similarity(x, y)
    assert "starts tried" in heard


def test_rotations_of_a_map_are_orthogonal():
    x, y, _, _ = draw(13, 40, 3)
    found = find_similarity(x, y).map
    assert isinstance(found, Similarity)
    np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(3), atol=1e-12)
    assert turn(3, np.random.default_rng(0)).shape == (3, 3)
