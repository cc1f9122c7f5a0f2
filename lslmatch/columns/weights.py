"""How much the pairs of a matching count where a map is fitted to them, and what that costs in precision.

Weights are those of Student's law: nearly inverse to the squared distance of pairs that are far apart, and
bounded for those that are near. Weights inverse to the square of any distance would draw the map through the
nearest pairs, as many as it has parameters.
"""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray

#: Degrees of freedom.
_DEGREES = 3.0


def pair_weights(residuals: FloatArray) -> FloatArray:
    """Give the weights of pairs, whose residuals have columns of one unit; a typical pair has 1."""
    return (_DEGREES + residuals.shape[1]) / (_DEGREES + _forms(residuals).sum(axis=1))


def lost_by_weighting(residuals: FloatArray) -> FloatArray:
    """Give for each column what is left of 1 of the slope of a weighted sum of its residuals.

    The sum is that of ``weight * residual``, whose zero is the estimate. Where a residual grows its weight
    falls, so that the sum changes less than weights alone would say, and standard errors are the greater.
    """
    d = residuals.shape[1]
    forms = _forms(residuals)
    weight = (_DEGREES + d) / (_DEGREES + forms.sum(axis=1))
    slope = weight[:, None] * (1.0 - 2.0 * forms / (_DEGREES + forms.sum(axis=1))[:, None])
    left: FloatArray = slope.sum(axis=0) / weight.sum()
    return left


def _forms(residuals: FloatArray) -> FloatArray:
    """Give squares whose sum over the columns is their number for a typical pair."""
    squares = residuals**2
    typical = float(np.median(squares.sum(axis=1))) / residuals.shape[1]
    return squares / typical if typical > 0.0 else np.ones_like(squares)
