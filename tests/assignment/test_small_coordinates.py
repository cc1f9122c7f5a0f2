"""Coordinates of small sets: as exact as the bound of rounding errors takes them to be."""

import math
from fractions import Fraction

import numpy as np
import pytest

from lslmatch.assignment.small_coordinates import (
    NOT_ORDINARY,
    UNKNOWN,
    _centre,
    _centre_rows,
    _extremes,
    align_rows,
    align_small,
    exact_residual,
    lower_floor,
    settle_map,
)
from lslmatch.assignment.small_dense import FLOOR, LOST, SCALE, SHIFT, SPREAD
from lslmatch.costs import COINCIDENT
from lslmatch.geometry.coordinates import FAR_OUT
from lslmatch.geometry.expansion import absolute_error

V = Fraction(1, 2**53)


def fractions(array):
    return np.vectorize(Fraction, otypes=[object])(np.asarray(array, float))


def aligned(x, y, scale=UNKNOWN, shift=None, as_rows=False):
    """Align two sets; give what is known then, the work, and both sets of coordinates by points."""
    d = x.shape[1]
    numbers = np.zeros(SHIFT + d)
    numbers[SCALE] = scale
    numbers[SHIFT:] = 0.0 if shift is None else shift
    if as_rows:
        work, a, b = np.empty((9, d)), np.empty(x.shape), np.empty(y.shape)
        apart = align_rows(x, y, numbers, work, a, b)
        return numbers, work, a, b, apart
    work, a, b = np.empty((6, d)), np.empty(x.shape[::-1]), np.empty(y.shape[::-1])
    apart = align_small(x, y, numbers, work, a, b)
    return numbers, work, a.T, b.T, apart


def normal(rng, n, m, d):
    return rng.normal(size=(n, d)), 3.0 * rng.normal(size=(m, d)) - 7.0


def far_away(rng, n, m, d):
    return rng.normal(size=(n, d)) + 1e9, 1e-3 * rng.normal(size=(m, d)) - 1e5


def with_fills(rng, n, m, d):
    x, y = normal(rng, n, m, d)
    x[-1, 0], y[-1] = 1e15, -1e13
    return x, y


def of_all_lengths(rng, n, m, d):
    return 10.0 ** rng.uniform(-6.0, 6.0, (n, 1)) * rng.normal(size=(n, d)), rng.normal(size=(m, d))


