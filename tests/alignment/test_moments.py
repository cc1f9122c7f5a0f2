import math
import re
from fractions import Fraction

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lslmatch import Affine, estimate_affine, match, standardize
from lslmatch.alignment.moments import _centred_statistics
from tests.support.reference import centred_statistics, sqrt_fraction
from tests.support.sets import draw

SHAPES = [(2, 1), (3, 1), (2, 4), (7, 3), (40, 5)]
shapes = pytest.mark.parametrize(("n", "d"), SHAPES)
units = pytest.mark.parametrize("unit", [1.0, 1e200, 1e-200, 2.0**-1060, 1e307])


def assert_estimates_the_definition(x, y, affine, rel=1e-13):
    """tau-hat = sqrt(SS(x) / SS(y)) and beta-hat = mean(x) - tau-hat * mean(y), from exact sums."""
    (x_mean, x_squares), (y_mean, y_squares) = centred_statistics(x), centred_statistics(y)
    ratio = sqrt_fraction(x_squares / y_squares * Fraction(len(y), len(x)))
    assert affine.scale == pytest.approx(ratio, rel=rel)
    for k, value in enumerate(affine.shift):
        size = abs(x_mean[k]) + ratio * abs(float(y_mean[k]))
        assert abs(value - float(x_mean[k] - Fraction(affine.scale) * y_mean[k])) <= rel * float(size)


# ----------------------------------------------------------------------------- estimate_affine


@shapes
@pytest.mark.parametrize("m", [2, 9])
def test_scale_and_shift_are_those_of_the_paper(n, d, m):
    x, y = 3.0 * draw(n, d) + 10.0, draw(m, d, 1) - 4.0
    assert_estimates_the_definition(x, y, estimate_affine(x, y))


def test_a_part_of_the_points_has_the_scale_of_the_whole():
    y = draw(1000, 5)
    x = 3.0 * y[:200] + 7.0
    assert estimate_affine(x, y).scale == pytest.approx(3.0, rel=0.05)
    assert (match(x, y).permutation == np.arange(200)).mean() > 0.9


@shapes
@pytest.mark.parametrize("scale", [1.0, 0.37, 1e-6, 1e9])
def test_noiseless_scale_and_shift_are_recovered_whatever_the_order(n, d, scale):
    y = draw(n, d)
    shift = np.arange(1.0, d + 1)
    x = scale * np.roll(y, 1, axis=0) + shift
    affine = estimate_affine(x, y)
    assert isinstance(affine, Affine)
    assert affine.scale == pytest.approx(scale, rel=1e-9)
    np.testing.assert_allclose(affine.shift, shift, atol=1e-8 * max(1.0, scale))


@shapes
@units
def test_the_unit_of_either_set_only_changes_the_unit_of_the_answer(n, d, unit):
    x, y = draw(n, d) + 1.0, draw(n, d, 1)
    one = estimate_affine(x, y)
    exact = 2.0 ** round(math.log2(unit))
    both = estimate_affine(exact * x, exact * y)
    assert both.scale == pytest.approx(one.scale, rel=1e-3 if unit < 1e-300 else 1e-14)
    np.testing.assert_allclose(both.shift / exact, one.shift, rtol=1e-3 if unit < 1e-300 else 1e-13)
    assert_estimates_the_definition(exact * x, exact * y, both)


@shapes
def test_a_large_common_offset_costs_no_digits(n, d):
    # A grid on which adding the offset is exact.
    x, y = np.round(draw(n, d) * 2**20) / 2**20, np.round(draw(n, d, 1) * 2**20) / 2**20
    near, far = estimate_affine(x, y), estimate_affine(x + 1e9, y - 1e9)
    assert far.scale == pytest.approx(near.scale, rel=1e-15)
    np.testing.assert_allclose(far.shift, near.shift + 1e9 + near.scale * 1e9, rtol=1e-15)


@shapes
def test_the_estimate_undoes_itself_when_the_sets_are_exchanged(n, d):
    x, y = draw(n, d), 5.0 * draw(n, d, 1) + 2.0
    there, back = estimate_affine(x, y), estimate_affine(y, x)
    assert there.scale * back.scale == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(there.scale * back.shift + there.shift, np.zeros(d), atol=1e-12)


@shapes
@pytest.mark.parametrize(("a", "c"), [(2.5, 1.0), (1.0, 0.3), (1e-5, 1e5)])
def test_scaling_and_shifting_either_set_composes(n, d, a, c):
    x, y = draw(n, d), draw(n, d, 1)
    one, other = estimate_affine(x, y), estimate_affine(a * x + 7.0, c * y - 3.0)
    assert other.scale == pytest.approx(one.scale * a / c, rel=1e-9)
    expected = a * one.shift + 7.0 + other.scale * 3.0
    np.testing.assert_allclose(other.shift, expected, rtol=1e-8, atol=1e-8 * a)


@pytest.mark.parametrize(("x_unit", "y_unit"), [(1e200, 1e-200), (1e-200, 1e200)])
def test_a_scale_beyond_the_range_of_doubles_is_refused(x_unit, y_unit):
    with pytest.raises(
        ValueError, match="x and y must have comparable units: .* multiply one set by a constant first"
    ):
        estimate_affine(x_unit * draw(4, 2), y_unit * draw(4, 2, 1))


def test_scales_up_to_the_ends_of_the_range_are_fine():
    x, y = draw(5, 2), draw(5, 2, 1)
    ratio = estimate_affine(x, y).scale
    assert estimate_affine(1e150 * x, 1e-150 * y).scale == pytest.approx(1e300 * ratio, rel=1e-12)
    assert estimate_affine(1e-150 * x, 1e150 * y).scale == pytest.approx(1e-300 * ratio, rel=1e-12)


