"""Common coordinates: exact differences in a unit of their own, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.geometry.coordinates import column_means, common_coordinates
from tests.support.sets import draw


def fractions(array):
    return np.vectorize(Fraction, otypes=[object])(array)


@pytest.mark.parametrize("unit", [1.0, 2.0**600, 2.0**-900])
@pytest.mark.parametrize("affine", [Affine(1.0, np.zeros(3)), Affine(1.0 / 3.0, np.array([0.1, -1e5, 7.0]))])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_differences_are_those_of_the_aligned_points(unit, affine, offset):
    x, y = unit * (draw(5, 3) + offset), unit * draw(4, 3, 1)
    affine = Affine(affine.scale, unit * affine.shift)
    geometry = common_coordinates(x, y, affine)
    a, b = (
        fractions(geometry.a) + fractions(geometry.a_low),
        fractions(geometry.b) + fractions(geometry.b_low),
    )
    found = (a[:, None] - b) * Fraction(2) ** geometry.exponent
    exact = fractions(x)[:, None] - (Fraction(affine.scale) * fractions(y) + fractions(affine.shift))
    # In units of the greatest coordinate: what a double and its rounding error can hold together.
    errors = np.abs(found - exact) / Fraction(2) ** geometry.exponent
    assert errors.max() <= Fraction(2) ** -95


def test_the_greatest_coordinate_is_between_one_half_and_one():
    geometry = common_coordinates(1e200 * draw(5, 2) + 1e203, 1e-9 * draw(6, 2), Affine(1e209, np.zeros(2)))
    assert 0.5 <= max(np.abs(geometry.a).max(), np.abs(geometry.b).max()) < 1.0


def test_points_in_one_place_have_coordinates():
    geometry = common_coordinates(np.zeros((2, 2)), np.zeros((3, 2)), Affine(1.0, np.zeros(2)))
    assert not geometry.a.any()
    assert not geometry.b.any()
    assert geometry.mean_square() == 0.0


def test_exchanging_the_sets_twice_changes_nothing():
    geometry = common_coordinates(draw(4, 2), draw(6, 2, 1), Affine(0.7, np.ones(2)))
    other = geometry.transposed()
    assert other.shape == geometry.shape[::-1]
    assert other.exponent == geometry.exponent
    np.testing.assert_array_equal(other.a, geometry.b)
    np.testing.assert_array_equal(other.a_low, geometry.b_low)
    for part, same in zip(other.transposed(), geometry, strict=True):
        np.testing.assert_array_equal(part, same)


def test_some_points_can_be_taken_in_any_order():
    geometry = common_coordinates(draw(5, 2), draw(6, 2, 1), Affine(0.7, np.ones(2)))
    rows, cols = np.array([3, 0]), np.array([5, 1, 1])
    part = geometry.taken(rows, cols)
    assert part.shape == (2, 3)
    assert part.exponent == geometry.exponent
    for found, whole, order in zip(part, geometry[:4], [rows, cols] * 2, strict=False):
        np.testing.assert_array_equal(found, whole[order])


def test_the_mean_square_is_that_of_all_points_about_the_mean_of_the_first_set():
    x, y = draw(5, 3) + 4.0, draw(9, 3, 1)
    geometry = common_coordinates(x, y, Affine(2.0, np.ones(3)))
    both = np.concatenate([x, 2.0 * y + 1.0]) - x.mean(axis=0)
    expected = (both**2).sum(axis=1).mean()
    assert geometry.mean_square() * 4.0**geometry.exponent == pytest.approx(expected, rel=1e-12)


def test_column_means_keep_their_digits_beside_a_large_offset():
    points = np.array([[1e15 + 1.0, 3.0], [1e15 + 3.0, -1.0]])
    np.testing.assert_array_equal(column_means(points, 0.5), [(1e15 + 2.0) / 2.0, 0.5])


def test_inputs_are_not_changed():
    x, y, shift = draw(4, 2), draw(5, 2, 1), np.ones(2)
    kept = [part.copy() for part in (x, y, shift)]
    common_coordinates(x, y, Affine(3.0, shift))
    for part, before in zip((x, y, shift), kept, strict=True):
        np.testing.assert_array_equal(part, before)


@pytest.mark.parametrize("unit", [1e-180, 1e-310])
def test_a_column_of_fills_that_both_sets_share_leaves_the_others_their_digits_or_is_noticed(unit):
    x, y = unit * draw(6, 2), unit * draw(7, 2)
    x[:, 0] = y[:, 0] = 1e100
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
    assert geometry.is_in_range == (unit > 1e-200)
    assert geometry.ordinary_share() == 1.0
    if geometry.is_in_range:
        apart = np.ldexp(geometry.a[:, 1:] - geometry.b[:, 1], geometry.exponent)
        np.testing.assert_allclose(apart, x[:, 1:] - y[:, 1], rtol=1e-12, atol=1e-12 * unit)
