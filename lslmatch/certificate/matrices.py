"""A matrix times points, for the certificate: on its own, by sums and products with what they lost."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.certificate.exact import exact_product, exact_sum

#: Entries that are in work at a time.
_BLOCK = 1 << 15


def matrix_reach(points: FloatArray, matrix: FloatArray) -> IntArray:
    """Give powers of two that no coordinate of the mapped points reaches."""
    reach = np.full(len(matrix), -(10**6))
    size, exponents = np.frexp(np.abs(points).max(axis=0))
    for k in np.flatnonzero(size):
        part, more = np.frexp(matrix[:, k])
        reach = np.where(part != 0.0, np.maximum(reach, exponents[k] + more), reach)
    return reach + len(matrix[0]).bit_length()


def mapped_exactly(points: FloatArray, matrix: FloatArray, unit: IntArray) -> tuple[FloatArray, FloatArray]:
    """Multiply points by a matrix; coordinates in units of ``2**unit``, and what they lost in rounding."""
    high, low = (np.zeros((len(points), len(matrix))) for _ in range(2))
    own = np.frexp(np.abs(points).max(axis=0))[1]
    fraction, power = np.frexp(matrix)
    factors = np.ldexp(fraction, power + own - unit[:, None])
    step = max(1, _BLOCK // len(matrix))
    for start in range(0, len(points), step):
        some = slice(start, start + step)
        block = np.ldexp(points[some], -own)
        for k in range(len(own)):
            product, lost = exact_product(factors[:, k], np.repeat(block[:, [k]], len(matrix), axis=1))
            high[some], more = exact_sum(high[some], product)
            low[some] += lost + more
    return exact_sum(high, low)
