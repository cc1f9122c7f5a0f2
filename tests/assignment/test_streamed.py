"""The streamed solver against the dense one: the same optimum on every instance, and proven."""

import numpy as np
import pytest

from lslmatch import Affine, estimate_affine
from lslmatch.assignment import auction, augmentation, streamed
from lslmatch.assignment.dense import solve_dense
from lslmatch.costs import cost_matrix, log_rule, normalized_rule, square_rule
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.reference import SMALL
from tests.support.solver import BY_REGION, noted_routes, set_solver

TRIALS = 15 if SMALL else 500
LARGEST = 14 if SMALL else 60


def draw_points(rng):
    """Two sets from no signal to perfect separation, with duplicates, ties and unequal sizes among them."""
    n = int(rng.integers(2, LARGEST))
    m = n + int(rng.integers(0, 6) * rng.integers(0, 2))
    d = int(rng.choice([1, 2, 3, 10, 50, 200]))
    features = rng.normal(size=(m, d))
    if rng.random() < 0.3:
        features = features[rng.integers(0, max(1, m // 3), m)]
    if rng.random() < 0.2:
        features = np.round(features)
    level = rng.choice([0.0, 1e-8, 0.01, 0.1, 0.5, 1.0, 3.0]) * np.exp(
        rng.normal(size=(m, 1)) * rng.choice([0, 2])
    )
    x = (features + level * rng.normal(size=(m, d)))[:n]
    y = rng.permutation(features + level * rng.normal(size=(m, d)))
    return x, y * rng.choice([1.0, 0.3]) + rng.choice([0.0, 5.0])


def draw_problem(rng):
    x, y = draw_points(rng)
    try:
        affine = estimate_affine(x, y)
    except ValueError:
        affine = Affine(1.0, np.zeros(x.shape[1]))
    geometry = common_coordinates(x, y, affine)
    criterion = rng.integers(3)
    if criterion == 0:
        return geometry, log_rule(geometry)._replace(offset=0.0)
    if criterion == 1:
        return geometry, square_rule(geometry)
    levels = np.exp(rng.normal(size=len(x))), np.exp(rng.normal(size=len(y)))
    return geometry, normalized_rule(geometry, levels, affine.scale)


def assert_proven_optimum(geometry, rule, solution):
    cost = cost_matrix(geometry, rule)
    n, m = cost.shape
    rows, cols = np.arange(n), solution.col_of_row
    assert np.unique(cols).size == n
    np.testing.assert_array_equal(solution.row_of_col[cols], rows)
    scale = 1e-11 * max(1.0, np.abs(cost).max()) * n
    dense = solve_dense(cost)
    assert abs(cost[rows, cols].sum() - cost[rows, dense.col_of_row].sum()) <= scale
    slack = cost - solution.row_dual[:, None] - solution.col_dual
    assert slack.min() >= -scale
    assert np.abs(slack[rows, cols]).max() <= scale
    if n < m:
        unmatched = np.setdiff1d(np.arange(m), cols)
        assert solution.col_dual.max() <= 0.0
        assert not solution.col_dual[unmatched].any()


@pytest.fixture
def always_streamed(monkeypatch):
    set_solver(monkeypatch, dense_pairs=0)


@pytest.mark.usefixtures("always_streamed")
@pytest.mark.parametrize(("size", "kept"), [(2, 0), (5, 1 << 20), (24, 0), (32, 1 << 20)])
@pytest.mark.parametrize("conflicts", [0.05, 1.0])
def test_the_optimum_is_that_of_the_dense_solver(size, kept, conflicts, monkeypatch):
    set_solver(monkeypatch, list_size=size, kept_pairs=kept, many_conflicts=conflicts)
    rng = np.random.default_rng([size, int(conflicts)])
    for _ in range(TRIALS):
        geometry, rule = draw_problem(rng)
        assert_proven_optimum(geometry, rule, streamed.solve_streamed(geometry, rule))


@pytest.mark.usefixtures("always_streamed")
@pytest.mark.parametrize("overhead", [0, 1000])
def test_duals_from_some_rows_do_not_change_the_optimum(overhead, monkeypatch):
    set_solver(
        monkeypatch, sampled_pairs=0, sampled_mutual=2.0, sampled=3, pair_overhead=overhead, block_rows=8
    )
    samples = []
    of_sample = streamed._duals_of_sample
    monkeypatch.setattr(streamed, "_duals_of_sample", lambda *args: samples.append(0) or of_sample(*args))
    rng = np.random.default_rng(11)
    while len(samples) < TRIALS / 2:
        geometry, rule = draw_problem(rng)
        if rule.logarithm or geometry.shape[0] != geometry.shape[1]:
            continue
        solution = streamed.solve_streamed(geometry, rule, workers=2)
        assert_proven_optimum(geometry, rule, solution)
        for left, right in zip(solution, streamed.solve_streamed(geometry, rule), strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.fixture
def always_by_region(always_streamed, monkeypatch):
    """Many small regions, and a search by region whatever the points look like."""
    set_solver(monkeypatch, block_rows=8, **BY_REGION)


@pytest.mark.usefixtures("always_by_region")
@pytest.mark.parametrize("conflicts", [0.05, 1.0])
def test_leaving_out_far_regions_does_not_change_the_optimum(conflicts, monkeypatch):
    set_solver(monkeypatch, many_conflicts=conflicts)
    rng = np.random.default_rng([9, int(conflicts)])
    for _ in range(TRIALS):
        geometry, rule = draw_problem(rng)
        solution = streamed.solve_streamed(geometry, rule, workers=int(rng.integers(1, 3)))
        assert_proven_optimum(geometry, rule, solution)


@pytest.mark.usefixtures("always_streamed")
def test_any_column_duals_are_a_valid_start(monkeypatch):
    set_solver(monkeypatch, list_size=6)
    rng = np.random.default_rng(5)
    for _ in range(TRIALS // 2):
        geometry, rule = draw_problem(rng)
        n, m = geometry.shape
        if n != m:
            continue
        start = rng.normal(size=m) * rng.choice([0.0, 0.1, 10.0])
        assert_proven_optimum(geometry, rule, streamed.solve_streamed(geometry, rule, col_dual=start))


@pytest.mark.usefixtures("always_streamed")
def test_a_start_from_the_solution_leaves_the_objective_in_place():
    rng = np.random.default_rng(6)
    for _ in range(TRIALS // 10):
        geometry, rule = draw_problem(rng)
        if geometry.shape[0] == geometry.shape[1]:
            first = streamed.solve_streamed(geometry, rule)
            again = streamed.solve_streamed(geometry, rule, col_dual=first.col_dual)
            assert_proven_optimum(geometry, rule, again)


@pytest.mark.usefixtures("always_streamed")
def test_workers_do_not_change_a_bit(monkeypatch):
    set_solver(monkeypatch, block_rows=8)
    rng = np.random.default_rng(7)
    for _ in range(TRIALS // 20):
        geometry, rule = draw_problem(rng)
        one, three = (streamed.solve_streamed(geometry, rule, workers=workers) for workers in (1, 3))
        for left, right in zip(one, three, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.usefixtures("always_streamed")
def test_column_duals_that_overflow_in_a_screening_value_are_harmless(monkeypatch):
    set_solver(monkeypatch, list_size=3)
    rng = np.random.default_rng(8)
    for _ in range(6 if SMALL else 20):
        x, y = rng.normal(size=(2, 12, 2))
        geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
        rule = log_rule(geometry)._replace(offset=0.0)
        start = -rng.uniform(0.0, 2000.0, 12)
        assert_proven_optimum(geometry, rule, streamed.solve_streamed(geometry, rule, col_dual=start))


@pytest.mark.skipif(SMALL, reason="one thousand points take minutes without compilation")
@pytest.mark.parametrize("noise", [0.05, 0.5, 5.0])
@pytest.mark.parametrize("d", [3, 30])
def test_a_thousand_points_reach_the_dense_optimum(noise, d, monkeypatch):
    set_solver(monkeypatch, dense_pairs=0)
    rng = np.random.default_rng([d, int(100 * noise)])
    features = rng.normal(size=(1000, d))
    x, y = features + noise * rng.normal(size=(2, 1000, d))
    geometry = common_coordinates(x, rng.permutation(y), Affine(1.0, np.zeros(d)))
    rule = log_rule(geometry)._replace(offset=0.0)
    assert_proven_optimum(geometry, rule, streamed.solve_streamed(geometry, rule))


def test_a_limit_is_exceeded_where_the_least_costs_of_the_rows_add_up_to_more():
    rng = np.random.default_rng(8)
    for _ in range(TRIALS // 10):
        x, y = draw_points(rng)
        geometry = common_coordinates(x, 8.0 * y, Affine(1.0, np.zeros(x.shape[1])))
        rule = log_rule(geometry)
        least = cost_matrix(geometry, rule).min(axis=1)
        # The bounds are lowered by what single precision may be wrong by: 0.0064 for d = 200.
        tolerance = 1e-2 * least.size
        assert least.sum() - tolerance < streamed.least_costs(geometry, rule).sum()
        assert (streamed.least_costs(geometry, rule) <= least + 1e-9).all()


@pytest.mark.parametrize(("d", "shift", "crowded"), [(3, 3.0, True), (3, 0.0, False), (9, 3.0, False)])
def test_crowded_sets_in_few_dimensions_are_auctioned_at_once(monkeypatch, d, shift, crowded):
    auctions = []
    monkeypatch.setattr(
        streamed, "bid_for_columns", lambda *given: auctions.append(given) or auction.bid_for_columns(*given)
    )
    set_solver(monkeypatch, matrix_pairs=0, dense_pairs=0, crowded_conflicts=0.6, auction_after=1e9)
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(50, d)), rng.normal(size=(50, d)) + shift
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
    rule = log_rule(geometry)._replace(offset=0.0)
    assert_proven_optimum(geometry, rule, streamed.solve_streamed(geometry, rule))
    assert bool(auctions) == crowded


@pytest.mark.parametrize(("m", "resort"), [(LARGEST, "auction"), (LARGEST + 3, "resort")])
def test_paths_that_take_too_long_are_given_up(monkeypatch, m, resort):
    """Sets far apart: a cost is nearly the sum of one of its row and one of its column."""
    set_solver(monkeypatch, matrix_pairs=0, dense_conflicts=1.0, many_conflicts=1.0, crowded_conflicts=1.0)
    set_solver(monkeypatch, steps_per_call=50)
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(LARGEST, 3)), rng.normal(size=(m, 3)) + 100.0
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(3)))
    rule = log_rule(geometry)._replace(offset=0.0)
    for passes, last in ((0.01, (resort, True)), (1e9, ("paths", True))):
        set_solver(monkeypatch, most_passes=passes, auction_after=passes)
        with noted_routes() as tried:
            assert_proven_optimum(geometry, rule, streamed.solve_streamed(geometry, rule))
        assert tried[-1] == last


@pytest.mark.parametrize("resort", [True, False])
def test_paths_after_an_auction_that_did_not_help_are_given_up(monkeypatch, resort):
    """As beside points that are far out: duals of an auction may be of no use."""
    taken = []
    solve = streamed.solve_matrix
    monkeypatch.setattr(streamed, "solve_matrix", lambda *given: taken.append(given) or solve(*given))
    set_solver(monkeypatch, matrix_pairs=0, dense_conflicts=1.0, crowded_conflicts=-1.0, list_size=2)
    set_solver(monkeypatch, most_passes=0.0, auction_passes=0, auction_free=1.0, last_resort=25 * resort)
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(LARGEST, 3)), rng.normal(size=(LARGEST, 3)) + 100.0
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(3)))
    rule = log_rule(geometry)._replace(offset=0.0)
    assert_proven_optimum(geometry, rule, streamed.solve_streamed(geometry, rule))
    assert len(taken) == resort


@pytest.mark.usefixtures("always_streamed")
def test_a_search_that_pauses_after_every_row_ends_the_same(monkeypatch):
    augment_rows, pauses = augmentation._augment_rows, 0

    def counted(*arguments):
        nonlocal pauses
        done = augment_rows(*arguments)
        pauses += done == arguments[6]
        return done

    set_solver(monkeypatch, list_size=2)
    monkeypatch.setattr(augmentation, "_augment_rows", counted)
    rng = np.random.default_rng(8)
    for _ in range(TRIALS // 4):
        problem = draw_problem(rng)
        whole = streamed.solve_streamed(*problem)
        with monkeypatch.context() as one_step:
            set_solver(one_step, steps_per_call=1)
            paused = streamed.solve_streamed(*problem)
        for part, same in zip(whole, paused, strict=True):
            np.testing.assert_array_equal(part, same)
    assert pauses > TRIALS // 4
