"""Exact sums and products of extended doubles, as unevaluated sums of a few of them.

Where extended doubles are no longer than doubles, the same steps are exact as long as nothing is near the
ends of the range of doubles.
"""

import math

import numpy as np

#: 64 bits, and a range in which no product of two doubles is too large or too small, on most machines.
LONG = np.longdouble


def two_sum(p, q):
    """Return the sums rounded, and what they lost in rounding."""
    total = p + q
    seen = total - p
    return total, (p - (total - seen)) + (q - seen)


def products(factor, values):
    """Return products of a double and of doubles, rounded, and what they lost; halves multiply exactly."""
    (a, a_power), (b, b_power) = np.frexp(factor), np.frexp(values)
    product = LONG(a) * LONG(b)
    (a, a_rest), (b, b_rest) = _halves(a), _halves(b)
    lost = (((a * b - product) + a * b_rest) + a_rest * b) + a_rest * b_rest
    return [np.ldexp(part, a_power + b_power) for part in (product, lost)]


def _halves(values):
    """Split doubles into halves of 26 bits each, Veltkamp's way."""
    shifted = 134217729.0 * values
    high = shifted - (shifted - values)
    return LONG(high), LONG(values - high)


def sums(terms):
    """Return sums of a few terms as three parts, each below the last digit of the one before it."""
    parts = list(terms)
    # Each pass is exact, and moves what is large one place up at least.
    for _ in parts:
        for k in range(len(parts) - 1, 0, -1):
            parts[k - 1], parts[k] = two_sum(parts[k - 1], parts[k])
    return parts[0], parts[1], sum(reversed(parts[2:]))


def residuals(x, y):
    """Return differences of sums of two parts and of three, to nearly all digits however much cancels."""
    high, lost = two_sum(x[0], -y[0])
    low, rest = two_sum(x[1], -y[1])
    return (high + low) + ((lost + rest) - y[2])


def logarithm(values):
    """Return natural logarithms to the digits of a double, of numbers of any size."""
    fraction, power = np.frexp(values)
    return LONG(np.log(fraction.astype(float))) + power * LONG(math.log(2.0))
