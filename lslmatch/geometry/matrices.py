"""Points times a matrix, with what the products lose in rounding: error-free, by products of whole numbers.

Each row of points, and each row of the matrix, is cut into slices of so few bits that sums of products of
slices are whole numbers below 2**53. An ordinary matrix product gives them without any rounding (Ozaki,
Ogita, Oishi and Rump, Numerical Algorithms 59, 2012). What is left is to add them up, the least first.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray, IntArray

#: Slices are dropped once they are below this power of two beside the greatest entry of their row.
_MOST_BITS = 130
#: Bits of a sum of whole numbers, with room for adding up several of them.
_EXACT_BITS = 50
#: Entries that are multiplied at a time.
_BLOCK = 1 << 20
#: Stands for the exponent of 0.
_NOTHING = -(10**6)
#: Rows that tell what a column is mostly like.
_SAMPLED = 65


def product_exponents(points: FloatArray, matrix: FloatArray) -> IntArray:
    """Give exponents e of the coordinates with all ``abs(points @ matrix.T) < 2**e``."""
    found: IntArray = (exponents(matrix) + greatest_exponents(points)).max(axis=1)
    return found + points.shape[1].bit_length()


def greatest_exponents(points: FloatArray) -> IntArray:
    """Give the least e of each column with all ``abs(points) < 2**e``; far below any other if all are 0."""
    return exponents(np.abs(points).max(axis=0))


def nonzero_exponents(found: IntArray) -> IntArray:
    """Return exponents, but 0 where all values were 0."""
    return np.where(found > _NOTHING // 2, found, 0)


def matrix_products(points: FloatArray, matrix: FloatArray, power: IntArray) -> tuple[FloatArray, FloatArray]:
    """Compute ``points @ matrix.T``, column k in units of ``2**power[k]``: rounded, and what that lost."""
    # Columns in the unit that most of their points have; a point that is far out loses digits by itself.
    unit = _typical_exponents(points)
    right, right_power = _in_own_units(matrix, unit - power[:, None])
    bits = (_EXACT_BITS - points.shape[1].bit_length()) // 2
    right_slices = _slices(right, bits)
    high = np.empty((len(points), len(matrix)))
    low = np.empty_like(high)
    step = max(1, _BLOCK // max(matrix.shape))
    for start in range(0, len(points), step):
        some = slice(start, start + step)
        left, left_power = _in_own_units(points[some], -unit)
        found, lost = _sum(_slices(left, bits), right_slices, bits)
        back = left_power[:, None] + right_power
        high[some], low[some] = np.ldexp(found, back), np.ldexp(lost, back)
    return high, low


def exponents(values: FloatArray) -> IntArray:
    """Give the least e of each number with ``abs(value) < 2**e``; far below any other for 0."""
    fraction, exponent = np.frexp(values)
    return np.where(fraction != 0.0, exponent, _NOTHING)


def _typical_exponents(points: FloatArray) -> IntArray:
    """Give the median exponent of each column; the greatest where most entries are 0."""
    found = np.sort(exponents(points[:: -(-len(points) // _SAMPLED)]), axis=0)
    middle = found[len(found) // 2]
    return nonzero_exponents(np.where(middle > _NOTHING, middle, greatest_exponents(points)))


def _in_own_units(values: FloatArray, power: IntArray) -> tuple[FloatArray, IntArray]:
    """Multiply by ``2**power`` and bring each row below 1; also give the exponents of the rows."""
    fraction, exponent = np.frexp(values)
    exponent = exponent + power
    rows = nonzero_exponents(np.where(fraction != 0.0, exponent, _NOTHING).max(axis=1))
    return np.ldexp(fraction, np.minimum(exponent - rows[:, None], 0)), rows


def _slices(values: FloatArray, bits: int) -> list[FloatArray]:
    """Cut numbers below 1 into whole numbers: the sum of ``slices[k] * 2**(-bits * (k + 1))``."""
    slices: list[FloatArray] = []
    while len(slices) * bits < _MOST_BITS and (not slices or values.any()):
        values = values * math.ldexp(1.0, bits)
        whole = np.rint(values)
        slices.append(whole)
        values = values - whole
    return slices


def _sum(left: list[FloatArray], right: list[FloatArray], bits: int) -> tuple[FloatArray, FloatArray]:
    """Add up the products of all slices, the least first: the sum rounded, and what it lost."""
    high = np.zeros((len(left[0]), len(right[0])))
    low = np.zeros_like(high)
    for order in range(min(len(left) + len(right) - 2, _MOST_BITS // bits), -1, -1):
        term = np.zeros_like(high)
        for p in range(max(0, order - len(right) + 1), min(order + 1, len(left))):
            term += left[p] @ right[order - p].T
        term *= math.ldexp(1.0, -bits * (order + 2))
        total = high + term
        back = total - term
        low += (high - back) + (term - (total - back))
        high = total
    total = high + low
    return total, low - (total - high)
