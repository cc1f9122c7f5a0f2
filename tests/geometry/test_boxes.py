"""Regions: every point is in one, its box holds it, and gaps are never larger than distances."""

import numpy as np
import pytest

from lslmatch.geometry.boxes import Boxes, bound_groups, sort_by_region, squared_gap, squared_gaps


def draw(n, d):
    return np.random.default_rng([n, d]).normal(size=(n, d))


sizes = pytest.mark.parametrize(("n", "size"), [(1, 4), (4, 4), (5, 4), (33, 4), (100, 7), (64, 64)])


@sizes
@pytest.mark.parametrize("d", [1, 3])
def test_order_holds_every_point_once(n, size, d):
    np.testing.assert_array_equal(np.sort(sort_by_region(draw(n, d), size)), np.arange(n))


@sizes
def test_on_a_line_regions_follow_each_other(n, size):
    points = draw(n, 1)
    boxes = bound_groups(points[sort_by_region(points, size)], size)
    assert (boxes.high[:-1] < boxes.low[1:]).all()


def test_coincident_points_have_an_order():
    assert sort_by_region(np.zeros((50, 2)), 4).size == 50


def test_regions_are_smaller_than_groups_in_any_order():
    points = draw(512, 2)
    sides = [
        np.prod(np.subtract(*bound_groups(some, 32)[::-1]), axis=1).mean()
        for some in (points[sort_by_region(points, 32)], points)
    ]
    assert sides[0] < 0.25 * sides[1]


@pytest.mark.parametrize("d", [1, 2, 5])
def test_gaps_bound_the_distances(d):
    p, q = draw(20, d), draw(90, d) + 1.0
    order = sort_by_region(q, 8)
    boxes = bound_groups(q[order], 8)
    squares = ((p[:, None] - q[order]) ** 2).sum(axis=2)
    least = np.minimum.reduceat(squares, np.arange(0, 90, 8), axis=1)
    of_points = np.array(
        [[squared_gap(point, low, high) for low, high in zip(*boxes, strict=True)] for point in p]
    )
    assert (of_points <= least).all()
    assert (of_points > 0.0).any()
    for point, row in zip(p, of_points, strict=True):
        np.testing.assert_allclose(squared_gaps(Boxes(point, point), boxes), row)
    whole = squared_gaps(bound_groups(p, 20), boxes)
    assert (whole <= of_points.min(axis=0) + 1e-12).all()
