"""Screening values: they order pairs nearly as reduced costs do, and their bounds are never too high."""

import numpy as np
import pytest

from lslmatch.assignment.screening import (
    bit_patterns,
    bound_of_value,
    bounds_of_values,
    column_factor,
    column_factors,
    make_screen,
    price_pairs,
    screen_row,
)
from lslmatch.assignment.settings import SolverSettings
from tests.support.problems import OBJECTIVES, draw_priced

objectives = pytest.mark.parametrize("objective", OBJECTIVES)
shapes = pytest.mark.parametrize(("n", "m", "d"), [(3, 3, 1), (5, 40, 3), (4, 70, 20)])


def screened(screen, factors, n):
    values = np.empty((n, screen.tiles.b_squares.size), screen.tiles.a.dtype)
    for i in range(n):
        screen_row(screen, factors, i, values[i])
    return values


@objectives
@shapes
@pytest.mark.parametrize("single", [0, 1000])
@pytest.mark.parametrize("spread", [0.0, 3.0])
def test_bounds_are_just_below_the_reduced_costs(objective, n, m, d, single, spread):
    geometry, rule, cost = draw_priced(objective, n, m, d)
    screen = make_screen(geometry, rule, SolverSettings(single_precision_dimensions=single, tile_columns=32))
    col_dual = spread * np.random.default_rng(m).normal(size=m)
    factors = column_factors(screen, col_dual)
    values = screened(screen, factors, n)
    assert (values >= 0.0).all()
    assert (values[:, m:] == np.inf).all(), "padding must never be chosen"
    bounds = bounds_of_values(screen, factors.top, values[:, :m])
    reduced = cost - col_dual
    unit = np.abs(reduced).max()
    assert (bounds <= reduced + 1e-12 * unit).all()
    precision = np.finfo(values.dtype).eps * (d + 8) * 2.0**9
    assert (bounds >= reduced - precision * (1.0 + unit)).all()
    one = bound_of_value(screen, factors.top, values[0, 0])
    assert one == pytest.approx(bounds[0, 0], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("ratio", "dtype"), [(2.0**40, np.float32), (2.0**110, np.float64)])
def test_weights_of_any_range_give_bounds(ratio, dtype):
    geometry, rule, _ = draw_priced("lsns", 5, 40, 3)
    weight = rule.y_weight * np.geomspace(1.0, ratio, 40)
    rule = rule._replace(y_weight=weight)
    screen = make_screen(geometry, rule, SolverSettings())
    assert screen.tiles.a.dtype == dtype
    factors = column_factors(screen, np.zeros(40))
    squares = ((geometry.a[:, None] - geometry.b) ** 2).sum(axis=2)
    cost = squares / (rule.x_weight[:, None] + weight)
    bounds = bounds_of_values(screen, 0.0, screened(screen, factors, 5)[:, :40])
    assert (bounds <= cost).all()
    assert (bounds >= 0.9 * cost - 2.0**-100).all()


def test_bounds_hold_where_single_precision_loses_digits():
    geometry, rule, _ = draw_priced("lss", 3, 40, 2)
    a = 2.0**-73 * (1.0 + np.arange(6.0).reshape(3, 2) / 7.0)
    geometry = geometry._replace(a=a, a_low=np.zeros_like(a), b=np.zeros((40, 2)), b_low=np.zeros((40, 2)))
    screen = make_screen(geometry, rule, SolverSettings())
    factors = column_factors(screen, np.zeros(40))
    bounds = bounds_of_values(screen, 0.0, screened(screen, factors, 3)[:, :40])
    assert (bounds <= (a**2).sum(axis=1)[:, None] / rule.x_weight[0]).all()
    assert (bounds >= 0.0).all()
    assert bound_of_value(screen, 0.0, np.float32(2.0**-149)) == 0.0


def test_single_precision_cannot_resolve_small_gaps_beside_a_great_dual():
    geometry, rule, _ = draw_priced("lss", 4, 40, 2)
    screen = make_screen(geometry, rule, SolverSettings())
    col_dual, gaps = np.zeros(40), np.full(4, 0.1)
    assert screen.resolves(col_dual, gaps)
    col_dual[7] = 1e4
    assert not screen.resolves(col_dual, gaps)
    assert make_screen(geometry, rule, SolverSettings(), single=False).resolves(col_dual, gaps)
    geometry, rule, _ = draw_priced("lsl", 4, 40, 2)
    assert make_screen(geometry, rule, SolverSettings()).resolves(col_dual, gaps)


@objectives
def test_one_column_factor_is_as_all_of_them(objective):
    geometry, rule, _ = draw_priced(objective, 4, 6, 2)
    screen = make_screen(geometry, rule, SolverSettings(single_precision_dimensions=0))
    col_dual = np.array([0.0, -1.0, 2.0, -100.0, -1e4, 1.0])
    factors = column_factors(screen, col_dual)
    assert factors.top == 2.0
    assert np.isfinite(factors.factor).all()
    single = [column_factor(screen, factors.top, dual) for dual in col_dual]
    np.testing.assert_allclose(factors.factor[:6], single, rtol=1e-15)


@objectives
def test_exact_costs_are_those_of_the_matrix(objective):
    geometry, rule, cost = draw_priced(objective, 5, 9, 3)
    screen = make_screen(geometry, rule, SolverSettings())
    rows, cols = np.array([4, 0]), np.array([[3, -1, 8], [0, 1, -1]])
    costs = np.empty(cols.shape)
    price_pairs(screen.geometry, screen.rule, rows, cols, costs)
    expected = np.where(cols >= 0, cost[rows[:, None], cols], np.inf)
    np.testing.assert_allclose(costs, expected, rtol=1e-12, atol=1e-12)


def test_leading_dimensions_never_give_a_greater_value():
    geometry, rule, _ = draw_priced("lsl", 6, 40, 12)
    screen = make_screen(geometry, rule, SolverSettings(single_precision_dimensions=0))
    factors = column_factors(screen, np.zeros(40))
    whole, part = (screened(some, factors, 6)[:, :40] for some in (screen, screen.leading(5)))
    assert (part <= whole * (1.0 + 1e-12)).all()
    assert (part < 0.9 * whole).any()
    assert screen.leading(None) is screen


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bit_patterns_have_the_order_of_the_values(dtype):
    values = np.array(
        [0.0, 1e-300, 1e-30, 0.5, 1.0, np.nextafter(dtype(1.0), dtype(2.0)), 1e30, np.inf], dtype
    )
    assert (np.sort(bit_patterns(values)) == bit_patterns(values)).all()


def test_long_rows_are_taken_a_few_at_a_time():
    geometry, rule, _ = draw_priced("lsl", 4, 6, 2)
    screen = make_screen(geometry, rule, SolverSettings())
    assert screen.block_rows(SolverSettings(block_rows=100)) == 100
    # A row of 6 pairs takes as long as 6 * (2 + 8) coordinates; 64 rows go over a tile together.
    assert screen.block_rows(SolverSettings(block_coordinates=6000, pair_overhead=8)) == 100
    assert screen.block_rows(SolverSettings(block_coordinates=1)) == 64
