"""Sets far apart: what their rows have in common is taken off, and the solution stays optimal."""

import numpy as np
import pytest

from lslmatch import check_certificate, linear_sum_assignment, match
from lslmatch.assignment import settings, streamed
from lslmatch.assignment.apart import are_apart, column_parts
from lslmatch.costs import cost_matrix, make_rule
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.results import Affine
from tests.support.reference import SMALL
from tests.support.solver import set_solver


def draw(n, d, offset):
    rng = np.random.default_rng([n, d])
    return rng.normal(size=(n, d)), rng.normal(size=(n, d)) + offset


@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns"])
@pytest.mark.parametrize(("d", "offset"), [(2, 3.0), (2, 100.0), (3, 1e4), (1, 50.0)])
def test_the_matching_is_optimal_and_proven(objective, d, offset, monkeypatch):
    never_dense = settings.DEFAULT._replace(small_pairs=0, dense_pairs=0)
    monkeypatch.setattr(settings, "DEFAULT", never_dense)
    n = 20 if SMALL else 40
    x, y = draw(n, d, offset)
    noise = (np.linspace(0.5, 2.0, n), np.linspace(1.0, 3.0, n)) if objective == "lsns" else None
    result = match(x, y, objective=objective, alignment="identity", noise=noise)
    assert check_certificate(x, y, result) <= 1e-9 * max(1.0, abs(result.objective))
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
    costs = cost_matrix(geometry, make_rule(objective, geometry, 1.0, noise))
    assert result.objective == pytest.approx(costs[linear_sum_assignment(costs)].sum(), rel=1e-10)


def test_sets_are_apart_by_their_means_beside_their_variances():
    identity = Affine(1.0, np.zeros(2))
    for offset, expected in ((0.0, False), (0.5, False), (3.0, True), (1e6, True)):
        assert are_apart(common_coordinates(*draw(200, 2, offset), identity), 1.5) == expected


@pytest.mark.parametrize("objective", ["lsl", "lss"])
def test_columns_are_tight_with_many_rows(objective):
    """With columns' least costs alone, they are so with the few rows that are nearest to the other set."""
    geometry = common_coordinates(*draw(200, 2, 100.0), Affine(1.0, np.zeros(2)))
    rule = make_rule(objective, geometry, 1.0)._replace(offset=0.0)
    costs = cost_matrix(geometry, rule)
    assert np.unique(costs.argmin(axis=0)).size < 10
    col_dual = column_parts(geometry, rule, 64, 1)
    assert np.unique((costs - col_dual).argmin(axis=1)).size > 60
    assert np.array_equal(col_dual, column_parts(geometry, rule, 37, 2))


def test_the_dense_solver_is_not_needed(monkeypatch):
    set_solver(monkeypatch, short_pairs=0, small_pairs=0, crowded_pairs=0, dense_pairs=1000)
    monkeypatch.setattr(streamed, "_solve_densely", None)
    x, y = draw(60, 2, 100.0)
    assert check_certificate(x, y, match(x, y, alignment="identity")) < 1e-9
