"""Shortest augmenting paths on shortlists: whatever the lists hold, the dense optimum."""

import math

import numpy as np
import pytest
from support.problems import OBJECTIVES, draw_priced

from lslmatch.assignment.augmentation import augment_all
from lslmatch.assignment.dense import DualState, solve_dense
from lslmatch.assignment.screening import make_screen
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.shortlists import Shortlists, renew_shortlists

SETTINGS = SolverSettings(tile_columns=32)


def start(objective, n, m, size, noise=3.0):
    """All rows free, with lists of a few pairs each."""
    geometry, rule, cost = draw_priced(objective, n, m, 3, noise)
    screen = make_screen(geometry, rule, SETTINGS)
    lists = Shortlists.empty(n, size)
    renew_shortlists(screen, lists, np.zeros(m), np.arange(n), size, 64, 1)
    state = DualState(lists.cost.min(axis=1), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))
    np.minimum(state.row_dual, lists.bound, out=state.row_dual)
    return screen, lists, state, cost


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("n", "m"), [(2, 2), (17, 17), (12, 30)])
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("steps_per_call", [1, 500_000])
def test_all_rows_are_matched_at_the_least_cost_and_proven(objective, n, m, size, steps_per_call):
    screen, lists, state, cost = start(objective, n, m, size)
    assert augment_all(screen, lists, state, np.arange(n), steps_per_call)
    rows = np.arange(n)
    np.testing.assert_array_equal(state.row_of_col[state.col_of_row], rows)
    unit = 1e-11 * np.abs(cost).max()
    best = cost[rows, solve_dense(cost).col_of_row].sum()
    assert cost[rows, state.col_of_row].sum() <= best + n * unit
    slack = cost - state.row_dual[:, None] - state.col_dual
    assert slack.min() >= -unit
    assert np.abs(slack[rows, state.col_of_row]).max() <= unit
    assert not np.delete(state.col_dual, state.col_of_row).any()


def test_work_beyond_the_passes_that_are_allowed_is_given_up():
    screen, lists, state, _ = start("lsl", 17, 17, 1)
    assert not augment_all(screen, lists, state, np.arange(17), 1, most_passes=1e-3)
    assert (state.col_of_row < 0).any()
    assert augment_all(screen, lists, state, np.flatnonzero(state.col_of_row < 0), 1, most_passes=math.inf)
    assert (state.col_of_row >= 0).all()


def test_nothing_is_to_do_without_free_rows():
    screen, lists, state, _ = start("lsl", 2, 2, 1)
    assert augment_all(screen, lists, state, np.arange(0), 1, most_passes=0.0)
