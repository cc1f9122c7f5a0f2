"""The steps of matching wide sets, each on its own, against the matrix of all distances."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from lslmatch.assignment import wide_sets
from lslmatch.assignment.small_coordinates import CLOSE, NOT_ORDINARY
from lslmatch.assignment.small_dense import FLOOR, LOST, SCALE, SHIFT, SPREAD
from lslmatch.assignment.wide_sets import (
    _count_leading,
    _find_nearest,
    _position_of_least,
    _prepare,
    _price_row,
    _square,
    _squared_difference,
    _squared_length,
    match_wide,
)
from lslmatch.geometry.expansion import relative_error
from lslmatch.geometry.panels import FEW_ROWS, PANEL

UNCLEAR, MANY_CONFLICTS, CLEAR = wide_sets._UNCLEAR, wide_sets._MANY_CONFLICTS, wide_sets._CLEAR
#: The kernel as plain Python, which sees what is put in the place of its steps.
MATCH = getattr(match_wide, "py_func", match_wide)


def prepared(rows, others, leading, spread=1.0, offset_square=0.0, lost=0.0):
    """Prepare the screening of two sets that are in common coordinates already."""
    (n, d), m = rows.shape, len(others)
    columns = m + -m % PANEL
    numbers = np.zeros(SHIFT + d)
    numbers[SCALE], numbers[SPREAD], numbers[LOST], numbers[FLOOR] = 1.0, spread, lost, 1e-30
    sets = (rows, others, False, numbers, rows, others, np.full(n, np.nan))
    screen = (
        np.full((n, leading), np.nan, "f4"),
        np.full((1, columns // PANEL, leading, PANEL), np.nan, "f4"),
        np.full(n, np.nan, "f4"),
        np.full((1, columns), np.nan, "f4"),
        np.full((n + FEW_ROWS, columns), np.nan, "f4"),
    )
    _prepare(sets, offset_square, screen)
    return sets, screen


def found_nearest(sets, screen):
    n, m = len(sets[4]), len(sets[5])
    least, nearest = np.empty(n), np.full(n, -9)
    return _find_nearest(sets, screen, least, nearest, np.full(m, -1)), least, nearest


def drawn(n=13, m=41, d=20, noise=0.3, seed=0):
    rng = np.random.default_rng([n, m, d, seed])
    rows = rng.normal(size=(n, d))
    others = rng.normal(size=(m, d))
    others[rng.permutation(m)[:n]] = rows + noise * rng.normal(size=rows.shape)
    return rows, others


@pytest.mark.parametrize("leading", [5, 20])
@pytest.mark.parametrize("spread", [1e-4, 1.0, 400.0])
def test_what_is_prepared_is_in_units_of_the_spread(leading, spread):
    rows, others = drawn()
    sets, (points, panels, row_low, col_low, _) = prepared(rows, others, leading, spread, 0.25, 1e-3)
    unit = 1.0 / math.sqrt(spread)
    np.testing.assert_allclose(points, -2.0 * unit * rows[:, :leading], rtol=1e-6)
    columns = panels[0].swapaxes(0, 1).reshape(leading, -1)
    np.testing.assert_allclose(columns[:, :41].T, unit * others[:, :leading], rtol=1e-6)
    assert not columns[:, 41:].any()
    share = (1.0 - relative_error(leading)) / spread
    np.testing.assert_allclose(
        row_low, share * np.square(rows[:, :leading]).sum(axis=1) - 1e-3 / spread, rtol=2e-7
    )
    np.testing.assert_allclose(col_low[0, :41], share * np.square(others[:, :leading]).sum(axis=1), rtol=2e-7)
    assert (col_low[0, 41:] == np.inf).all()
    # Of all coordinates: what tells whether points are close.
    np.testing.assert_allclose(sets[6], CLOSE * (np.square(rows).sum(axis=1) + 0.25), rtol=1e-12)


def test_something_is_taken_off_even_if_nothing_was_lost():
    rows = np.full((2, 20), 1e-25)
    _, (_, _, row_low, _, _) = prepared(rows, np.ones((3, 20)), 20)
    np.testing.assert_allclose(row_low, -20.0 * 2.0**-104, rtol=1e-6)


@pytest.mark.parametrize("leading", [8, 20])
@pytest.mark.parametrize("spread", [1e-4, 1.0, 400.0])
@pytest.mark.parametrize("noise", [1e-9, 0.3, 0.5])
def test_nearest_columns_and_bounds_are_found(leading, spread, noise):
    rows, others = drawn(noise=noise)
    sets, screen = prepared(rows, others, leading, spread)
    outcome, least, nearest = found_nearest(sets, screen)
    assert outcome == CLEAR
    squares = cdist(rows, others, "sqeuclidean")
    np.testing.assert_array_equal(nearest, squares.argmin(axis=1))
    np.testing.assert_allclose(least, squares.min(axis=1), rtol=1e-9)
    bounds = screen[4][:13, :41].astype(float)
    parts = cdist(rows[:, :leading], others[:, :leading], "sqeuclidean") / spread
    assert (bounds <= parts).all()
    size = (np.square(rows).sum(axis=1)[:, None] + np.square(others).sum(axis=1)) / spread
    assert (bounds >= parts - 2.0 * relative_error(leading) * size - 1e-6).all()


def test_of_columns_that_single_precision_does_not_tell_apart_the_nearest_is_taken():
    rng = np.random.default_rng(3)
    rows = 30.0 * rng.normal(size=(9, 20))
    away = rng.normal(size=(9, 20))
    others = np.concatenate([rows + away, rows - away * (1.0 + 1e-8 * rng.normal(size=(9, 1)))])
    outcome, least, nearest = found_nearest(*prepared(rows, others, 20, 900.0))
    squares = cdist(rows, others, "sqeuclidean")
    assert outcome == CLEAR
    np.testing.assert_allclose(least, squares.min(axis=1), rtol=1e-14)
    assert set(nearest // 9) == {0, 1}


@pytest.mark.parametrize(("m", "outcome"), [(17, CLEAR), (18, UNCLEAR)])
def test_leading_coordinates_do_not_do_where_many_columns_are_to_be_computed(m, outcome):
    """Rows and columns that differ in the last coordinates only: 16 more for each row are enough."""
    rng = np.random.default_rng(4)
    rows, others = np.ones((5, 20)), np.ones((m, 20))
    rows[:, 10:], others[:, 10:] = 2.0 * rng.normal(size=(5, 10)), 2.0 * rng.normal(size=(m, 10))
    assert found_nearest(*prepared(rows, others, 10))[0] == outcome
    # With all coordinates nothing is unclear.
    rows[:], others[:] = 1.0, 1.0
    assert found_nearest(*prepared(rows, others, 20))[0] != UNCLEAR


def conflicting(n, pairs):
    """So many pairs of rows have the same nearest column; each is among the first of them."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(n, 20))
    rows[1 : 2 * pairs : 2] = rows[0 : 2 * pairs : 2] + 1e-3
    others = rows + 1e-6 * rng.normal(size=rows.shape)
    others[1 : 2 * pairs : 2] = 9.0 + rng.normal(size=(pairs, 20))
    return rows, others


