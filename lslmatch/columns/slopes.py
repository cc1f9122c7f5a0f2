"""Whether the pairs of a matching contradict one scale for all columns.

In column k the slope of x on y is too small, because y has noise, and the inverse of that of y on x is too
large, because x has: the scale lies between both, whatever the levels of the noise. One scale for all columns
must lie between all of them. Standard errors are those of Huber and White, for which levels may differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray

#: So many pairs, at most, are asked, and so many at least.
_ASKED, LEAST_PAIRS = 1000, 10
#: By how many standard errors two columns must contradict each other, and by what factor.
_BEYOND_CHANCE, _FACTOR = 6.0, 1.02


class Slopes(NamedTuple):
    """Bounds of the scale of each column, as logarithms; infinite where the pairs say nothing."""

    low: FloatArray
    high: FloatArray
    low_error: FloatArray
    high_error: FloatArray

    @property
    def contradict(self) -> bool:
        """Whether no scale is within the bounds of all columns, beyond chance."""
        low = self.low - _BEYOND_CHANCE * self.low_error
        high = self.high + _BEYOND_CHANCE * self.high_error
        beyond = bool(low.max() > high.min())
        return beyond and bool(self.low.max() - self.high.min() > np.log(_FACTOR))


@np.errstate(all="ignore")
def find_slopes(x: FloatArray, y: FloatArray, permutation: IntArray) -> Slopes | None:
    """Find the bounds from some pairs; None if there are too few."""
    rows = np.flatnonzero(permutation >= 0)
    if rows.size > _ASKED:
        rows = rows[np.linspace(0, rows.size - 1, _ASKED).astype(np.intp)]
    if rows.size < LEAST_PAIRS:
        return None
    a, b = _centred(x[rows]), _centred(y[permutation[rows]])
    # In units of their own no square over- or underflows.
    a_unit, b_unit = (np.abs(part).max(axis=0) for part in (a, b))
    a, b = a / a_unit, b / b_unit
    products = (a * b).sum(axis=0)
    bounds = []
    for first, second in ((a, b), (b, a)):
        squares = (second**2).sum(axis=0)
        slope = products / squares
        # The influence of each pair, divided by what is left of 1 without its own leverage.
        influence = second * (first - slope * second) / np.maximum(1.0 - second**2 / squares, 0.1)
        error = np.sqrt((influence**2).sum(axis=0)) / np.maximum(products, 0.0)
        told = (slope > 0.0) & np.isfinite(error)
        bounds.append((np.where(told, np.log(slope), -np.inf), np.where(told, error, 0.0)))
    unit = np.where((a_unit > 0.0) & (b_unit > 0.0), np.log(a_unit) - np.log(b_unit), 0.0)
    return Slopes(bounds[0][0] + unit, unit - bounds[1][0], bounds[0][1], bounds[1][1])


def _centred(points: FloatArray) -> FloatArray:
    return points - points.mean(axis=0)