KINDS = [normal, far_away, with_fills, of_all_lengths]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m", "d"), [(2, 2, 1), (7, 5, 3), (5, 9, 4)])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("as_rows", [False, True])
def test_coordinates_have_the_errors_that_the_bound_allows(kind, n, m, d, known, as_rows):
    x, y = kind(np.random.default_rng([n, m, d]), n, m, d)
    shift = np.linspace(-1.0, 1.0, d) * np.abs(x).max() if known else None
    numbers, work, a, b, apart = aligned(x, y, 0.7 if known else UNKNOWN, shift, as_rows)
    centre, offset = work[0], work[3]
    scale, shift = Fraction(numbers[SCALE]), fractions(numbers[SHIFT:])
    error = np.abs(fractions(a) - (fractions(x) - fractions(centre)))
    assert (error <= 4 * V * np.abs(fractions(a))).all()
    greatest = max(np.abs(part).max() for part in (numbers[SHIFT:], centre, work[2]))
    error = np.abs(fractions(b) - (scale * fractions(y) + shift - fractions(centre)))
    limit = 4 * V * (np.abs(fractions(b)) + np.abs(fractions(offset))) + Fraction(greatest) / 2**100
    assert (error <= limit).all()
    # The part of it that no share of coordinates covers.
    assert apart == pytest.approx(np.square(offset).sum(), rel=1e-12)
    assert numbers[LOST] == pytest.approx(absolute_error(d, apart, greatest), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("as_rows", [False, True])
def test_the_spread_is_the_mean_square_about_the_mean_of_the_first_set(kind, as_rows):
    x, y = kind(np.random.default_rng(4), 6, 9, 3)
    for known in (False, True):
        numbers, *_ = aligned(x, y, 0.7 if known else UNKNOWN, np.array([1.0, 5.0, -9.0]), as_rows)
        mean = fractions(x).sum(axis=0) / 6
        mapped = Fraction(numbers[SCALE]) * fractions(y) + fractions(numbers[SHIFT:])
        squares = ((fractions(x) - mean) ** 2).sum() + ((mapped - mean) ** 2).sum()
        assert numbers[SPREAD] == pytest.approx(float(squares / 15), rel=1e-12)
        assert numbers[FLOOR] == numbers[SPREAD] * COINCIDENT
        if not known:
            # Scale and shift are the moments'.
            totals = [
                ((fractions(part) - fractions(part).sum(axis=0) / len(part)) ** 2).sum() for part in (x, y)
            ]
            assert numbers[SCALE] == pytest.approx(math.sqrt(totals[0] / totals[1] * 9 / 6), rel=1e-14)
            exact = mean - Fraction(numbers[SCALE]) * fractions(y).sum(axis=0) / 9
            size = np.abs(x).max() + numbers[SCALE] * np.abs(y).max()
            np.testing.assert_allclose(numbers[SHIFT:], exact.astype(float), rtol=0, atol=1e-15 * size)


def repeated(rng, n, m, d):
    """Sums of equal numbers round in the same way again and again."""
    x = np.full((1500, d), 0.1) * np.arange(1, d + 1)
    x[0] = 0.0
    return x, x


@pytest.mark.parametrize("kind", [*KINDS, repeated])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("as_rows", [False, True])
def test_means_are_corrected_for_what_the_first_pass_rounded(kind, d, as_rows):
    points = kind(np.random.default_rng(d), 8, 9, d)[0]
    n = len(points)
    centre, mean, rest = np.empty((3, d))
    if as_rows:
        deviations = np.empty(points.shape)
        total = _centre_rows(points, centre, mean, rest, np.empty((3, d)), deviations)
    else:
        lines = np.empty((d, n))
        total = _centre(points, centre, mean, rest, lines)
        deviations = lines.T
    exact = fractions(points).sum(axis=0) / n
    np.testing.assert_array_equal(deviations, points - centre)
    rounding = 4e-16 * np.abs(deviations).max(axis=0)
    assert (np.abs((exact - fractions(mean)).astype(float)) <= rounding + 1.2e-16 * np.abs(mean)).all()
    assert (np.abs((exact - fractions(centre) - fractions(rest)).astype(float)) <= rounding).all()
    if kind is repeated:
        assert (np.abs((exact - fractions(centre)).astype(float)) > 10.0 * rounding).any(), "as it was first"
    assert total == pytest.approx(float(((fractions(points) - exact) ** 2).sum()), rel=1e-13)


@pytest.mark.parametrize("magnitude", [1.0, 1e9, 1e-12])
def test_residuals_have_all_digits_where_a_point_meets_its_image(magnitude):
    rng = np.random.default_rng(7)
    for y, scale, shift in rng.normal(size=(200, 3)) * [magnitude, 1.0, magnitude]:
        near = scale * y + shift
        for x in (near, np.nextafter(near, 9.0), near + 1e-9 * magnitude, near + magnitude):
            exact = Fraction(x) - Fraction(scale) * Fraction(y) - Fraction(shift)
            found = Fraction(exact_residual(x, y, scale, shift))
            size = max(abs(Fraction(part)) for part in (x, shift, near))
            assert abs(found - exact) <= abs(exact) * V * 2 + size / 2**104


def settled(x_total=2.0, y_total=8.0, n=3, m=5, scale=UNKNOWN, shift=0.0, centre=0.0, other=0.0):
    numbers, work = np.zeros(SHIFT + 1), np.zeros((6, 1))
    numbers[SCALE], numbers[SHIFT] = scale, shift
    work[0] = work[1] = centre
    work[2] = work[3] = other
    apart = settle_map(x_total, y_total, n, m, numbers, work)
    return numbers, work, apart


def test_the_scale_is_the_ratio_of_the_spreads():
    numbers, work, apart = settled(centre=10.0, other=3.0)
    scale = math.sqrt(2.0 / 8.0 * 5.0 / 3.0)
    assert numbers[SCALE] == pytest.approx(scale)
    assert numbers[SHIFT] == pytest.approx(10.0 - 3.0 * scale)
    assert apart == work[3, 0] ** 2 < 1e-28
    assert numbers[SPREAD] == pytest.approx((2.0 + scale**2 * 8.0) / 8.0)


@pytest.mark.parametrize(("x_total", "y_total"), [(0.0, 8.0), (2.0, 0.0), (0.0, 0.0)])
def test_without_spread_there_is_no_scale(x_total, y_total):
    assert settled(x_total, y_total)[0][SCALE] == NOT_ORDINARY
    numbers, *_ = settled(x_total, y_total, scale=1.0, shift=1.0)
    assert numbers[SCALE] == 1.0, "unless it is given"
    assert numbers[SPREAD] == pytest.approx((x_total + y_total + 5.0) / 8.0)


@pytest.mark.parametrize(
    ("is_ordinary", "known"),
    [
        (True, {"centre": np.nextafter(2.0**100, 0.0), "shift": np.nextafter(2.0**100, 0.0)}),
        (False, {"centre": 2.0**100, "shift": 2.0**100}),
        (False, {"centre": 2.0**100, "other": 2.0**100}),
        (False, {"centre": -(2.0**100), "shift": -(2.0**99), "other": -(2.0**99)}),
        (False, {"shift": 2.0**100, "other": -(2.0**100)}),
        (True, {"x_total": 2.0**202, "y_total": 0.0}),
        (False, {"x_total": 2.0**203, "y_total": 0.0}),
        (False, {"x_total": 2.0**-197, "y_total": 0.0}),
        (True, {"x_total": 2.0**-196, "y_total": 0.0}),
        (False, {"scale": 2.0**100, "y_total": 0.0}),
        (True, {"scale": 2.0**99, "y_total": 0.0}),
        (False, {"scale": 2.0**-100}),
        (True, {"scale": 2.0**-99}),
        (False, {"x_total": math.nan}),
        (False, {"x_total": math.inf}),
        (False, {"centre": math.nan}),
    ],
)
def test_ordinary_numbers_are_within_limits(is_ordinary, known):
    numbers, *_ = settled(**{"scale": 1.0, **known})
    assert (numbers[SCALE] != NOT_ORDINARY) == is_ordinary


def test_means_that_are_apart_count_with_what_was_not_in_the_centres():
    numbers, work = np.zeros(SHIFT + 2), np.zeros((6, 2))
    numbers[SCALE], numbers[SHIFT:] = 2.0, (1.0, 4.0)
    work[0], work[2] = (5.0, 1.0), (3.0, 2.0)
    work[4], work[5] = (0.5, 0.25), (0.125, 0.375)
    apart = settle_map(6.0, 7.0, 3, 4, numbers, work)
    np.testing.assert_array_equal(work[3], [2.0, 7.0])
    assert apart == 53.0
    # scale * (mean of y) + shift - (mean of x), with what the means are beyond the centres.
    means_apart = (2.0 + 2.0 * 0.125 - 0.5) ** 2 + (7.0 + 2.0 * 0.375 - 0.25) ** 2
    assert numbers[SPREAD] == (6.0 + 4.0 * 7.0 + 4.0 * means_apart) / 7.0
    assert numbers[LOST] == absolute_error(2, 53.0, 5.0)


def floor_of(x, y, scale=1.0, shift=0.0, spread=1.0):
    numbers = np.zeros(SHIFT + x.shape[1])
    numbers[SCALE], numbers[SHIFT:], numbers[SPREAD], numbers[FLOOR] = scale, shift, spread, 7.0
    return lower_floor(x, y, numbers), numbers[FLOOR]


def test_the_floor_is_lowered_to_a_share_of_the_least_point_that_is_not_zero():
    x, y = np.array([[0.0, 0.0], [3e-9, 4e-9]]), np.array([[1e-8, 0.0], [5.0, 0.0]])
    in_range, floor = floor_of(x, y)
    assert in_range
    assert floor == pytest.approx(25e-18 * COINCIDENT, rel=1e-12)
    # In the units of the first set the second may have the least.
    assert floor_of(x, y, 0.1)[1] == pytest.approx(1e-18 * COINCIDENT, rel=1e-12)
    # Or both may be shifted.
    assert floor_of(x, y, 0.1, 1e-8)[1] == pytest.approx(2e-16 * COINCIDENT, rel=1e-12)


def test_it_stays_where_no_point_is_small_or_the_shift_is_large():
    x = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert floor_of(x, x) == (True, 7.0)
    small = 1e-9 * x
    assert floor_of(small, x, shift=1e-3) == (True, 7.0)
    root = math.sqrt(FAR_OUT)
    limit = np.array([[root, 0.0]])
    assert floor_of(limit, limit) == (True, 7.0)
    assert floor_of(0.999 * limit, limit)[1] == pytest.approx(0.999**2 * FAR_OUT * COINCIDENT)
    # (At the limit the shift alone says so, and nobody looks at the points.)
    assert floor_of(1e-100 * x, x, shift=np.array([root, 0.0])) == (True, 7.0)
    assert floor_of(1e-100 * x, x, shift=np.array([0.5 * root, 0.0]))[1] == pytest.approx(
        0.25 * FAR_OUT * COINCIDENT
    )


def test_points_beyond_the_range_of_each_other_are_told():
    x = np.array([[2.0**-300, 0.0]])
    for exponent, in_range in ((99, True), (100, False), (101, False)):
        y = np.array([[0.0, 2.0**exponent]])
        assert floor_of(x, y)[0] == in_range
        assert floor_of(y, x)[0] == in_range
        assert floor_of(x, 2.0**-60 * y, 2.0**60)[0] == in_range


def test_extremes_are_those_of_squared_lengths():
    points = np.array([[3.0, 4.0], [0.0, 0.0], [-6.0, 8.0], [1.0, -1.0]])
    assert _extremes(points, 0.5) == (0.5, 25.0)
    assert _extremes(np.zeros((2, 2)), 1.0) == (math.inf, 0.0)
