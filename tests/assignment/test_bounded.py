"""Sets with few clashes are matched without a matrix, and end where others do; the rest is left to others."""

import math

import numba
import numpy as np
import pytest
from scipy.spatial.distance import cdist

from lslmatch import Affine, check_certificate, match, matching
from lslmatch.assignment import bounded
from lslmatch.assignment.bounded import match_bounded
from lslmatch.assignment.bounded_nearest import CLEAR, Singles, find_nearest, write_singles
from lslmatch.assignment.exact_squares import Pairs
from lslmatch.assignment.small_coordinates import NOT_ORDINARY
from lslmatch.assignment.small_dense import SCALE, SHIFT, TOTAL
from lslmatch.geometry.expansion import relative_error
from lslmatch.geometry.panels import FEW_ROWS, PANEL, expand_few_rows, expand_one_row
from tests.support.matching import assert_is_matching
from tests.support.solver import set_solver
from tests.test_small_sets import KINDS, draw, long_way


def planted(n, m, d, noise, seed=0):
    rng = np.random.default_rng([n, m, d, seed])
    points = rng.normal(size=(max(n, m), d))
    x, y = points[:n], points[rng.permutation(len(points))[:m]]
    return x + noise * rng.normal(size=x.shape), 0.3 * (y + noise * rng.normal(size=y.shape)) - 2.0


def solve_bounded(x, y, logarithm=True):
    n, m = sorted([len(x), len(y)])
    numbers, duals = np.zeros(SHIFT + x.shape[1]), np.empty(n + m)
    partners = np.empty(n + m, np.intp)
    return match_bounded(x, y, logarithm, numbers, duals, partners), numbers, duals, partners


