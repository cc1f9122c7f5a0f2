"""Robust units and first maps, by their definitions."""

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.alignment import starts
from lslmatch.alignment.prominence import Map


def draw(n, d, seed=0):
    rng = np.random.default_rng([n, d, seed])
    return rng.standard_normal((n, d)) * np.linspace(0.5, 3.0, d) + rng.integers(-9, 9, d)


# ---------------------------------------------------------------------------- units


@pytest.mark.parametrize(("n", "d"), [(7, 1), (10, 2), (31, 3), (40, 6)])
@pytest.mark.parametrize("unit", [1.0, 2.0**-300, 2.0**300])
def test_the_units_of_a_set_are_its_spatial_median_and_the_median_distance_from_it(n, d, unit):
    points = draw(n, d) * unit
    found = starts.central(points)
    np.testing.assert_allclose(
        found.centre / unit + found.unit / unit * found.points, points / unit, rtol=1e-12, atol=1e-12
    )
    lengths = np.linalg.norm(found.points, axis=1)
    assert np.median(lengths) == pytest.approx(1.0, rel=1e-12)
    # The sum of distances is flat about its minimum, which a dozen steps come near.
    around = 0.3 * np.vstack([np.eye(d), -np.eye(d)])
    assert lengths.sum() < min(np.linalg.norm(found.points - place, axis=1).sum() for place in around)


def test_the_spatial_median_of_four_corners_is_where_the_diagonals_cross():
    corners = np.array([[-1.0, -2.0], [3.0, -2.0], [2.0, 2.0], [-1.0, 2.0]])
    # From (-1, -2) to (2, 2) and from (3, -2) to (-1, 2).
    np.testing.assert_allclose(starts._spatial_median(corners), [5.0 / 7.0, 2.0 / 7.0], atol=1e-3)


def test_a_large_offset_costs_no_digits():
    points = np.round(draw(20, 2) * 4096.0) / 4096.0 + 2.0**40
    found = starts.central(points)
    np.testing.assert_allclose(
        found.unit * (found.points - found.points[0]), points - points[0], rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_wild_coordinates_are_cut_and_leave_the_units_alone(sign):
    points = draw(30, 3)
    wild = points.copy()
    wild[[4, 9], [0, 2]] = sign * 1e300
    plain, found = starts.central(np.delete(points, [4, 9], axis=0)), starts.central(wild)
    assert found.points[4, 0] == found.points[9, 2] == sign * 2.0**200
    others = np.delete(found.points, [4, 9], axis=0)
    assert np.abs(others).max() < 100.0
    assert found.unit == pytest.approx(plain.unit, rel=0.3)


def test_numbers_at_the_end_of_the_range_have_a_median():
    points = np.array([[1.6e308], [1.7e308], [1.65e308], [1.75e308]])
    assert starts.central(points).centre == pytest.approx([1.675e308], rel=0.02)


def test_rows_that_repeat_count_once():
    points = draw(12, 2)
    repeated = np.vstack([points, np.repeat(points[:1], 9, axis=0)])
    one, other = starts.central(points), starts.central(repeated)
    np.testing.assert_allclose(one.centre, other.centre, rtol=1e-2)
    assert other.unit == pytest.approx(one.unit, rel=1e-2)
    np.testing.assert_allclose(other.points[12:], np.broadcast_to(other.points[0], (9, 2)))
    assert starts._first_occurrences(repeated).tolist() == [True] * 12 + [False] * 9
    assert starts._first_occurrences(np.array([[3.0, 4.0], [3.0, 5.0], [2.0, 5.0]])).all()
    mixed = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [3.0, 5.0]])
    assert starts._first_occurrences(mixed).tolist() == [True, True, False, True, False, True]


@pytest.mark.parametrize(
    "points",
    [
        np.vstack([np.zeros((5, 2)), draw(4, 2)]),
        np.array([[-1.7e308], [1.7e308], [-1.6e308], [1.6e308]]),
        np.array([[0.0], [5e-324], [0.0]]),
    ],
    ids=["half coincide", "too large", "too small"],
)
def test_a_set_without_a_unit_has_none(points):
    with np.errstate(all="ignore"):
        assert starts.central(points) is None


@pytest.mark.parametrize("strays", [5, 4])
def test_the_core_is_the_mean_of_the_half_that_is_nearest_to_it(strays):
    rng = np.random.default_rng(0)
    cluster = np.array([0.4, -0.3]) + 0.01 * rng.standard_normal((strays + strays % 2, 2))
    far = np.array([1.5, 1.0]) + rng.uniform(0.0, 1.0, (strays, 2))
    np.testing.assert_allclose(starts._core(np.vstack([far, cluster])), cluster.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_core_is_looked_for_step_by_step(seed):
    points = np.random.default_rng(seed).exponential(size=(61, 2)) - 0.4
    centre = np.zeros(2)
    for _ in range(6):
        nearest = np.argsort(np.linalg.norm(points - centre, axis=1))[:31]
        centre = points[nearest].mean(axis=0)
    np.testing.assert_allclose(starts._core(points), centre, rtol=1e-12)


def test_the_core_of_a_set_is_in_its_units():
    points = np.vstack([draw(9, 2), 20.0 + draw(4, 2)])
    found = starts.central(points)
    nearest = np.argsort(np.linalg.norm(found.points - found.core, axis=1))[:7]
    np.testing.assert_allclose(found.core, found.points[nearest].mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "count", "chosen"),
    [(10, 4, [0, 3, 6, 9]), (3, 5, [0, 1, 2]), (5, 5, [0, 1, 2, 3, 4]), (8, 2, [0, 7]), (1, 9, [0])],
)
def test_rows_are_spread_evenly(n, count, chosen):
    assert starts.spread_evenly(n, count).tolist() == chosen


# ---------------------------------------------------------------------------- maps


def test_first_maps_take_centres_or_cores_onto_each_other():
    a, b = starts.central(draw(20, 3)), starts.central(draw(25, 3, 1))
    maps = list(starts.robust_starts(a, b))
    assert sorted({map_.scale for map_ in maps}) == pytest.approx([0.5, 0.5**0.5, 1.0, 2.0**0.5, 2.0])
    for k, map_ in enumerate(maps):
        expected = a.core if k % 2 else np.zeros(3)
        place = b.core if k % 2 else np.zeros(3)
        np.testing.assert_allclose(map_.scale * place + map_.shift, expected, atol=1e-12)


def test_a_map_in_units_takes_the_same_points_to_the_same_places():
    x, y = draw(20, 3), draw(25, 3, 1)
    a, b = starts.central(x), starts.central(y)
    affine = Affine(0.7, np.array([1.0, -2.0, 3.0]))
    scale, shift = starts.in_units(affine, a, b)
    expected = (affine.scale * y + affine.shift - a.centre) / a.unit
    np.testing.assert_allclose(scale * b.points + shift, expected, rtol=1e-11, atol=1e-11)
    back = starts.as_given(Map(scale, shift), a, b)
    assert back.scale == pytest.approx(affine.scale, rel=1e-12)
    np.testing.assert_allclose(back.shift, affine.shift, rtol=1e-11)
