"""Probabilities of pairs against sums over all matchings."""

import itertools

import numpy as np
import pytest
from reference import SMALL

from lslmatch import Affine, diagnose, match
from lslmatch.assignment.solve import assign_points
from lslmatch.costs import cost_matrix, square_rule
from lslmatch.diagnosis.confidence import pair_probabilities
from lslmatch.diagnosis.margins import Optimum
from lslmatch.geometry.coordinates import common_coordinates


def matched(x, y):
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(x.shape[1])))
    rule = square_rule(geometry)
    found = assign_points(geometry, rule)
    return Optimum(geometry, rule, found.row_dual, found.col_dual, found.col_ind)


def probabilities_by_enumeration(optimum, rate):
    cost = cost_matrix(optimum.geometry, optimum.rule)
    n, m = cost.shape
    columns = np.array(list(itertools.permutations(range(m), n)))
    totals = cost[np.arange(n), columns].sum(axis=1)
    weights = np.exp(-rate * (totals - totals.min()))
    return (weights[:, None] * (columns == optimum.col_of_row)).sum(axis=0) / weights.sum()


@pytest.mark.parametrize("spare", [0, 1])
def test_probabilities_are_exact_where_only_exchanges_are_in_doubt(spare):
    # Far from each other: twins, each with two partners in reach; or one x with a second y to go to.
    rng = np.random.default_rng(1)
    groups = 100.0 * np.arange(6)[:, None]
    y = (groups + rng.normal(size=(6, 2))).reshape(-1, 1)
    x = y + 0.5 * rng.normal(size=y.shape)
    x = x[spare:]
    optimum = matched(x, y)
    expected = np.concatenate(
        [
            probabilities_by_enumeration(matched(x[max(k - spare, 0) : k + 2 - spare], y[k : k + 2]), 1.0)
            for k in range(0, 12, 2)
        ]
    )
    assert 0.5 < expected.min() < 0.8 < expected.max() < 1
    np.testing.assert_allclose(pair_probabilities(optimum, 1.0), expected, atol=2e-3)


@pytest.mark.parametrize(("n", "m"), [(4, 4), (6, 6), (3, 5), (5, 6)])
def test_probabilities_are_near_the_sum_over_all_matchings_and_rather_low(n, m):
    rng = np.random.default_rng(2)
    errors, spread = [], []
    for _ in range(4 if SMALL else 40):
        y = rng.normal(size=(m, 2))
        x = y[:n] + 0.5 * rng.normal(size=(n, 2))
        optimum = matched(x, y)
        expected = probabilities_by_enumeration(optimum, 1.0)
        errors.append(pair_probabilities(optimum, 1.0) - expected)
        spread.append(expected - 0.5)
    assert -0.1 < np.mean(errors) < 0.01
    assert np.std(errors) < np.std(spread) / 3  # better than one number for all


@pytest.mark.parametrize(("n", "m"), [(5, 5), (3, 6)])
def test_probabilities_are_uniform_if_costs_do_not_count(n, m):
    rng = np.random.default_rng(3)
    optimum = matched(rng.normal(size=(n, 2)), rng.normal(size=(m, 2)))
    np.testing.assert_allclose(pair_probabilities(optimum, 0.0), 1 / m, atol=1e-3)


def test_costs_whose_rounding_errors_are_large():
    """1e32 beside 1: the reduced cost of a matched pair is 0 up to 1e15, not an improbable cost."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(12, 3)), rng.normal(size=(12, 3))
    noise = np.where(np.arange(12) < 6, 1e-16, 1.0), np.full(12, 1e-200)
    confidence = diagnose(x, y, match(x, y, objective="lsns", alignment="identity", noise=noise)).confidence
    assert ((confidence >= 0.0) & (confidence <= 1.0)).all()


def test_certain_pairs_and_twins():
    x = np.array([[0.0], [10.0], [20.0], [20.0]])
    probability = pair_probabilities(matched(x, x + 0.01), 50.0)
    np.testing.assert_allclose(probability, [1, 1, 0.5, 0.5], atol=1e-3)
