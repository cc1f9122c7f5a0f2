"""Maps from two points of either set: which pairs are nearly parallel, and the maps that follow."""

import itertools

import numpy as np
import pytest

from lslmatch.alignment import hypotheses
from lslmatch.alignment.prominence import Judge
from tests.support.sets import draw


def test_distances_are_those_of_all_points():
    points = draw(9, 3)
    expected = np.linalg.norm(points[:, None] - points, axis=-1)
    np.testing.assert_allclose(hypotheses._distances(points), expected, rtol=1e-13)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 16, 31, 400])
@pytest.mark.parametrize("seed", range(3))
def test_the_pairs_of_least_angle_are_found(size, seed):
    b, direction = draw(24, 3, seed), draw(1, 3, seed)[0]
    lengths, along = hypotheses._distances(b), b @ direction
    shortest, longest = 0.8, 2.5
    inside = [
        (abs(along[i] - along[j]) / lengths[i, j], *((i, j) if along[i] > along[j] else (j, i)))
        for i, j in itertools.combinations(range(24), 2)
        if shortest < lengths[i, j] < longest
    ]
    expected = sorted(inside, reverse=True)[:size]
    assert size < len(inside) < 276 or size == 400
    pairs = np.full((size, 2), -1, np.intp)
    count = hypotheses._find_parallel(along, lengths, shortest, longest, pairs)
    assert count == len(expected)
    assert {tuple(pair) for pair in pairs[:count].tolist()} == {pair[1:] for pair in expected}


def test_the_second_pair_found_may_be_better_than_the_first():
    along, lengths = np.array([0.0, 0.9, 0.5]), np.ones((3, 3))
    lengths[2, 1] = 0.4 / 0.7  # cosines 0.9, 0.5 and 0.7, in this order
    pairs = np.empty((2, 2), np.intp)
    assert hypotheses._find_parallel(along, lengths, 0.1, 9.0, pairs) == 2
    assert sorted(pairs.tolist()) == [[1, 0], [1, 2]]


def test_points_in_the_middle_take_part():
    points, core = draw(700, 2), np.array([1.0, 0.5])
    kept = hypotheses._middle(points, core)
    nearest = np.argsort(((points - core) ** 2).sum(axis=1))[:512]
    assert {*map(tuple, kept)} == {*map(tuple, points[nearest])}
    np.testing.assert_array_equal(hypotheses._middle(points[:512], core), points[:512])


@pytest.mark.parametrize(("d", "scale"), [(2, 1.7), (3, 0.2), (6, 7.0)])
def test_the_map_of_noiseless_partners_comes_first(d, scale):
    a, shift = draw(20, d), np.linspace(-1.0, 2.0, d)
    strangers = 10.0 + draw(8, d, 1)
    b = np.vstack([(a[::-1] - shift) / scale, strangers])
    maps = hypotheses.two_point_maps(Judge(a, b), np.zeros(d), b[:20].mean(axis=0))
    assert len(maps) == 6
    assert maps[0].scale == pytest.approx(scale, rel=1e-9)
    np.testing.assert_allclose(maps[0].shift, shift, atol=1e-9)


def test_on_a_line_there_is_no_direction_to_compare():
    assert hypotheses.two_point_maps(Judge(draw(9, 1), draw(9, 1)), np.zeros(1), np.zeros(1)) == []


def test_of_two_points_every_draw_is_both(monkeypatch):
    heights = []
    find = hypotheses._find_parallel

    def watched(along, *args):
        heights.append(np.ptp(along))
        return find(along, *args)

    monkeypatch.setattr(hypotheses, "_find_parallel", watched)
    a = draw(2, 3)
    maps = hypotheses.two_point_maps(Judge(a, 2.0 * a + 1.0), np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(heights, [2.0 * ((a[0] - a[1]) ** 2).sum()] * 16, rtol=1e-12)
    assert maps[0].scale == pytest.approx(0.5, rel=1e-12)
    np.testing.assert_allclose(maps[0].shift, [-0.5] * 3, rtol=1e-12)


def test_more_pairs_are_tried_in_few_dimensions_and_ranked_in_two_steps(monkeypatch):
    sizes, ranked = {}, []
    find = hypotheses._find_parallel

    def watched_find(along, lengths, shortest, longest, pairs):
        assert np.ptp(along) > 0.0  # from two points, not from one with itself
        sizes.setdefault(d, set()).add(len(pairs))
        return find(along, lengths, shortest, longest, pairs)

    def watched_rank(judge, scales, shifts, rows):
        ranked.append((d, len(scales), rows.tolist()))
        return np.zeros(len(scales))

    monkeypatch.setattr(hypotheses, "_find_parallel", watched_find)
    monkeypatch.setattr(Judge, "rank", watched_rank)
    for d in (2, 3, 4, 5, 7):
        a = draw(26, d)
        hypotheses.two_point_maps(Judge(a, a[::-1].copy()), np.zeros(d), np.zeros(d))
    assert sizes == {2: {128}, 3: {64}, 4: {32}, 5: {16}, 7: {16}}
    few, more = [entry for entry in ranked if entry[0] == 7]
    assert (few[1], more[1]) == (16 * 16, 128)
    assert few[2] == [0, 8, 16, 25]
    assert (len(more[2]), more[2][0], more[2][-1]) == (24, 0, 25)
