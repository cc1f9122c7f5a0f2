"""The steps of matching by bounds, each on its own: what is asked of whom, and limits from both sides."""

import math
from bisect import bisect_left
from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from lslmatch import linear_sum_assignment
from lslmatch.assignment import bounded
from lslmatch.assignment.bounded import match_bounded
from lslmatch.assignment.bounded_nearest import (
    CLASHING,
    CLEAR,
    UNCLEAR,
    Singles,
    _least_of,
    _lowest_within,
    count_leading,
    find_nearest,
    list_low,
    most_above,
    write_singles,
)
from lslmatch.assignment.bounded_paths import _lowest_free, _position_of_least, augment_few
from lslmatch.assignment.exact_squares import Pairs, exact_square, leading_square, square_of, squared_length
from lslmatch.assignment.small_coordinates import CLOSE, NOT_ORDINARY
from lslmatch.assignment.small_dense import FLOOR, LOST, SCALE, SHIFT, SPREAD, take_logarithms
from lslmatch.geometry.expansion import absolute_error, relative_error, underflow_error
from lslmatch.geometry.panels import FEW_ROWS, PANEL

#: Kernels as plain Python, which sees what is put in the place of their steps.
MATCH = getattr(match_bounded, "py_func", match_bounded)


def singles_of(x, y, error=0.0, leading=None):
    """Put two sets, x not larger than y, in single precision; their coordinates may be wrong by an error."""
    (n, d), m = x.shape, len(y)
    d = leading or d
    room = m + -m % PANEL
    unit = 1.0 / math.sqrt(np.square(np.concatenate([x, y])).sum(axis=1).mean())
    arrays = np.empty((n, d), "f4"), np.empty(n, "f4"), np.empty((1, room // PANEL, d, PANEL), "f4")
    # Errors of 4 v of an offset, in units of which they are.
    lost = unit**2 * absolute_error(d, d * (error * 2.0**51) ** 2, 0.0) + underflow_error(d)
    singles = Singles(*arrays, np.empty((1, room), "f4"), unit, lost)
    wrong = y + error * np.random.default_rng(0).choice([-1.0, 1.0], y.shape)
    write_singles(x, wrong, singles)
    return singles, room


def pairs_of(x, y):
    numbers = np.zeros(SHIFT + x.shape[1])
    numbers[SCALE], numbers[FLOOR] = 1.0, 1e-300
    # All distances are those of the points as they are.
    return Pairs(x, y, False, numbers, x, y, np.full(len(x), np.inf))


def found_of(x, y, error=0.0, leading=None, most_clashes=1.0, kept=0):
    """Look for nearest columns: what is found, singles, nearest columns and squares, bounds, and `seen`."""
    n, m = len(x), len(y)
    singles, room = singles_of(x, y, error, leading)
    bounds, nearest, least = np.empty((kept + FEW_ROWS, room), "f4"), np.empty(m, np.int64), np.empty(m)
    spare, seen = (np.empty(m, np.int64), np.empty(m)), np.full(m, -1)
    found = find_nearest(singles, pairs_of(x, y), most_clashes, bounds, nearest, least, *spare, seen)
    return found, singles, nearest[:n], least[:n], bounds, seen


def nearest_of(x, y, error=0.0):
    found, *rest = found_of(x, y, error)
    assert found == CLEAR
    return rest[:3]


def clear(n, m, d, rng):
    return rng.normal(size=(n, d)), rng.normal(size=(m, d))


def hardly_different(n, m, d, rng):
    """Two columns for each row whose distances single precision does not tell apart."""
    x = 3.0 * rng.normal(size=(n, d))
    away = rng.normal(size=(n, d))
    y = np.concatenate([x + away, x - away * (1.0 + 1e-9 * rng.normal(size=(n, 1)))])
    return x, np.concatenate([y, 50.0 * rng.normal(size=(max(m - 2 * n, 0), d))])


def near_and_far_out(n, m, d, rng):
    """Points that are near to each other and far from the origin, so that bounds are negative."""
    x = 100.0 + 1e-3 * rng.normal(size=(n, d))
    return x, 100.0 + 1e-3 * rng.normal(size=(m, d))


@pytest.mark.parametrize("draw", [clear, hardly_different, near_and_far_out])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("error", [0.0, 1e-7, 1e-2])
def test_nearest_columns_are_found_whatever_their_coordinates_are_wrong_by(draw, size, error):
    x, y = (size * points for points in draw(13, 40, 3, np.random.default_rng(6)))
    _, nearest, least = nearest_of(x, y, error * size)
    distances = cdist(x, y, "sqeuclidean")
    np.testing.assert_allclose(least, distances.min(axis=1), rtol=1e-9)
    own = distances[np.arange(13), nearest]
    np.testing.assert_allclose(own, distances.min(axis=1), rtol=1e-9)
    assert (nearest == distances.argmin(axis=1)).mean() > (0.5 if draw is hardly_different else 0.99)


def test_the_right_one_of_two_near_columns_is_taken():
    x, y = hardly_different(13, 26, 3, np.random.default_rng(1))
    exact = [
        [sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(p, q, strict=True)) for q in y.tolist()]
        for p in x.tolist()
    ]
    _, nearest, _ = nearest_of(x, y)
    for line, found in zip(exact, nearest, strict=True):
        assert line[found] == min(line) or float(line[found] / min(line)) - 1.0 < 1e-14


def test_distances_that_are_asked_for_too_often_are_not_computed(monkeypatch):
    """All columns of all rows are within what bounds cannot tell: 64 of them for each row are too many."""
    rng = np.random.default_rng(2)
    for m, is_found in ((64, True), (65, False)):
        x, y = np.full((3, 2), 100.0), 100.0 + 1e-4 * rng.normal(size=(m, 2))
        assert found_of(x, y)[0] == (CLEAR if is_found else UNCLEAR)


@pytest.mark.parametrize("d", [1, 5])
def test_singles_are_lowered_norms_and_coordinates_in_units(d):
    rng = np.random.default_rng(d)
    x, y = rng.normal(size=(4, d)), rng.normal(size=(PANEL + 3, d))
    singles, room = singles_of(x, y, 1e-4)
    assert room == 2 * PANEL
    np.testing.assert_allclose(singles.rows, -2.0 * singles.unit * x, rtol=1e-6)
    squares = np.square(singles.unit * x).sum(axis=1)
    np.testing.assert_allclose(singles.row_squares, squares - singles.lost, rtol=1e-5, atol=1e-6)
    columns = singles.columns[0].swapaxes(0, 1).reshape(d, -1)
    np.testing.assert_allclose(columns[:, : PANEL + 3].T, singles.unit * y, atol=1e-3)
    assert not columns[:, PANEL + 3 :].any()
    assert (singles.column_squares[0, PANEL + 3 :] == np.inf).all()


def test_norms_are_lowered_by_their_share_of_the_error():
    """Norms that single precision holds exactly, but for what they are lowered by."""
    x, y = np.array([[3.0, 4.0], [0.0, 2.0]]), np.array([[1.0, 2.0], [8.0, 6.0]])
    arrays = np.empty((2, 2), "f4"), np.empty(2, "f4"), np.empty((1, 1, 2, PANEL), "f4")
    singles = Singles(*arrays, np.empty((1, PANEL), "f4"), 0.5, 2.0**-10)
    write_singles(x, y, singles)
    share = 1.0 - 22.0 * 2.0**-24
    np.testing.assert_allclose(
        singles.row_squares, [share * 6.25 - 2.0**-10, share - 2.0**-10], rtol=2.0**-23
    )
    np.testing.assert_allclose(singles.column_squares[0, :2], [share * 1.25, share * 25.0], rtol=2.0**-22)


@pytest.mark.parametrize("lost", [0.0, 1e-6, 0.5])
@pytest.mark.parametrize("d", [1, 40, 2000])
def test_no_distance_is_above_what_its_bound_says(lost, d):
    margin = np.float32(relative_error(d))
    rng = np.random.default_rng(d)
    for row, distance in 10.0 ** rng.uniform(-6.0, 3.0, (200, 2)):
        # A column on the far side of the row, which has the greatest norm, and the lowest of its bounds.
        column = (math.sqrt(row) + math.sqrt(distance)) ** 2
        bound = np.float32(distance - 2.0 * float(margin) * (row + column) - 3.0 * lost)
        row_square = np.float32((1.0 - float(margin)) * row - lost)
        found = most_above(bound, row_square, margin, np.float32(lost))
        assert found >= distance * (1.0 - 1e-6)
        # What it adds is four thirds of what is needed, or what is due to the bound.
        needed = 6.0 * float(margin) * row + 3.0 * lost + 4.0 * float(margin) * distance
        assert found - bound <= 1.6 * needed + 7.0 * float(margin) * lost + 1e-6 * distance


def test_what_it_adds_is_a_share_of_the_norm_and_of_the_bound_and_what_was_lost():
    margin, lost = np.float32(2.0**-10), np.float32(0.25)
    for bound, row in ((3.0, 5.0), (-3.0, 5.0), (0.0, 1.0), (7.0, 0.0)):
        expected = bound + 2.0**-10 * (7.0 * (row + 0.25) + 5.0 * abs(bound)) + 4.0 * 0.25
        assert most_above(np.float32(bound), np.float32(row), margin, lost) == np.float32(expected)


@pytest.mark.parametrize("width", [1, 31, 32, 33, 70])
def test_low_values_are_listed_in_their_order(width):
    rng = np.random.default_rng(width)
    values, columns = rng.integers(0, 6, 96).astype("f4"), np.full(96, -1)
    for limit in (-1.0, 0.0, 2.0, 9.0):
        count = list_low(values, width, limit, columns)
        np.testing.assert_array_equal(columns[:count], np.flatnonzero(values[:width] <= limit))


def augmented(x, y, logarithm, error=0.0, budget=1 << 40, work=3, is_kept=False):
    """Match rows to their nearest columns, and then along shortest paths, however many are free."""
    n, m = len(x), len(y)
    found, singles, nearest, least, bounds, _ = found_of(x, y, error, kept=n * is_kept)
    assert found == CLEAR
    pairs, least = pairs_of(x, y), least.copy()
    if logarithm:
        take_logarithms(least, n, pairs.numbers[FLOOR])
    solution = least, np.zeros(m), np.full(n, -1), np.full(m, -1)
    for i in range(n):
        if solution[3][nearest[i]] < 0:
            solution[2][i], solution[3][nearest[i]] = nearest[i], i
    spare = np.empty(m), np.empty(m), np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    spare += (np.empty(m, np.int64), np.empty(m))
    if not is_kept:
        bounds = np.full((FEW_ROWS, m + -m % PANEL), np.nan, "f4")
    return augment_few(singles, pairs, logarithm, solution, bounds, spare, work, budget), *solution


@pytest.mark.parametrize("logarithm", [True, False])
@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("n", "m"), [(20, 20), (20, 37)])
@pytest.mark.parametrize("draw", [clear, hardly_different, near_and_far_out])
@pytest.mark.parametrize("error", [0.0, 1e-3])
@pytest.mark.parametrize("is_kept", [False, True])
def test_paths_are_shortest_however_many_rows_are_free(logarithm, size, n, m, draw, error, is_kept):
    x, y = (size * points for points in draw(n, m, 2, np.random.default_rng([n, m])))
    y = y[:m]
    is_done, row_dual, col_dual, col_of_row, row_of_col = augmented(
        x, y, logarithm, error * size, is_kept=is_kept
    )
    assert is_done
    costs = cdist(x, y, "sqeuclidean")
    costs = np.log(costs) if logarithm else costs
    slack = 1e-10 * np.abs(costs).max()
    assert (row_dual[:, None] + col_dual <= costs + slack).all()
    assert (col_dual <= 0.0).all()
    assert (col_dual[row_of_col < 0] == 0.0).all()
    np.testing.assert_array_equal(row_of_col[col_of_row], np.arange(n))
    rows, cols = linear_sum_assignment(costs)
    total = costs[rows, cols].sum()
    assert costs[np.arange(n), col_of_row].sum() == pytest.approx(total, abs=n * slack)
    assert row_dual.sum() + col_dual.sum() == pytest.approx(total, abs=n * slack)


