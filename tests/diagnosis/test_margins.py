"""Margins against their definition: the problem solved again with the pair forbidden."""

import numpy as np
import pytest
from reference import SMALL

from lslmatch import Affine, solve_assignment
from lslmatch.assignment.solve import assign_points
from lslmatch.costs import cost_matrix, log_rule, normalized_rule, square_rule
from lslmatch.diagnosis import margins
from lslmatch.diagnosis.margins import Optimum, exact_margins, shortest_arcs
from lslmatch.geometry.coordinates import common_coordinates

TRIALS = 12 if SMALL else 150
LARGEST = 7 if SMALL else 30


def draw_optimum(rng, criterion=None):
    """An optimal matching of points with ties, duplicates, no noise and unequal sizes among them."""
    n = int(rng.integers(2, LARGEST))
    m = n + int(rng.integers(0, 4) * rng.integers(0, 2))
    d = int(rng.choice([1, 2, 3, 20]))
    features = rng.normal(size=(m, d))
    if rng.random() < 0.3:
        features = features[rng.integers(0, max(1, m // 2), m)]
    level = rng.choice([0.0, 1e-8, 0.1, 1.0])
    x = (features + level * rng.normal(size=(m, d)))[:n]
    y = rng.permutation(features + level * rng.normal(size=(m, d)))
    if rng.random() < 0.3:
        x, y = np.round(x), np.round(y)
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
    criterion = rng.integers(3) if criterion is None else criterion
    if criterion == 0:
        rule = log_rule(geometry)
    elif criterion == 1:
        rule = square_rule(geometry)
    else:
        rule = normalized_rule(geometry, (np.exp(rng.normal(size=n)), np.exp(rng.normal(size=m))), 1.0)
    found = assign_points(geometry, rule)
    return Optimum(geometry, rule, found.row_dual, found.col_dual, found.col_ind)


def margins_by_definition(optimum):
    cost = cost_matrix(optimum.geometry, optimum.rule)
    rises = []
    for i, j in enumerate(optimum.col_of_row):
        forbidden = cost.copy()
        forbidden[i, j] = np.inf
        rises.append(solve_assignment(forbidden).objective - solve_assignment(cost).objective)
    return np.array(rises), 1e-11 * len(cost) * max(1.0, np.abs(cost).max())


def all_exact(optimum):
    arcs = shortest_arcs(optimum)
    return exact_margins(optimum, arcs, np.arange(optimum.col_of_row.size)), arcs.bound


def test_exact_margin_is_the_rise_of_the_optimum_without_the_pair():
    rng = np.random.default_rng(1)
    shapes = set()
    for _ in range(TRIALS):
        optimum = draw_optimum(rng)
        expected, rounding = margins_by_definition(optimum)
        exact, bound = all_exact(optimum)
        np.testing.assert_allclose(exact, expected, rtol=0, atol=rounding)
        assert (bound <= expected + rounding).all()
        assert (bound >= 0).all()
        n, m = optimum.geometry.shape
        shapes.add((n < m, optimum.rule.logarithm))
    assert len(shapes) == 4


def test_bound_is_attained_by_two_points():
    # The only cycle is the exchange of the two, which uses both of its arcs.
    rng = np.random.default_rng(2)
    x = rng.normal(size=(2, 3))
    y = x + 0.1 * rng.normal(size=(2, 3))
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(3)))
    rule = log_rule(geometry)
    found = assign_points(geometry, rule)
    exact, bound = all_exact(Optimum(geometry, rule, found.row_dual, found.col_dual, found.col_ind))
    cost = cost_matrix(geometry, rule)
    np.testing.assert_allclose(exact, cost[0, 1] + cost[1, 0] - cost[0, 0] - cost[1, 1], rtol=1e-12)
    np.testing.assert_allclose(bound, exact, rtol=1e-12)


def test_a_wrong_dual_is_noticed():
    # Negative control: the definition does not depend on the duals, so wrong ones must show.
    rng = np.random.default_rng(3)
    optimum = draw_optimum(rng, criterion=0)
    expected, rounding = margins_by_definition(optimum)
    wrong, _ = all_exact(optimum._replace(row_dual=optimum.row_dual - 0.1))
    assert np.abs(wrong - expected).max() > 0.05 > rounding


@pytest.mark.parametrize("kept", [1, 3 * LARGEST])
def test_margins_do_not_depend_on_the_memory_that_is_set_aside(kept, monkeypatch):
    rng = np.random.default_rng(4)
    for _ in range(5):
        optimum = draw_optimum(rng)
        exact, bound = all_exact(optimum)
        with monkeypatch.context() as less:
            less.setattr(margins, "_KEPT_ENTRIES", kept)
            less.setattr(margins, "_BLOCK_ENTRIES", kept)
            less.setattr(margins, "_SEARCHES_PER_CALL", 2)
            again, bound_again = all_exact(optimum)
        np.testing.assert_array_equal(again, exact)
        np.testing.assert_allclose(bound_again, bound, rtol=0, atol=1e-11)


def test_some_rows_have_the_margins_that_all_of_them_have():
    optimum = draw_optimum(np.random.default_rng(5))
    exact, _ = all_exact(optimum)
    rows = np.arange(0, exact.size, 2)
    np.testing.assert_array_equal(exact_margins(optimum, shortest_arcs(optimum), rows), exact[rows])
