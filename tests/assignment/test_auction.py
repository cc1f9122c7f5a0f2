"""Auctions: their duals are near to those of the optimum, and their lists hold what they say."""

import math

import numpy as np
import pytest

from lslmatch import check_certificate, linear_sum_assignment, match
from lslmatch.assignment import auction
from lslmatch.assignment.auction import _gap, _split_costs, bid_for_columns
from lslmatch.assignment.screening import column_factors, make_screen
from lslmatch.assignment.settings import SolverSettings
from lslmatch.assignment.shortlists import Shortlists
from lslmatch.costs import cost_matrix, log_rule, square_rule
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.geometry.tiles import empty_in_line
from lslmatch.results import Affine
from tests.support.problems import OBJECTIVES, draw_priced
from tests.support.reference import SMALL
from tests.support.solver import set_solver

SETTINGS = SolverSettings(tile_columns=32)


def auctioned(geometry, rule, settings=SETTINGS, size=8):
    n, m = geometry.shape
    lists = Shortlists.empty(n, min(size, m))
    return bid_for_columns(make_screen(geometry, rule, settings, single=False), lists, settings), lists


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 1), (30, 2), (40, 7)])
def test_duals_are_nearly_those_of_the_optimum(objective, n, d):
    geometry, rule, cost = draw_priced(objective, n, n, d)
    col_dual, lists = auctioned(geometry, rule)
    rows, cols = linear_sum_assignment(cost)
    bound = (cost - col_dual).min(axis=1).sum() + col_dual.sum()
    gap = cost[rows, cols].sum() - bound
    spread = (cost - cost.mean(axis=0) - cost.mean(axis=1, keepdims=True)).std()
    at_first = cost[rows, cols].sum() - cost.min(axis=1).sum()
    assert -1e-9 * np.abs(cost).sum() <= gap <= 0.2 * spread + 0.1 * at_first
    for i in range(n):
        listed = np.isfinite(lists.cost[i])
        np.testing.assert_allclose(lists.cost[i, listed], cost[i, lists.col[i, listed]], rtol=1e-12)
        others = np.delete(cost[i] - col_dual, lists.col[i, listed])
        assert (others >= lists.bound[i] - 1e-12 * np.abs(cost).max()).all()


def test_returns_to_python_change_nothing():
    geometry, rule, _ = draw_priced("lsl", 30, 30, 2)
    often = SETTINGS._replace(block_rows=1)
    np.testing.assert_array_equal(auctioned(geometry, rule)[0], auctioned(geometry, rule, often)[0])


def test_parts_of_columns_are_told_from_the_rest():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 1e4
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
    rule = log_rule(geometry)._replace(offset=0.0)
    cost = cost_matrix(geometry, rule)
    col_part, spread = _split_costs(make_screen(geometry, rule, SETTINGS, single=False))
    np.testing.assert_allclose(col_part, cost.mean(axis=0), rtol=1e-12)
    assert spread < 1e-3 * cost.std()


