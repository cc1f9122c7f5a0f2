"""The model of true pairs and strangers: its steps against sums by hand, its limits from both sides."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import polygamma

from lslmatch import match
from lslmatch.choice import partnership
from lslmatch.choice.partnership import Partnership, _fit, _keep_partners, _Pairs, judge_pairs
from lslmatch.covariance.pair_costs import costs_of_result


def drawn(seed, count=40, candidates=6, true=0.6, spread=1.0, shape=None, shift=4.0):
    """Draw what is known of pairs: costs, and the reduced costs of other candidates."""
    rng = np.random.default_rng(seed)
    gaps = rng.exponential(size=(2, count, candidates)) / 2.5
    gaps[:, : int(true * count), 0] += shift / 2.5
    least = gaps.cumsum(axis=2)
    cost = spread * rng.normal(size=count) - np.where(np.arange(count) < true * count, 3.0, 0.0)
    own = rng.uniform(0.5, 1.0, count)
    return _Pairs(np.arange(count), cost, *least, own, shape or (count, count), 0.5)


def naive_fit(pairs, share, dimension):
    """Run the EM algorithm as it is described, with the densities of SciPy."""
    cost, count = pairs.cost, len(pairs.cost)
    gaps = np.concatenate([(least[:, -1:] - least[:, :-1]).mean(axis=1) for least in pairs[2:4]])
    rate = 0.93 / max(np.median(gaps), 1e-9)
    margin = np.maximum(rate * (pairs.row_least[:, -1] + pairs.col_least[:, -1]) / 2.0, 0.5)
    order = sorted(range(count), key=lambda i: -(pairs.row_least[i, 0] + pairs.col_least[i, 0]))
    true = np.full(count, 0.05)
    true[order[: max(int(share * count), 3)]] = 0.95
    least_spread = 0.5 * math.sqrt(polygamma(1, dimension / 2.0))
    scale = 0.6 + 0.8 / rate
    share, likelihood = min(share, 0.9), -math.inf
    for step in range(300):
        if true.sum() < 3.0:
            break
        free = max(max(size - share * count, 0.5) / size for size in pairs.shape)
        strangers = 2.3 + 0.5 * math.log(free)
        slope, level, mean = naive_line(cost, margin, true, 0.0, 0.0, -1.0 / rate)
        residual = cost - level - slope * (margin - mean)
        spread = max(math.sqrt((true * residual**2).sum() / true.sum()), least_spread)
        centre = max(mean, strangers + 1.0)
        width = max(math.sqrt((true * (margin - centre) ** 2).sum() / true.sum()), 0.5)
        density = 0.9 * stats.norm.pdf(margin, centre, width) + 0.1 / (margin.max() + 1.0)
        of_true = np.log(density) + stats.norm.logpdf(residual, 0.0, spread)
        false = 1.0 - true
        # The slope is drawn to that of all, and the level to their mean cost.
        slope, level, mean = naive_line(cost, margin, false, slope, 10.0, -1.0 / rate)
        rest = cost - slope * (margin - mean)
        weight = false.sum() + 2.0
        residual = rest - ((false * rest).sum() + 2.0 * cost.mean()) / weight
        other = math.sqrt(((false * residual**2).sum() + 2.0 * spread**2) / weight)
        of_false = stats.gumbel_r.logpdf(margin, strangers - np.euler_gamma * scale, scale)
        of_false = of_false + stats.norm.logpdf(residual, 0.0, max(other, least_spread))
        total = np.logaddexp(math.log(share) + of_true, math.log(1.0 - share) + of_false)
        true, likelihood = np.exp(math.log(share) + of_true - total), total.sum()
        before, share = share, min(max(true.mean(), 1e-6), 1.0 - 1e-6)
        if step > 2 and abs(share - before) < 1e-5:
            break
    return true, likelihood


def naive_line(cost, margin, weight, slope, prior, steepest):
    total = max(weight.sum(), 1e-9)
    level, mean = (weight * cost).sum() / total, (weight * margin).sum() / total
    square = (weight * (margin - mean) ** 2).sum()
    product = (weight * (cost - level) * (margin - mean)).sum()
    slope = (product + prior * slope) / max(square + prior, 1e-9)
    return min(max(slope, steepest), 0.0), level, mean


CASES = {
    "planted": drawn(0),
    "more columns": drawn(1, shape=(40, 90)),
    "nearly all true": drawn(2, true=0.95),
    "nearly none": drawn(3, true=0.05, shift=1.0),
    "none stands out": drawn(4, shift=0.0),
    "equal costs": drawn(5, spread=0.0),
    "wide costs": drawn(6, spread=5.0),
    "far": drawn(7, shift=60.0),
    "few": drawn(8, count=7),
    "few candidates": drawn(9, candidates=2),
}
EQUAL = np.tile(np.arange(6.0), (30, 1))
CASES["equal margins"] = drawn(10, count=30)._replace(row_least=EQUAL, col_least=EQUAL)
CASES["ties"] = drawn(11, count=30)._replace(row_least=1e-12 * EQUAL, col_least=1e-12 * EQUAL)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("share", [0.5, 0.25, 1.0])
@pytest.mark.parametrize("dimension", [2, 20])
def test_the_model_is_fitted_as_it_is_described(case, share, dimension):
    found = _fit(CASES[case], share, dimension)
    true, likelihood = naive_fit(CASES[case], share, dimension)
    np.testing.assert_allclose(found.true, true, rtol=1e-7, atol=1e-9)
    assert found.likelihood == pytest.approx(likelihood, rel=1e-9)


def test_where_nothing_is_true_the_search_ends():
    # All pairs are far more like strangers.
    pairs = drawn(14, count=12, true=0.0, shift=0.0)
    found = _fit(pairs, 0.25, 5)
    assert found.true.sum() < 3.0
    assert naive_fit(pairs, 0.25, 5)[1] == pytest.approx(found.likelihood)


def matched(n=14, m=17, d=3, noise=0.3, seed=0):
    rng = np.random.default_rng([n, m, seed])
    points = rng.normal(size=(max(n, m), d))
    x, y = points[:n] + noise * rng.normal(size=(n, d)), points[:m] + noise * rng.normal(size=(m, d))
    result = match(x, y, alignment="identity")
    return costs_of_result(x, y, result, 1), result


@pytest.mark.parametrize(("n", "m"), [(14, 17), (17, 14), (15, 15), (4, 4), (5, 300)])
def test_candidates_are_the_least_other_reduced_costs(n, m):
    costs, result = matched(n, m)
    found = _Pairs.of(costs, result, 1.5)
    assert found.shape == (n, m)
    reduced = costs - result.row_dual[:, None] - result.col_dual
    for k, i in enumerate(np.flatnonzero(result.permutation >= 0)):
        j = result.permutation[i]
        assert found.rows[k] == i
        assert found.cost[k] == costs[i, j]
        for least, others in (
            (found.row_least[k], np.delete(reduced[i], j)),
            (found.col_least[k], np.delete(reduced[:, j], i)),
        ):
            assert least.size == min(6, others.size)
            np.testing.assert_allclose(least, np.sort(others)[:6], atol=1e-12)


def test_a_price_is_taken_off_reduced_costs():
    costs, result = matched()
    plain, priced = _Pairs.of(costs, result, 1.5), _Pairs.of(costs, result._replace(price=0.25), 1.5)
    np.testing.assert_allclose(priced.row_least, plain.row_least - 0.25, atol=1e-12)
    np.testing.assert_allclose(priced.col_least, plain.col_least - 0.25, atol=1e-12)


def test_prominence_is_measured_beside_the_gaps_of_candidates():
    costs, result = matched()
    expected, chance = [], [[], []]
    for i, j in enumerate(result.permutation):
        row, col = np.sort(np.delete(costs[i], j)), np.sort(np.delete(costs[:, j], i))
        expected.append(min(max(min(row[0], col[0]) - costs[i, j], 0.0), math.log(1e4)))
        chance[0].append(row[1] - row[0])
        chance[1].append(col[1] - col[0])
    found = _Pairs.of(costs, result, 1.5).stands_out
    assert found == pytest.approx(np.mean(expected) / (np.mean(chance[0]) + np.mean(chance[1])))
    # One pair that coincides counts up to a limit; where no candidates differ, gaps are nearly 0.
    near = costs.copy()
    near[0, result.permutation[0]] = -500.0
    expected[0] = math.log(1e4)
    found = partnership._stands_out(near, *_lines(near, result))
    assert found == pytest.approx(np.mean(expected) / (np.mean(chance[0]) + np.mean(chance[1])))
    flat = np.ones_like(costs)
    flat[np.arange(14), result.permutation] = 0.5
    assert partnership._stands_out(flat, *_lines(flat, result)) == pytest.approx(0.5 / 1e-12)


def _lines(costs, result):
    rows = np.arange(len(costs))
    return rows, result.permutation, costs[rows, result.permutation]


def test_weights_of_exchanges_are_balanced():
    rng = np.random.default_rng(4)
    reduced = rng.exponential(size=(9, 9)) - 1e-3
    np.fill_diagonal(reduced, 5.0)
    rate = 1.7
    weights = np.exp(-2.0 * rate * np.maximum(reduced, 0.0))
    np.fill_diagonal(weights, 1.0)
    row, col = np.ones(9), np.ones(9)
    for _ in range(2000):
        row = 1.0 / (weights @ col)
        col = 1.0 / (row @ weights)
    found = _keep_partners(reduced, rate)
    # (It ends where logarithms change by a thousandth.)
    np.testing.assert_allclose(found, np.minimum(row * col, 1.0), rtol=3e-3)
    assert np.abs(found - row * col).max() > 1e-9


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_balancing_ends_once_no_logarithm_changes_by_a_thousandth(scale):
    reduced = scale * np.random.default_rng(5).exponential(size=(7, 7))
    weights = np.exp(-2.0 * reduced)
    np.fill_diagonal(weights, 1.0)
    col, change, rounds = np.ones(7), 1.0, 0
    while change >= 1e-3:
        before, row = col, 1.0 / (weights @ col)
        col = 1.0 / (row @ weights)
        change, rounds = np.abs(np.log(col) - np.log(before)).max(), rounds + 1
    assert rounds > 2
    np.testing.assert_allclose(_keep_partners(reduced, 1.0), row * col, rtol=1e-12)


def test_balancing_ends_after_sixty_rounds():
    # Half of a chain's sums converge slowly.
    reduced = np.where(np.arange(8)[:, None] <= np.arange(8), 0.0, 40.0)
    weights = np.exp(-2.0 * reduced)
    col = np.ones(8)
    for _ in range(60):
        before, row = col, 1.0 / (weights @ col)
        col = 1.0 / (row @ weights)
    assert np.abs(np.log(col / before)).max() > 1e-3
    np.testing.assert_allclose(_keep_partners(reduced, 1.0), row * col, rtol=1e-12)


def test_two_equal_pairs_are_exchanged_with_the_odds_of_their_cost():
    reduced = np.array([[0.0, 0.3], [0.3, 0.0]])
    # An exchange costs .6, so its odds are exp(-.6 rate).
    np.testing.assert_allclose(_keep_partners(reduced, 2.0), 1.0 / (1.0 + math.exp(-1.2)), rtol=1e-9)


@pytest.mark.parametrize(("seed", "start"), [(1, 2), (2, 1), (3, 2)])
def test_of_several_starts_the_likeliest_fit_is_taken(seed, start):
    costs, result = matched(16, 18, 3, 1.0, seed)
    pairs = _Pairs.of(costs, result, 1.5)
    fits = [naive_fit(pairs, share, 3) for share in (0.5, 0.25, 1.0)]
    found = judge_pairs(costs, result, 3)
    true, likelihood = max(fits, key=lambda fit: fit[1])
    assert fits[start][1] == likelihood > 0.1 + max(fit[1] for k, fit in enumerate(fits) if k != start)
    np.testing.assert_allclose(found.true, true, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(found.own, pairs.own)
    assert found.rate == pairs.rate
    assert found.margin == pytest.approx(pairs.margin.mean())
    # Another rate of exchanges may be given.
    given = judge_pairs(costs, result, 3, 0.4)
    np.testing.assert_array_equal(given.own, _Pairs.of(costs, result, 0.4).own)
    assert (given.own < found.own).any()


def test_margins_count_up_to_a_greatest_one():
    costs, result = matched(noise=0.02)
    margin = _Pairs.of(costs, result, 1.5).margin
    assert 1 <= np.count_nonzero(margin > 8.0) < margin.size
    assert judge_pairs(costs, result, 3).margin == pytest.approx(np.minimum(margin, 8.0).mean())


def thought(right, stands_out=9.0, margin=0.0, **more):
    right = np.asarray(right, float)
    rows = 2 * np.arange(right.size) + 1
    return Partnership(
        rows, np.zeros(right.size), right, np.ones(right.size), stands_out, margin, 1.0, **more
    )


def test_a_pair_is_accepted_if_it_is_more_probably_right():
    found = thought([0.9, 0.5, 0.6, 0.49])._replace(own=np.array([0.5, 1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(found.right, [0.45, 0.5, 0.6, 0.49])
    np.testing.assert_array_equal(found.probable, [5])
    many = thought(np.repeat([0.9, 0.2], [50, 50]))
    np.testing.assert_array_equal(many.accepted, 2 * np.arange(50) + 1)


@pytest.mark.parametrize("count", [100, 400])
def test_pairs_stand_out_by_prominence_or_by_margin(count):
    right, root = np.full(count, 0.9), math.sqrt(count)
    low, margin, step = 0.4 + 1.5 / root, 3.2 + 4.0 / root, 1e-9
    for stands_out, found_margin, is_confirmed, expected in (
        (low, margin, False, 0),
        (low + step, 0.0, False, count),
        (0.0, margin + step, False, count),
        # Beside unrelated sets any may do.
        (0.0, 0.0, True, count),
    ):
        found = thought(right, stands_out, found_margin, is_confirmed=is_confirmed)
        assert found.accepted.size == expected, (stands_out, found_margin, is_confirmed)


@pytest.mark.parametrize(
    ("count", "right", "are_many"), [(100, 24, False), (100, 25, True), (99, 24, False), (8, 2, True)]
)
def test_pairs_are_compared_with_chance_if_a_quarter_is_right(count, right, are_many):
    assert thought(np.where(np.arange(count) < right, 0.9, 0.1)).are_many == are_many


@pytest.mark.parametrize(
    ("count", "right", "is_accepted"), [(99, 33, True), (99, 32, False), (100, 20, True), (6, 2, True)]
)
def test_of_few_pairs_a_third_must_be_right(count, right, is_accepted):
    found = thought(np.where(np.arange(count) < right, 0.9, 0.1))
    assert found.accepted.size == (right if is_accepted else 0)


def test_within_a_share_of_false_pairs_are_the_surest():
    right = np.array([0.6, 0.99, 0.9, 0.95, 0.2, 0.8])
    found = thought(right)
    # Surest first, means of what is false: .01, .03, .0533, .09, .152, .26.
    for share, rows in (
        (0.0099, []),
        (0.011, [3]),
        (0.031, [3, 7]),
        (0.0534, [3, 5, 7]),
        (0.0533, [3, 7]),
        (0.1, [3, 5, 7, 11]),
        (0.2, [1, 3, 5, 7, 11]),
        (0.9, [1, 3, 5, 7, 11]),
    ):
        np.testing.assert_array_equal(found.within(share), rows)
    assert thought(right, 0.0).within(0.9).size == 0, "nothing is in common"
