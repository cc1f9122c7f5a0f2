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
    Singles,
    _note_lowest,
    count_mutual,
    find_nearest,
    list_low,
    most_above,
    write_singles,
)
from lslmatch.assignment.bounded_paths import _reach_of_free, augment_few
from lslmatch.assignment.exact_squares import Pairs
from lslmatch.assignment.small_coordinates import NOT_ORDINARY
from lslmatch.assignment.small_dense import FLOOR, LOST, SCALE, SHIFT, SPREAD, take_logarithms
from lslmatch.geometry.expansion import absolute_error, relative_error, underflow_error
from lslmatch.geometry.panels import FEW_ROWS, PANEL

#: Kernels as plain Python, which sees what is put in the place of their steps.
EASILY = getattr(match_bounded, "py_func", match_bounded)


def singles_of(x, y, error=0.0):
    """Put two sets, x not larger than y, in single precision; their coordinates may be wrong by an error."""
    (n, d), m = x.shape, len(y)
    room = m + -m % PANEL
    unit = 1.0 / math.sqrt(np.square(np.concatenate([x, y])).sum(axis=1).mean())
    arrays = np.empty((n, d), "f4"), np.empty(n, "f4"), np.empty((1, room // PANEL, d, PANEL), "f4")
    # Errors of 4 v of an offset, in units of which they are.
    lost = unit**2 * absolute_error(d, d * (error * 2.0**51) ** 2, 0.0) + underflow_error(d)
    singles = Singles(*arrays, np.empty((1, room), "f4"), unit, lost)
    wrong = y + error * np.random.default_rng(0).choice([-1.0, 1.0], y.shape)
    write_singles(np.ascontiguousarray(x.T), np.ascontiguousarray(wrong.T), m, singles)
    return singles, room


def pairs_of(x, y):
    numbers = np.zeros(SHIFT + x.shape[1])
    numbers[SCALE], numbers[FLOOR] = 1.0, 1e-300
    return Pairs(x, y, False, numbers)


def nearest_of(x, y, error=0.0):
    n, m = len(x), len(y)
    singles, room = singles_of(x, y, error)
    room = np.empty((FEW_ROWS, room), "f4"), np.empty(m, np.int64), np.empty(m)
    spare = np.empty(m, np.int64), np.empty(m)
    assert find_nearest(singles, pairs_of(x, y), *room, *spare)
    return singles, room[1][:n], room[2][:n]


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
        singles, room = singles_of(x, y)
        spare = np.empty(m, np.int64), np.empty(m), np.empty(m, np.int64), np.empty(m)
        found = find_nearest(singles, pairs_of(x, y), np.empty((FEW_ROWS, room), "f4"), *spare)
        assert found == is_found


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
    write_singles(np.ascontiguousarray(x.T), np.ascontiguousarray(y.T), 2, singles)
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


def test_the_lowest_bound_is_noted_if_no_other_is_near():
    infinity = np.inf
    bounds = np.array(
        [
            [3.0, 1.0, 2.0, infinity],
            [1.0005, 1.0, 2.0, infinity],
            [-1.0, -3.0, 2.0, -2.0],
            [0.0, 5.0, 0.0, infinity],
        ],
        "f4",
    )
    nearest, limits = np.full(8, -9), np.full(8, -9.0)
    _note_lowest(bounds, np.ones(8, "f4"), 4, 8, np.float32(2.0**-10), np.float32(0.0), nearest, limits)
    # (A margin of 12 thousandths, of a norm of 1 and a bound of 1.) Bit patterns of negative numbers have
    # another order, but then several bounds are low.
    assert nearest[4] == 1
    assert limits[4] == most_above(np.float32(1.0), np.float32(1.0), np.float32(2.0**-10), np.float32(0.0))
    assert (nearest[5], limits[5]) == (0, -1.0)
    assert limits[6] < 0.0
    assert (nearest[7], limits[7]) == (0, -1.0)
    assert (nearest[:4] == -9).all()
    assert (limits[:4] == -9.0).all()


@pytest.mark.parametrize("width", [1, 31, 32, 33, 70])
def test_low_values_are_listed_in_their_order(width):
    rng = np.random.default_rng(width)
    values, columns = rng.integers(0, 6, 96).astype("f4"), np.full(96, -1)
    for limit in (-1.0, 0.0, 2.0, 9.0):
        count = list_low(values, width, limit, columns)
        np.testing.assert_array_equal(columns[:count], np.flatnonzero(values[:width] <= limit))


def test_the_bound_of_a_free_column_is_that_of_the_least_one():
    bounds, holders = np.array([0.5, 2.0, 1.5, 3.0], "f4"), np.array([0, -1, 5, -1])
    found = _reach_of_free(bounds, holders, np.float32(4.0), 3, np.float32(0.125))
    margin = np.float32(relative_error(3))
    assert found == most_above(np.float32(2.0), np.float32(4.0), margin, np.float32(0.125))
    assert found > 2.5


def augmented(x, y, logarithm, error=0.0, budget=1 << 40, work=3):
    """Match rows to their nearest columns, and then along shortest paths, however many are free."""
    n, m = len(x), len(y)
    singles, nearest, least = nearest_of(x, y, error)
    pairs, least = pairs_of(x, y), least.copy()
    if logarithm:
        take_logarithms(least, n, pairs.numbers[FLOOR])
    solution = least, np.zeros(m), np.full(n, -1), np.full(m, -1)
    for i in range(n):
        if solution[3][nearest[i]] < 0:
            solution[2][i], solution[3][nearest[i]] = nearest[i], i
    spare = np.empty(m), np.empty(m), np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    line = np.empty(m + -m % PANEL, "f4")
    return augment_few(singles, pairs, logarithm, solution, line, spare, work, budget), *solution


@pytest.mark.parametrize("logarithm", [True, False])
@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("n", "m"), [(20, 20), (20, 37)])
@pytest.mark.parametrize("draw", [clear, hardly_different, near_and_far_out])
@pytest.mark.parametrize("error", [0.0, 1e-3])
def test_paths_are_shortest_however_many_rows_are_free(logarithm, size, n, m, draw, error):
    x, y = (size * points for points in draw(n, m, 2, np.random.default_rng([n, m])))
    y = y[:m]
    is_done, row_dual, col_dual, col_of_row, row_of_col = augmented(x, y, logarithm, error * size)
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
    return EASILY(x, y, logarithm, numbers, np.empty(size), np.empty(size, np.intp)), numbers


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
        lambda rows, columns, m, singles: seen.append(singles) or write(rows, columns, m, singles),
    )
    x, y = planted(30, 33, 3)
    is_solved, numbers = solved(1e3 * x + 1e6, y)
    assert is_solved
    (singles,) = seen
    assert singles.unit**2 * numbers[SPREAD] == pytest.approx(1.0)
    assert numbers[LOST] > 0.0
    assert singles.lost == pytest.approx(numbers[LOST] / numbers[SPREAD] + 3 * 2.0**-104, rel=1e-12)
    assert singles.lost > 3 * 2.0**-104


