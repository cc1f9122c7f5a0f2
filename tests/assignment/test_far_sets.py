"""Sets far apart: what their rows have in common is taken off, and the solution stays optimal."""

import numpy as np
import pytest

from lslmatch import check_certificate, linear_sum_assignment, match
from lslmatch.assignment import settings
from lslmatch.assignment.far_sets import _are_far, _centred, _mirrored
from lslmatch.assignment.screening import make_screen, price_pairs
from lslmatch.costs import cost_matrix, log_rule, square_rule
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.objectives.table import make_rule
from lslmatch.results import Affine
from tests.support.reference import SMALL
from tests.support.solver import STREAMED, noted_routes, set_solver


def draw(n, d, offset, m=None):
    rng = np.random.default_rng([n, d])
    return rng.normal(size=(n, d)), rng.normal(size=(m or n, d)) + offset


@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns"])
@pytest.mark.parametrize(("d", "offset"), [(2, 3.0), (2, 100.0), (3, 1e4), (1, 50.0)])
def test_the_matching_is_optimal_and_proven(objective, d, offset, monkeypatch):
    set_solver(monkeypatch, routes=("far", *STREAMED))
    n = 20 if SMALL else 40
    x, y = draw(n, d, offset)
    noise = (np.linspace(0.5, 2.0, n), np.linspace(1.0, 3.0, n)) if objective == "lsns" else None
    result = match(x, y, objective=objective, alignment="identity", noise=noise)
    assert check_certificate(x, y, result) <= 1e-9 * max(1.0, abs(result.objective))
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
    costs = cost_matrix(geometry, make_rule(objective, geometry, 1.0, noise))
    assert result.objective == pytest.approx(costs[linear_sum_assignment(costs)].sum(), rel=1e-10)


@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize(("n", "m"), [(40, 40), (30, 31), (30, 70), (50, 20)])
@pytest.mark.parametrize("offset", [10.0, 1e3, 1e6])
@pytest.mark.parametrize("kind", ["plain", "duplicates", "lattice"])
def test_sets_that_overlap_take_their_place(objective, n, m, offset, kind, monkeypatch):
    """The optimum is proven for the sets as they were given, and workers do not change a bit of it."""
    set_solver(monkeypatch, routes=("far",))
    x, y = draw(n, 3, offset, m)
    if kind == "duplicates":
        x, y = x[np.arange(n) // 3], y[np.arange(m) // 4]
    if kind == "lattice":
        x, y = np.round(x), np.round(y)
    with noted_routes() as tried:
        result = match(x, y, objective=objective, alignment="identity")
    assert tried[-1] == ("far", True)
    squares = np.square(x[:, None] - y).sum(axis=2)
    costs = np.log(squares) if objective == "lsl" else squares
    assert result.objective == pytest.approx(costs[linear_sum_assignment(costs)].sum(), rel=1e-12)
    assert check_certificate(x, y, result) <= 1e-12 * abs(result.objective)
    again = match(x, y, objective=objective, alignment="identity", workers=3)
    for left, right in zip(result[:6], again[:6], strict=True):
        np.testing.assert_array_equal(left, right)


def test_parts_are_taken_off_exactly_and_bounds_are_below_costs():
    geometry = common_coordinates(*draw(30, 3, 20.0, 40), Affine(1.0, np.zeros(3)))
    for rule, overlap in ((log_rule(geometry), _mirrored), (square_rule(geometry), _centred)):
        whole = cost_matrix(geometry, rule._replace(offset=0.0))
        problem = overlap(geometry, rule)
        cols = np.tile(np.arange(40), (30, 1))
        costs = np.empty(whole.shape)
        screen = make_screen(problem.geometry, problem.rule, settings.DEFAULT)
        price_pairs(screen.geometry, screen.rule, np.arange(30), cols, costs)
        np.testing.assert_allclose(
            costs + problem.row_part[:, None] + problem.col_part, whole, rtol=0, atol=1e-14 * whole.max()
        )
        assert costs.max() < 0.2 * whole.max()
        squares = np.square(problem.geometry.a[:, None] - problem.geometry.b).sum(axis=2)
        below = squares / problem.rule.weights(np.arange(30)[:, None], slice(None))
        assert (below <= costs * (1.0 + 1e-12)).all()
        assert (below > 0.4 * costs).all()


def test_sets_that_no_plane_clearly_separates_are_left_as_they_are():
    geometry = common_coordinates(*draw(100, 2, 2.0), Affine(1.0, np.zeros(2)))
    assert _are_far(geometry, 1.5)
    assert _mirrored(geometry, log_rule(geometry)) is None


def test_sets_are_apart_by_their_means_beside_their_variances():
    identity = Affine(1.0, np.zeros(2))
    for offset, expected in ((0.0, False), (0.5, False), (3.0, True), (1e6, True)):
        assert _are_far(common_coordinates(*draw(200, 2, offset), identity), 1.5) == expected