def least_budget(x, y, work):
    budgets = range(1 << 14)
    return bisect_left(budgets, True, key=lambda budget: augmented(x, y, False, budget=budget, work=work)[0])


def test_a_search_ends_when_its_budget_is_spent():
    x, y = clear(12, 12, 2, np.random.default_rng(3))
    # The number of rows that are come to, and of pairs that are priced.
    most = least_budget(x, y, 0)
    rows = (least_budget(x, y, 10) - most) / 10
    assert rows == int(rows) > 5
    assert rows <= most <= 12 * rows


def solved(x, y, logarithm=True):
    size, d = len(x) + len(y), x.shape[1]
    numbers = np.zeros(SHIFT + d)
    return MATCH(x, y, logarithm, numbers, np.empty(size), np.empty(size, np.intp)), numbers


def planted(n, m, d=2, noise=1e-3):
    rng = np.random.default_rng([n, m])
    points = rng.normal(size=(max(n, m), d))
    return points[:n] + noise * rng.normal(size=(n, d)), 2.0 * points[:m] + 5.0


def test_units_are_those_in_which_the_mean_square_is_one(monkeypatch):
    seen = []
    write = bounded.write_singles
    monkeypatch.setattr(
        bounded,
        "write_singles",
        lambda rows, columns, singles: seen.append(singles) or write(rows, columns, singles),
    )
    x, y = planted(30, 33, 3)
    is_solved, numbers = solved(1e3 * x + 1e6, y)
    assert is_solved
    (singles,) = seen
    assert singles.unit**2 * numbers[SPREAD] == pytest.approx(1.0)
    assert numbers[LOST] > 0.0
    assert singles.lost == pytest.approx(numbers[LOST] / numbers[SPREAD] + 3 * 2.0**-104, rel=1e-12)
    assert singles.lost > 3 * 2.0**-104


