"""Costs with the judged pair left out, against their definition: the metric is built anew for every pair."""

import numpy as np
import pytest

from lslmatch.assignment.solve import assign, assign_points
from lslmatch.covariance.dropped import count_undecided, streamed_problem
from lslmatch.covariance.evidence import sampled_surprises, surprises
from lslmatch.covariance.leave_out import cost_matrix, whiten
from lslmatch.covariance.metric import equal_metric, left_out_forms, tyler_metric

SHAPES = [(9, 9, 4), (6, 9, 4), (9, 6, 4), (7, 7, 12)]


def problem(n, m, d, rng):
    x, y = rng.normal(size=(n, d)) * np.arange(1, d + 1), rng.normal(size=(m, d))
    k = min(n, m)
    partner = np.full(n, -1, np.intp)
    partner[rng.permutation(n)[:k]] = rng.permutation(m)[:k]
    return x, y, partner


def naive_costs(x, y, partner, metric):
    """Build the matrix without the residuals of both points, pair by pair."""
    n, d = x.shape
    rows = np.flatnonzero(partner >= 0)
    weight = dict(zip(rows.tolist(), metric.weight.tolist(), strict=True))
    row_of_col = {int(partner[i]): int(i) for i in rows}
    costs = np.empty((n, len(y)))
    for i in range(n):
        for j in range(len(y)):
            matrix = metric.ridge * np.eye(d)
            for k in set(rows.tolist()) - {i, row_of_col.get(j)}:
                residual = x[k] - y[partner[k]]
                matrix += weight[k] * np.outer(residual, residual)
            difference = x[i] - y[j]
            form = difference @ np.linalg.solve(matrix, difference)
            costs[i, j] = np.log(form) + np.linalg.slogdet(matrix)[1] / d
    return costs


@pytest.mark.parametrize(("n", "m", "d"), SHAPES)
@pytest.mark.parametrize("estimate", [equal_metric, tyler_metric])
def test_costs_are_those_of_a_metric_without_the_two_residuals(n, m, d, estimate):
    x, y, partner = problem(n, m, d, np.random.default_rng(n + m + d))
    rows = np.flatnonzero(partner >= 0)
    metric = estimate(x[rows] - y[partner[rows]], d)
    costs = cost_matrix(whiten(x, y, partner, metric, d))
    np.testing.assert_allclose(costs, naive_costs(x, y, partner, metric), rtol=0, atol=1e-10)


def test_the_number_of_workers_changes_no_bit(monkeypatch):
    monkeypatch.setattr("lslmatch.covariance.leave_out._BLOCK_ENTRIES", 20)
    x, y, partner = problem(9, 9, 4, np.random.default_rng(3))
    white = whiten(x, y, partner, equal_metric(x - y[partner], 4), 4)
    np.testing.assert_array_equal(cost_matrix(white, 1), cost_matrix(white, 3))


def test_a_quadratic_form_leaves_its_own_residual_out():
    residuals = np.random.default_rng(0).normal(size=(6, 3))
    metric = equal_metric(residuals, 3)
    others = [
        sum(metric.weight[k] * np.outer(residuals[k], residuals[k]) for k in range(6) if k != i)
        + metric.ridge * np.eye(3)
        for i in range(6)
    ]
    expected = [r @ np.linalg.solve(matrix, r) for r, matrix in zip(residuals, others, strict=True)]
    np.testing.assert_allclose(left_out_forms(metric), expected, rtol=1e-12)


def test_the_shrinkage_is_that_of_ledoit_and_wolf():
    residuals = np.random.default_rng(1).normal(size=(8, 3)) * [1.0, 2.0, 5.0]
    scatter = residuals.T @ residuals / 8
    mean = np.trace(scatter) / 3
    error = sum(((np.outer(r, r) - scatter) ** 2).sum() for r in residuals) / 64
    share = error / ((scatter - mean * np.eye(3)) ** 2).sum()
    assert 0.0 < share < 1.0
    metric = equal_metric(residuals, 3)
    assert metric.ridge == pytest.approx(share * mean, rel=1e-12)
    expected = (1.0 - share) * scatter + share * mean * np.eye(3)
    np.testing.assert_allclose(metric.factor @ metric.factor.T, expected, rtol=1e-12)


def test_tylers_weights_undo_the_levels_of_the_noise():
    rng = np.random.default_rng(2)
    levels = np.exp(rng.normal(size=60))
    metric = tyler_metric(rng.normal(size=(60, 12)) * levels[:, None], 12)
    assert np.corrcoef(np.log(metric.weight), -2 * np.log(levels))[0, 1] > 0.95


def test_cross_entropy_is_its_definition_at_the_best_rate():
    costs = np.random.default_rng(4).normal(size=(5, 7))
    partner = np.array([3, -1, 0, 6, 2])
    values = []
    for k in range(7):
        weights = np.exp(-(8 / 2) * 0.5**k * costs)
        rows, columns = weights / weights.sum(axis=1, keepdims=True), weights / weights.sum(axis=0)
        matched = [0, 2, 3, 4]
        shares = rows[matched, partner[matched]] * columns[matched, partner[matched]]
        values.append(-np.log(shares).mean())
    assert surprises(costs, partner, 8).mean() == pytest.approx(min(values), rel=1e-12)


@pytest.mark.parametrize(("n", "m"), [(9, 9), (6, 9), (9, 6)])
def test_asking_all_points_gives_the_cross_entropy_of_the_matrix(n, m):
    x, y, partner = problem(n, m, 4, np.random.default_rng(5))
    rows = np.flatnonzero(partner >= 0)
    white = whiten(x, y, partner, equal_metric(x[rows] - y[partner[rows]], 4), 4)
    np.testing.assert_allclose(sampled_surprises(white), surprises(cost_matrix(white), partner, 4), rtol=1e-9)


@pytest.mark.parametrize(("n", "m"), [(40, 40), (30, 40), (40, 30)])
@pytest.mark.parametrize("noise", [1e-3, 1.0])
def test_leaving_out_changes_no_matching_that_is_said_to_be_decided(n, m, noise):
    rng = np.random.default_rng(6)
    k = min(n, m)
    x, y = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    partner = np.full(n, -1, np.intp)
    partner[:k] = np.arange(k)
    y[:k] = x[:k] + noise * rng.normal(size=(k, 2))
    white = whiten(x, y, partner, equal_metric(x[:k] - y[:k], 2), 2)
    one_metric = assign_points(*streamed_problem(white))
    undecided = count_undecided(white, one_metric, 1)
    assert (undecided == 0) == (noise < 1.0)
    if undecided == 0:
        left_out = assign(cost_matrix(white))
        np.testing.assert_array_equal(left_out.row_ind, one_metric.row_ind)
        np.testing.assert_array_equal(left_out.col_ind, one_metric.col_ind)
