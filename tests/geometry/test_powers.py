"""Powers of two as units: the least that covers, and multiplication without rounding."""

from fractions import Fraction

import numpy as np
import pytest

from lslmatch.geometry.powers import least_exponent, nonzero_exponent, power_factor, times_power


@pytest.mark.parametrize("values", [[1.0], [0.99, -0.5], [-4.0, 3.0], [5e-324], [1.7e308], [-0.75, 0.1]])
def test_the_least_exponent_is_the_least_that_covers(values):
    exponent = least_exponent(np.array(values))
    greatest = max(Fraction(abs(value)) for value in values)
    assert greatest < Fraction(2) ** exponent
    assert greatest >= Fraction(2) ** (exponent - 1)
    assert nonzero_exponent(exponent) == exponent


def test_zeros_have_an_exponent_below_any_other():
    assert least_exponent(np.zeros(3)) < least_exponent(np.array([5e-324]))
    assert nonzero_exponent(least_exponent(np.zeros(3))) == 0


@pytest.mark.parametrize("exponent", [0, 3, -999, 999, 1000, -1000, 1020, -1020])
def test_values_are_multiplied_exactly(exponent):
    values = np.ldexp([1.0, -0.75, 0.1], -exponent)
    expected = np.ldexp(values, exponent)
    np.testing.assert_array_equal(times_power(values, exponent), expected)
    scaled, factor = power_factor(values, exponent)
    np.testing.assert_array_equal(scaled * factor, expected)
    out = np.empty_like(values)
    assert times_power(values, exponent, out=out) is out
    np.testing.assert_array_equal(out, expected)
