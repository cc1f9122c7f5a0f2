"""Who is whose partner, in which direction, and under which map."""

import math

import numpy as np
import pytest

from lslmatch import Affine, estimate_affine, standardize
from tests.support.matching import objectives, run, shuffled_copy
from tests.support.reference import SMALL
from tests.support.sets import draw


@objectives
@pytest.mark.parametrize(("n", "d"), [(3, 1), (5, 2), (30, 3), (30 if SMALL else 200, 5)])
def test_the_partner_of_x_i_is_y_at_permutation_i(objective, n, d):
    shift = np.linspace(-20.0, 50.0, d)
    x, y, order = shuffled_copy(n, d, scale=3.0, shift=shift)
    assert not np.array_equal(order[order], np.arange(n))
    result = run(x, y, objective)
    np.testing.assert_array_equal(result.permutation, order)
    np.testing.assert_allclose(result.scale * y[result.permutation] + result.shift, x, atol=1e-12 * 50)
    assert result.scale == pytest.approx(3.0, rel=1e-12)
    np.testing.assert_allclose(result.shift, shift, atol=1e-12 * 50)
    assert result.criterion == objective


@objectives
def test_a_known_map_is_used_as_given(objective):
    x, y, order = shuffled_copy(20, 2, scale=0.01, shift=np.array([5.0, -6.0]), noise=1e-6)
    result = run(x, y, objective, Affine(0.01, np.array([5.0, -6.0])))
    np.testing.assert_array_equal(result.permutation, order)
    assert result.scale == 0.01
    np.testing.assert_array_equal(result.shift, [5.0, -6.0])


@objectives
def test_identity_means_no_map_at_all(objective):
    x, y, order = shuffled_copy(20, 2, noise=1e-6)
    result = run(x, y, objective, "identity")
    np.testing.assert_array_equal(result.permutation, order)
    assert result.scale == 1.0
    np.testing.assert_array_equal(result.shift, [0.0, 0.0])
    explicit = run(x, y, objective, Affine(1.0, np.zeros(2)))
    assert explicit.objective == result.objective


@objectives
def test_standardisation_is_the_estimated_map(objective):
    x, y = draw(9, 3), 4.0 * draw(9, 3, 1) + 1.0
    affine = estimate_affine(x, y)
    standardized, explicit = run(x, y, objective), run(x, y, objective, affine)
    assert standardized.scale == affine.scale
    np.testing.assert_array_equal(standardized.shift, affine.shift)
    np.testing.assert_array_equal(standardized.permutation, explicit.permutation)
    assert standardized.objective == explicit.objective


@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize(("n", "m"), [(9, 9), (7, 10), (10, 7)])
def test_matching_standardised_sets_is_the_same_problem(objective, n, m):
    x, y = 5.0 * draw(n, 3) + 2.0, draw(m, 3, 1)
    # A sum of squares grows with the number of points, of which the scale knows nothing.
    raw = run(x, y, objective)
    standard = run(standardize(x), math.sqrt(m / n) * standardize(y), objective, "identity")
    np.testing.assert_array_equal(raw.permutation, standard.permutation)
    total = ((x - x.mean(axis=0)) ** 2).sum()
    if objective == "lsl":
        assert raw.objective == pytest.approx(standard.objective + min(n, m) * math.log(total), rel=1e-12)
    else:
        assert raw.objective == pytest.approx(standard.objective * total, rel=1e-12)


@objectives
@pytest.mark.parametrize(("n", "m"), [(4, 9), (9, 4)])
def test_points_of_the_larger_set_may_stay_without_partner(objective, n, m):
    x, y, order = shuffled_copy(9, 2, noise=1e-9)
    x, y = x[:n], y[:m]
    result = run(x, y, objective, "identity")
    np.testing.assert_array_equal(result.permutation, np.where(order[:n] < m, order[:n], -1))
    assert np.count_nonzero(result.permutation == -1) == max(0, n - m)
