"""Lists that are carried from one problem to a similar one: still lists, and the same optimum."""

import numpy as np
import pytest

from lslmatch import Affine, match
from lslmatch.assignment import trail as trails
from lslmatch.assignment.screening import make_screen
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.streamed import solve_streamed
from lslmatch.assignment.trail import Trail
from lslmatch.costs import cost_matrix, log_rule
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.reference import SMALL
from tests.support.solver import set_solver

#: Always streamed, and small tiles.
SETTINGS = SolverSettings(small_pairs=0, dense_pairs=0, tile_columns=32)
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
def test_every_step_of_a_trail_is_optimal(noise, step):
    trail = Trail()
    for factor in (1.0, 1.0 + step, 1.0 - step, 1.0 + 3.0 * step):
        geometry, rule = problem(noise, factor)
        assert_optimal(geometry, rule, solve_streamed(geometry, rule, trail=trail, settings=SETTINGS))


@pytest.mark.parametrize("noise", [0.02, 0.2, 2.0])
@pytest.mark.parametrize("step", [1e-4, 1e-2, 0.05])
def test_bounds_hold_after_the_move(noise, step, monkeypatch):
    monkeypatch.setattr(trails, "_MOST_EXHAUSTED", 1.0)
    trail = Trail()
    solve_streamed(*problem(noise, 1.0), trail=trail, settings=SETTINGS)
    geometry, rule = problem(noise, 1.0 + step)
    found = trail.lead(make_screen(geometry, rule, SETTINGS), 32)
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
    trail = Trail()
    geometry, rule = problem(0.02, 1.0)
    assert trail.lead(make_screen(geometry, rule, SETTINGS), 32) is None, "nothing was left yet"
    solve_streamed(geometry, rule, trail=trail, settings=SETTINGS)
    for factor, followed in ((1.0 + 1e-5, True), (1.9, False)):
        geometry, rule = problem(0.02, factor)
        assert (trail.lead(make_screen(geometry, rule, SETTINGS), 32) is not None) == followed


def test_the_profile_takes_it(monkeypatch):
    set_solver(monkeypatch, dense_pairs=0)
    led = []
    lead = Trail.lead
    monkeypatch.setattr(Trail, "lead", lambda *arguments: led.append(lead(*arguments)) or led[-1])
    rng = np.random.default_rng(5)
    features = rng.normal(size=(450, 4))
    x, y = (features + 0.02 * rng.normal(size=features.shape) for _ in range(2))
    result = match(x, 2.0 * y, alignment="profile")
    np.testing.assert_array_equal(result.permutation, np.arange(450))
    assert led[0] is None
    assert any(found is not None for found in led)
