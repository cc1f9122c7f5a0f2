"""Auctions: their duals are near to those of the optimum, and their lists hold what they say."""

import numpy as np
import pytest

from lslmatch import check_certificate, linear_sum_assignment, match
from lslmatch.assignment import auction
from lslmatch.assignment.auction import _split_costs, bid_for_columns
from lslmatch.assignment.screening import make_screen
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.shortlists import Shortlists
from lslmatch.costs import cost_matrix, log_rule
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.results import Affine
from tests.support.problems import OBJECTIVES, draw_priced
from tests.support.reference import SMALL
from tests.support.solver import set_solver

SETTINGS = SolverSettings(tile_columns=32)


def auctioned(geometry, rule, settings=SETTINGS, size=8):
    n, m = geometry.shape
    lists = Shortlists.empty(n, min(size, m))
    return bid_for_columns(make_screen(geometry, rule, settings, single=False), lists, settings), lists


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 1), (30, 2), (40, 7)])
def test_duals_are_nearly_those_of_the_optimum(objective, n, d):
    geometry, rule, cost = draw_priced(objective, n, n, d)
    col_dual, lists = auctioned(geometry, rule)
    rows, cols = linear_sum_assignment(cost)
    bound = (cost - col_dual).min(axis=1).sum() + col_dual.sum()
    gap = cost[rows, cols].sum() - bound
    spread = (cost - cost.mean(axis=0) - cost.mean(axis=1, keepdims=True)).std()
    at_first = cost[rows, cols].sum() - cost.min(axis=1).sum()
    assert -1e-9 * np.abs(cost).sum() <= gap <= 0.2 * spread + 0.1 * at_first
    for i in range(n):
        listed = np.isfinite(lists.cost[i])
        np.testing.assert_allclose(lists.cost[i, listed], cost[i, lists.col[i, listed]], rtol=1e-12)
        others = np.delete(cost[i] - col_dual, lists.col[i, listed])
        assert (others >= lists.bound[i] - 1e-12 * np.abs(cost).max()).all()


def test_returns_to_python_change_nothing():
    geometry, rule, _ = draw_priced("lsl", 30, 30, 2)
    often = SETTINGS._replace(block_rows=1)
    np.testing.assert_array_equal(auctioned(geometry, rule)[0], auctioned(geometry, rule, often)[0])


def test_parts_of_columns_are_told_from_the_rest():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 1e4
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
    rule = log_rule(geometry)._replace(offset=0.0)
    cost = cost_matrix(geometry, rule)
    col_part, spread = _split_costs(make_screen(geometry, rule, SETTINGS, single=False))
    np.testing.assert_allclose(col_part, cost.mean(axis=0), rtol=1e-12)
    assert spread < 1e-3 * cost.std()


def test_steps_get_smaller_than_the_least_scale_of_the_costs():
    """Clusters far from each other: what tells far columns apart is small beside the distance of clusters."""
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(60, 2)), rng.normal(size=(60, 2))
    x[:15] += 1e3
    y[:45] += 1e3
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
    rule = log_rule(geometry)._replace(offset=0.0)
    cost = cost_matrix(geometry, rule)
    rows, cols = linear_sum_assignment(cost)
    gaps = []
    for further in (0, 8):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(auction, "_FURTHER", further)
            col_dual, _ = auctioned(geometry, rule, size=24)
        gaps.append(cost[rows, cols].sum() - (cost - col_dual).min(axis=1).sum() - col_dual.sum())
    assert 0.0 <= gaps[1] < 0.1 * gaps[0]


def test_costs_that_are_all_equal_need_no_auction():
    geometry = common_coordinates(np.zeros((5, 2)), np.zeros((5, 2)), Affine(1.0, np.zeros(2)))
    col_dual, _ = auctioned(geometry, log_rule(geometry))
    assert np.ptp(col_dual) == 0.0


def wide_and_narrow(rng, n, d):
    return rng.normal(size=(n, d)), 20.0 * rng.normal(size=(n, d))


def ring_around_blob(rng, n, d):
    y = rng.normal(size=(n, d))
    return rng.normal(size=(n, d)), 5.0 * y / np.linalg.norm(y, axis=1, keepdims=True)


def apart_but_for_outliers(rng, n, d):
    x, y = rng.normal(size=(n, d)), rng.normal(size=(n, d)) + 8.0
    x[: n // 10] *= 20.0
    return x, y


def clusters_of_other_sizes(rng, n, d):
    """Clusters that coincide, and lattice points in them."""
    x, y = np.round(rng.normal(size=(n, d))), rng.normal(size=(n, d))
    x[: n // 3] += 30.0
    y[: 2 * n // 3] += 30.0
    return x, y


@pytest.mark.parametrize(
    "draw", [wide_and_narrow, ring_around_blob, apart_but_for_outliers, clusters_of_other_sizes]
)
@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns"])
@pytest.mark.parametrize("d", [2, 3])
def test_matchings_after_an_auction_are_optimal_and_proven(monkeypatch, draw, objective, d):
    set_solver(monkeypatch, routes=("auction",))
    rng = np.random.default_rng([d, len(draw.__name__)])
    n = 20 if SMALL else 80
    x, y = draw(rng, n, d)
    noise = (rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 2.0, n)) if objective == "lsns" else None
    result = match(x, y, objective=objective, alignment="identity", noise=noise)
    cost = np.square(x[:, None] - y).sum(axis=2)
    if objective == "lsl":
        cost = np.log(cost)
    if noise is not None:
        cost /= noise[0][:, None] ** 2 + noise[1] ** 2
    assert result.objective == pytest.approx(cost[linear_sum_assignment(cost)].sum(), rel=1e-12)
    assert check_certificate(x, y, result) <= 1e-12 * np.abs(cost).sum()
    again = match(x, y, objective=objective, alignment="identity", noise=noise, workers=2)
    np.testing.assert_array_equal(result.col_dual, again.col_dual)
