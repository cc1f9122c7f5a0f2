"""Lists that are carried from one problem to a similar one: still lists, and the same optimum."""

import numpy as np
import pytest

from lslmatch import Affine, match
from lslmatch.assignment import warm_start as module
from lslmatch.assignment.screening import make_screen
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.shortlists import Shortlists
from lslmatch.assignment.streamed import solve_streamed
from lslmatch.assignment.warm_start import WarmStart
from lslmatch.costs import cost_matrix, log_rule, square_rule
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.reference import SMALL
from tests.support.solver import set_solver

#: Always streamed, and small tiles.
SETTINGS = SolverSettings(matrix_pairs=0, dense_pairs=0, tile_columns=32)
POINTS = 24 if SMALL else 150


def problem(noise, factor, d=3, seed=0):
    """Two sets under a scale that is `factor` times the right one."""
    rng = np.random.default_rng([seed, d])
    features = rng.normal(size=(POINTS, d))
    x = features + noise * rng.normal(size=(POINTS, d))
    y = (features + noise * rng.normal(size=(POINTS, d)))[rng.permutation(POINTS)]
    geometry = common_coordinates(x, y, Affine(factor, np.zeros(d)))
    return geometry, log_rule(geometry)._replace(offset=0.0)


def assert_optimal(geometry, rule, state):
    cost = cost_matrix(geometry, rule)
    own = cost[np.arange(POINTS), state.col_of_row]
    np.testing.assert_array_equal(np.sort(state.col_of_row), np.arange(POINTS))
    assert (state.row_dual[:, None] + state.col_dual <= cost + 1e-12).all()
    np.testing.assert_allclose(own, state.row_dual + state.col_dual[state.col_of_row], atol=1e-12)


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.2, 2.0])
@pytest.mark.parametrize("step", [0.0, 1e-6, 1e-3, 0.05])
def test_every_warm_start_in_a_row_is_optimal(noise, step):
    warm_start = WarmStart()
    for factor in (1.0, 1.0 + step, 1.0 - step, 1.0 + 3.0 * step):
        geometry, rule = problem(noise, factor)
        assert_optimal(
            geometry, rule, solve_streamed(geometry, rule, warm_start=warm_start, settings=SETTINGS)
        )


@pytest.mark.parametrize("noise", [0.02, 0.2, 2.0])
@pytest.mark.parametrize("step", [1e-4, 1e-2, 0.05])
def test_bounds_hold_after_the_move(noise, step, monkeypatch):
    monkeypatch.setattr(module, "_MOST_EXHAUSTED", 1.0)
    warm_start = WarmStart()
    solve_streamed(*problem(noise, 1.0), warm_start=warm_start, settings=SETTINGS)
    geometry, rule = problem(noise, 1.0 + step)
    found = warm_start.recall(make_screen(geometry, rule, SETTINGS), 32)
    reduced = cost_matrix(geometry, rule) - found.col_dual
    listed = np.zeros_like(reduced, np.bool_)
    for i, (cols, costs) in enumerate(zip(found.lists.col, found.lists.cost, strict=True)):
        own = cols[np.isfinite(costs)]
        np.testing.assert_allclose(costs[: own.size], reduced[i, own] + found.col_dual[own], atol=1e-12)
        listed[i, own] = True
    assert (np.where(listed, np.inf, reduced) >= found.lists.bound[:, None] - 1e-12).all()
    best = np.where(listed, reduced, np.inf).min(axis=1)
    np.testing.assert_array_equal(found.exhausted, np.flatnonzero(best > found.lists.bound))


def test_a_short_way_is_followed_and_a_long_one_is_not():
    warm_start = WarmStart()
    geometry, rule = problem(0.02, 1.0)
    assert warm_start.recall(make_screen(geometry, rule, SETTINGS), 32) is None, "nothing was left yet"
    solve_streamed(geometry, rule, warm_start=warm_start, settings=SETTINGS)
    for factor, followed in ((1.0 + 1e-5, True), (1.9, False)):
        geometry, rule = problem(0.02, factor)
        assert (warm_start.recall(make_screen(geometry, rule, SETTINGS), 32) is not None) == followed


def drawn(n=9, m=9, d=3):
    rng = np.random.default_rng([n, m, d])
    return common_coordinates(rng.normal(size=(n, d)), rng.normal(size=(m, d)), Affine(1.0, np.zeros(d)))


def after_move(geometry, last, bound, col_dual):
    return module._bounds_after_move(
        make_screen(geometry, log_rule(geometry), SETTINGS), last, bound, col_dual
    )


def test_a_bound_falls_by_as_much_as_one_column_may_come_nearer():
    rng = np.random.default_rng(2)
    last = drawn()
    geometry = last._replace(b=last.b + 0.1 * rng.normal(size=(9, 1)) * rng.normal(size=last.b.shape))
    col_dual, bound = -rng.uniform(0.0, 4.0, 9), rng.uniform(-7.0, 3.0, 9)
    move = np.linalg.norm(geometry.b - last.b, axis=1)
    # From the definition: the least distance that a pair may have had, and what is left of it.
    distance = np.exp((bound[:, None] + col_dual) / 2.0)
    left = np.where(distance > move, distance - move, 0.0)
    with np.errstate(divide="ignore"):
        expected = (2.0 * np.log(left) - col_dual).min(axis=1)
    found = after_move(geometry, last, bound, col_dual)
    assert 2 <= np.count_nonzero(np.isinf(expected)) <= 7
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("d", [1, 12, 4096])
def test_roundings_of_coordinates_may_be_a_move(d):
    """Two columns that seem to be where they were, and have moved by what is below their last digits."""
    last = drawn(3, 3, d)
    low = np.full_like(last.b_low, 2.0**-54)
    last = last._replace(b_low=-low)
    geometry = last._replace(b_low=low)
    distance = 2.0**-30
    bound = np.full(3, 2.0 * np.log(distance))
    found = after_move(geometry, last, bound, np.zeros(3))
    moved = 2.0**-53 * np.sqrt(d)
    assert (found <= 2.0 * np.log(distance - moved)).all()
    # Not by much more.
    assert (found >= 2.0 * np.log(distance - 5.0 * moved)).all()


