"""Very large and very small values, far offsets, coincident points."""

import math

import numpy as np
import pytest

from lslmatch import match
from tests.support.matching import noise_of, objectives, run, shuffled_copy
from tests.support.reference import costs, least_cost
from tests.support.sets import draw


@pytest.mark.parametrize("objective", ["lsl", "greedy", "lsns"])
@pytest.mark.parametrize("alignment", ["standardize", "identity"])
@pytest.mark.parametrize("unit", [1e200, 1e-200, 1e300, 1e-290])
@pytest.mark.usefixtures("each_solver")
def test_very_large_and_very_small_values_are_matched(objective, alignment, unit):
    x, y = draw(7, 3), draw(7, 3, 1)
    noise = noise_of(objective, 7, 7)
    one = run(x, y, objective, alignment)
    result = run(unit * x, unit * y, objective, alignment, noise=noise and (unit * noise[0], unit * noise[1]))
    np.testing.assert_array_equal(result.permutation, one.permutation)
    assert result.scale == pytest.approx(one.scale, rel=1e-12)
    expected = one.objective + (0.0 if objective == "lsns" else 14 * math.log(unit))
    assert result.objective == pytest.approx(expected, rel=1e-11)


def test_very_different_units_are_bridged_by_the_scale():
    x, y, order = shuffled_copy(7, 3, scale=1.0, noise=1e-6)
    result = run(1e150 * x, 1e-150 * y)
    np.testing.assert_array_equal(result.permutation, order)
    assert result.scale == pytest.approx(1e300, rel=1e-4)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
@pytest.mark.parametrize("alignment", ["standardize", "identity"])
def test_sums_of_squares_beyond_the_range_of_doubles_are_refused(unit, alignment):
    with pytest.raises(
        ValueError, match="x and y must have moderate units for a sum of squares: .* multiply both sets"
    ):
        match(unit * draw(5, 2), unit * draw(5, 2, 1), objective="lss", alignment=alignment)


@pytest.mark.parametrize("level", [1e-170, 1e-300, 1e170, 1e300])
@pytest.mark.parametrize("coincident", [False, True])
def test_noise_levels_far_from_the_data_are_used_or_refused_by_name(level, coincident):
    x = draw(6, 2)
    y = x[::-1] if coincident else draw(6, 2, 1)
    try:
        result = run(x, y, "lsns", "identity", noise=(level, level))
    except ValueError as error:
        assert "noise" in str(error)  # noqa: PT017
    else:
        np.testing.assert_array_equal(result.permutation, run(x, y, "lss", "identity").permutation)


@objectives
@pytest.mark.parametrize("offset", [1e9, -1e9])
def test_a_large_common_offset_costs_no_digits(objective, offset):
    # A grid on which adding the offset is exact.
    x, y = np.round(draw(12, 3) * 2**20) / 2**20, np.round(draw(12, 3, 1) * 2**20) / 2**20
    near = run(x, y, objective)
    for far in (
        run(x + offset, y, objective),
        run(x, y + offset, objective),
        run(x + offset, y - offset, objective),
    ):
        np.testing.assert_array_equal(far.permutation, near.permutation)
        assert far.objective == pytest.approx(near.objective, rel=1e-6)
    both = run(x + offset, y + offset, objective, "identity")
    assert both.objective == pytest.approx(run(x, y, objective, "identity").objective, rel=1e-12)


@objectives
@pytest.mark.parametrize("alignment", ["standardize", "identity"])
@pytest.mark.parametrize(("n", "m"), [(6, 6), (5, 7), (7, 5)])
@pytest.mark.usefixtures("each_solver")
def test_duplicated_points_are_ordinary_input(objective, alignment, n, m):
    places = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 2.0]])
    x, y = places[np.arange(n) % 3], places[(np.arange(m) + 1) % 3]
    result = run(x, y, objective, alignment)
    cost = costs(objective, x, y, result.scale, result.shift, noise_of(objective, n, m))
    best = float(least_cost(cost))
    if objective != "greedy":
        assert result.objective == pytest.approx(best, rel=1e-11, abs=1e-20)
    elif alignment == "identity" and n == m:
        assert result.objective == pytest.approx(best, rel=1e-11)


@objectives
@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize("alignment", ["standardize", "identity"])
@pytest.mark.usefixtures("each_solver")
def test_noiseless_points_are_ordinary_input(objective, d, alignment):
    x, y, order = shuffled_copy(25, d)
    result = run(x, y, objective, alignment)
    np.testing.assert_array_equal(result.permutation, order)
    assert math.isfinite(result.objective)


@objectives
def test_two_points_on_a_line_are_enough(objective):
    result = run(np.array([[0.0], [10.0]]), np.array([[3.0], [1.0]]), objective)
    # After standardisation the two orders are mirror images; only distances decide.
    np.testing.assert_array_equal(result.permutation, [1, 0])
    assert result.scale == 5.0
    np.testing.assert_array_equal(result.shift, [-5.0])


@objectives
@pytest.mark.parametrize(("n", "m"), [(4, 4), (3, 5), (5, 3)])
@pytest.mark.parametrize("value", [0.0, 7.0, -1e9])
def test_all_points_of_one_set_in_one_place_need_no_scale_under_identity(objective, n, m, value):
    x, y = np.full((n, 2), value), value + draw(m, 2)
    for first, second in ((x, y), (y, x)):
        result = run(first, second, objective, "identity")
        if objective != "greedy":
            cost = costs(objective, first, second, noise=noise_of(objective, len(first), len(second)))
            assert result.objective == pytest.approx(float(least_cost(cost)), rel=1e-11)


@objectives
@pytest.mark.parametrize("value", [0.0, 1.0, 1e-200, -1e200])
@pytest.mark.usefixtures("each_solver")
def test_all_points_in_one_place_are_matched_in_order(objective, value):
    points = np.full((4, 2), value)
    if objective == "lss" and abs(value) in (1e200, 1e-200):
        return  # refused, as tested above
    noise = (abs(value) or 1.0, abs(value) or 1.0) if objective == "lsns" else None
    result = run(points, points, objective, "identity", noise=noise)
    np.testing.assert_array_equal(result.permutation, np.arange(4))
