"""On a line, sorting gives the optimum with its proof, and nothing where it would not."""

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, match
from lslmatch.assignment.dense import solve_dense
from lslmatch.assignment.line import solve_on_line
from lslmatch.assignment.solve import assign_points
from lslmatch.costs import cost_matrix, log_rule, normalized_rule, square_rule
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.solver import noted_routes, set_solver

IDENTITY = Affine(1.0, np.zeros(1))


def draw(kind, n, offset):
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(2, n, 1))
    if kind == "ties":
        x, y = np.round(x), np.round(y)
    if kind == "heavy tails":
        x, y = np.abs(x) ** -3.0, -(np.abs(y) ** -3.0)
    return x, y + offset


@pytest.mark.parametrize("kind", ["normal", "ties", "heavy tails"])
@pytest.mark.parametrize("n", [2, 3, 40])
@pytest.mark.parametrize("offset", [-100.0, 1e6, 30.0, 0.0])
@pytest.mark.parametrize("make_rule", [log_rule, square_rule])
def test_the_objective_is_that_of_the_dense_solver_and_the_duals_prove_it(kind, n, offset, make_rule):
    x, y = draw(kind, n, -offset if kind == "heavy tails" else offset)
    geometry = common_coordinates(x, y, IDENTITY)
    rule = make_rule(geometry)
    state = solve_on_line(geometry, rule)
    if state is None:
        # The one set begins before the other ends.
        assert rule.logarithm
        assert x.min() < y.max()
        assert y.min() < x.max()
        return
    costs = cost_matrix(geometry, rule._replace(offset=0.0))
    unit = max(np.abs(costs).max(), np.abs(state.col_dual).max())
    reduced = costs - state.row_dual[:, None] - state.col_dual
    assert reduced.min() >= -1e-14 * unit
    assert np.abs(reduced[np.arange(n), state.col_of_row]).max() <= 1e-14 * unit
    np.testing.assert_array_equal(state.row_of_col[state.col_of_row], np.arange(n))
    best = solve_dense(costs)
    expected = costs[np.arange(n), best.col_of_row].sum()
    assert costs[np.arange(n), state.col_of_row].sum() == pytest.approx(expected, rel=1e-13, abs=1e-14 * unit)


def test_what_sorting_does_not_solve_is_left_to_others():
    x, y = draw("normal", 9, 100.0)
    far = common_coordinates(x, y, IDENTITY)
    noise = np.linspace(1.0, 2.0, 9), np.linspace(1.0, 2.0, 9)
    assert solve_on_line(far, log_rule(far)) is not None
    assert solve_on_line(far, normalized_rule(far, noise, 1.0)) is None
    fewer = common_coordinates(x[:5], y, IDENTITY)
    assert solve_on_line(fewer, square_rule(fewer)) is None
    near = common_coordinates(x, y - 100.0, IDENTITY)
    assert solve_on_line(near, log_rule(near)) is None
    plane = common_coordinates(np.hstack([x, x]), np.hstack([y, y]), Affine(1.0, np.zeros(2)))
    assert solve_on_line(plane, log_rule(plane)) is None


def test_sets_too_large_for_a_matrix_are_sorted(monkeypatch):
    set_solver(monkeypatch, dense_pairs=0)
    x, y = draw("normal", 50, 100.0)
    geometry = common_coordinates(x, y, IDENTITY)
    with noted_routes() as tried:
        assignment = assign_points(geometry, log_rule(geometry))
    assert tried == [("line", True)]
    np.testing.assert_array_equal(assignment.col_ind[np.argsort(x[:, 0])], np.argsort(-y[:, 0]))
    result = match(x, y, alignment="identity")
    assert check_certificate(x, y, result) < 1e-13


@pytest.mark.parametrize("side", [-40.0, 40.0])
@pytest.mark.parametrize(("n", "m"), [(1, 2), (5, 6), (12, 30)])
def test_of_a_larger_set_apart_the_nearest_points_are_matched(side, n, m):
    rng = np.random.default_rng([n, m])
    x, y = rng.normal(size=(n, 1)), rng.normal(size=(m, 1)) + side
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(1)))
    rule = log_rule(geometry)._replace(offset=0.0)
    state, cost = solve_on_line(geometry, rule), cost_matrix(geometry, rule)
    assert (state.row_dual[:, None] + state.col_dual <= cost + 1e-12).all()
    own = cost[np.arange(n), state.col_of_row]
    np.testing.assert_allclose(own, state.row_dual + state.col_dual[state.col_of_row], atol=1e-12)
    assert (state.col_dual <= 0.0).all()
    assert (state.col_dual[state.row_of_col < 0] == 0.0).all()
    np.testing.assert_array_equal(state.row_of_col[state.col_of_row], np.arange(n))
    assert np.unique(state.col_of_row).size == n
