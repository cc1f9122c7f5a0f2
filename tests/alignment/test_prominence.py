"""How far pairs stand out, by the definition: all pairs, one after the other."""

import math

import numpy as np
import pytest

from lslmatch.alignment.prominence import Judge, Map

FLOOR, GREATEST = 2.0**-80, math.log(1e4)


def defined(a, b, map_, rows):
    """The nearest partners of some points and their prominence, from the matrix of all distances."""
    squares = ((a[:, None] - map_.scale * b - map_.shift) ** 2).sum(axis=-1)
    cols = squares[rows].argmin(axis=1)
    found = []
    for i, j in zip(rows, cols, strict=True):
        other = min(np.delete(squares[i], j).min(), np.delete(squares[:, j], i).min())
        found.append(math.log(max(other, FLOOR) / max(squares[i, j], FLOOR)))
    return cols, np.clip(found, 0.0, GREATEST)


def draw(n, m, d, noise=0.3, seed=0):
    rng = np.random.default_rng([n, m, d, seed])
    b = rng.standard_normal((m, d))
    a = 1.5 * b[rng.permutation(m)[:n]] + 0.4 + noise * rng.standard_normal((n, d))
    return a, b


MAPS = [
    Map(1.5, np.full(3, 0.4)),
    Map(1.0, np.zeros(3)),
    Map(0.2, np.array([0.1, -0.2, 0.0])),
    Map(4.0, np.ones(3)),
]


@pytest.mark.parametrize("noise", [0.3, 1e-3])
@pytest.mark.parametrize("map_", MAPS)
def test_the_prominence_of_all_points(map_, noise):
    a, b = draw(9, 14, 3, noise)
    judged = Judge(a, b).judge(map_)
    cols, prominence = defined(a, b, map_, np.arange(9))
    np.testing.assert_array_equal(judged.cols, cols)
    np.testing.assert_allclose(judged.prominence, prominence, rtol=1e-9, atol=1e-12)
    assert judged.mean == pytest.approx(prominence.mean())


@pytest.mark.parametrize("noise", [0.3, 1e-3, 0.0])
def test_many_maps_are_ranked_by_the_same_sums(noise):
    a, b = draw(9, 14, 3, noise)
    rows = np.array([0, 3, 8])
    scales, shifts = np.array([map_.scale for map_ in MAPS]), np.array([map_.shift for map_ in MAPS])
    expected = [defined(a, b, map_, rows)[1].sum() for map_ in MAPS]
    np.testing.assert_allclose(Judge(a, b).rank(scales, shifts, rows), expected, rtol=1e-9, atol=1e-9)
    judged = [Judge(a, b).judge(map_, rows).prominence.sum() for map_ in MAPS]
    np.testing.assert_allclose(judged, expected, rtol=1e-9, atol=1e-9)


def test_points_that_coincide_under_the_map_stand_out_by_no_more_than_the_limit():
    a, b = draw(9, 14, 3, 0.0)
    assert Judge(a, b).judge(MAPS[0]).prominence == pytest.approx([GREATEST] * 9)
    # Where two points of a set coincide, too, neither stands out.
    a[1] = a[0]
    assert Judge(a, b).judge(MAPS[0]).prominence == pytest.approx([0.0, 0.0] + [GREATEST] * 7)


def test_a_map_out_of_range_lets_nothing_stand_out():
    a, b = draw(5, 6, 3)
    with np.errstate(all="ignore"):
        for map_ in (Map(1.0, np.full(3, np.nan)), Map(1e300, np.full(3, 1e300)), Map(0.0, np.zeros(3))):
            judged = Judge(a, b).judge(map_)
            assert judged.prominence.tolist() == [0.0] * 5
            assert ((judged.cols >= 0) & (judged.cols < 6)).all()


@pytest.mark.parametrize("d", [1, 3])
def test_chance_is_how_far_points_stand_out_from_others_of_their_own_set(d):
    a, b = draw(12, 14, d)
    a[5] = a[2]  # coincident points do not count as each other's nearest
    found = []
    for point in a:
        squares = np.sort(((a - point) ** 2).sum(axis=1))
        squares = squares[squares > 0.0]
        found.append(min(math.log(squares[1] / squares[0]), GREATEST))
    assert Judge(a, b).chance() == pytest.approx(np.mean(found), rel=1e-9)


def test_chance_is_limited_and_0_where_all_coincide():
    line = np.array([[0.0], [1e-9], [1.0]])
    assert Judge(line, line).chance() == pytest.approx((2 * GREATEST + 0.0) / 3, abs=1e-6)
    with np.errstate(all="ignore"):
        assert Judge(np.ones((4, 2)), np.ones((4, 2))).chance() == 0.0


@pytest.mark.parametrize(
    ("n", "m", "asked"), [(50, 60, 50), (300, 400, 163), (300, 5000, 64), (40, 5000, 40)]
)
def test_some_points_are_asked_spread_over_the_set(n, m, asked):
    rows = Judge(np.zeros((n, 1)), np.zeros((m, 1))).rows
    assert (rows.size, rows[0], rows[-1]) == (asked, 0, n - 1)
    assert np.ptp(np.diff(rows)) <= 1
