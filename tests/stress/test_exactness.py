"""The stress test of exactness in short, and that it finds planted errors."""

import math

import numpy as np
import pytest

import lslmatch
from tests.stress import exactness
from tests.support.reference import SMALL

TRIALS = 20 if SMALL else 150


@pytest.mark.parametrize("attempt", [exactness.try_matrix, exactness.try_points])
def test_small_instances_are_proven(attempt):
    for k in range(TRIALS):
        measures = attempt(np.random.default_rng([5, k]), 6 if SMALL else exactness.SMALL_POINTS)
        assert measures.is_proven, (k, measures)


@pytest.mark.parametrize(
    "plant",
    [
        lambda found: found._replace(col_ind=np.roll(found.col_ind, 1)),
        lambda found: found._replace(row_dual=found.row_dual + 1e-3),
        lambda found: found._replace(row_dual=found.row_dual - 1e-3),
        lambda found: found._replace(col_dual=found.col_dual + np.linspace(0.0, 1e-3, found.col_dual.size)),
    ],
)
def test_planted_error_is_found(plant, monkeypatch):
    solve = lslmatch.solve_assignment
    monkeypatch.setattr(lslmatch, "solve_assignment", lambda cost: plant(solve(cost)))
    monkeypatch.setattr(lslmatch, "linear_sum_assignment", lambda cost: lslmatch.solve_assignment(cost)[:2])
    monkeypatch.setattr(exactness, "draw_matrix", lambda rng, n, m: (rng.normal(size=(5, 5)), "ordinary"))
    for k in range(10):
        assert not exactness.try_matrix(np.random.default_rng(k), 5).is_proven


def test_planted_error_of_a_matching_is_found(monkeypatch):
    match = lslmatch.match

    def swap(x, y, **options):
        result = match(x, y, **options)
        return result._replace(permutation=np.roll(result.permutation, 1))

    monkeypatch.setattr(lslmatch, "match", swap)
    proven = [exactness.try_points(np.random.default_rng(k), 6).is_proven for k in range(20)]
    assert not all(proven)


def test_rational_gap_sees_what_floating_point_rounds_away():
    cost = np.array([[1.0, 0.0], [0.0, 0.0]])
    indices, duals = np.arange(2), (np.zeros(2), np.zeros(2))
    assert exactness.rational_gap(cost, indices, indices[::-1], *duals) == 0.0
    assert exactness.rational_gap(cost, indices, indices, *duals) == 0.5
    duals = np.zeros(2), np.array([0.0, 2.0**-80])
    assert math.isclose(exactness.rational_gap(cost, indices, indices[::-1], *duals), 2.0**-81)


def test_command_counts_and_fails_with_an_answer_that_is_not_proven(monkeypatch, capsys):
    assert exactness.main(["--small", "5", "--large", "0"]) == 0
    assert "try_matrix, n <= 12: 5 instances" in capsys.readouterr().out
    monkeypatch.setattr(exactness, "LIMIT", -1.0)
    assert exactness.main(["--small", "1", "--large", "0"]) == 1
    assert "NOT PROVEN: try_matrix, 12, 0" in capsys.readouterr().out
