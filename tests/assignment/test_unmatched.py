"""`solve_assignment(unmatched=...)`: pairs that are worth a price, beside what other programs give."""

import numpy as np
import pytest

from lslmatch import solve_assignment
from tests.support.partial import least_costs, partial_violation

#: The examples of lap's tests of its solver, with and without a limit.
EIGHT = np.array(
    [
        [1000, 2, 11, 10, 8, 7, 6, 5],
        [6, 1000, 1, 8, 8, 4, 6, 7],
        [5, 12, 1000, 11, 8, 12, 3, 11],
        [11, 9, 10, 1000, 1, 9, 8, 10],
        [11, 11, 9, 4, 1000, 2, 10, 9],
        [12, 8, 5, 2, 11, 1000, 11, 9],
        [10, 11, 12, 10, 9, 12, 1000, 3],
        [10, 10, 10, 10, 6, 3, 1, 1000],
    ],
    float,
)
TWO_BLOCKS = np.array(
    [
        [19.0, 22.0, 16.0, np.inf, np.inf],
        [np.inf, np.inf, np.inf, 4.0, 13.0],
        [np.inf, np.inf, np.inf, 3.0, 14.0],
        [np.inf, np.inf, np.inf, 10.0, 12.0],
        [11.0, 14.0, 13.0, np.inf, np.inf],
    ]
)


def solve(cost, price, **options):
    result = solve_assignment(cost, unmatched=price, **options)
    sign = -1.0 if options.get("maximize") else 1.0
    proof = sign * result.row_dual, sign * result.col_dual, sign * price
    cost = np.asarray(cost, float)
    assert partial_violation(sign * cost, result.row_ind, result.col_ind, *proof) <= 1e-12 * max(
        1, abs(price)
    )
    assert (np.diff(result.row_ind) > 0).all()
    assert result.objective == pytest.approx(cost[result.row_ind, result.col_ind].sum())
    return result


def as_dict(result):
    return dict(zip(result.row_ind.tolist(), result.col_ind.tolist(), strict=True))


def test_a_pair_above_the_limit_is_left_out_as_by_lap():
    assert as_dict(solve(EIGHT[:3, :3], 4.99)) == {0: 1, 1: 2}
    assert as_dict(solve(EIGHT[:3, :3], 5.01)) == {0: 1, 1: 2, 2: 0}


def test_a_high_limit_changes_nothing():
    assert solve(EIGHT, 5000.0).objective == solve_assignment(EIGHT).objective == 17.0
    assert solve(EIGHT[:2, :4], 900.0).objective == 3.0


def test_forbidden_pairs_leave_as_many_as_can_be_matched():
    result = solve(TWO_BLOCKS, 100.0)
    assert result.row_ind.size == 4
    assert result.objective == least_costs(TWO_BLOCKS)[4]


def test_walking_away_may_be_better_than_an_allowed_pair():
    # A matching of both rows exists below the limit, but costs more than one good pair and staying alone.
    assert as_dict(solve([[0.1, 0.79], [0.79, 1.0]], 0.8)) == {0: 0}


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (5, 2), (4, 4)])
@pytest.mark.parametrize("price", [-1.0, 0.0, 0.5, 1.0, 2.0])
def test_the_sum_beyond_the_price_is_least(shape, price):
    for cost in (
        np.random.default_rng(shape).normal(size=shape),
        np.random.default_rng(shape).integers(-1, 3, shape),
    ):
        result = solve(cost, price)
        least = min(total - price * k for k, total in enumerate(least_costs(np.asarray(cost, float))))
        assert result.objective - price * result.row_ind.size == pytest.approx(least, abs=1e-12)


def test_nothing_is_matched_if_nothing_is_worth_it():
    for cost in (np.ones((3, 4)), np.full((2, 2), np.inf), np.empty((0, 3)), np.empty((2, 0))):
        result = solve(cost, 0.5)
        assert result.row_ind.size == result.col_ind.size == 0
        assert result.objective == 0.0


def test_maximising_is_minimising_the_negative():
    cost = np.random.default_rng(1).normal(size=(6, 8))
    least, greatest = solve(cost, 0.3), solve(-cost, -0.3, maximize=True)
    assert as_dict(least) == as_dict(greatest)
    np.testing.assert_array_equal(least.row_dual, -greatest.row_dual)


def test_costs_and_prices_near_the_end_of_the_range():
    cost = np.array([[1.0, 8.0], [8.0, 4.0]])
    for factor in (1e307, 2.0**1020):
        assert as_dict(solve_assignment(cost * factor, unmatched=3.0 * factor)) == {0: 0}
    assert as_dict(solve_assignment(cost, unmatched=1e308)) == {0: 0, 1: 1}


@pytest.mark.parametrize("price", [np.inf, -np.inf, np.nan, [1.0, 2.0], "free", 1j])
def test_a_price_must_be_one_finite_number(price):
    with pytest.raises((ValueError, TypeError), match="unmatched must"):
        solve_assignment(np.eye(2), unmatched=price)


def test_lap_with_a_cost_limit_agrees():
    lap = pytest.importorskip("lap")
    rng = np.random.default_rng(5)
    for _ in range(100):
        cost, price = rng.random(rng.integers(1, 9, 2)), 0.05 + rng.random()
        columns = lap.lapjv(cost, extend_cost=True, cost_limit=price)[1]
        rows = np.flatnonzero(columns >= 0)
        result = solve(cost, price)
        assert (cost[rows, columns[rows]] - price).sum() == pytest.approx(
            result.objective - price * result.row_ind.size, abs=1e-12
        )
