"""Sums and products with what they lost in rounding, for the certificate: plain NumPy, on its own."""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray


def exact_residuals(x: FloatArray, y: FloatArray, scale: float | FloatArray, shift: FloatArray) -> FloatArray:
    """Compute ``x - scale * y - shift``, row by row, with all digits even where its terms cancel.

    There may be one scale, or one for each column.
    """
    if isinstance(scale, np.ndarray):
        columns = [
            exact_residuals(x[:, [k]], y[:, [k]], float(scale[k]), shift[[k]]) for k in range(scale.size)
        ]
        return np.hstack(columns)
    fraction, power = math.frexp(scale)
    extents = [(x, 0), (y, power), (shift, 0)]
    exponent = max(math.frexp(float(np.abs(part).max(initial=0.0)))[1] + more for part, more in extents)
    x, y, shift = (np.ldexp(part, more - exponent) for part, more in extents)
    product, product_lost = exact_product(fraction, y)
    total, lost = exact_sum(x, -product)
    total, more_lost = exact_sum(total, -shift)
    return np.ldexp(total + (lost + more_lost - product_lost), exponent)


def exact_product(factor: float | FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the product and what it lost in rounding: halves of the factors have exact products."""
    half, halves = _high_half(np.asarray(factor)), _high_half(values)
    rest, rests = factor - half, values - halves
    product = factor * values
    lost = half * halves - product
    lost += half * rests
    lost += rest * halves
    lost += rest * rests
    return product, lost


def _high_half(values: FloatArray) -> FloatArray:
    """Return doubles without the lower 27 bits of their fractions."""
    bits = np.ascontiguousarray(values).view(np.int64) & ~np.int64((1 << 27) - 1)
    return bits.view(np.float64)


def exact_sum(p: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sum of two terms and what it lost in rounding."""
    total = p + q
    back = total - p
    lost = p - (total - back)
    lost += q - back
    return total, lost
