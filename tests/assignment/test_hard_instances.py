"""The streamed solver against SciPy, and against exact arithmetic, where numbers are at their worst."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize

from lslmatch import Affine, estimate_affine
from lslmatch.assignment import streamed
from lslmatch.costs import cost_matrix, log_rule, normalized_rule, square_rule
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.hard_instances import draw
from tests.support.reference import SMALL, least_cost
from tests.support.solver import set_solver

TRIALS = 30 if SMALL else 800
LARGEST = 12 if SMALL else 60


@pytest.fixture(autouse=True)
def _always_streamed(monkeypatch):
    set_solver(monkeypatch, dense_pairs=0)


def draw_problem(rng, largest=LARGEST):
    """A geometry and a cost rule; costs in units of the largest."""
    n = int(rng.integers(2, largest + 1))
    m = n + int(rng.choice([0, 0, 0, 1, 5, largest]))
    d = int(rng.choice([1, 1, 2, 2, 3, 5, 10, 40, 300]))
    x, y, _ = draw(rng, n, m, d)
    affine = Affine(1.0, np.zeros(d))
    if rng.random() < 0.4 and np.ptp(x, axis=0).any() and np.ptp(y, axis=0).any():
        affine = estimate_affine(x, y)
    geometry = common_coordinates(x, y, affine)
    objective = rng.integers(4)
    if objective == 2:
        return geometry, square_rule(geometry)
    if objective == 3:
        # In units of the largest coordinate, or the data would be far from their noise.
        levels = [np.exp(rng.normal(size=size) * rng.choice([0, 1, 5])) for size in (n, m)]
        return geometry, normalized_rule(geometry._replace(exponent=0), levels, 1.0)
    return geometry, log_rule(geometry)._replace(offset=0.0)


def assert_proven(cost, solution, unit):
    """The assignment is complete and as cheap as SciPy's, and the duals prove it."""
    n, m = cost.shape
    rows, cols = np.arange(n), solution.col_of_row
    np.testing.assert_array_equal(solution.row_of_col[cols], rows)
    assert np.unique(cols).size == n == (solution.row_of_col >= 0).sum()
    best = cost[scipy.optimize.linear_sum_assignment(cost)].sum()
    assert cost[rows, cols].sum() - best <= 1e-13 * n * unit
    slack = cost - solution.row_dual[:, None] - solution.col_dual
    assert slack.min() >= -1e-13 * unit
    assert np.abs(slack[rows, cols]).max() <= 1e-13 * unit
    if n < m:
        assert solution.col_dual.max() <= 0.0
        assert not np.delete(solution.col_dual, cols).any()


def test_the_optimum_is_that_of_scipy(monkeypatch):
    rng = np.random.default_rng(1)
    for _ in range(TRIALS):
        set_solver(
            monkeypatch,
            list_size=int(rng.choice([1, 2, 5, 32])),
            short_list_size=int(rng.choice([1, 4])),
            many_conflicts=float(rng.choice([0.0, 0.15, 1.0])),
            kept_pairs=int(rng.choice([0, 1 << 26])),
        )
        geometry, rule = draw_problem(rng)
        cost = cost_matrix(geometry, rule)
        unit = np.abs(cost).max() or 1.0
        solution = streamed.solve_streamed(geometry, rule)
        assert_proven(cost, solution, unit)
        if cost.shape[0] == cost.shape[1] and rng.random() < 0.3:
            start = rng.normal(size=len(cost)) * rng.choice([0.1, 10.0]) * unit
            for _ in range(2):
                solution = streamed.solve_streamed(geometry, rule, col_dual=start)
                assert_proven(cost, solution, max(unit, np.abs(start).max()))
                start = solution.col_dual


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("copies", [12, 24])
def test_more_points_coincide_than_a_list_holds(size, copies, monkeypatch):
    set_solver(monkeypatch, list_size=size)
    x = np.repeat([[0.0, 1.0], [2.0, 0.0]], [copies, 24 - copies], axis=0)
    x[0] += 3.0
    y = x[::-1].copy()
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
    rule = log_rule(geometry)._replace(offset=0.0)
    solution = streamed.solve_streamed(geometry, rule)
    np.testing.assert_array_equal(y[solution.col_of_row], x)


@pytest.mark.skipif(SMALL, reason="hundreds of points take minutes without compilation")
@pytest.mark.parametrize("seed", range(12))
def test_hundreds_of_points(seed):
    rng = np.random.default_rng([2, seed])
    geometry, rule = draw_problem(rng, 500)
    cost = cost_matrix(geometry, rule)
    assert_proven(cost, streamed.solve_streamed(geometry, rule), np.abs(cost).max() or 1.0)


def test_whole_numbers_are_matched_exactly(monkeypatch):
    """Costs that are whole numbers leave no room for rounding: the sum is the optimum itself."""
    set_solver(monkeypatch, list_size=3)
    rng = np.random.default_rng(3)
    for _ in range(TRIALS // 10):
        n = int(rng.integers(2, LARGEST))
        x, y = (rng.integers(-3, 4, (n, 2)).astype(float) for _ in range(2))
        cost = ((x[:, None] - y) ** 2).sum(axis=2)
        geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
        solution = streamed.solve_streamed(geometry, square_rule(geometry))
        best = cost[scipy.optimize.linear_sum_assignment(cost)].sum()
        assert cost[np.arange(n), solution.col_of_row].sum() == best


def test_the_certificate_holds_in_exact_arithmetic(monkeypatch):
    """Duals as fractions, made feasible without rounding, bound the optimum from below."""
    set_solver(monkeypatch, list_size=2)
    rng = np.random.default_rng(4)
    for _ in range(TRIALS // 10):
        geometry, rule = draw_problem(rng, 6)
        n, m = geometry.shape
        if m > 7:
            continue
        cost = cost_matrix(geometry, rule)
        solution = streamed.solve_streamed(geometry, rule)
        fractions = [[Fraction(value) for value in row] for row in cost.tolist()]
        v = [Fraction(value) for value in solution.col_dual.tolist()]
        u = [min(c - p for c, p in zip(row, v, strict=True)) for row in fractions]
        total = sum(row[j] for row, j in zip(fractions, solution.col_of_row.tolist(), strict=True))
        # Every v is at most 0 if n < m, so leaving columns out can only lower the bound.
        assert all(value <= 0 for value in v) or n == m
        lower = sum(u) + sum(v)
        room = Fraction(1e-14) * Fraction(float(np.abs(cost).max())) * n
        assert lower <= least_cost(cost) <= total <= lower + room
