"""Squared distances in common coordinates, against exact rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.geometry.panels import FEW_ROWS
from lslmatch.geometry.tiles import (
    correct_cancelled,
    cut_tiles,
    exact_distance,
    expand_row,
    expand_tile,
)
from tests.support.reference import SMALL, squared_distances
from tests.support.sets import draw

#: Relative errors: eight bits may be lost to cancellation, and each of d terms rounds.
EXPANDED = 1e-12
DIRECT = 1e-14

# Rows beyond one tile, columns beyond one tile (narrower in high dimension), and neither.
SIZES = [(2, 2, 1), (5, 3, 4), (66, 5, 2), (3, 600, 6), (9, 3, 300)] + (
    [] if SMALL else [(130, 300, 3), (70, 140, 40)]
)


def expanded(geometry, dtype=np.float64):
    """All squared distances as the kernels get them, and the factor that makes them lower bounds."""
    n, m = geometry.shape
    tiles = cut_tiles(geometry, dtype)
    cols = tiles.b_squares.shape[1]
    block, row = np.empty((FEW_ROWS, cols), dtype), np.empty(cols, dtype)
    squares = np.full((n, tiles.b.shape[0] * cols), np.nan)
    for t in range(tiles.b.shape[0]):
        for first in range(0, n, FEW_ROWS):
            last = min(first + FEW_ROWS, n)
            expand_tile(tiles, first, last, t, block)
            for i in range(first, last):
                expand_row(tiles, i, t, row)
                np.testing.assert_allclose(row, block[i - first], rtol=0.1, atol=1e-5)
                limits = tiles.a_limits[i], tiles.b_limits[t]
                correct_cancelled(geometry, i, t * cols, block[i - first], *limits)
                squares[i, t * cols : (t + 1) * cols] = block[i - first]
    assert (squares[:, m:] == np.inf).all()
    squares = np.ascontiguousarray(squares[:, :m])
    return squares, tiles.lowered


def direct(geometry):
    n, m = geometry.shape
    return np.array([[exact_distance(geometry, i, j) for j in range(m)] for i in range(n)])


def relative_errors(found, exact, exponent):
    """Errors relative to the exact value; a coincidence must be exact."""
    errors = []
    for value, true in zip(found.ravel().tolist(), exact.ravel(), strict=True):
        value = Fraction(value) * Fraction(4) ** exponent
        errors.append(float(abs(value - true) / true) if true else (0.0 if value == 0 else math.inf))
    return max(errors)


def assert_accurate(x, y, affine=None):
    affine = affine or Affine(1.0, np.zeros(x.shape[1]))
    geometry = common_coordinates(x, y, affine)
    exact = squared_distances(x, y, *affine)
    assert relative_errors(expanded(geometry)[0], exact, geometry.exponent) <= EXPANDED
    assert relative_errors(direct(geometry), exact, geometry.exponent) <= DIRECT * x.shape[1]


@pytest.mark.parametrize(("n", "m", "d"), SIZES)
def test_every_tile_holds_the_distances_of_its_pairs(n, m, d):
    assert_accurate(draw(n, d), draw(m, d, 1), Affine(0.7, np.linspace(-1.0, 1.0, d)))


@pytest.mark.parametrize(("n", "m", "d"), SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gap", [None, 0.3, 1e-3, 1e-8])
def test_lowered_distances_are_lower_bounds_in_either_precision(n, m, d, dtype, gap):
    x = draw(n, d)
    y = draw(m, d, 1) if gap is None else x[np.arange(m) % n] + gap * draw(m, d, 1)
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
    squares, lowered = expanded(geometry, dtype)
    assert 0.5 < lowered < 1.0
    exact = squared_distances(x, y)
    low = [
        Fraction(value) * Fraction(4) ** geometry.exponent for value in (lowered * squares).ravel().tolist()
    ]
    assert all(bound <= value for bound, value in zip(low, exact.ravel(), strict=True))


@pytest.mark.parametrize("gap", [1e-2, 1e-8, 1e-15, 1e-18, 0.0])
@pytest.mark.parametrize("d", [1, 3, 20])
def test_close_points_keep_their_relative_accuracy(gap, d):
    x = draw(6, d)
    assert_accurate(x, x[::-1] * (1.0 + gap))
    assert_accurate(x, x[::-1] + gap * draw(6, d, 1))


@pytest.mark.parametrize("offset", [1e9, -1e15])
def test_a_common_offset_costs_no_digits(offset):
    x = np.round(draw(7, 3) * 2**3) / 2**3 + offset
    assert_accurate(x, np.roll(x, 1, axis=0))
    assert_accurate(x, x / 4.0, Affine(4.0, np.zeros(3)))
    assert_accurate(x, draw(7, 3, 1), Affine(1.0, np.full(3, offset)))


@pytest.mark.parametrize("scale", [1.0 / 3.0, 1.1, 3e7])
def test_rounding_of_the_affine_map_is_carried_along(scale):
    y = draw(6, 3)
    shift = np.array([0.1, 0.2, -1e5])
    # As close as doubles can come to the image: what is left is below one unit in the last place.
    assert_accurate(scale * y + shift, y, Affine(scale, shift))


@pytest.mark.parametrize("unit", [2.0**600, 2.0**-600, 2.0**1020, 2.0**-1000])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_the_unit_of_the_points_does_not_matter(unit, shift):
    x, y = draw(5, 2), draw(6, 2, 1)
    x[3] = y[2] + shift
    assert_accurate(unit * x, unit * y, Affine(1.0, np.full(2, unit * shift)))


@pytest.mark.parametrize("scale", [2.0**900, 2.0**-900])
def test_the_scale_may_bridge_very_different_units(scale):
    x, y = draw(5, 2), draw(6, 2, 1)
    assert_accurate(scale * x, y, Affine(scale, np.zeros(2)))
    assert_accurate(x, y / scale, Affine(scale, np.zeros(2)))


def test_duplicated_points_are_at_distance_zero_exactly():
    x = draw(70 if not SMALL else 9, 3)
    geometry = common_coordinates(x, x, Affine(1.0, np.zeros(3)))
    for dtype in (np.float32, np.float64):
        assert not np.diag(expanded(geometry, dtype)[0]).any()


def test_exchanging_the_sets_transposes_the_distances():
    x, y = draw(5, 3), draw(8, 3, 1)
    geometry = common_coordinates(x, y, Affine(2.0, np.ones(3)))
    np.testing.assert_array_equal(direct(geometry.transposed()), direct(geometry).T)
    np.testing.assert_allclose(expanded(geometry.transposed())[0], expanded(geometry)[0].T, rtol=EXPANDED)
    assert geometry.transposed().shape == (8, 5)
