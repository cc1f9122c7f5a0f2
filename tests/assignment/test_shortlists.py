"""Shortlists: their pairs, their bounds, and what augmenting row reduction does with them."""

import numpy as np
import pytest
from support.problems import OBJECTIVES, draw_priced

from lslmatch.assignment.dense import DualState
from lslmatch.assignment.nearest_partners import find_nearest_partners
from lslmatch.assignment.screening import make_screen
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.shortlists import Shortlists, reduce_rows, renew_shortlists

objectives = pytest.mark.parametrize("objective", OBJECTIVES)
shapes = pytest.mark.parametrize(("n", "m", "d"), [(3, 3, 1), (20, 20, 3), (20, 70, 8)])
SETTINGS = SolverSettings(tile_columns=32, single_precision_dimensions=0)


def renewed(objective, n, m, d, size, col_dual=None, kept=False):
    geometry, rule, cost = draw_priced(objective, n, m, d)
    screen = make_screen(geometry, rule, SETTINGS)
    if kept:
        screen = screen.keeping_squares()
        find_nearest_partners(screen, SETTINGS, 1)
    lists = Shortlists.empty(n, min(size, m))
    col_dual = np.zeros(m) if col_dual is None else col_dual
    renew_shortlists(screen, lists, col_dual, np.arange(n), size, 8, 2)
    return lists, cost


@objectives
@shapes
@pytest.mark.parametrize("size", [1, 4, 32])
@pytest.mark.parametrize("kept", [False, True])
def test_no_pair_outside_the_list_is_below_the_bound(objective, n, m, d, size, kept):
    col_dual = np.random.default_rng(m).normal(size=m)
    lists, cost = renewed(objective, n, m, d, size, col_dual, kept)
    unit = np.abs(cost).max()
    for i in range(n):
        listed = np.isfinite(lists.cost[i])
        cols = lists.col[i, listed]
        assert 1 <= cols.size == np.unique(cols).size
        np.testing.assert_allclose(lists.cost[i, listed], cost[i, cols], rtol=1e-12, atol=1e-12)
        reduced = cost[i] - col_dual
        assert reduced[cols].min() == pytest.approx(reduced.min(), abs=1e-9 * unit)
        assert (np.delete(reduced, cols) >= lists.bound[i] - 1e-12 * unit).all()


def test_only_the_rows_that_are_named_are_renewed():
    geometry, rule, cost = draw_priced("lsl", 9, 12, 2)
    screen = make_screen(geometry, rule, SETTINGS)
    lists = Shortlists.empty(9, 5)
    lists.bound[:] = -7.0
    renew_shortlists(screen, lists, np.zeros(12), np.array([6, 2]), 3, 8, 1)
    others = np.delete(np.arange(9), [2, 6])
    assert (lists.bound[others] == -7.0).all()
    assert not np.isfinite(lists.cost[others]).any()
    for i in (2, 6):
        assert np.isfinite(lists.cost[i]).sum() <= 3
        assert lists.cost[i].min() == pytest.approx(cost[i].min(), rel=1e-12)
    renew_shortlists(screen, lists, np.zeros(12), np.arange(0), 3, 8, 1)
    assert (lists.bound[others] == -7.0).all()


@objectives
@shapes
@pytest.mark.parametrize("size", [1, 4, 32])
@pytest.mark.parametrize("rows_per_call", [3, 1000])
def test_row_reduction_keeps_the_duals_feasible_and_matched_pairs_tight(
    objective, n, m, d, size, rows_per_call
):
    lists, cost = renewed(objective, n, m, d, size)
    state = DualState(np.zeros(n), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))
    free = reduce_rows(lists, state, np.arange(n), rows_per_call)
    np.testing.assert_array_equal(np.sort(free), np.flatnonzero(state.col_of_row < 0))
    matched = np.flatnonzero(state.col_of_row >= 0)
    # The bound of a list of one pair is made of that pair's own value, so that no row can rely on it.
    assert matched.size or size == 1
    cols = state.col_of_row[matched]
    np.testing.assert_array_equal(state.row_of_col[cols], matched)
    assert (state.row_of_col >= 0).sum() == matched.size
    unit = 1e-11 * np.abs(cost).max()
    slack = cost - state.row_dual[:, None] - state.col_dual
    assert slack.min() >= -unit
    assert np.abs(slack[matched, cols]).max(initial=0.0) <= unit
    assert (state.col_dual <= 0.0).all()
    assert not np.delete(state.col_dual, cols).any(), "columns without a row must keep their dual"