@pytest.mark.parametrize(
    ("n", "pairs", "outcome"),
    # Of 192 rows a quarter is seen, of more rows a share of them, as rivals are seen among the first only.
    [
        (192, 48, CLEAR),
        (192, 49, MANY_CONFLICTS),
        (40, 10, CLEAR),
        (40, 11, MANY_CONFLICTS),
        (384, 25, MANY_CONFLICTS),
    ],
)
def test_many_conflicts_among_the_first_rows_are_noticed(n, pairs, outcome):
    sets, screen = prepared(*conflicting(n, pairs), 20)
    assert found_nearest(sets, screen)[0] == outcome


def test_conflicts_among_later_rows_are_left_to_be_counted():
    rows, others = conflicting(240, 20)
    order = np.r_[40:240, :40]
    seen = np.full(240, -1)
    sets, screen = prepared(rows[order], others, 20)
    assert _find_nearest(sets, screen, np.empty(240), np.empty(240, int), seen) == CLEAR
    assert (seen == -1).all(), "what was noted for that is taken back"


@pytest.mark.parametrize("size", [1, 3, 200])
def test_the_first_of_the_least_bounds_is_found(size):
    rng = np.random.default_rng(size)
    for _ in range(20):
        bounds = rng.integers(-1, 6, size).astype("f4")
        assert _position_of_least(bounds) == np.maximum(bounds, 0.0).argmin()
    bounds[:] = np.inf
    assert _position_of_least(bounds) == 0


@pytest.mark.parametrize("logarithm", [False, True])
def test_costs_within_reach_are_exact_and_others_are_bounds(logarithm):
    rows, others = drawn()
    sets, screen = prepared(rows, others, 20, 4.0)
    found_nearest(sets, screen)
    exact, bounds = cdist(rows, others, "sqeuclidean"), screen[4][3, :41].astype(float)
    reach = np.full(41, -np.inf)
    reach[3] = np.median(exact[3])
    bounds = screen[4][3]
    bounds[5] = -2.0
    costs = np.empty(41)
    _price_row(sets, 3, bounds, logarithm, reach, costs)
    within = np.maximum(4.0 * bounds[:41].astype(float), 0.0) < np.median(exact[3])
    assert within[5]
    assert 5 < within.sum() < 30
    expected = np.where(within, exact[3], 4.0 * bounds[:41].astype(float))
    np.testing.assert_allclose(costs, np.log(expected) if logarithm else expected, rtol=1e-9)
    limit = math.log(np.median(exact[3])) - 2.0**-30 if logarithm else np.median(exact[3])
    assert reach[3] == pytest.approx(limit, abs=1e-12)
    assert np.isinf(np.delete(reach, 3)).all()


