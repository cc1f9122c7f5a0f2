"""Warm start after warm start, over scales that go to and fro: the same optima as cold, and no drift."""

import math

import numpy as np
import pytest
from reference import SMALL, certificate_violation

from lslmatch import Affine, estimate_affine
from lslmatch.assignment.solve import assign_points
from lslmatch.costs import cost_matrix, log_rule
from lslmatch.geometry.coordinates import common_coordinates

POINTS, SCALES, ROUNDS = (16, 4, 6) if SMALL else (100, 20, 15)


def problems(noise):
    """One instance under scales that rise and fall and end next to where they began."""
    rng = np.random.default_rng(int(10 * noise))
    features = rng.normal(size=(POINTS, 4))
    levels = noise * 10.0 ** rng.uniform(-2.0, 0.0, (POINTS, 1))
    x, y = (features + levels * rng.normal(size=(POINTS, 4)) for _ in range(2))
    start, mean = estimate_affine(x, y), x.mean(axis=0)
    for k in range(SCALES):
        factor = math.exp(0.3 * math.sin(2.0 * math.pi * k / SCALES))
        affine = Affine(factor * start.scale, mean - factor * (mean - start.shift))
        geometry = common_coordinates(x, y, affine)
        yield geometry, log_rule(geometry)


@pytest.mark.parametrize("noise", [0.5, 5.0])
def test_hundreds_of_warm_starts_do_not_drift(noise):
    given = list(problems(noise))
    costs = [cost_matrix(*problem) for problem in given]
    cold = [assign_points(*problem) for problem in given]
    cold_spread = max(np.ptp(solution.col_dual) for solution in cold)
    cold_size = max(np.abs([*solution.row_dual, *solution.col_dual]).max() for solution in cold)
    col_dual = cold[0].col_dual
    violation = np.empty((ROUNDS, SCALES))
    for step in range(ROUNDS * SCALES):
        k = step % SCALES
        warm = assign_points(*given[k], col_dual=col_dual)
        col_dual = warm.col_dual
        violation.flat[step] = certificate_violation(costs[k], warm)
        assert warm.objective == pytest.approx(cold[k].objective, abs=1e-11)
        assert warm.row_dual.sum() + col_dual.sum() == pytest.approx(cold[k].objective, abs=1e-11)
        # Optimal duals are not unique, so they need not be the cold ones; but they stay as small.
        assert np.ptp(col_dual) <= 2.0 * cold_spread
        assert np.abs([*warm.row_dual, *col_dual]).max() <= 2.0 * cold_size
    assert violation.max() <= 1e-13
    # The first round starts cold, so it is compared with the second.
    assert violation[-1].max() <= 2.0 * violation[1].max()


@pytest.mark.parametrize("level", [-(2.0**20), 2.0**20])
def test_the_level_of_a_start_does_not_matter(level):
    geometry, rule = next(problems(0.5))
    # In units of 1/1024 the level is added and subtracted without rounding.
    start = np.round(1024.0 * assign_points(geometry, rule).col_dual) / 1024.0
    warm, moved = (assign_points(geometry, rule, col_dual=start + added) for added in (0.0, level))
    for left, right in zip(warm, moved, strict=True):
        np.testing.assert_array_equal(left, right)