@pytest.mark.parametrize(("bad", "n"), [("x", 3), ("y", 5)])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e9 + 0.1, -1e300, 5e-324])
def test_coincident_points_leave_the_scale_undefined(bad, n, value):
    sets = {"x": draw(3, 2), "y": draw(5, 2), bad: np.full((n, 2), value)}
    with pytest.raises(
        ValueError, match=f"{bad} must have a positive total variance, .* all its {n} points coincide"
    ):
        estimate_affine(**sets)


def test_a_spread_far_below_the_coordinates():
    """In one column, by numbers whose inverse is no double; the other is the same for all points."""
    x, y = np.array([[1.0, 0.0], [1.0, 8e-320]]), np.array([[1.0, 2e-320], [1.0, 0.0]])
    assert estimate_affine(x, y).scale == pytest.approx(4.0, rel=1e-3)
    np.testing.assert_allclose(standardize(x), np.sqrt(0.5) * np.array([[0.0, -1.0], [0.0, 1.0]]))


def test_the_smallest_possible_spread_is_a_spread():
    x = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert estimate_affine(x, [[0.0], [1.0]]).scale == pytest.approx(2.0**-52, rel=1e-12)


# ------------------------------------------------------------------------------------ standardize


@shapes
@units
@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_standardised_sets_are_centred_and_have_unit_sum_of_squares(n, d, unit, offset):
    z = standardize((draw(n, d) + offset) * unit)
    np.testing.assert_allclose(z.sum(axis=0), 0.0, atol=1e-13)
    assert (z**2).sum() == pytest.approx(1.0, rel=1e-13)


@shapes
def test_standardised_values_are_those_of_the_definition(n, d):
    x = 100.0 + draw(n, d)
    mean, squares = centred_statistics(x)
    root = sqrt_fraction(squares)
    expected = [
        [float(Fraction(value) - mean[k]) / root for k, value in enumerate(row)] for row in x.tolist()
    ]
    np.testing.assert_allclose(standardize(x), expected, rtol=1e-12, atol=1e-15)


@shapes
def test_standardising_removes_scale_and_shift_and_nothing_else(n, d):
    x = draw(n, d)
    z = standardize(x)
    np.testing.assert_allclose(standardize(z), z, atol=1e-15)
    np.testing.assert_allclose(standardize(12.5 * x - 1000.0), z, atol=1e-11)
    np.testing.assert_allclose(standardize(-x), -z, atol=1e-15)
    np.testing.assert_allclose(standardize(x[::-1]), z[::-1], atol=1e-14)


def test_standardise_refuses_coincident_points():
    with pytest.raises(ValueError, match="x must have a positive total variance"):
        standardize(np.ones((4, 3)))


def test_inputs_are_not_changed():
    x, y = draw(6, 2), draw(6, 2, 1)
    kept = x.copy(), y.copy()
    standardize(x)
    estimate_affine(x, y)
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(y, kept[1])


# -------------------------------------------------------------------------------------- the kernel


@pytest.mark.parametrize(("n", "d"), [*SHAPES, (5000, 1)])
@pytest.mark.parametrize("offset", [0.0, 1e8, 1e11])
def test_what_the_first_pass_rounds_the_second_corrects(n, d, offset):
    points = draw(n, d) + offset
    mean, *spare = np.zeros((3, d))
    total = _centred_statistics(points, 1.0, points[0], 1.0, mean, *spare)
    exact_mean, exact_total = centred_statistics(points)
    assert total == pytest.approx(float(exact_total), rel=1e-12)
    np.testing.assert_allclose(points[0] + mean, exact_mean.astype(float), rtol=4e-16, atol=1e-15)


# --------------------------------------------------------------------------------------- any input

_coordinates = (
    st.integers(-3, 3).map(float)
    | st.floats(-1e3, 1e3)
    | st.sampled_from([1e9, 1e9 + 1, 1e200, -1e300, 1.7e308, 1e-200, 5e-324])
)
_points = hnp.arrays(float, st.tuples(st.integers(2, 5), st.integers(1, 3)), elements=_coordinates)


def spread_underflows(points, power):
    """Whether the spread is below 2**-power times the largest coordinate: its square may vanish beside it."""
    _, squares = centred_statistics(points)
    return squares <= (Fraction(float(np.abs(points).max())) / 2**power) ** 2


@given(_points)
def test_any_points_are_standardised_or_said_to_coincide(x):
    try:
        z = standardize(x)
    except ValueError as error:
        assert "x must have a positive total variance" in str(error)  # noqa: PT017
        assert spread_underflows(x, 500)
        return
    assert np.isfinite(z).all()
    if not spread_underflows(x, 480):
        np.testing.assert_allclose(z.sum(axis=0), 0.0, atol=1e-12)
        assert (z**2).sum() == pytest.approx(1.0, rel=1e-12)


@given(st.data())
def test_any_two_sets_give_the_estimate_of_the_definition_or_a_reason(data):
    x = data.draw(_points)
    y = data.draw(hnp.arrays(float, st.tuples(st.integers(2, 5), st.just(x.shape[1])), elements=_coordinates))
    try:
        affine = estimate_affine(x, y)
    except ValueError as error:
        assert re.search("must have a positive total variance|must have comparable units", str(error))  # noqa: PT017
        return
    assert 0.0 < affine.scale < math.inf
    assert np.isfinite(affine.shift).all()
    if not spread_underflows(x, 480) and not spread_underflows(y, 480):
        ratio = sqrt_fraction(centred_statistics(x)[1] / centred_statistics(y)[1] * Fraction(len(y), len(x)))
        assert affine.scale == pytest.approx(ratio, rel=1e-12)
