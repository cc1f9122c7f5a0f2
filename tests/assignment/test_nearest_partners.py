"""The nearest partners and their bounds, against the matrix of all costs."""

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.assignment.nearest_partners import (
    NearestPartners,
    all_tiles,
    find_nearest_by_region,
    find_nearest_partners,
    tiles_by_gap,
)
from lslmatch.assignment.probe import probe
from lslmatch.assignment.screening import make_screen
from lslmatch.assignment.settings import SolverSettings
from lslmatch.costs import cost_matrix, log_rule
from lslmatch.geometry.boxes import bound_groups, sort_by_region
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.problems import OBJECTIVES, draw_priced
from tests.support.reference import SMALL
from tests.support.solver import BY_REGION


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("n", "m", "d"), [(2, 2, 1), (9, 9, 3), (20, 70, 2), (70, 100, 8)])
@pytest.mark.parametrize("workers", [1, 2])
def test_nearest_columns_and_bounds_are_those_of_the_costs(objective, n, m, d, workers):
    geometry, rule, cost = draw_priced(objective, n, m, d)
    settings = SolverSettings(tile_columns=32, block_rows=8, single_precision_dimensions=0)
    screen = make_screen(geometry, rule, settings)
    found = find_nearest_partners(screen, settings, workers)
    np.testing.assert_array_equal(found.col, cost.argmin(axis=1))
    unit = 1e-9 * np.abs(cost).max()
    for bound, exact in (
        (found.bound, np.partition(cost, 1, axis=1)[:, 1]),
        (found.col_least, cost.min(axis=0)),
    ):
        assert (bound <= exact + 1e-12 * unit).all()
        assert (bound >= exact - unit).all()
    assert found.distinct(m) == np.unique(found.col).size
    np.testing.assert_allclose(found.costs(screen), cost.min(axis=1), rtol=1e-12, atol=1e-12)


def test_squared_distances_are_kept_where_there_is_room():
    geometry, rule, _ = draw_priced("lsl", 6, 40, 3)
    settings = SolverSettings(tile_columns=32)
    screen = make_screen(geometry, rule, settings).keeping_squares()
    find_nearest_partners(screen, settings, 1)
    expected = ((geometry.a[:, None] - geometry.b) ** 2).sum(axis=2)
    np.testing.assert_allclose(screen.squares[:, :40], expected, rtol=1e-3)
    assert (screen.squares[:, 40:] == np.inf).all()


@pytest.mark.parametrize("noise", [0.0, 1e-9, 0.01, 0.1])
def test_far_regions_are_left_out_and_still_bounded(noise):
    settings = SolverSettings(dense_pairs=0, block_rows=8, many_conflicts=1.0, **BY_REGION)
    rng = np.random.default_rng(10)
    n = 96 if SMALL else 300
    x = rng.normal(size=(n, 2))
    geometry = common_coordinates(x, x + noise * rng.normal(size=x.shape), Affine(1.0, np.zeros(2)))
    rule = log_rule(geometry)._replace(offset=0.0)
    screen = make_screen(geometry, rule, settings)
    nearest, bound, col_least = find_nearest_by_region(screen, probe(geometry, rule), settings, 1)
    cost = cost_matrix(geometry, rule)
    np.testing.assert_array_equal(nearest, cost.argmin(axis=1))
    second = np.partition(cost, 1, axis=1)[:, 1]
    assert (bound <= second).all()
    assert (bound < second - 0.01).any(), "nothing was left out"
    assert col_least.size == 0


def test_regions_are_not_tried_where_they_do_not_help():
    settings = SolverSettings()._replace(**BY_REGION)
    geometry, rule, _ = draw_priced("lsl", 40, 40, 2)
    outlook = probe(geometry, rule)
    for changes in (
        {"region_pairs": 1601},
        {"region_dimensions": 1},
        {"region_mutual": 1.0},
        {"region_near": -1.0},
        {"many_conflicts": 0.0},
    ):
        changed = settings._replace(**changes)
        screen = make_screen(geometry, rule, changed)
        assert find_nearest_by_region(screen, outlook, changed, 1) is None, changes
    screen = make_screen(geometry, rule, settings._replace(many_conflicts=1.0))
    assert find_nearest_by_region(screen, outlook, settings._replace(many_conflicts=1.0), 1) is not None


def test_tiles_are_visited_from_near_to_far():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(16, 2)), rng.normal(size=(200, 2))
    y = y[sort_by_region(y, 32)]
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
    screen = make_screen(geometry, log_rule(geometry), SolverSettings(tile_columns=32))
    boxes = bound_groups(geometry.b, 32)
    order = tiles_by_gap(screen, boxes, 4, 8)
    assert sorted(order.tile) == list(range(7))
    least = order.least.view(screen.tiles.a.dtype)
    assert (np.diff(least) >= 0.0).all()
    squares = ((geometry.a[4:8, None] - geometry.b) ** 2).sum(axis=2)
    for place, tile in enumerate(order.tile):
        assert least[place] <= squares[:, 32 * tile : 32 * (tile + 1)].min()
    everything = all_tiles(screen)
    np.testing.assert_array_equal(everything.tile, np.arange(7))
    assert not everything.least.any()


def test_columns_that_rows_share_count_once():
    assert NearestPartners(np.array([3, 3, 0, 3]), np.empty(4), np.empty(0)).distinct(5) == 2
