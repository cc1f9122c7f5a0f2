"""Settings of the routes: looked up at every call unless they are given, and the optimum with any of them."""

import dataclasses
import math

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.assignment import settings
from lslmatch.assignment.all_or_some import assign_sets
from lslmatch.assignment.solve import assign_points
from lslmatch.costs import cost_matrix, log_rule, normalized_rule, square_rule
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.partial import partial_violation
from tests.support.reference import SMALL
from tests.support.solver import noted_routes, set_solver


def test_changes_hold_until_they_are_undone(monkeypatch):
    before = settings.DEFAULT
    with monkeypatch.context() as patch:
        set_solver(patch, list_size=2)
        set_solver(patch, sweeps=1)
        changed = settings.or_default(None)
        assert dataclasses.asdict(changed) == dataclasses.asdict(before) | {"list_size": 2, "sweeps": 1}
        assert settings.or_default(before) is before
    assert settings.or_default(None) is before


def test_unknown_settings_are_refused(monkeypatch):
    with pytest.raises(TypeError, match="unexpected keyword argument 'lists'"):
        set_solver(monkeypatch, lists=2)


@pytest.mark.parametrize("given", [False, True])
def test_they_decide_which_route_is_taken(given, monkeypatch):
    x, y = np.random.default_rng(1).normal(size=(2, 9, 2))
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
    with noted_routes() as tried:
        as_usual = assign_points(geometry, log_rule(geometry))
    assert tried == [("matrix", True)]
    never_dense = settings.DEFAULT._replace(dense_pairs=0)
    if not given:
        set_solver(monkeypatch, dense_pairs=0)
    with noted_routes() as tried:
        found = assign_points(geometry, log_rule(geometry), settings=never_dense if given else None)
    assert "matrix" not in dict(tried)
    assert found.objective == pytest.approx(as_usual.objective, rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"list_size": 0}, "list_size must be at least 1; got 0"),
        ({"steps_per_call": -1}, "steps_per_call must be at least 1; got -1"),
        ({"tile_columns": 16}, "tile_columns must be a power of two from 32 on; got 16"),
        ({"tile_columns": 48}, "tile_columns must be a power of two from 32 on; got 48"),
        ({"few_free": math.nan}, "few_free must be a number; got nan"),
    ],
)
def test_values_with_which_nothing_would_end_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        settings.SolverSettings(**changes)


def draw_settings(rng):
    """Draw any settings whose matrices fit: most at an end of their range."""
    share, count, few = [-1.0, 0.0, 0.002, 0.3, 1.0, 2.0], [0, 1, 1 << 40], [1, 2, 3, 8, 1 << 30]
    values = {
        **dict.fromkeys(
            ("dense_pairs", "matrix_pairs", "kept_pairs", "region_pairs", "sampled_pairs"), count
        ),
        **dict.fromkeys(("block_rows", "sampled", "list_size", "least_list_size", "rows_per_listed"), few),
        **dict.fromkeys(("short_list_size", "reduced_rows", "steps_per_call"), few),
        **dict.fromkeys(("dense_conflicts", "kept_mutual", "region_mutual", "region_near"), share),
        **dict.fromkeys(("sampled_mutual", "many_conflicts", "short_list_mutual", "few_free"), share),
        **dict.fromkeys(("crowded_conflicts", "crowded_per_dimension", "auction_free", "few_pairs"), share),
        **dict.fromkeys(("auction_after", "most_passes"), [-1.0, 0.0, 1e-3, 1.0, 1e9]),
        **dict.fromkeys(("sweeps", "prices", "auction_passes"), [-1, 0, 1, 2, 20]),
        **dict.fromkeys(("region_dimensions", "crowded_dimensions"), [0, 3, 1000]),
        "last_resort": [0, 25],
        "far_means": [0.0, 1.5, math.inf],
        "single_precision_dimensions": [0, 1000],
        "double": [False, True],
        "tile_columns": [32, 64, 1024],
        "block_coordinates": [1, 1 << 32],
        "pair_overhead": [0, 16, 1000],
    }
    return settings.SolverSettings(**{name: values[name][rng.integers(len(values[name]))] for name in values})


def draw_problem(rng):
    n, d = int(rng.integers(2, 16)), int(rng.integers(1, 4))
    m = n + int(rng.choice([0, 0, 3]))
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m, d)) + rng.choice([0.0, 0.0, 20.0])
    if rng.random() < 0.3:
        x, y = np.round(x), np.round(y)
    if rng.random() < 0.1:
        y[:] = y[0]
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
    levels = np.exp(rng.normal(size=n)), np.exp(rng.normal(size=m))
    rules = log_rule(geometry), square_rule(geometry), normalized_rule(geometry, levels, 1.0)
    return geometry, rules[rng.integers(3)]


@pytest.mark.parametrize("seed", range(4 if SMALL else 40))
def test_the_optimum_is_proven_with_any_settings(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        chosen, (geometry, rule) = draw_settings(rng), draw_problem(rng)
        cost, (n, m) = cost_matrix(geometry, rule), geometry.shape
        unit = np.abs(cost).max() or 1.0
        found = assign_points(geometry, rule, settings=chosen)
        slack = cost - found.row_dual[:, None] - found.col_dual
        assert sorted(set(found.col_ind.tolist())) == sorted(found.col_ind.tolist())
        assert slack.min() >= -1e-12 * unit, chosen
        assert np.abs(slack[found.row_ind, found.col_ind]).max() <= 1e-12 * unit, chosen
        assert n == m or (found.col_dual.max() <= 0.0 and not np.delete(found.col_dual, found.col_ind).any())
        if n > 2:
            assignment, price = assign_sets(geometry, rule, n - 1, settings=chosen)
            assert partial_violation(cost, *assignment[:4], price) <= 1e-12 * unit, chosen
