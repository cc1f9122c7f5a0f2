"""A cheap look at residuals: whether their directions are spread evenly, so that there is no shape to learn.

With residuals u of length 1, S = mean(u u^T) is I / d in expectation if noise is isotropic, whatever the
levels of the points. With k pairs ``k d (d + 2) / 2 (tr(S^2) - 1 / d)`` then has the mean (d - 1)(d + 2) / 2
and nearly the chi-squared law with so many degrees of freedom (Sirkia, Taskinen, Oja and Tyler, J.
Nonparametr. Stat. 21, 2009). Variances of columns that differ show, and so do correlations; so do, where the
map is wrong for single columns, the errors of these.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.geometry.columns import mapped_coordinates
from lslmatch.results import MatchResult

#: With fewer pairs a shape that is worth learning might not show. (Variances whose logarithms spread by .25
#: raise the statistic by five of its standard deviations at 160 pairs.)
LEAST_PAIRS = 160
#: Standard deviations by which the statistic may exceed its mean.
_BY_CHANCE = 2.5


def are_round(x: FloatArray, y: FloatArray, result: MatchResult) -> bool:
    """Say whether the residuals of a matching point in all directions alike, of enough pairs to tell."""
    rows = np.flatnonzero(result.permutation >= 0)
    residuals = mapped_coordinates(x, y, result.map).taken(rows, result.permutation[rows]).residuals()
    length = np.sqrt(np.einsum("ij,ij->i", residuals, residuals))
    residuals = residuals[length > 0.0] / length[length > 0.0, None]
    count, d = residuals.shape
    if count < LEAST_PAIRS:
        return False
    shape = residuals.T @ residuals / count
    freedom = (d - 1) * (d + 2) / 2.0
    excess = count * d * (d + 2) / 2.0 * (float(np.vdot(shape, shape)) - 1.0 / d) - freedom
    return excess < _BY_CHANCE * math.sqrt(2.0 * freedom)