@pytest.mark.parametrize("turned", [False, True])
def test_squares_of_close_points_are_those_of_the_points_as_they_were_given(turned):
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(4, 20)), rng.normal(size=(5, 20))
    numbers = np.zeros(SHIFT + 20)
    numbers[SCALE], numbers[SHIFT:] = 2.0, rng.normal(size=20)
    y[2] = (x[1] - numbers[SHIFT:]) / 2.0 + 1e-9
    rows, others = (2.0 * y + numbers[SHIFT:], x) if turned else (x, 2.0 * y + numbers[SHIFT:])
    # Coordinates that are a little wrong, as rounded ones are.
    wrong = others + 1e-7
    limits = np.full(len(rows), 1e-3)
    sets = (x, y, turned, numbers, rows, wrong, limits)
    squares = cdist(rows, wrong, "sqeuclidean")
    near = (2, 1) if turned else (1, 2)
    for i in range(len(rows)):
        for j in range(len(others)):
            expected = 20 * 4e-18 if (i, j) == near else squares[i, j]
            assert _square(sets, i, j) == pytest.approx(expected, rel=1e-5, abs=0.0)
    limits[:] = 0.0
    assert _square(sets, *near) == pytest.approx(20e-14, rel=0.1)


def test_squares_of_leading_coordinates():
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=(3, 7)), rng.normal(size=(2, 7))
    for d in (1, 4, 7):
        assert _squared_difference(a, 2, b, 1, d) == pytest.approx(np.square(a[2, :d] - b[1, :d]).sum())
        assert _squared_length(a, 1, d) == pytest.approx(np.square(a[1, :d]).sum())


def least_leading(rows, others):
    """Give the least number of leading coordinates by which four rows tell their nearest columns."""
    n, d = rows.shape
    found = 0
    for i in (0, (n - 1) // 3, 2 * (n - 1) // 3, n - 1):
        squares = np.square(rows[i] - others)
        at = squares.sum(axis=1).argmin()
        sums = np.delete(squares.cumsum(axis=1), at, axis=0).min(axis=0)
        found = max(found, 1 + int(np.argmax(sums >= squares[at].sum())))
    return found


@pytest.mark.parametrize("d", [4, 16, 80, 100])
@pytest.mark.parametrize("noise", [1e-3, 0.3, 0.6, 1.0, 1.4])
def test_leading_coordinates_are_doubled_until_they_tell_nearest_columns(d, noise):
    rows, others = drawn(20, 30, d, noise)
    least = least_leading(rows, others)
    leading = min(max(d // 8, 8), d)
    while leading < least:
        leading = 2 * leading if 4 * leading <= d else d
    assert _count_leading(rows, others) == leading


def solved(x, y, logarithm=True):
    numbers, size = np.zeros(SHIFT + x.shape[1]), len(x) + len(y)
    duals, partners = np.full(size, 9.0), np.full(size, 9)
    return MATCH(x, y, logarithm, numbers, duals, partners), numbers, duals, partners


@pytest.mark.parametrize(("free", "is_solved"), [(8, True), (9, False)])
def test_a_quarter_of_the_rows_may_be_free(free, is_solved, monkeypatch):
    # (Not noticed by the look at the first rows.)
    monkeypatch.setattr(wide_sets, "_find_nearest", fake_nearest(free))
    rows, _ = drawn(32, 32)
    assert solved(rows, rows + 1e-3)[0] is is_solved


def fake_nearest(free):
    def find(sets, screen, least, nearest, seen):
        outcome = _find_nearest(sets, screen, least, nearest, seen)
        nearest[:free] = nearest[-1]
        least[:free] = [_square(sets, i, nearest[-1]) for i in range(free)]
        return outcome

    return find


def test_what_is_not_ordinary_has_no_partners():
    x, y = drawn(9, 12)
    is_solved, numbers, duals, partners = solved(np.ones_like(x), y)
    assert is_solved is False
    assert numbers[SCALE] == NOT_ORDINARY
    assert not duals.any()
    assert (partners == -1).all()


def test_what_coincides_beside_far_points_is_given_up_if_they_are_too_far(monkeypatch):
    x, _ = drawn(9, 12)
    asked = []
    for answer in (True, False):
        monkeypatch.setattr(
            wide_sets, "lower_floor", lambda *arguments, answer=answer: asked.append(1) or answer
        )
        assert solved(x, x.copy())[0] is answer
        assert solved(x, x.copy(), False)[0] is True, "only logarithms need a floor"
    assert len(asked) == 2
    assert solved(x, drawn(9, 9)[1])[0] is True
    assert len(asked) == 2, "none coincide"


def test_many_conflicts_are_given_up(monkeypatch):
    monkeypatch.setattr(wide_sets, "_find_nearest", lambda *arguments: MANY_CONFLICTS)
    x, y = drawn()
    assert solved(x, y)[0] is False


def test_where_leading_coordinates_are_unclear_all_are_taken(monkeypatch):
    widths = []

    def find(sets, screen, *arguments):
        widths.append(screen[0].shape[1])
        return UNCLEAR if len(widths) == 1 else _find_nearest(sets, screen, *arguments)

    monkeypatch.setattr(wide_sets, "_find_nearest", find)
    x, y = drawn(20, 24, 80, 0.01)
    assert solved(x, y)[0] is True
    assert widths == [10, 80]
