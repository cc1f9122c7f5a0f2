"""Bounds of arcs: linear functions below all squared distances, and assignments that are cheap to bound."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from lslmatch.assignment.dense import raise_duals
from lslmatch.plane.arcs import FIRST, WHOLE, Arc, end_costs, plane_of, take_logarithms
from lslmatch.plane.branching import best_turn


def planar(seed, n=7, m=9, floor=1e-3):
    """Draw two sets; some points coincide, some are opposite, some are at the centre, one is far out."""
    rng = np.random.default_rng([seed, n, m])
    a, b = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    b[:2], b[2], b[3], a[3], a[4, 0] = a[:2], -a[2], 0.0, [1.0, 1.0], 1e4
    return plane_of(a, b, floor)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("depth", [0, 1, 3, 8, 20, 40])
def test_linear_functions_are_below_all_distances_of_their_arc(seed, depth):
    plane, rng = planar(seed), np.random.default_rng([seed, depth])
    width = WHOLE // FIRST >> depth
    for mirrored in (False, True):
        arc = Arc(mirrored, int(rng.integers(FIRST << depth)) * width, width)
        low, high = (ends[:7] for ends in end_costs(plane, arc))
        assert min(low.min(), high.min()) > 0.0
        worst = np.inf
        for t in np.linspace(0.0, 1.0, 33):
            q = plane.squares(arc.middle + (2 * t - 1) * arc.half_width, mirrored)
            slack = q - (low + t * (high - low))
            assert slack.min() >= 0.0
            worst = np.minimum(worst, slack.max())
        # And not far below: where distances are not near 0, by the square of the width.
        assert worst <= 1e8 * (20.0 * arc.half_width**2 + 1e-12)


def test_what_is_lost_is_of_the_order_of_the_squared_width():
    plane = planar(5, floor=0.5)
    lost = []
    for depth in (2, 4, 6):
        width = WHOLE // FIRST >> depth
        arc = Arc(False, 3 * (WHOLE // FIRST), width)
        low, high = (ends[:7] for ends in end_costs(plane, arc))
        q = plane.squares(arc.middle, False)
        lost.append(np.median(q - (low + high) / 2.0))
    assert lost[2] < lost[0] / 100.0


def test_arcs_are_cut_without_a_gap():
    arc = Arc(True, WHOLE // 4, WHOLE // 16)
    one, other = arc.halves()
    assert (one.start, one.start + one.width) == (arc.start, other.start)
    assert other.start + other.width == arc.start + arc.width
    assert one.mirrored
    assert one.middle < arc.middle < other.middle


def test_logarithms_are_taken_in_place():
    values = np.array([[1.0, 2.0], [0.5, 1e-200]])
    expected = np.log(values)
    take_logarithms(values)
    np.testing.assert_allclose(values, expected, rtol=1e-14)


@pytest.mark.parametrize("warm", [False, True])
def test_duals_are_raised_to_the_optimum_or_until_it_is_enough(warm):
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 20):
        cost = rng.normal(size=(n, n))
        begin = rng.normal(size=n) if warm else np.zeros(n)
        optimum = cost[linear_sum_assignment(cost)].sum()
        state, value = raise_duals(cost, begin, np.inf)
        assert value == pytest.approx(optimum)
        assert cost[np.arange(n), state.col_of_row].sum() == pytest.approx(optimum)
        again, same = raise_duals(cost, state.col_dual, np.inf)
        assert same == pytest.approx(optimum)
        for enough in (-1e9, optimum - 1e-3):
            some, value = raise_duals(cost, begin, enough)
            assert value >= enough
            assert (some.row_dual[:, None] + some.col_dual <= cost + 1e-12).all()
            assert value == pytest.approx(some.row_dual.sum() + some.col_dual.sum())


def test_a_matching_is_followed_downhill():
    plane = planar(7)
    partner = np.array([0, 1, 2, 3, 4, 5, 6])
    before = np.log(plane.squares_of_pairs(0.3, True, partner)).sum()
    angle, value = best_turn(plane, partner, 0.3, True)
    assert value < before
    for step in (-1e-4, 1e-4):
        assert np.log(plane.squares_of_pairs(angle + step, True, partner)).sum() >= value - 1e-9
    near, held = best_turn(plane, partner, 0.3, True, 0.01)
    assert abs(near - 0.3) <= 0.01 + 1e-12
    assert value <= held + 1e-12
