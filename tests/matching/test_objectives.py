"""What is minimised: the least cost over all matchings, by each objective."""

import numpy as np
import pytest
import scipy.optimize

from lslmatch import match
from tests.support.matching import alignments, noise_of, proven, run
from tests.support.reference import SMALL, costs, least_cost
from tests.support.sets import draw


@proven
@alignments
@pytest.mark.parametrize(
    ("n", "m", "d"), [(2, 2, 1), (5, 5, 1), (6, 6, 3), (4, 6, 2), (6, 4, 2), (2, 6, 1), (6, 2, 3)]
)
@pytest.mark.usefixtures("each_solver")
def test_no_matching_of_small_sets_costs_less(objective, alignment, n, m, d):
    x, y = 3.0 * draw(n, d), draw(m, d, 1) + 0.2
    result = run(x, y, objective, alignment)
    cost = costs(objective, x, y, result.scale, result.shift, noise_of(objective, n, m))
    best = float(least_cost(cost))
    rows = np.flatnonzero(result.permutation >= 0)
    tolerance = {"rel": 1e-12, "abs": 1e-12 * np.abs(cost).max()}
    assert cost[rows, result.permutation[rows]].sum() == pytest.approx(best, **tolerance)
    assert result.objective == pytest.approx(best, **tolerance)


SIZES = (
    [(40, 40), (20, 45), (45, 20), (70, 5)]
    if SMALL
    else [(65, 65), (300, 300), (100, 290), (290, 100), (520, 400)]
)


@proven
@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("relation", ["noisy copy", "unrelated", "few distinct"])
@pytest.mark.usefixtures("each_solver")
def test_matchings_of_larger_sets_cost_what_scipy_finds(objective, n, m, relation):
    d = 3
    if relation == "noisy copy":
        truth = draw(max(n, m), d)
        x, y = truth[:n] + 0.3 * draw(n, d, 1), truth[::-1][:m] + 0.3 * draw(m, d, 2)
    elif relation == "unrelated":
        x, y = draw(n, d), draw(m, d, 1)
    else:
        x, y = np.round(draw(n, 2)), np.round(draw(m, 2, 1))
    result = run(x, y, objective, "identity")
    squares = ((x[:, None] - y) ** 2).sum(axis=2)
    if objective == "lsl":
        centre = x.mean(axis=0)
        mean_square = (((x - centre) ** 2).sum() + ((y - centre) ** 2).sum()) / (n + m)
        cost = np.log(np.maximum(squares, mean_square * 2.0**-104))
    elif objective == "lss":
        cost = squares
    else:
        x_level, y_level = noise_of(objective, n, m)
        cost = squares / (x_level[:, None] ** 2 + y_level**2)
    expected = cost[scipy.optimize.linear_sum_assignment(cost)].sum()
    assert result.objective == pytest.approx(expected, rel=1e-10, abs=1e-9)


def test_objectives_differ_where_they_should():
    # One pair is hopeless. Squares sacrifice the good pairs to improve it a little; logarithms do not.
    x = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([[1.0], [2.0], [3.0], [30.0]])
    by_logarithm = run(x, y, "lsl", "identity").permutation
    np.testing.assert_array_equal(by_logarithm, [3, 0, 1, 2])
    by_square = run(x, y, "lss", "identity").permutation
    np.testing.assert_array_equal(by_square, [0, 1, 2, 3])
    # The noise explains a large distance where it is large.
    noisy_last = run(x, y, "lsns", "identity", noise=([1e-3, 1e-3, 1e-3, 1e3], 1e-3)).permutation
    np.testing.assert_array_equal(noisy_last, [0, 1, 2, 3])
    noisy_first = run(x, y, "lsns", "identity", noise=([1e3, 1e-3, 1e-3, 1e-3], 1e-3)).permutation
    np.testing.assert_array_equal(noisy_first, [3, 0, 1, 2])


def test_equal_noise_makes_lsns_the_same_as_lss_up_to_its_unit():
    x, y = draw(8, 2), draw(8, 2, 1)
    squares, normalized = run(x, y, "lss"), run(x, y, "lsns", noise=(3.0, np.full(8, 4.0)))
    np.testing.assert_array_equal(squares.permutation, normalized.permutation)
    variance = 9.0 + 16.0 * squares.scale**2
    assert normalized.objective == pytest.approx(squares.objective / variance, rel=1e-12)


@pytest.mark.parametrize("noise", [(2.0, 3.0), ([2.0] * 5, [3.0] * 5), [2, np.full(5, 3, np.float32)]])
def test_one_noise_level_stands_for_equal_levels(noise):
    x, y = draw(5, 2), draw(5, 2, 1)
    result = match(x, y, objective="lsns", noise=noise)
    expected = match(x, y, objective="lsns", noise=(np.full(5, 2.0), np.full(5, 3.0)))
    assert result.objective == expected.objective
    for levels, value in zip(result.noise, (2.0, 3.0), strict=True):
        np.testing.assert_array_equal(levels, np.full(5, value))
