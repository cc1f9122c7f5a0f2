"""When points coincide, for the certificate: by the definition, and as the solver says it."""

import math

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.certificate.coincident import ordinary_share, share_of_sets, typical_point
from lslmatch.geometry.coordinates import common_coordinates

SMALL = 2.0**-20


def share(x, y, mean_square=1.0, shift=(0.0, 0.0), first=(1.0, 0), second=(1.0, 0)):
    return ordinary_share(mean_square, ((np.asarray(x), *first), (np.asarray(y), *second)), np.array(shift))


X = np.array([[0.0, 0.0], [3e-9, 4e-9], [0.5, 0.5]])
Y = np.array([[0.0, 1e-7], [0.75, 0.0]])


def test_it_is_the_least_square_that_is_not_zero_beside_the_mean_square():
    assert share(X, Y) == pytest.approx(25e-18)
    assert share(X, Y, 4.0) == pytest.approx(25e-18 / 4.0)
    assert share(X, Y, second=(1e-3, 0)) == pytest.approx(1e-20)
    assert share(X, Y, first=(1e3, 0)) == pytest.approx(1e-14)
    assert share(X, Y, first=(1.0, 7)) == pytest.approx(1e-14)
    assert share(X, Y, second=(1.0, -7)) == pytest.approx((1e-7 / 128.0) ** 2)
    assert share(X, Y, shift=(3e-8, -4e-8)) == pytest.approx(25e-16)
    assert share(np.zeros((2, 2)), Y) == pytest.approx(1e-14)


@pytest.mark.parametrize("mean_square", [1.0, 9.0])
def test_it_is_1_unless_both_shift_and_some_point_are_small(mean_square):
    limit = SMALL * math.sqrt(mean_square)
    for length, is_small in ((limit, False), (0.999 * limit, True)):
        line = np.array([[length, 0.0], [5.0, 0.0]])
        found = share(line, line, mean_square)
        assert found == (pytest.approx((length / limit * SMALL) ** 2) if is_small else 1.0)
        found = share(X, Y, mean_square, (0.0, length))
        assert found == (pytest.approx((length / limit * SMALL) ** 2) if is_small else 1.0)
    # A shift that is not small is enough: points are not looked at.
    assert share(np.full((2, 2), math.nan), Y, shift=(limit, 0.0)) == 1.0
    assert share(np.ones((2, 2)), np.ones((3, 2))) == 1.0
    assert share(np.zeros((2, 2)), np.zeros((3, 2))) == 1.0


def test_it_is_not_less_than_a_share_of_the_greatest():
    x = np.array([[2.0**-500, 0.0], [2.0**9, 0.0]])
    y = np.array([[1.0, 0.0], [0.0, 2.0**7]])
    for sets in ((x, y), (y, x)):
        assert share(*sets, 4.0) == (2.0**-391) ** 2 / 4.0


@pytest.mark.parametrize("unit", [1.0, 2.0**600, 2.0**-600])
@pytest.mark.parametrize("scale", [1.0, 0.3, 2.0**40])
@pytest.mark.parametrize("small", ["x", "y", "shift", "none"])
def test_of_two_sets_it_is_as_the_solver_says(unit, scale, small):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(7, 3)), rng.normal(size=(9, 3))
    shift = np.array([1e-9, -2e-9, 0.0])
    x[0] *= 1e-7 if small == "x" else 1.0
    y[3] *= 1e-8 if small == "y" else 1.0
    if small == "none":
        shift[1] = 0.1
    x, y, shift = unit * x, unit * y / scale, unit * shift
    mapped = scale * y + shift
    mean = x.mean(axis=0)
    mean_square = (np.square((x - mean) / unit).sum() + np.square((mapped - mean) / unit).sum()) / 16
    lengths = [np.linalg.norm(part / unit, axis=1).min() for part in (x, scale * y)]
    least = max(np.linalg.norm(shift / unit), min(lengths))
    expected = least**2 / mean_square if least < SMALL * math.sqrt(mean_square) else 1.0
    assert (expected < 1.0) == (small in ("x", "y"))
    found = share_of_sets(x, y, scale, shift)
    assert found == pytest.approx(expected, rel=1e-9)
    geometry = common_coordinates(x, y, Affine(scale, shift))
    assert found == pytest.approx(geometry.ordinary_share(), rel=1e-9)


def test_of_sets_in_one_place_it_is_1():
    assert share_of_sets(np.zeros((2, 1)), np.zeros((3, 1)), 1.0, np.zeros(1)) == 1.0


@pytest.mark.parametrize("n", [1, 2, 3, 499, 500, 501, 1000, 1600])
def test_a_typical_point_is_a_median_of_some(n):
    points = np.random.default_rng(n).normal(size=(n, 2))
    some = points[:: 1 + n // 500]
    assert len(some) <= 500
    np.testing.assert_array_equal(typical_point(points), np.sort(some, axis=0)[len(some) // 2])
