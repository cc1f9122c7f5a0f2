"""The two nearest of many points, against the matrix of all distances."""

import numpy as np
import pytest

from lslmatch._jit import kernel
from lslmatch.alignment.two_nearest import find_two_nearest, make_room


@kernel
def found(points, lines, above, nearest, squares):
    _, room, _, _ = make_room(*lines.shape)
    find_two_nearest(points, lines, above, room, nearest, squares)


def two_nearest(points, others, above=-1.0):
    nearest, squares = np.empty(4, np.int64), np.empty((4, 2))
    found(points, np.ascontiguousarray(others.T), above, nearest, squares)
    return nearest, squares


@pytest.mark.parametrize("d", [1, 4, 5, 6, 13])
@pytest.mark.parametrize("m", [2, 7, 64, 101])
def test_they_are_the_least_of_all_distances(m, d):
    rng = np.random.default_rng([m, d])
    points, others = rng.standard_normal((4, d)), rng.standard_normal((m, d))
    squares = ((points[:, None] - others) ** 2).sum(axis=-1)
    nearest, least = two_nearest(points, others)
    np.testing.assert_array_equal(nearest, squares.argmin(axis=1))
    np.testing.assert_allclose(least, np.sort(squares, axis=1)[:, :2], rtol=1e-12)


def test_of_several_that_are_equally_near_the_first_is_the_nearest_and_the_next_is_as_near():
    others = np.array([[3.0], [1.0], [1.0], [-1.0], [5.0]])
    nearest, least = two_nearest(np.array([[1.0], [0.0], [3.0], [9.0]]), others)
    assert nearest.tolist() == [1, 1, 0, 4]
    assert least.tolist() == [[0.0, 0.0], [1.0, 1.0], [0.0, 4.0], [16.0, 36.0]]


def test_points_that_coincide_need_not_count():
    others = np.array([[1.0], [1.0], [4.0], [2.0]])
    nearest, least = two_nearest(np.array([[1.0], [2.0], [4.0], [0.0]]), others, 0.0)
    assert nearest.tolist() == [3, 0, 3, 0]
    assert least.tolist() == [[1.0, 9.0], [1.0, 1.0], [4.0, 9.0], [1.0, 1.0]]


def test_what_is_no_number_is_infinitely_far():
    others = np.array([[1.0], [np.inf], [np.nan]])
    nearest, least = two_nearest(np.array([[0.0], [np.nan], [np.inf], [3.0]]), others)
    assert nearest.tolist() == [0, 0, 0, 0]
    assert least[[0, 3]].tolist() == [[1.0, np.inf], [4.0, np.inf]]
    assert np.isinf(least[1:3]).all()
    nearest, least = two_nearest(np.zeros((4, 1)), np.ones((1, 1)))
    assert (nearest.tolist(), least.tolist()) == ([0] * 4, [[1.0, np.inf]] * 4)