@pytest.mark.parametrize(
    ("n", "mutual", "is_asked", "is_solved"),
    [(127, 0, False, True), (128, 27, True, False), (128, 28, True, True)],
)
def test_a_look_is_taken_at_many_rows(n, mutual, is_asked, is_solved, monkeypatch):
    looks = []
    monkeypatch.setattr(bounded, "count_mutual", lambda *arguments: looks.append(1) or mutual)
    assert solved(*planted(n, n))[0] == is_solved
    assert len(looks) == is_asked


@pytest.mark.parametrize("step", ["find_nearest", "augment_few"])
def test_what_a_step_gives_up_is_given_up(step, monkeypatch):
    x, y = planted(40, 40)
    y[0] = y[1]
    assert solved(x, y)[0]
    monkeypatch.setattr(bounded, step, lambda *arguments: False)
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
    found = EASILY(x, y, True, numbers, np.empty(72), np.empty(72, np.intp))
    assert found is is_solved


@pytest.mark.parametrize(("n", "m", "d"), [(32, 33, 3), (40, 130, 90), (60, 32, 90)])
def test_work_and_budget_grow_with_the_sizes(n, m, d, monkeypatch):
    asked = []
    monkeypatch.setattr(bounded, "augment_few", lambda *arguments: asked.append(arguments[-2:]) or True)
    x, y = planted(n, m, d)
    if n <= m:
        x[0] = x[1] + 1e-3
    else:
        y[0] = y[1] + 1e-3
    assert solved(x, y)[0]
    rows, columns = min(n, m), max(n, m)
    work = columns * (d + 10) // 1024
    assert asked == [(work, rows * (work // 2 + 4))]


def test_a_few_rows_are_counted_that_are_nearest_to_their_nearest_column():
    """Rows and columns in other panels than the first count as rivals, too."""
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(PANEL + 9, 2)), rng.normal(size=(3 * PANEL - 5, 2))
    x[-5:] = y[rng.permutation(len(y))[:5]]
    distances = cdist(x, y)
    nearest = distances.argmin(axis=1)
    expected = np.count_nonzero(distances.argmin(axis=0)[nearest[:PANEL]] == np.arange(PANEL))
    assert 5 < expected < PANEL
    singles, room = singles_of(x, y)
    rooms = np.empty((FEW_ROWS, room), "f4"), np.empty(len(y), np.int64), np.empty(len(y))
    spare = np.empty((1, 1, 2, PANEL), "f4"), np.empty((1, PANEL), "f4"), np.empty((FEW_ROWS, PANEL), "f4")
    assert count_mutual(singles, *rooms, *spare) == expected
