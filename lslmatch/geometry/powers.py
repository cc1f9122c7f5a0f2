"""Powers of two as units, so that no coordinate over- or underflows."""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray

_ZERO_EXPONENT = -1_000_000


def least_exponent(values: FloatArray) -> int:
    """Return the least e with all ``abs(values) < 2**e``; far below any other if all values are 0."""
    greatest = max(values.max(), -values.min())
    return math.frexp(greatest)[1] if greatest > 0.0 else _ZERO_EXPONENT


def nonzero_exponent(exponent: int) -> int:
    """Return an exponent from `least_exponent`, but 0 if all values were 0."""
    return exponent if exponent > _ZERO_EXPONENT // 2 else 0


def times_power(values: FloatArray, exponent: int, out: FloatArray | None = None) -> FloatArray:
    """Multiply by ``2**exponent``: what `numpy.ldexp` does, but quickly where the factor is a double."""
    if abs(exponent) < 1000:
        return np.multiply(values, math.ldexp(1.0, exponent), out=out)
    return np.ldexp(values, exponent, out=out)


def power_factor(values: FloatArray, exponent: int) -> tuple[FloatArray, float]:
    """Return values and a factor whose product is ``values * 2**exponent``; mostly there is no copy."""
    if abs(exponent) < 1000:
        return values, math.ldexp(1.0, exponent)
    return np.ldexp(values, exponent), 1.0
