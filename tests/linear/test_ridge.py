import numpy as np
import pytest

from lslmatch.linear.ridge import Pairs, fit_ridge, learn_metric, left_out_costs
from tests.support.reference import SMALL


def problem(seed, n=9, m=11, p=3, q=4, pairs=7):
    rng = np.random.default_rng(seed)
    rows, cols = rng.permutation(n)[:pairs], rng.permutation(m)[:pairs]
    partner, weight = np.full(n, -1, np.intp), np.zeros(n)
    partner[rows], weight[rows] = cols, rng.uniform(0.2, 2.0, pairs)
    return rng.normal(size=(n, p)), rng.normal(size=(m, q)), Pairs(partner, weight)


def alone(a, b, pairs, penalty, prior, i, j):
    """The difference of a pair under the map that its points have no part in, from the normal equations."""
    rows = np.array([t for t in pairs.rows if t != i and pairs.partner[t] != j])
    design, weight = np.column_stack([np.ones(len(b)), b]), pairs.weight[rows]
    used = design[pairs.partner[rows]]
    targets = a[rows] - b[pairs.partner[rows]] @ prior
    normal = (used.T * weight) @ used + penalty * np.diag([0.0] + [1.0] * b.shape[1])
    return a[i] - b[j] @ prior - design[j] @ np.linalg.solve(normal, (used.T * weight) @ targets)


@pytest.mark.parametrize("seed", range(2 if SMALL else 6))
@pytest.mark.parametrize("weighting", [None, "equal", "tyler"])
def test_costs_are_those_without_the_pairs_of_both_points(seed, weighting):
    a, b, pairs = problem(seed)
    prior = np.zeros((4, 3)) if seed % 2 else np.eye(4, 3)
    found = fit_ridge(a, b, pairs, 0.3, prior)
    metric = None if weighting is None else learn_metric(found, weighting)
    costs = left_out_costs(found, metric)
    residuals = found.left_out_residuals()
    for i in range(len(a)):
        for j in range(len(b)):
            apart = alone(a, b, pairs, found.penalty, prior, i, j)
            expected = np.log(apart @ apart)
            if metric is not None:
                kept = [t for t, row in enumerate(pairs.rows) if row != i and pairs.partner[row] != j]
                noise = (residuals[kept].T * metric.weight[kept]) @ residuals[kept] + metric.ridge * np.eye(3)
                expected = np.log(apart @ np.linalg.solve(noise, apart)) + np.linalg.slogdet(noise)[1] / 3
            assert costs[i, j] == pytest.approx(expected, abs=1e-9)


def test_what_is_left_out_is_the_pair_itself():
    a, b, pairs = problem(1)
    found = fit_ridge(a, b, pairs, 0.3)
    zero = np.zeros((4, 3))
    for residual, i in zip(found.left_out_residuals(), pairs.rows, strict=True):
        assert residual == pytest.approx(alone(a, b, pairs, found.penalty, zero, i, pairs.partner[i]))


def test_a_map_without_noise_has_no_metric_and_floors_its_costs():
    a, b, pairs = problem(2)
    b = np.zeros_like(b)
    b[:, :3] = 1.0
    a[:] = 1.0
    found = fit_ridge(a, b, pairs, 1.0)
    assert learn_metric(found, "equal") is None
    assert found.penalty == 1.0
