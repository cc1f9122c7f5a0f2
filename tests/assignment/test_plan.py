"""The plan of routes: which sets take which, in which order, and how tests hold problems to some."""

import logging

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, match
from lslmatch.assignment import settings
from lslmatch.assignment.plan import ROUTES, plan_for, plan_from_points
from lslmatch.assignment.routes import COSTS, POINTS, SOME_PAIRS, NoRouteError, Task
from lslmatch.assignment.solve import assign_points
from lslmatch.costs import log_rule
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.solver import noted_routes, set_solver


def names(plan):
    return [route.name for route in plan]


def draw(n, m, d, noise=0.3):
    rng = np.random.default_rng([n, m, d])
    points = rng.normal(size=(max(n, m), d))
    x, y = points[:n], points[rng.permutation(len(points))[:m]]
    return x + noise * rng.normal(size=x.shape), y + noise * rng.normal(size=y.shape)


@pytest.mark.parametrize(
    ("n", "m", "d", "expected"),
    [
        (10, 10, 3, ["small"]),
        (10, 10, 100_000, ["small"]),
        (10, 10, 400_001, []),
        (1000, 1000, 3, ["bounded", "small"]),
        (1000, 1000, 40, ["bounded", "small"]),
        (1000, 1000, 1000, ["bounded"]),
        (1000, 1000, 1001, []),
        (2000, 2000, 1000, ["bounded"]),
        (2100, 2100, 52, ["bounded"]),
        (2100, 2100, 53, []),
        (10_000, 10_000, 11, ["bounded"]),
        (10_000, 10_001, 1, []),
        (500, 40_000, 2, ["bounded"]),
    ],
)
def test_points_take_one_kernel_up_to_some_size(n, m, d, expected):
    assert names(plan_from_points((n, d), m, "lsl")) == expected
    assert names(plan_from_points((m, d), n, "lss")) == (expected if d > 1 else [])
    assert plan_from_points((n, d), m, "lsns") == ()


def test_a_line_is_sorted_where_there_are_more_than_a_few_points():
    assert names(plan_from_points((101, 1), 100, "lsl")) == ["small"]
    assert names(plan_from_points((100, 1), 100, "lss")) == ["small"]
    assert plan_from_points((101, 1), 100, "lss") == ()


@pytest.mark.parametrize(
    ("n", "m", "d", "expected"),
    [
        (400, 400, 3, "matrix nearest clashes crowded paths auction"),
        (401, 401, 3, "far nearest clashes crowded paths auction"),
        (401, 402, 3, "far nearest clashes paths resort"),
        (401, 401, 1, "line nearest clashes crowded paths auction"),
        (5000, 5000, 3, "far nearest crowded paths auction"),
        (3000, 6000, 3, "far nearest paths"),
    ],
)
def test_costs_have_a_route_for_every_turn(n, m, d, expected):
    plan = plan_for(Task(COSTS, n, m, d), settings.DEFAULT)
    assert names(plan) == expected.split()
    assert names(plan_for(Task(COSTS, n, n, d, warm=True), settings.DEFAULT)) == ["paths", "auction"]


def test_fewer_pairs_than_all_have_their_routes():
    assert names(plan_for(Task(SOME_PAIRS, 400, 400, 3), settings.DEFAULT)) == ["matrix of some"]
    assert names(plan_for(Task(SOME_PAIRS, 401, 400, 3), settings.DEFAULT)) == ["prices", "matrix of some"]


def test_plans_are_remembered_until_the_settings_change(monkeypatch):
    task = Task(COSTS, 401, 401, 3)
    assert plan_for(task, settings.DEFAULT) is plan_for(task, settings.DEFAULT)
    assert names(plan_from_points((9, 2), 9, "lsl")) == ["small"]
    set_solver(monkeypatch, most_small_pairs=0)
    assert plan_from_points((9, 2), 9, "lsl") == ()


def test_every_route_has_a_name_of_its_own_and_a_reason():
    assert len({route.name for route in ROUTES}) == len(ROUTES)
    assert {route.kind for route in ROUTES} == {POINTS, COSTS, SOME_PAIRS}
    assert all(route.why.endswith(".") for route in ROUTES)


@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
@pytest.mark.parametrize(("n", "m", "d"), [(24, 24, 1), (24, 24, 3), (20, 31, 18), (31, 20, 2)])
def test_every_route_ends_with_the_same_objective_and_a_proof_or_refuses(
    route, n, m, d, objective, monkeypatch
):
    x, y = draw(n, m, d)
    pairs = 15 if route.kind == SOME_PAIRS else "all"
    expected = match(x, y, objective=objective, pairs=pairs)
    set_solver(monkeypatch, routes=(route.name, "matrix"))
    with noted_routes() as tried:
        result = match(x, y, objective=objective, pairs=pairs)
    assert result.objective == pytest.approx(expected.objective, rel=1e-12, abs=1e-12 * n)
    unit = max(1.0, np.abs(expected.row_dual).max(), np.abs(expected.col_dual).max())
    assert check_certificate(x, y, result) <= 1e-12 * unit
    task = Task(route.kind, min(n, m), max(n, m), d, objective)
    assert (route.name in dict(tried)) == route.can(task)
    if route.can(task) and route.name not in (
        "bounded",
        "line",
        "far",
        "nearest",
        "clashes",
        "crowded",
    ):
        assert tried == [(route.name, True)]


def test_what_refuses_hands_over_and_what_remains_unsolved_is_an_error(monkeypatch):
    x, y = draw(30, 30, 3, 3.0)
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(3)))
    set_solver(monkeypatch, routes=("nearest", "paths"))
    with noted_routes() as tried:
        assign_points(geometry, log_rule(geometry))
    assert tried == [("nearest", False), ("paths", True)]
    with pytest.raises(NoRouteError, match="no route of nearest solves this problem"):
        assign_points(geometry, log_rule(geometry), settings=settings.DEFAULT._replace(routes=("nearest",)))


def test_a_log_says_which_route_it_was(caplog):
    x, y = draw(12, 9, 2)
    with caplog.at_level(logging.DEBUG, "lslmatch"):
        match(x, y)
        match(x, y, pairs=4)
    assert caplog.messages == [
        "points, 9 x 12 in 2 dimensions: solved by small",
        "some pairs, 9 x 12 in 2 dimensions: solved by matrix of some",
    ]
    caplog.clear()
    match(x, y)
    assert not caplog.messages