@pytest.mark.parametrize("d", [1, 50])
def test_a_bound_that_is_not_above_the_floor_says_nothing(d):
    """Of pairs at the floor costs do not tell how near they are."""
    corners = np.ones((9, d))
    geometry = drawn(9, 9, d)._replace(a=-corners, b=corners)
    floor = log_rule(geometry).floor
    assert floor > d * 2.0**-104
    col_dual = np.linspace(-2.0, 0.0, 9)
    bound = np.log(floor) - col_dual.min() + np.linspace(-1.0, 0.0, 9)
    assert (after_move(geometry, geometry, bound, col_dual) == -np.inf).all()
    assert np.isfinite(after_move(geometry, geometry, bound + 5.0, col_dual)).all()


def left_start(geometry, n, m):
    """Leave lists of all pairs but those of the last column, with their bounds."""
    cost = cost_matrix(geometry, log_rule(geometry)._replace(offset=0.0))
    lists = Shortlists(
        np.tile(np.arange(m - 1), (n, 1)), np.ascontiguousarray(cost[:, :-1]), cost[:, -1] + 3.0
    )
    warm_start = WarmStart()
    warm_start.keep(geometry, lists, -3.0 - np.arange(m) / 10.0)
    return warm_start


@pytest.mark.parametrize(
    "change",
    ["none", "other points", "other unit", "wild before", "wild now", "more columns", "no logarithms"],
)
def test_a_warm_start_is_for_the_same_rows_in_the_same_units(change, monkeypatch):
    monkeypatch.setattr(module, "_MOST_EXHAUSTED", 1.0)
    geometry = drawn(9, 12 if change == "more columns" else 9)
    last, now = geometry, geometry
    if change == "other points":
        last = last._replace(a=np.nextafter(last.a, 2.0))
    if change == "other unit":
        last = last._replace(exponent=last.exponent + 1)
    if change == "wild before":
        last = last._replace(is_tame=False)
    if change == "wild now":
        now = now._replace(is_tame=False)
    warm_start = left_start(last, *geometry.shape)
    rule = square_rule(now) if change == "no logarithms" else log_rule(now)._replace(offset=0.0)
    found = warm_start.recall(make_screen(now, rule, SETTINGS), 12)
    assert (found is None) == (change != "none")


def test_duals_begin_at_0_and_bounds_with_them(monkeypatch):
    monkeypatch.setattr(module, "_MOST_EXHAUSTED", 1.0)
    geometry = drawn()
    found = left_start(geometry, 9, 9).recall(
        make_screen(geometry, log_rule(geometry)._replace(offset=0.0), SETTINGS), 12
    )
    cost = cost_matrix(geometry, log_rule(geometry)._replace(offset=0.0))
    np.testing.assert_allclose(found.col_dual, -np.arange(9) / 10.0, atol=1e-12)
    np.testing.assert_allclose(found.lists.bound, cost[:, -1], atol=1e-9)
    np.testing.assert_allclose(found.lists.cost[:, :8], cost[:, :8], atol=1e-12)
    assert np.isinf(found.lists.cost[:, 8:]).all()
    best = (cost + np.arange(9) / 10.0)[:, :8].min(axis=1)
    np.testing.assert_array_equal(found.exhausted, np.flatnonzero(best > cost[:, 8]))
    assert found.exhausted.size


@pytest.mark.parametrize(("share", "followed"), [(0.24, False), (0.25, True)])
def test_a_warm_start_is_given_up_where_more_than_a_share_of_the_lists_is_at_its_end(
    share, followed, monkeypatch
):
    monkeypatch.setattr(module, "_MOST_EXHAUSTED", share)
    geometry = drawn(8, 8)
    cost = cost_matrix(geometry, log_rule(geometry)._replace(offset=0.0))
    order = np.argsort(cost, axis=1)
    # Two of eight rows have lists without their best pair, and a bound that says so.
    first = np.where(np.arange(8) < 2, 1, 0)[:, None] + np.arange(3)
    cols = np.take_along_axis(order, first, axis=1)
    best = np.sort(cost, axis=1)
    bound = np.where(np.arange(8) < 2, best[:, 0], best[:, 3])
    assert (bound[:2] < best[:2, 1]).all()
    warm_start = WarmStart()
    warm_start.keep(geometry, Shortlists(cols, np.take_along_axis(cost, cols, axis=1), bound), np.zeros(8))
    screen = make_screen(geometry, log_rule(geometry)._replace(offset=0.0), SETTINGS)
    found = warm_start.recall(screen, 3)
    assert (found is not None) == followed
    if followed:
        np.testing.assert_array_equal(found.exhausted, [0, 1])


def test_the_profile_takes_it(monkeypatch):
    set_solver(monkeypatch, dense_pairs=0)
    recalled = []
    recall = WarmStart.recall

    def noted(*arguments):
        recalled.append(recall(*arguments))
        return recalled[-1]

    monkeypatch.setattr(WarmStart, "recall", noted)
    rng = np.random.default_rng(5)
    features = rng.normal(size=(450, 4))
    x, y = (features + 0.02 * rng.normal(size=features.shape) for _ in range(2))
    result = match(x, 2.0 * y, alignment="profile")
    np.testing.assert_array_equal(result.permutation, np.arange(450))
    assert recalled[0] is None
    assert any(found is not None for found in recalled)
