"""Matchings of every number of pairs, against all that there are."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from lslmatch.assignment import path as module
from lslmatch.assignment.path import solve_partial, solve_path
from tests.support.partial import least_costs, padded, partial_violation
from tests.support.reference import SMALL, greatest_cost

SHAPES = [(1, 1), (1, 4), (4, 1), (3, 3), (3, 5), (5, 3), (5, 5)]
KINDS = ("normal", "ties", "constant", "forbidden")


def draw(kind, n, m):
    rng = np.random.default_rng([n, m, len(kind)])
    if kind == "ties":
        return rng.integers(-1, 3, (n, m)).astype(float)
    if kind == "constant":
        return np.full((n, m), -2.5)
    cost = rng.normal(size=(n, m))
    return np.where(rng.random((n, m)) < 0.5, np.inf, cost) if kind == "forbidden" else cost


problems = pytest.mark.parametrize(("kind", "n", "m"), [(k, *s) for k, s in itertools.product(KINDS, SHAPES)])
large = pytest.mark.parametrize(
    ("kind", "n", "m"), [(k, *s) for k in KINDS for s in ([(20, 30)] if SMALL else [(150, 150), (70, 130)])]
)


def pairs_of(solution):
    rows = np.flatnonzero(solution.col_of_row >= 0)
    return rows, solution.col_of_row[rows]


def violation(cost, solution):
    return partial_violation(cost, *pairs_of(solution), *solution[1:])


@problems
def test_every_matching_of_the_path_is_the_best_of_its_size(kind, n, m):
    cost = draw(kind, n, m)
    path = solve_path(cost, min(n, m))
    least = least_costs(cost)
    assert path.increments.size == np.count_nonzero(np.isfinite(least)) - 1
    for k in range(1, path.increments.size + 1):
        solution = path.solution(k)
        rows, cols = pairs_of(solution)
        assert rows.size == k
        assert cost[rows, cols].sum() == pytest.approx(least[k], abs=1e-13)
        assert path.totals[k - 1] == pytest.approx(least[k], abs=1e-13)
        assert violation(cost, solution) <= 1e-13


@large
def test_large_ones_are_proven_and_increments_never_fall(kind, n, m):
    cost = draw(kind, n, m)
    path = solve_path(cost, min(n, m))
    assert (np.diff(path.increments) >= 0.0).all()
    np.testing.assert_allclose(np.cumsum(path.increments), path.totals, atol=1e-9)
    for k in {1, 2, path.increments.size // 2, path.increments.size}:
        assert violation(cost, path.solution(k)) <= 1e-12 * greatest_cost(cost)


@large
def test_stopping_at_a_number_of_pairs_gives_that_part_of_the_path(kind, n, m):
    cost = draw(kind, n, m)
    path = solve_path(cost, min(n, m))
    k = path.increments.size // 2
    for one, other in zip(solve_partial(cost, k), path.solution(k), strict=True):
        np.testing.assert_array_equal(one, other)


@large
def test_at_a_price_the_best_sum_is_that_of_the_padded_matrix(kind, n, m):
    cost = draw(kind, n, m)
    for price in (-1.5, 0.25, 1.0):
        solution = solve_partial(cost, price=price)
        rows, cols = pairs_of(solution)
        square = padded(cost, price)
        expected = square[linear_sum_assignment(square)].sum() - price * (n + m) / 2
        assert (cost[rows, cols] - price).sum() == pytest.approx(expected, abs=1e-9)
        assert violation(cost, solution) <= 1e-12 * greatest_cost(cost)


@problems
def test_between_two_increments_the_price_decides_how_many(kind, n, m):
    cost = draw(kind, n, m)
    increments = solve_path(cost, min(n, m)).increments
    for k, price in enumerate((increments[:-1] + increments[1:]) / 2, start=1):
        if increments[k - 1] < price < increments[k]:
            assert pairs_of(solve_partial(cost, price=price))[0].size == k


@large
def test_returning_to_python_all_the_time_changes_nothing(kind, n, m, monkeypatch):
    cost = draw(kind, n, m)
    expected = solve_path(cost, min(n, m))
    monkeypatch.setattr(module, "OPERATIONS_PER_CALL", 1)
    for one, other in zip(solve_path(cost, min(n, m)), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_and_columns_may_be_exchanged():
    cost = draw("normal", 12, 9)
    paths = [solve_path(np.ascontiguousarray(matrix), 9) for matrix in (cost, cost.T)]
    np.testing.assert_allclose(paths[0].totals, paths[1].totals, atol=1e-12)
    assert pairs_of(paths[0].solution(5))[0].tolist() == sorted(pairs_of(paths[1].solution(5))[1].tolist())


def test_nothing_to_match_gives_an_empty_path():
    for cost in (np.empty((0, 3)), np.empty((3, 0)), np.full((2, 2), np.inf)):
        assert solve_path(cost, min(cost.shape)).increments.size == 0