@pytest.mark.parametrize("step", ["find_nearest", "augment_few"])
def test_what_a_step_gives_up_is_given_up(step, monkeypatch):
    x, y = planted(40, 40)
    y[0] = y[1]
    assert solved(x, y)[0]
    monkeypatch.setattr(bounded, step, lambda *arguments: UNCLEAR if step == "find_nearest" else False)
    is_solved, numbers = solved(x, y)
    assert is_solved is False
    assert numbers[SCALE] != NOT_ORDINARY


def test_what_coincides_beside_far_points_is_given_up_if_they_are_too_far(monkeypatch):
    x, y = planted(20, 20, noise=0.0)
    y = x.copy()
    asked = []
    for answer in (True, False):
        monkeypatch.setattr(
            bounded, "lower_floor", lambda *arguments, answer=answer: asked.append(1) or answer
        )
        assert solved(x, y)[0] is answer
        assert solved(x, y, False)[0] is True, "only logarithms need a floor"
    assert len(asked) == 2
    x, y = planted(20, 20)
    assert solved(x, y)[0] is True, "none coincide"
    assert len(asked) == 2


@pytest.mark.parametrize(("free", "is_solved"), [(2, True), (3, False)])
def test_one_of_sixteen_rows_may_be_free(free, is_solved):
    x, y = planted(32, 40)
    # So many rows are nearest to a column that another row is nearest to, too.
    x[:free] = x[10 : 10 + free] + 1e-2
    numbers = np.zeros(SHIFT + 2)
    numbers[SCALE], numbers[SHIFT:] = 0.5, -2.5
    found = MATCH(x, y, True, numbers, np.empty(72), np.empty(72, np.intp))
    assert found is is_solved


