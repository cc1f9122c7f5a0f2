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


# ------------------------------------------------------------------------------------- the steps


def free_state(n, m):
    return dense.DualState(np.zeros(n), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))


@pytest.mark.parametrize("m", [*range(2, 12), 35, 70])
@pytest.mark.parametrize(("least", "others"), [(2.0, 5.0), (-5.0, -2.0), (-2.0, 5.0), (-5.0, np.inf)])
def test_the_least_cost_of_a_row_is_found_in_any_column(m, least, others):
    for j in range(m):
        cost = np.full((1, m), others)
        cost[0, j] = least
        state = dense.solve_dense(cost)
        assert (state.col_of_row.tolist(), state.row_dual.tolist()) == ([j], [least])


def test_zeros_of_either_sign_are_the_same_cost():
    cost = np.array([[0.0, -0.0, 1.0, -0.0], [-0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 2.0, -0.0]])
    state = free_state(3, 4)
    assert dense._reduce_rows(cost, state)
    assert state.col_of_row.tolist() == [0, 1, 3]


def test_rows_are_matched_at_the_first_free_column_of_least_reduced_cost():
    cost = np.array([[5.0, 1.0, 4.0, 2.0], [4.0, 1.0, 3.0, 2.0], [4.0, 0.5, 9.0, 9.0]])
    state = free_state(3, 4)
    state.col_dual[:] = [3.0, 0.0, 2.0, 0.0]
    assert dense._reduce_rows(cost, state) == True  # noqa: E712 (a bool, not None)
    # Row 0 has 1 in column 1; row 1 has it in columns 0 and 2, too; row 2 has 0.5 in column 1 alone.
    assert state.row_dual.tolist() == [1.0, 1.0, 0.5]
    assert state.col_of_row.tolist() == [1, 0, -1]
    assert state.row_of_col.tolist() == [1, 0, -1, -1]


def row_reduction(cost, state, rows):
    """One sweep of augmenting row reduction, from its description."""
    scans, left, waiting = 4 * len(rows), [], list(rows)
    while waiting:
        i = waiting.pop(0)
        reduced = cost[i] - state.col_dual
        order = np.argsort(reduced, kind="stable")
        j = order[0]
        if len(order) > 1 and scans > 0 and reduced[order[0]] < reduced[order[1]] < np.inf:
            state.col_dual[j] -= reduced[order[1]] - reduced[j]
            falls = True
        else:
            falls = False
            if len(order) > 1 and reduced[order[1]] == reduced[j] and state.row_of_col[j] >= 0:
                j = order[1]
        state.row_dual[i] = cost[i, j] - state.col_dual[j]
        scans -= 1
        holder = state.row_of_col[j]
        if holder >= 0 and not falls:
            left.append(i)
            continue
        state.col_of_row[i], state.row_of_col[j] = j, i
        if holder >= 0:
            state.col_of_row[holder] = -1
            waiting.insert(0, holder)
    return left


@pytest.mark.parametrize("kind", ["ties", "product", "integers"])
@pytest.mark.parametrize(("n", "m"), [(6, 6), (8, 12), (12, 12)])
@pytest.mark.parametrize("seed", range(3))
def test_a_sweep_of_row_reduction_follows_its_description(kind, n, m, seed):
    # Whole numbers, so that no sum is rounded.
    rng = np.random.default_rng([n, m, seed])
    cost = (
        draw("product", n, m) if kind == "product" else rng.integers(0, 3 if kind == "ties" else 40, (n, m))
    )
    cost = cost[rng.permutation(n)].astype(float)
    state, expected = free_state(n, m), free_state(n, m)
    for one in (state, expected):
        dense._reduce_rows(cost, one)
    for _ in range(2):
        free = np.flatnonzero(state.col_of_row < 0)
        rows = free.copy()
        left = dense._augment_by_row_reduction(cost, state, rows)
        assert rows[:left].tolist() == row_reduction(cost, expected, free)
        assert_same_state(state, expected)


def test_paths_are_searched_until_the_operations_are_used_up():
    cost = np.full((3, 4), 5.0)
    cost[np.arange(3), [2, 0, 1]] = 1.0
    state = free_state(3, 4)
    work, rows = dense.DenseWorkspace.for_duals(state), np.arange(3)
    # Each row finds its column by one scan of four columns.
    assert dense._augment_rows(cost, state, work, rows, 0, 4) == 1
    assert dense._augment_rows(cost, state, work, rows, 1, 5) == 3
    assert state.col_of_row.tolist() == [2, 0, 1]


@pytest.mark.parametrize("m", [3, 64, 70])
def test_all_columns_at_a_distance_are_closed_up_to_a_free_one(m):
    state = free_state(m, m)
    state.row_of_col[:] = np.arange(m)
    closed_cols = np.full(m + 1, -1)
    shortest = np.full(m, 2.0)
    assert dense.close_columns(shortest.view(np.int64), state.row_of_col, 2.0, closed_cols, 1) == (m + 1, -1)
    assert closed_cols.tolist() == [-1, *range(m)]
    shortest[0] = 3.0
    state.row_of_col[2] = -1
    assert dense.close_columns(shortest.view(np.int64), state.row_of_col, 2.0, closed_cols, 0) == (2, 2)
    assert closed_cols[:2].tolist() == [1, 2]
    # The only one at its distance, wherever it is.
    for j in range(m):
        shortest[:], shortest[j] = 3.0, 2.0
        assert dense.close_columns(shortest.view(np.int64), np.arange(m), 2.0, closed_cols, 0) == (1, -1)
        assert closed_cols[0] == j


def test_progress_is_told_in_matched_rows(monkeypatch):
    told = []
    monkeypatch.setattr(dense, "tell", lambda *said: told.append(said))
    monkeypatch.setattr(dense, "OPERATIONS_PER_CALL", 1)
    monkeypatch.setattr(dense, "_REDUCTION_SWEEPS", 0)
    dense.solve_dense(draw("product", 9, 9))
    assert [said[0] for said in told] == ["rows matched"] * len(told)
    assert told[-1][1:] == (9, 9)
    assert [said[1] for said in told] == list(range(told[0][1], 10))
    assert told[0][1] > 1


@pytest.mark.parametrize("m", [0, 3])
def test_no_rows_give_an_empty_state(m):
    state = dense.solve_dense(np.empty((0, m)))
    assert state.col_of_row.size == state.row_dual.size == 0
    np.testing.assert_array_equal(state.col_dual, np.zeros(m))
    np.testing.assert_array_equal(state.row_of_col, np.full(m, -1))
