"""A second opinion on pairs that were matched with one scale for all columns.

Where columns have units of their own in the second set, or one of them outweighs all others, pairs are wrong
in a way that one scale does not show. If a scale for each column predicts its own pairs clearly better, it is
asked how probable the pairs are that were given.
"""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.orientation import partners
from lslmatch.columns.doubt import better_columns
from lslmatch.columns.slopes import find_slopes
from lslmatch.diagnosis.posterior import pair_posteriors
from lslmatch.geometry.columns import mapped_coordinates
from lslmatch.results import MatchResult

#: Pairs of which this share or more is expected to be right need no second opinion, unless they contradict
#: one scale themselves.
_SURE = 0.95


def ask_columns(
    x: FloatArray, y: FloatArray, result: MatchResult, every: IntArray, confidence: FloatArray
) -> FloatArray | None:
    """Give the confidences under a scale for each column; None if that does not predict its pairs better.

    `every` is the matching of all points, and `confidence` what one scale says of its pairs.
    """
    plain = result.covariance is None and result.column_map is None and result.price is None
    if not plain or x.shape[1] == 1 or result.criterion not in {"lsl", "lss"}:
        return None
    if np.nanmean(confidence) >= _SURE:
        slopes = find_slopes(x, y, every)
        if slopes is None or not slopes.contradict:
            return None
    learned = better_columns(x, y, result._replace(permutation=every))
    if learned is None:
        return None
    geometry = mapped_coordinates(x, y, learned.map, learned.covariance.units)
    start, asked, n = learned.permutation, every, len(x)
    if n > len(y):
        geometry = geometry._replace(a=geometry.b, b=geometry.a, a_low=geometry.b_low, b_low=geometry.a_low)
        start, asked = (_turned(permutation, len(y)) for permutation in (start, every))
    found = pair_posteriors(geometry, start, 1.0, asked)
    second = np.full(n, np.nan)
    if n > len(y):
        second[asked] = found
    else:
        second[:] = found
    return np.where(np.isnan(confidence), np.nan, second)


def _turned(permutation: IntArray, m: int) -> IntArray:
    rows = np.flatnonzero(permutation >= 0)
    return partners(m, permutation[rows], rows)
