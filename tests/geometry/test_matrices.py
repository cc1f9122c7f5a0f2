"""Products of points and a matrix are exact to twice a double's digits, whatever units columns have."""

from fractions import Fraction

import numpy as np
import pytest

from lslmatch.certificate.matrices import mapped_exactly, matrix_reach
from lslmatch.geometry.matrices import matrix_products, product_exponents

WAYS = {"solver": (matrix_products, product_exponents), "certificate": (mapped_exactly, matrix_reach)}


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def way(request):
    return request.param


def exact(points, matrix):
    rows = [[Fraction(v) for v in row] for row in points.tolist()]
    lines = [[Fraction(v) for v in row] for row in matrix.tolist()]
    return [[sum(a * b for a, b in zip(row, line, strict=True)) for line in lines] for row in rows]


def worst_error(points, matrix, way):
    """Give the greatest error beside the sum of the magnitudes of a sum's terms."""
    multiply, reach = way
    power = reach(points, matrix)
    power = np.where(power > -(10**5), power, 0)
    high, low = multiply(points, matrix, power)
    assert np.abs(high).max() < 1.0
    size = exact(np.abs(points), np.abs(matrix))
    errors = [0.0]
    for i, row in enumerate(exact(points, matrix)):
        for k, value in enumerate(row):
            found = (Fraction(float(high[i, k])) + Fraction(float(low[i, k]))) * Fraction(2) ** int(power[k])
            if size[i][k]:
                errors.append(float(abs(found - value) / size[i][k]))
            else:
                assert found == value
    return max(errors)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 2), (2, 5), (7, 7)])
def test_products_have_twice_the_digits(shape, way):
    rng = np.random.default_rng(shape)
    assert worst_error(rng.normal(size=(4, shape[1])), rng.normal(size=shape), way) < 2.0**-98


def test_units_of_columns_cost_no_digits(way):
    rng = np.random.default_rng(1)
    units = 10.0 ** np.array([-30, 0, 25])
    points, matrix = rng.normal(size=(5, 3)) * units, rng.normal(size=(3, 3)) / units
    assert worst_error(points, matrix * 10.0 ** np.array([[-20], [0], [9]]), way) < 2.0**-98


def test_fills_cost_other_points_nothing(way):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(6, 3))
    points[4, 1] = 1e20
    assert worst_error(points, rng.normal(size=(3, 3)), way) < 2.0**-98


def test_zeros_are_exact(way):
    rng = np.random.default_rng(3)
    points = rng.normal(size=(6, 3)) * [[1, 0, 1]]
    points[2] = 0.0
    matrix = rng.normal(size=(3, 3))
    matrix[1] = 0.0
    assert worst_error(points, matrix, way) < 2.0**-98
    assert worst_error(points * 0.0, matrix, way) == 0.0


def test_whole_range_of_doubles(way):
    rng = np.random.default_rng(4)
    points, matrix = rng.normal(size=(3, 2)), rng.normal(size=(2, 2))
    assert worst_error(points * 1e300, matrix * 1e300, way) < 2.0**-98
    assert worst_error(points * 1e-290, matrix * 1e-290, way) < 2.0**-98
