"""The state that the dense solver leaves behind, before the public functions turn and scale it."""

import numpy as np
import pytest

from lslmatch.assignment import dense
from tests.support.reference import SMALL, certificate_violation, greatest_cost

SIZES = [(1, 1), (2, 2), (20, 20), (5, 21), (1, 9)] + ([] if SMALL else [(130, 130), (64, 65), (100, 260)])


def draw(kind, n, m):
    rng = np.random.default_rng([n, m, len(kind)])
    if kind == "ties":
        return rng.integers(0, 3, (n, m)).astype(float)
    if kind == "product":
        return np.outer(np.arange(1.0, n + 1), np.arange(1.0, m + 1))
    if kind == "forbidden":
        cost = np.where(rng.random((n, m)) < 0.5, np.inf, rng.random((n, m)))
        cost[np.arange(n), rng.permutation(m)[:n]] = 2.0
        return cost
    return rng.normal(size=(n, m))


problems = pytest.mark.parametrize(
    ("kind", "n", "m"),
    [(kind, *size) for kind in ("normal", "ties", "product", "forbidden") for size in SIZES],
)


def assert_same_state(first, second):
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@problems
def test_every_row_is_matched_and_both_directions_agree(kind, n, m):
    state = dense.solve_dense(draw(kind, n, m))
    np.testing.assert_array_equal(state.row_of_col[state.col_of_row], np.arange(n))
    assert np.count_nonzero(state.row_of_col >= 0) == n


@problems
def test_duals_are_feasible_and_matched_pairs_tight(kind, n, m):
    cost = draw(kind, n, m)
    state = dense.solve_dense(cost)
    proof = (np.arange(n), state.col_of_row, state.row_dual, state.col_dual)
    assert certificate_violation(cost, proof) <= 1e-12


@problems
def test_matched_pairs_are_as_tight_as_one_rounding_allows(kind, n, m):
    cost = draw(kind, n, m)
    state = dense.solve_dense(cost)
    matched = cost[np.arange(n), state.col_of_row]
    error = np.abs(matched - state.row_dual - state.col_dual[state.col_of_row])
    assert error.max() <= 1e-14 * n * greatest_cost(cost)


@problems
def test_the_cost_matrix_is_not_written_to(kind, n, m):
    cost = draw(kind, n, m)
    before = cost.copy()
    dense.solve_dense(cost)
    np.testing.assert_array_equal(cost, before)


@problems
def test_two_runs_agree_to_the_last_bit(kind, n, m):
    cost = draw(kind, n, m)
    assert_same_state(dense.solve_dense(cost), dense.solve_dense(cost.copy()))


@problems
def test_returning_to_python_after_every_path_changes_nothing(kind, n, m, monkeypatch):
    cost = draw(kind, n, m)
    expected = dense.solve_dense(cost)
    monkeypatch.setattr(dense, "OPERATIONS_PER_CALL", 1)
    assert_same_state(dense.solve_dense(cost), expected)


@problems
def test_a_solution_without_reductions_is_as_good(kind, n, m, monkeypatch):
    cost = draw(kind, n, m)
    expected = cost[np.arange(n), dense.solve_dense(cost).col_of_row].sum()
    monkeypatch.setattr(dense, "_REDUCTION_SWEEPS", 0)
    state = dense.solve_dense(cost)
    found = cost[np.arange(n), state.col_of_row].sum()
    assert found == pytest.approx(expected, abs=1e-13 * n * greatest_cost(cost))
    assert (
        certificate_violation(cost, (np.arange(n), state.col_of_row, state.row_dual, state.col_dual)) <= 1e-12
    )


@pytest.mark.parametrize(
    "cost",
    [
        [[np.inf]],
        [[1.0, np.inf], [2.0, np.inf]],
        [[1.0, 2.0], [np.inf, np.inf]],
        [[1.0, np.inf, np.inf], [2.0, np.inf, np.inf], [3.0, 4.0, 5.0]],
        [[1.0, np.inf, np.inf], [2.0, np.inf, np.inf]],
    ],
)
def test_no_finite_assignment_gives_no_state(cost):
    assert dense.solve_dense(np.array(cost)) is None


@pytest.mark.parametrize("free", range(3))
@pytest.mark.parametrize("sweeps", [0, 2])
def test_a_path_may_end_in_any_column(free, sweeps, monkeypatch):
    # Both rows want one column, and the second best of the first row is the one that nobody has.
    monkeypatch.setattr(dense, "_REDUCTION_SWEEPS", sweeps)
    cost = np.full((2, 3), 9.0)
    wanted = (free + 1) % 3
    cost[:, wanted] = 1.0
    cost[:, free] = [3.0, 4.0]
    state = dense.solve_dense(cost)
    assert state.col_of_row.tolist() == [free, wanted]
    proof = (np.arange(2), state.col_of_row, state.row_dual, state.col_dual)
    assert certificate_violation(cost, proof) == 0.0


@pytest.mark.parametrize("m", [0, 3])
def test_no_rows_give_an_empty_state(m):
    state = dense.solve_dense(np.empty((0, m)))
    assert state.col_of_row.size == state.row_dual.size == 0
    np.testing.assert_array_equal(state.col_dual, np.zeros(m))
    np.testing.assert_array_equal(state.row_of_col, np.full(m, -1))
