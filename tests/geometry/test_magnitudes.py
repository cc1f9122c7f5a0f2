"""How large points mostly are: fills do not move it, and limits hold from both sides."""

import math

import numpy as np
import pytest

from lslmatch.geometry import magnitudes
from lslmatch.geometry.magnitudes import (
    GREATEST_RATIO,
    far_points,
    least_magnitude,
    typical_centre,
    typical_size,
)


def drawn(n, d, seed=0):
    return np.random.default_rng([n, d, seed]).normal(size=(n, d))


def sampled(points):
    """Give every so-and-so-manyth point from the first on, so that there are 65 at most."""
    step = next(step for step in range(1, len(points) + 1) if math.ceil(len(points) / step) <= 65)
    return points[::step]


SIZES = [1, 2, 3, 64, 65, 66, 130, 131, 1000]


@pytest.mark.parametrize("n", SIZES)
def test_a_centre_is_the_median_of_some_points(n):
    points = 7.0 + drawn(n, 3)
    some = sampled(points)
    centre, size = typical_centre(points)
    middle = len(some) // 2
    np.testing.assert_array_equal(centre, np.sort(some, axis=0)[middle])
    assert size == np.sort(np.abs(some - centre).max(axis=1))[middle]


@pytest.mark.parametrize("n", SIZES)
def test_a_size_is_the_median_of_greatest_coordinates(n):
    points = drawn(n, 3)
    some = np.sort(np.abs(sampled(points)).max(axis=1))
    np.testing.assert_array_equal(typical_size(points), [some[len(some) // 2]])


def test_fills_move_neither():
    points = drawn(60, 2)
    filled = points.copy()
    filled[::3] = 1e300
    centre, size = typical_centre(filled)
    assert (centre < 3.0).all()
    assert size < 9.0
    assert typical_size(filled)[0] < 3.0


def test_distances_that_overflow_are_no_error():
    points = np.array([[-1.7e308], [1.7e308], [1.7e308]])
    assert typical_centre(points) == (1.7e308, 0.0)
    assert typical_centre(points[:2])[1] == math.inf


def test_where_most_points_are_zero_the_greatest_counts():
    points = np.zeros((9, 2))
    points[4] = 3.0, -5.0
    assert typical_size(points).item() == 5.0
    points[:5] = 2.0
    assert typical_size(points).item() == 2.0
    assert typical_size(np.zeros((3, 2))).item() == 0.0


def least(x, y, factors=(1.0, 1.0), shift=(0.0, 0.0), exponent=0):
    units = (factors[0], 0), (factors[1], 0)
    return least_magnitude((np.asarray(x), np.asarray(y)), units, np.array(shift), exponent)


def test_a_factor_and_a_power_of_two_make_a_unit():
    sets, shift = (X, Y), np.zeros(2)
    one = least_magnitude(sets, ((0.75, 3), (0.5, -20)), shift, 0)
    assert one == least_magnitude(sets, ((6.0, 0), (0.5 * 2.0**-20, 0)), shift, 0)
    # A power whose squares are no doubles.
    tiny = 2.0**-980 * X
    assert least_magnitude((tiny, tiny), ((0.5, 981), (0.5, 981)), shift, 0) == least(X, X)


X = np.array([[0.0, 0.0], [3e-9, 4e-9], [0.5, 0.5], [0.25, 0.0]])
Y = np.array([[0.0, 1e-7], [0.75, 0.0], [0.5, -0.5]])


def test_the_least_length_is_that_of_a_point_that_is_not_zero():
    assert least(X, Y) == (pytest.approx(5e-9), True)
    assert least(X, Y, (1.0, 1e-3)) == (pytest.approx(1e-10), True)
    assert least(X, Y, (1e3, 1.0)) == (pytest.approx(1e-7), True)
    assert least(X, Y, shift=(3e-8, 4e-8)) == (pytest.approx(5e-8), True)
    assert least(np.zeros((2, 2)), Y) == (pytest.approx(1e-7), True)


@pytest.mark.parametrize("exponent", [0, 3, -3])
@pytest.mark.parametrize("d", [1, 2, 9])
def test_a_shift_that_is_not_small_is_enough(exponent, d):
    limit = 2.0**-19 * math.sqrt(d) * 2.0**exponent
    for length, is_enough in ((limit, True), (limit * (1.0 - 1e-12), False)):
        shift = np.zeros(d)
        shift[0] = length
        # (No point is looked at: they are not finite.)
        x = np.full((2, d), math.nan if is_enough else 2.0**-40)
        found = least(x, x, shift=shift, exponent=exponent)
        assert found == ((math.inf, True) if is_enough else (pytest.approx(length), True))


def test_more_points_than_a_block_holds_are_all_looked_at(monkeypatch):
    monkeypatch.setattr(magnitudes, "_BLOCK", 4)
    points = np.full((11, 2), 0.5)
    for k in range(11):
        one = points.copy()
        one[k] = 3e-9, 4e-9
        assert least(one, points)[0] == pytest.approx(5e-9)
        one[k] = 0.6, 0.8
        assert least(one, points)[0] == pytest.approx(math.sqrt(0.5))


def of_lengths(*exponents):
    return np.array([[2.0**exponent if exponent is not None else 0.0, 0.0] for exponent in exponents])


@pytest.mark.parametrize(
    ("x", "y", "is_in_range"),
    [
        # A point is too small beside the greatest below 2**-400 of it; the greatest is 2**10.
        ((10, -391, -391, -389), (0, -391, -391, -389), True),
        ((10, -391, -391, -391), (0, -391, -391, -391), False),
        ((10, -390, -390, -390), (0, -390, -390, -390), True),
        # Most of one set would do, and points at zero count as not small.
        ((10, -391, -391, -391), (0, 0, -391, -391), True),
        ((10, -391, -391, None), (0, -391, -391, -391), True),
        ((0, -391, -391, -391), (10, -391, -391, -391), False),
    ],
)
def test_points_are_in_range_unless_most_of_both_sets_are_too_small(x, y, is_in_range):
    found, in_range = least(of_lengths(*x), of_lengths(*y))
    assert in_range == is_in_range
    # The length is not less than the limit.
    assert found >= 2.0**-390
    if min(value for value in (*x, *y) if value is not None) <= -390:
        assert found == 2.0**-390


def test_a_shift_of_their_size_brings_points_into_range():
    small = of_lengths(10, -391, -391, -391)
    for exponent, in_range in ((-389, True), (-390, True), (-391, False)):
        found = least(small, small, shift=(2.0**exponent, 0.0))
        assert found == (max(2.0**exponent, 2.0**-390), in_range)


def test_the_limit_follows_the_units():
    small = of_lengths(0, -405, -405, -405)
    assert not least(small, small)[1]
    assert least(small, small, (2.0**5, 2.0**5)) == (2.0**-395, False)
    assert least(small, small, (1.0, 2.0**20))[1] is False
    assert least(small[1:], small[1:], (2.0**300, 2.0**300))[1] is True
    assert GREATEST_RATIO == 2.0**400


def test_far_points_are_named():
    x, y = np.zeros((12, 2)), np.zeros((4, 1))
    assert far_points((x, y)) == ""
    # Named is what is above the root of the ratio, 2**200, below the largest.
    x[3, 1], x[7, 0] = 2.0**201, -(2.0**202)
    x[5], y[0] = 4.0, 3.9
    assert far_points((x, y)) == "x[3, 7]"
    x[5] = 4.1
    assert far_points((x, y)) == "x[3, 5, 7]"
    y[2] = 1e300
    assert far_points((x, y)) == "y[2]"
    x[[0, 1, 11]] = 1e299
    assert far_points((x, y)) == "x[0, 1, 11] and y[2]"
    x[8:11] = 1e299
    assert far_points((x, y)) == "x[0, 1, 8, 9, 10] and 1 more and y[2]"
