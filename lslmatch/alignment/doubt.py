"""Whether the pairs of a matching contradict the moments by which they were aligned.

If scale and shift are right, residuals of pairs point anywhere. If wild points moved the mean of a set, those
of all other pairs point to one side; if they blew up its scale, all point inwards or all outwards. Only
directions are looked at, not lengths: neither unequal noise nor the wild points themselves count for more.
With residuals u of length 1, n |mean(u)|^2 is 1 on average and has the variance 2 tr(S^2), S the covariance
of u, whatever the shape of the noise; and cosines between u and the position of its pair are 0 on average.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.results import MatchResult

#: Points that are asked at most, and pairs that are needed.
_ASKED, _LEAST_PAIRS = 512, 12
#: Standard errors beyond which directions are not chance.
_BEYOND_CHANCE = 4.0
#: What they have in common must also matter: the squared mean direction, and the mean cosine.
_SIDEWAYS, _OUTWARDS = 0.03, 0.1
#: Residuals below this share of the coordinates are rounding errors.
_ROUNDING = 2.0**-30


class AlignmentWarning(UserWarning):
    """Scale and shift by moments do not suit the pairs that were found with them."""


@np.errstate(all="ignore")
def doubt_moments(x: FloatArray, y: FloatArray, result: MatchResult) -> str:
    """Say why the moments seem wrong for a matching of two sets of equal size; empty if they do not."""
    if len(x) < _LEAST_PAIRS:
        return ""
    rows = np.linspace(0, len(x) - 1, min(len(x), _ASKED)).astype(np.intp)
    a, b = x[rows], result.scale * y[result.permutation[rows]] + result.shift
    residual, middle = a - b, a + b
    length = _norms(residual)
    seen = length > _ROUNDING * float(np.abs(a).max())
    n = int(seen.sum())
    if n < _LEAST_PAIRS:
        return ""
    direction = residual[seen] / length[seen, None]
    mean = direction.mean(axis=0)
    sideways, half = float(mean @ mean), n // 2
    # The mean squared cosine of directions of different pairs is tr(S^2).
    cosines = np.einsum("ij,ij->i", direction[:half], direction[half : 2 * half])
    deviation = (n * sideways - 1.0) / math.sqrt(2.0 * float(np.square(cosines).mean()) + 1e-12)
    if deviation > _BEYOND_CHANCE and sideways > _SIDEWAYS:
        return f"the shift: residuals of {n} pairs point to one side, beyond chance by {deviation:.0f} sigma"
    position = middle[seen] - np.median(middle[seen], axis=0)
    cosine = np.einsum("ij,ij->i", direction, position) / np.maximum(_norms(position), 1e-300)
    outwards = float(cosine.mean())
    deviation = abs(outwards) / (float(cosine.std()) / math.sqrt(n) + 1e-12)
    if deviation > _BEYOND_CHANCE and abs(outwards) > _OUTWARDS:
        where = "outwards" if outwards > 0.0 else "inwards"
        return f"the scale: residuals of {n} pairs point {where}, beyond chance by {deviation:.0f} sigma"
    return ""


def _norms(points: FloatArray) -> FloatArray:
    return np.sqrt(np.einsum("ij,ij->i", points, points))