@pytest.mark.parametrize(("n", "m", "d"), [(32, 33, 3), (40, 130, 15), (40, 130, 90), (60, 32, 90)])
def test_work_and_budget_grow_with_the_sizes(n, m, d, monkeypatch):
    asked = []
    monkeypatch.setattr(bounded, "augment_few", lambda *arguments: asked.append(arguments[4:]) or True)
    monkeypatch.setattr(bounded, "count_leading", lambda rows, columns: rows.shape[1])
    x, y = planted(n, m, d)
    if n <= m:
        x[0] = x[1] + 1e-3
    else:
        y[0] = y[1] + 1e-3
    assert solved(x, y)[0]
    rows, columns = min(n, m), max(n, m)
    ((bounds, _, scan, budget),) = asked
    is_kept = d >= 16
    assert len(bounds) == (rows if is_kept else 0) + FEW_ROWS
    assert scan == columns * (10 if is_kept else d + 10) // 1024
    assert budget == rows * (columns * (d + 10) // 1024 // 2 + (64 if is_kept else 4))


def drawn(n=13, m=41, d=20, noise=0.3):
    rng = np.random.default_rng([n, m, d])
    rows, others = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    others[rng.permutation(m)[:n]] = rows + noise * rng.normal(size=rows.shape)
    return rows, others


@pytest.mark.parametrize("leading", [8, 20])
@pytest.mark.parametrize("size", [1e-2, 1.0, 20.0])
@pytest.mark.parametrize("noise", [1e-9, 0.3, 0.5])
@pytest.mark.parametrize("kept", [0, 13])
def test_leading_coordinates_lead_to_the_nearest_columns_and_bound_all(leading, size, noise, kept):
    rows, others = (size * points for points in drawn(noise=noise))
    found, singles, nearest, least, bounds, _ = found_of(rows, others, leading=leading, kept=kept)
    assert found == CLEAR
    squares = cdist(rows, others, "sqeuclidean")
    np.testing.assert_array_equal(nearest, squares.argmin(axis=1))
    np.testing.assert_allclose(least, squares.min(axis=1), rtol=1e-9)
    if kept:
        parts = cdist(rows[:, :leading], others[:, :leading], "sqeuclidean") * singles.unit**2
        assert (bounds[:13, :41] <= parts).all()
        norms = np.square(rows).sum(axis=1)[:, None] + np.square(others).sum(axis=1)
        lowest = parts - 2.0 * relative_error(leading) * norms * singles.unit**2 - 1e-6
        assert (bounds[:13, :41] >= lowest).all()


@pytest.mark.parametrize(("m", "expected"), [(16, CLEAR), (17, UNCLEAR)])
def test_leading_coordinates_do_not_do_where_many_columns_are_to_be_computed(m, expected):
    """Rows and columns that differ in the last coordinates only: 16 squared distances a row are enough."""
    rng = np.random.default_rng(4)
    rows, others = np.ones((5, 20)), np.ones((m, 20))
    rows[:, 10:], others[:, 10:] = 2.0 * rng.normal(size=(5, 10)), 2.0 * rng.normal(size=(m, 10))
    assert found_of(rows, others, leading=10)[0] == expected
    assert found_of(rows, others)[0] == CLEAR


@pytest.mark.parametrize(("clashes", "expected"), [(14, CLEAR), (15, CLASHING)])
@pytest.mark.parametrize("first", [True, False])
def test_many_clashes_among_the_first_rows_are_noticed(clashes, expected, first):
    """Of 400 rows 160 are looked at: 64 s clash if a share s of all does, by chance 1.5 deviations more."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(400, 3))
    rows[1 : 2 * clashes : 2] = rows[0 : 2 * clashes : 2] + 1e-6
    others = rows + 1e-9
    others[1 : 2 * clashes : 2] = 9.0 + rng.normal(size=(clashes, 3))
    found, *_, seen = found_of(rows if first else rows[::-1].copy(), others, most_clashes=9.0 / 64.0)
    # (9 are expected, and 4.5 more are three halves of the root of that.)
    assert found == ((CLASHING if clashes > 13 else CLEAR) if first else CLEAR)
    assert (seen == -1).all(), "what was noted for that is taken back"


def test_the_first_bound_within_a_limit_is_found_and_how_many_there_are():
    line = np.array([4.0, 2.0, 3.0, 2.0, np.inf], "f4")
    assert _least_of(line) == 2.0
    for limit, expected in ((1.0, (5, 0)), (2.0, (1, 2)), (3.5, (1, 3)), (9.0, (0, 4))):
        assert _lowest_within(line, np.float32(limit)) == expected
    assert _least_of(np.array([1.0, -3.0, -2.0], "f4")) < 0.0, "one of the negative ones"


def test_the_lowest_bound_of_a_free_column_is_found():
    bounds = np.array([0.5, 2.0, 1.5, 3.0, 2.0], "f4")
    assert _lowest_free(bounds, np.array([0, -1, 5, -1])) == 1
    assert _lowest_free(bounds, np.array([0, 3, 5, -1])) == 3
    assert _lowest_free(bounds, np.array([-1, 3, 5, -1])) == 0
    assert _lowest_free(-bounds, np.array([0, -1, 5, 2])) == 1


def test_the_first_of_the_least_lengths_is_found():
    rng = np.random.default_rng(1)
    for size in (1, 3, 70):
        lengths = rng.integers(0, 5, size).astype(float)
        assert _position_of_least(lengths) == lengths.argmin()


@pytest.mark.parametrize("turned", [False, True])
def test_squares_of_close_points_are_those_of_the_points_as_they_were_given(turned):
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(4, 20)), rng.normal(size=(5, 20))
    numbers = np.zeros(SHIFT + 20)
    numbers[SCALE], numbers[SHIFT:] = 2.0, rng.normal(size=20)
    y[2] = (x[1] - numbers[SHIFT:]) / 2.0 + 1e-9
    mapped = 2.0 * y + numbers[SHIFT:]
    rows, others = (mapped, x) if turned else (x, mapped)
    # Coordinates that are a little wrong, as rounded ones are.
    wrong = others + 1e-7
    pairs = Pairs(x, y, turned, numbers, rows, wrong, np.full(len(rows), 1e-3))
    squares = cdist(rows, wrong, "sqeuclidean")
    near = (2, 1) if turned else (1, 2)
    for i in range(len(rows)):
        for j in range(len(others)):
            expected = 20 * 4e-18 if (i, j) == near else squares[i, j]
            assert square_of(pairs, i, j) == pytest.approx(expected, rel=1e-5, abs=0.0)
    pairs.limits[:] = 0.0
    assert square_of(pairs, *near) == pytest.approx(20e-14, rel=0.1)
    assert exact_square(x, 1, y, 2, numbers) == pytest.approx(20 * 4e-18, rel=1e-5, abs=0.0)


def test_squares_of_leading_coordinates():
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=(3, 7)), rng.normal(size=(2, 7))
    for d in (1, 4, 7):
        assert leading_square(a, 2, b, 1, d) == pytest.approx(np.square(a[2, :d] - b[1, :d]).sum())
    assert squared_length(a, 1) == pytest.approx(np.square(a[1]).sum())


def least_leading(rows, others):
    """Give the least number of leading coordinates by which four rows tell their nearest columns."""
    n, found = len(rows), 0
    for i in (0, (n - 1) // 3, 2 * (n - 1) // 3, n - 1):
        squares = np.square(rows[i] - others)
        at = squares.sum(axis=1).argmin()
        sums = np.delete(squares.cumsum(axis=1), at, axis=0).min(axis=0)
        found = max(found, 1 + int(np.argmax(sums >= squares[at].sum())))
    return found


@pytest.mark.parametrize("d", [4, 15, 16, 80, 100])
@pytest.mark.parametrize("noise", [1e-3, 0.3, 0.6, 1.0, 1.4])
def test_leading_coordinates_are_doubled_until_they_tell_nearest_columns(d, noise):
    rows, others = drawn(20, 30, d, noise)
    least = least_leading(rows, others)
    leading = max(d // 8, 8) if d >= 16 else d
    while leading < least:
        leading = 2 * leading if 4 * leading <= d else d
    assert count_leading(rows, others) == leading


def test_where_leading_coordinates_are_unclear_all_are_taken(monkeypatch):
    widths = []

    def find(singles, *arguments):
        widths.append(singles.rows.shape[1])
        return UNCLEAR if len(widths) == 1 else find_nearest(singles, *arguments)

    monkeypatch.setattr(bounded, "find_nearest", find)
    x, y = drawn(20, 24, 80, 0.01)
    assert solved(x, y)[0] is True
    assert widths == [10, 80]
    monkeypatch.setattr(bounded, "find_nearest", lambda *arguments: CLASHING)
    assert solved(x, y)[0] is False


def test_close_points_are_told_by_their_lengths(monkeypatch):
    seen = []
    monkeypatch.setattr(bounded, "find_nearest", lambda singles, pairs, *rest: seen.append(pairs) or CLASHING)
    x, y = planted(9, 12, 4)
    solved(x, y)
    (pairs,) = seen
    lengths = np.square(pairs.rows).sum(axis=1)
    assert ((pairs.limits > 0.9 * CLOSE * lengths) & (pairs.limits < CLOSE * (lengths + 1.0))).all()