def singles_of(x, y):
    """Put two sets, x not larger than y, in single precision, in units of their own."""
    (n, d), m = x.shape, len(y)
    room = m + -m % PANEL
    arrays = np.empty((n, d), "f4"), np.empty(n, "f4"), np.empty((1, room // PANEL, d, PANEL), "f4")
    unit = 1.0 / math.sqrt(np.square(np.concatenate([x, y])).sum(axis=1).mean())
    singles = Singles(*arrays, np.empty((1, room), "f4"), unit, 0.0)
    write_singles(x, y, singles)
    return singles, room


@numba.njit
def expand(rows, row_squares, columns, column_squares, i, bounds, line):
    expand_few_rows(rows, row_squares, columns, column_squares, i, i + 1, 0, bounds)
    expand_one_row(rows, row_squares, columns, column_squares, i, 0, line)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m", "d"), [(2, 2, 1), (4, 11, 3), (11, 4, 5), (25, 25, 4), (30, 34, 2)])
@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize("alignment", ["standardize", "given"])
def test_sets_of_all_kinds_end_where_they_do_by_other_ways(kind, n, m, d, objective, alignment, monkeypatch):
    # Whether the map is doubtful is of no interest here, and takes long to find out.
    monkeypatch.setattr(matching, "_warn_of_doubts", lambda *arguments: None)
    x, y = draw(kind, n, m, d)
    if alignment == "given":
        alignment = Affine(0.7, np.linspace(-1.0, 1.0, d) * np.abs(x).max())
    expected = long_way(monkeypatch, x, y, objective=objective, alignment=alignment)
    set_solver(monkeypatch, routes=("bounded", "small"))
    result = match(x, y, objective=objective, alignment=alignment)
    assert_is_matching(result, n, m)
    unit = max(
        np.abs(np.concatenate([expected.row_dual, expected.col_dual])).max(), float(objective == "lsl")
    )
    assert result.objective == pytest.approx(expected.objective, rel=1e-12, abs=1e-12 * n * unit)
    assert check_certificate(x, y, result) <= 1e-12 * unit
    assert result.scale == expected.scale
    np.testing.assert_array_equal(result.shift, expected.shift)


@pytest.mark.parametrize("logarithm", [True, False])
@pytest.mark.parametrize(
    ("n", "m", "noise"), [(150, 150, 0.01), (150, 150, 0.07), (150, 190, 0.03), (190, 150, 0.03)]
)
def test_few_conflicts_are_solved_and_the_duals_prove_it(n, m, noise, logarithm):
    x, y = planted(n, m, 3, noise)
    is_solved, numbers, duals, partners = solve_bounded(x, y, logarithm)
    assert is_solved
    costs = cdist(x, numbers[SCALE] * y + numbers[SHIFT:], "sqeuclidean")
    costs = np.log(costs) if logarithm else costs
    costs = costs.T if n > m else costs
    rows, columns = costs.shape
    row_dual, col_dual = duals[:rows], duals[rows:]
    assert bool((col_dual < 0.0).any()) == (noise > 0.01), "these have no conflicts, or some"
    assert (row_dual[:, None] + col_dual <= costs + 1e-12).all()
    assert (col_dual <= 0.0).all()
    chosen = partners[:rows]
    assert sorted(set(chosen)) == sorted(chosen)
    np.testing.assert_array_equal(partners[rows:][chosen], np.arange(rows))
    assert costs[np.arange(rows), chosen].sum() == pytest.approx(duals.sum(), rel=1e-12)
    assert numbers[TOTAL] == pytest.approx(duals.sum(), rel=1e-12)


@pytest.mark.parametrize("noise", [0.6, 5.0])
def test_many_conflicts_are_refused(noise):
    x, y = planted(150, 150, 3, noise)
    is_solved, numbers, _, _ = solve_bounded(x, y)
    assert not is_solved
    assert numbers[SCALE] > 0.0, "but the alignment is known"


def test_a_search_that_takes_too_long_is_given_up(monkeypatch):
    x, y = planted(60, 60, 3, 0.07)
    assert solve_bounded(x, y)[0]
    monkeypatch.setattr(bounded, "_FEW_COSTS", 0)
    # (A compiled kernel does not see this change.)
    assert not getattr(match_bounded, "py_func", match_bounded)(
        x, y, True, np.zeros(SHIFT + 3), np.empty(120), np.empty(120, int)
    )


def test_what_is_not_ordinary_is_refused():
    x, y = planted(20, 20, 2, 0.01)
    for bad in (np.full_like(x, 3.0), 1e200 * x, np.where(x == x[3], np.nan, x)):
        is_solved, numbers, _, _ = solve_bounded(bad, y)
        assert not is_solved
        assert numbers[SCALE] == NOT_ORDINARY


@pytest.mark.parametrize("d", [1, 4, 37])
@pytest.mark.parametrize("wide", [False, True])
def test_bounds_are_never_above_squared_distances_nor_far_below(d, wide):
    rng = np.random.default_rng(d)
    x, y = rng.normal(size=(9, d)), rng.normal(size=(45, d))
    y[:9] = x + 1e-5 * rng.normal(size=x.shape)
    if wide:
        x *= 10.0 ** rng.uniform(-3.0, 3.0, (9, 1))
        y *= 10.0 ** rng.uniform(-3.0, 3.0, (45, 1))
    singles, room = singles_of(x, y)
    bounds, line = np.empty((FEW_ROWS, room), "f4"), np.empty(room, "f4")
    for i in range(9):
        expand(*singles[:4], i, bounds, line)
        np.testing.assert_allclose(
            line[:45], bounds[0, :45], rtol=0, atol=1e-5 * (1.0 + np.abs(line[:45]).max())
        )
        squares = cdist(x[i : i + 1], y, "sqeuclidean")[0] * singles.unit**2
        size = (np.square(x[i]).sum() + np.square(y).sum(axis=1)) * singles.unit**2
        assert (bounds[0, :45] <= squares).all()
        assert (bounds[0, :45] >= squares - 2.0 * relative_error(d) * size).all()
        assert (bounds[0, 45:] == np.inf).all()


@pytest.mark.parametrize("kind", ["normal", "lattice", "equal"])
def test_nearest_columns_are_those_of_all_distances(kind):
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(31, 3)), rng.normal(size=(40, 3))
    if kind == "lattice":
        x, y = rng.integers(0, 3, (31, 3)).astype(float), rng.integers(0, 3, (40, 3)) + 0.5
    if kind == "equal":
        y[:31] = y[31:32] = x[7]
    numbers = np.zeros(SHIFT + 3)
    numbers[SCALE] = 1.0
    singles, room = singles_of(x, y)
    nearest, least, listed, squares = (
        np.empty(40, np.int64),
        np.empty(40),
        np.empty(40, np.int64),
        np.empty(40),
    )
    bounds = np.empty((FEW_ROWS, room), "f4")
    pairs = Pairs(x, y, False, numbers, x, y, np.full(31, np.inf))
    seen = np.full(40, -1)
    found = find_nearest(singles, pairs, 1.0, bounds, nearest, least, listed, squares, seen)
    assert found == CLEAR
    expected = cdist(x, y, "sqeuclidean")
    np.testing.assert_allclose(least[:31], expected.min(axis=1), rtol=1e-14)
    np.testing.assert_array_equal(nearest[:31], expected.argmin(axis=1), "the first of several")