def far_clusters(distance=1e3, n=60):
    """What tells far columns apart is small beside the distance of clusters."""
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
    x[: n // 4] += distance
    y[: 3 * n // 4] += distance
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
    rule = log_rule(geometry)._replace(offset=0.0)
    return geometry, rule, cost_matrix(geometry, rule)


def test_steps_get_smaller_than_the_least_scale_of_the_costs():
    geometry, rule, cost = far_clusters()
    rows, cols = linear_sum_assignment(cost)
    gaps = []
    for further in (0, 8):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(auction, "_FURTHER", further)
            col_dual, _ = auctioned(geometry, rule, size=24)
        gaps.append(cost[rows, cols].sum() - (cost - col_dual).min(axis=1).sum() - col_dual.sum())
    assert 0.0 <= gaps[1] < 0.1 * gaps[0]


class Recorded:
    """The auctions of a problem: their steps and bids, and the gaps that were looked at between them."""

    def __init__(self, monkeypatch):
        self.steps, self.bids, self.gaps = [], [], []
        bid, gap = auction._bid, auction._gap

        def recorded_bid(screen, factors, lists, col_dual, state, step, most):
            if not self.steps or self.steps[-1] != step:
                assert state.ends[1] == col_dual.size, "all rows are free when an auction begins"
                self.steps.append(step)
                self.bids.append(0)
            done = bid(screen, factors, lists, col_dual, state, step, most)
            assert done < most + auction._BIDS + 1
            self.bids[-1] += done
            return done

        monkeypatch.setattr(auction, "_bid", recorded_bid)
        monkeypatch.setattr(auction, "_gap", lambda *a: self.gaps.append(gap(*a)) or self.gaps[-1])


def few_auctions(n):
    """Give the number of auctions until steps are less than a share of 1 / (4 n) of the first."""
    return 1 + int(math.log(4 * n, 5))


@pytest.mark.parametrize(
    ("size", "distance", "further"),
    # Lists of one pair have no gaps. Those of far clusters are less than the last step.
    [(1, 1e3, {0}), (16, 1e3, {8}), (16, 20.0, {1, 2, 3, 4, 5, 6, 7})],
)
def test_steps_fall_by_a_factor_until_they_are_small_beside_the_gaps(size, distance, further, monkeypatch):
    geometry, rule, cost = far_clusters(distance, 20)
    n = len(cost)
    recorded = Recorded(monkeypatch)
    auctioned(geometry, rule, size=size)
    spread = (cost - cost.mean(axis=0) - cost.mean(axis=1, keepdims=True)).std()
    count = len(recorded.steps)
    np.testing.assert_allclose(recorded.steps, 0.5 * spread / 5.0 ** np.arange(count), rtol=1e-9)
    first = few_auctions(n)
    assert count - first in further
    assert len(recorded.gaps) == min(count - first + 1, 8)
    is_small = [
        step <= 0.03 * gap for step, gap in zip(recorded.steps[first - 1 :], recorded.gaps, strict=False)
    ]
    assert is_small == [False] * (count - first) + [True] * (count < first + 8)


def test_auctions_end_when_their_work_is_done(monkeypatch):
    geometry, rule, _ = draw_priced("lsl", 30, 30, 2)
    recorded = Recorded(monkeypatch)
    # New lists, which count as 64 bids, of half of the rows.
    auctioned(geometry, rule, SETTINGS._replace(auction_passes=0.5))
    assert len(recorded.steps) == 1
    assert 15 * 64 <= recorded.bids[0] <= 16 * 65


@pytest.mark.parametrize("distance", [2e6, 4e6, 6e6, 8e6, 1e7])
def test_auctions_end_when_steps_get_lost_in_the_duals(distance, monkeypatch):
    """Sets so far apart that their costs differ by less than single bids could add to them."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + distance
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
    rule = log_rule(geometry)._replace(offset=0.0)
    recorded = Recorded(monkeypatch)
    col_dual, _ = auctioned(geometry, rule, size=3)
    lost = 2.0**-48 * np.abs(col_dual).max()
    assert recorded.steps[-1] > lost >= recorded.steps[-1] / 5.0
    assert sum(recorded.bids) < SETTINGS.auction_passes * 20 * 64


def test_the_gap_is_that_of_the_eighth_best_column_of_a_tenth_of_the_rows():
    rng = np.random.default_rng(6)
    lists = Shortlists(rng.integers(0, 30, (25, 12)), rng.normal(size=(25, 12)), np.zeros(25))
    col_dual = rng.normal(size=30)
    reduced = np.sort(lists.cost - col_dual[lists.col], axis=1)
    gaps = np.sort(reduced[:, 7] - reduced[:, 0])
    assert _gap(lists, col_dual) == gaps[2]
    # Of fewer columns, the last; rows that know of no difference do not count.
    few = Shortlists(lists.col[:, :3].copy(), lists.cost[:, :3].copy(), lists.bound)
    few.col[:10], few.cost[:10] = 4, 7.0
    reduced = np.sort(few.cost - col_dual[few.col], axis=1)
    assert _gap(few, col_dual) == np.sort((reduced[:, 2] - reduced[:, 0])[10:])[1]
    assert _gap(Shortlists(few.col[:10], few.cost[:10], few.bound[:10]), col_dual) == math.inf


@pytest.mark.parametrize("exponent", [0, 256, -200])
def test_the_spread_of_costs_of_any_magnitude_is_found(exponent):
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(90, 2)), rng.normal(size=(90, 2))
    geometry = common_coordinates(
        *(np.ldexp(points, exponent) for points in (x, y)), Affine(1.0, np.zeros(2))
    )
    col_part, spread = _split_costs(make_screen(geometry, square_rule(geometry), SETTINGS, single=False))
    rows = np.linspace(0, 89, 64).astype(int)
    cost = np.square(x[rows, None] - y).sum(axis=2)
    rest = cost - cost.mean(axis=0) - cost.mean(axis=1, keepdims=True) + cost.mean()
    assert math.ldexp(spread, -2 * exponent) == pytest.approx(rest.std(), rel=1e-9)
    np.testing.assert_allclose(np.ldexp(col_part, -2 * exponent), cost.mean(axis=0), rtol=1e-9)


def bidding(bound, step):
    """Prepare bids of three rows, all for column 1, that know two pairs each; no other is below the bound."""
    geometry, rule, cost = draw_priced("lsl", 6, 6, 2)
    screen = make_screen(geometry, rule, SETTINGS, single=False)
    cols = np.tile([1, 2], (6, 1))
    lists = Shortlists(cols, np.tile([1.0, 1.5], (6, 1)), np.full(6, bound))
    state = auction._Auction(
        np.full(6, -1, np.intp),
        np.array([3, 0, 5, 9, 9, 9]),
        np.array([0, 3]),
        empty_in_line((screen.tiles.b_squares.size,), screen.tiles.a.dtype),
        screen.lanes(),
    )
    col_dual = np.zeros(6)
    factors = column_factors(screen, col_dual)
    return (
        lists,
        state,
        col_dual,
        lambda most: auction._bid(screen, factors, lists, col_dual, state, step, most),
        cost,
    )


def test_a_bid_is_what_the_second_best_costs_more_and_a_step():
    _, state, col_dual, bid, _ = bidding(9.0, 0.125)
    assert bid(1) == 1
    np.testing.assert_array_equal(col_dual, [0.0, -0.625, 0.0, 0.0, 0.0, 0.0])
    assert state.row_of_col[1] == 3
    np.testing.assert_array_equal(state.ends, [1, 2])
    # The next one takes column 2, which is the better one by a step now.
    assert bid(1) == 1
    assert col_dual[2] == pytest.approx(-0.25)
    assert list(state.row_of_col[[1, 2]]) == [3, 0]
    np.testing.assert_array_equal(state.ends, [2, 1])
    # The third outbids the first, which is free then: at the end of the queue.
    assert bid(1) == 1
    assert list(state.row_of_col[[1, 2]]) == [5, 0]
    np.testing.assert_array_equal(state.ends, [3, 1])
    assert state.queue[3] == 3
    assert bid(3) == 3, "the queue is a ring"


def test_a_bid_is_not_more_than_what_other_columns_may_cost():
    _, _, col_dual, bid, _ = bidding(1.25, 0.125)
    assert bid(1) == 1
    assert col_dual[1] == -0.375


@pytest.mark.parametrize(("slack", "is_renewed"), [(9.9, False), (10.1, True)])
def test_a_list_is_renewed_if_others_may_be_better_by_more_than_some_steps(slack, is_renewed):
    step = 0.125
    lists, _, col_dual, bid, cost = bidding(1.0 - slack * step, step)
    assert bid(1) == (65 if is_renewed else 1)
    if is_renewed:
        best = np.sort(cost[3])
        np.testing.assert_allclose(np.sort(lists.cost[3]), best[:2], rtol=1e-12)
        np.testing.assert_allclose(lists.cost[3], cost[3, lists.col[3]], rtol=1e-12)
        assert lists.bound[3] <= best[2]
        assert lists.bound[3] == pytest.approx(best[1], abs=1e-9), "none is better than those listed"
        assert col_dual.min() == pytest.approx(best[0] - min(best[1], lists.bound[3]) - step)
    else:
        # Somebody else's column may be as good: only a step is bid.
        assert col_dual[1] == -step


def test_costs_that_are_all_equal_need_no_auction(monkeypatch):
    recorded = Recorded(monkeypatch)
    geometry = common_coordinates(np.zeros((5, 2)), np.zeros((5, 2)), Affine(1.0, np.zeros(2)))
    col_dual, _ = auctioned(geometry, log_rule(geometry))
    assert np.ptp(col_dual) == 0.0
    assert not recorded.steps


def wide_and_narrow(rng, n, d):
    return rng.normal(size=(n, d)), 20.0 * rng.normal(size=(n, d))


def ring_around_blob(rng, n, d):
    y = rng.normal(size=(n, d))
    return rng.normal(size=(n, d)), 5.0 * y / np.linalg.norm(y, axis=1, keepdims=True)


def apart_but_for_outliers(rng, n, d):
    x, y = rng.normal(size=(n, d)), rng.normal(size=(n, d)) + 8.0
    x[: n // 10] *= 20.0
    return x, y


def clusters_of_other_sizes(rng, n, d):
    """Clusters that coincide, and lattice points in them."""
    x, y = np.round(rng.normal(size=(n, d))), rng.normal(size=(n, d))
    x[: n // 3] += 30.0
    y[: 2 * n // 3] += 30.0
    return x, y


@pytest.mark.parametrize(
    "draw", [wide_and_narrow, ring_around_blob, apart_but_for_outliers, clusters_of_other_sizes]
)
@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns"])
@pytest.mark.parametrize("d", [2, 3])
def test_matchings_after_an_auction_are_optimal_and_proven(monkeypatch, draw, objective, d):
    set_solver(monkeypatch, routes=("auction",))
    rng = np.random.default_rng([d, len(draw.__name__)])
    n = 20 if SMALL else 80
    x, y = draw(rng, n, d)
    noise = (rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 2.0, n)) if objective == "lsns" else None
    result = match(x, y, objective=objective, alignment="identity", noise=noise)
    cost = np.square(x[:, None] - y).sum(axis=2)
    if objective == "lsl":
        cost = np.log(cost)
    if noise is not None:
        cost /= noise[0][:, None] ** 2 + noise[1] ** 2
    assert result.objective == pytest.approx(cost[linear_sum_assignment(cost)].sum(), rel=1e-12)
    assert check_certificate(x, y, result) <= 1e-12 * np.abs(cost).sum()
    again = match(x, y, objective=objective, alignment="identity", noise=noise, workers=2)
    np.testing.assert_array_equal(result.col_dual, again.col_dual)
