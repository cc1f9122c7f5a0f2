"""Matching some of the pairs without the matrix: the dense optimum, its price, its proof."""

import numpy as np
import pytest

from lslmatch import Affine, match
from lslmatch.assignment import augmentation, streamed_pairs
from lslmatch.assignment.all_or_some import assign_sets
from lslmatch.assignment.path import solve_partial
from lslmatch.assignment.settings import DEFAULT
from lslmatch.costs import cost_matrix, log_rule
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.partial import partial_violation
from tests.support.problems import OBJECTIVES, draw_priced
from tests.support.reference import SMALL
from tests.support.solver import BY_REGION, noted_routes, set_solver

#: The streamed solver however small the sets are, in small tiles.
STREAMED = DEFAULT._replace(matrix_pairs=0, dense_pairs=0, tile_columns=32)
TRIALS = 10 if SMALL else 60


def assert_best(geometry, rule, cost, pairs, settings, workers=1):
    assignment, price = assign_sets(geometry, rule, pairs, workers, settings)
    unit = max(1.0, np.abs(cost).max())
    assert assignment.row_ind.size == pairs
    assert partial_violation(cost, *assignment[:4], price) <= 1e-12 * unit
    expected = solve_partial(cost, pairs)
    rows = np.flatnonzero(expected.col_of_row >= 0)
    least = cost[rows, expected.col_of_row[rows]].sum()
    assert cost[assignment.row_ind, assignment.col_ind].sum() == pytest.approx(
        least, abs=1e-11 * unit * pairs
    )
    assert assignment.objective == pytest.approx(least, abs=1e-11 * unit * pairs)
    assert price == pytest.approx(expected.price, abs=1e-11 * unit)
    return assignment, price


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("n", "m"), [(2, 2), (15, 15), (9, 22), (22, 9)])
@pytest.mark.parametrize("noise", [0.1, 0.5, 3.0])
def test_any_number_of_pairs_is_matched_at_its_price(objective, n, m, noise):
    problem = draw_priced(objective, n, m, 3, noise)
    for pairs in {1, min(n, m) // 2, min(n, m) - 1}:
        assert_best(*problem, pairs, STREAMED)


def test_whatever_the_lists_and_the_prices_that_are_tried(monkeypatch):
    rng = np.random.default_rng(4)
    for trial in range(TRIALS):
        n, m, d = rng.integers(2, 30, 2).tolist() + [int(rng.integers(1, 5))]
        points = rng.normal(size=(n, d)), rng.normal(size=(m, d))
        x, y = (np.round(part) for part in points) if trial % 3 == 0 else points
        geometry = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
        rule = log_rule(geometry)
        monkeypatch.setattr(streamed_pairs, "_FEW", int(rng.choice([0, 4])))
        settings = STREAMED._replace(
            list_size=int(rng.integers(1, 9)),
            few_pairs=0.0,
            prices=int(rng.integers(0, 9)),
            sweeps=int(rng.integers(1, 3)),
        )
        assert_best(geometry, rule, cost_matrix(geometry, rule), int(rng.integers(1, min(n, m))), settings)


@pytest.mark.parametrize("pairs", [1, 5, 7])
def test_equal_prices_give_exactly_as_many_pairs_as_wanted(pairs):
    for x, y in (
        (np.ones((8, 2)), np.ones((9, 2))),
        (np.eye(8), -np.eye(8)),
        (np.zeros((8, 1)), np.ones((8, 1))),
    ):
        geometry = common_coordinates(x, y, Affine(1.0, np.zeros(x.shape[1])))
        rule = log_rule(geometry)
        assert_best(geometry, rule, cost_matrix(geometry, rule), pairs, STREAMED._replace(few_pairs=0.0))


def test_far_regions_may_be_left_out():
    geometry, rule, cost = draw_priced("lsl", 60, 70, 2, 0.01)
    assert_best(geometry, rule, cost, 50, STREAMED._replace(**BY_REGION))


def test_workers_and_pauses_change_nothing():
    problem = draw_priced("lsl", 40, 45, 3, 1.0)
    expected = assert_best(*problem, 30, STREAMED)
    small_blocks = STREAMED._replace(block_rows=4)
    for settings, workers in ((small_blocks, 1), (small_blocks, 3), (STREAMED._replace(steps_per_call=1), 1)):
        assignment, price = assert_best(*problem, 30, settings, workers)
        assert price == expected[1]
        for one, other in zip(assignment, expected[0], strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("step", ["augment_all", "augment_cheapest"])
def test_the_dense_solver_is_the_last_resort(monkeypatch, step):
    given_up = []
    monkeypatch.setattr(streamed_pairs, step, lambda *arguments: bool(given_up.append(step)))
    assert_best(*draw_priced("lsl", 20, 25, 3, 2.0), 15, STREAMED)
    assert given_up == [step]


def test_one_by_one_is_given_up_beyond_the_passes_that_are_allowed():
    geometry, rule, _ = draw_priced("lsl", 12, 15, 3, 2.0)
    search = streamed_pairs._Search(geometry, rule, STREAMED, 1)
    assert search.solve_at(float(search.row_least.min()))
    alone = np.flatnonzero(search.state.col_of_row < 0)
    given = search.screen, search.lists, search.state, alone, 9, 1
    assert not augmentation.augment_cheapest(*given, most_passes=1e-3)
    assert augmentation.augment_cheapest(*given[:3], alone, 0, 1, most_passes=0.0)


def test_match_goes_this_way_with_large_sets(monkeypatch):
    set_solver(monkeypatch, matrix_pairs=0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3))
    y = x[::-1] + 0.1 * rng.normal(size=(30, 3))
    with noted_routes() as tried:
        result = match(x, y, pairs=20)
    assert tried == [("prices", True)]
    assert np.count_nonzero(result.permutation >= 0) == 20
