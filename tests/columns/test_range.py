"""Units at the ends of the range of float64: matched and proven, or refused in one line."""

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, diagnose, match
from lslmatch.columns.doubt import _scales
from lslmatch.columns.slopes import find_slopes

UNITS = [1e-300, 1e-200, 1e200, 1e300]


def draw(unit):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, size=(24, 3))
    y = x[rng.permutation(24)] * (1.0 + 1e-3 * rng.normal(size=(24, 3)))
    return np.clip(unit * x, -1.7e308, 1.7e308), np.clip(unit * y, -1.7e308, 1.7e308)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("alignment", ["columns", "auto"])
@pytest.mark.parametrize("covariance", ["isotropic", "auto"])
def test_extreme_units_are_matched_and_proven(unit, alignment, covariance):
    x, y = draw(unit)
    result = match(x, y, alignment=alignment, covariance=covariance)
    assert check_certificate(x, y, result) < 1e-9
    expected = match(*draw(1.0), alignment="identity").permutation
    np.testing.assert_array_equal(result.permutation, expected)


@pytest.mark.parametrize("covariance", ["isotropic", "auto"])
def test_a_spread_beyond_the_range_is_refused_for_columns_only(covariance):
    x, y = draw(1.7e308)
    with pytest.raises(ValueError, match="columns whose spread is in the range of float64"):
        match(x, y, alignment="columns", covariance=covariance)
    assert check_certificate(x, y, match(x, y, alignment="auto", covariance=covariance)) < 1e-9


@pytest.mark.parametrize("points", [3, 24])
def test_units_whose_ratios_are_beyond_the_range_are_refused(points):
    x, y = (part[:points] for part in draw(1.0))
    y = y * np.array([1e-320, 1.0, 1e20])
    with pytest.raises(ValueError, match="columns whose spread is in the range of float64"):
        match(x, y, alignment="columns")


def test_a_scale_beyond_the_range_is_named():
    x, y = draw(1.0)
    units = np.array([1e300, 1.0, 1.0])
    slopes = find_slopes(x * units, y / units, match(x, y, alignment="identity").permutation)
    with np.errstate(all="raise", under="ignore"):
        assert "scale of column 0 1.0142e+304, of column 1" in _scales(slopes, None)


def test_columns_in_units_far_apart_are_diagnosed_or_refused():
    x, y = draw(1.0)
    far = np.array([1e-120, 1.0, 1e120])
    with np.errstate(all="raise", under="ignore"):
        result = match(far * x, far * y, alignment="identity", covariance=far**2)
        assert np.isfinite(diagnose(far * x, far * y, result).confidence).all()
        x, y = x[:, :2], y[:, :2]
        result = match(x, y, alignment=Affine(1.0, np.full(2, 1e160)), covariance=np.array([1e-320, 1e300]))
        with pytest.raises(ValueError, match="once columns are in common units"):
            diagnose(x, y, result)
