"""Whether the pairs of a matching contradict the moments by which they were aligned.

If scale and shift are right, residuals of pairs point anywhere. If wild points moved the mean of a set, those
of all other pairs point to one side; if they blew up its scale, all point inwards or all outwards. Only
directions are looked at, not lengths: neither unequal noise nor the wild points themselves count for more.
With residuals u of length 1, n |mean(u)|^2 is 1 on average and has the variance 2 tr(S^2), S the covariance
of u, whatever the shape of the noise; and cosines between u and the position of its pair are 0 on average.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from lslmatch._jit import is_ready, kernel, summing_kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.results import MatchResult

#: The most points that are looked at, and the fewest pairs.
_ASKED, LEAST_PAIRS = 512, 12
#: The median is that of at most twice this number of points, evenly spaced.
_MEDIAN_OF = 128
#: Standard errors beyond which directions are not chance.
_BEYOND_CHANCE = 4.0
#: The share of these limits beyond which a first look leads to a second one.
_FIRST_LOOK = 0.5
#: What they have in common must also matter: the squared mean direction, and the mean cosine.
_SIDEWAYS, _OUTWARDS = 0.03, 0.1
#: Matchings of a process after which the first look is compiled: the first of all need not wait for that.
_MANY = 20
#: Counts matchings without a first look.
_without = itertools.count(1)
#: Residuals below this share of the coordinates are rounding errors.
_ROUNDING = 2.0**-30


class AlignmentWarning(UserWarning):
    """The map does not suit the pairs that were found with it, or could as well be another one."""


def doubt_moments(x: FloatArray, y: FloatArray, result: MatchResult) -> str:
    """Say why the moments seem wrong for a matching of two sets of equal size; empty if they do not."""
    permutation, scale, shift = result.permutation, result.scale, result.shift
    # A first look only saves time: with half of the limits it lets nothing pass that the close one would not.
    looks_first = is_ready(may_contradict) or next(_without) > _MANY
    if looks_first and not may_contradict(x, y, permutation, scale, shift):
        return ""
    return _contradiction(x, y, permutation, scale, shift)


@np.errstate(all="ignore")
def _contradiction(
    x: FloatArray, y: FloatArray, permutation: IntArray, scale: float, shift: FloatArray
) -> str:
    asked = min(len(x), _ASKED)
    rows = np.arange(asked) * (len(x) - 1) // (asked - 1)
    a, b = x[rows], y[permutation[rows]]
    b *= scale
    b += shift
    direction = a - b
    length = _norms(direction)
    seen = length > _ROUNDING * max(float(a.max()), -float(a.min()))
    n = int(seen.sum())
    if n < LEAST_PAIRS:
        return ""
    if n < rows.size:
        a, b, direction, length = a[seen], b[seen], direction[seen], length[seen]
    direction /= length[:, None]
    mean = direction.mean(axis=0)
    sideways, half = float(mean @ mean), n // 2
    # The mean squared cosine of directions of different pairs is tr(S^2).
    cosines = np.einsum("ij,ij->i", direction[:half], direction[half : 2 * half])
    deviation = (n * sideways - 1.0) / math.sqrt(2.0 * float(np.square(cosines).mean()) + 1e-12)
    if deviation > _BEYOND_CHANCE and sideways > _SIDEWAYS:
        return f"the shift: residuals of {n} pairs point to one side, beyond chance by {deviation:.0f} sigma"
    position = np.add(a, b, out=b)
    position -= np.median(position[:: n // _MEDIAN_OF or 1], axis=0)
    cosine = np.einsum("ij,ij->i", direction, position) / np.maximum(_norms(position), 1e-300)
    outwards = float(cosine.mean())
    deviation = abs(outwards) / (float(cosine.std()) / math.sqrt(n) + 1e-12)
    if deviation > _BEYOND_CHANCE and abs(outwards) > _OUTWARDS:
        where = "outwards" if outwards > 0.0 else "inwards"
        return f"the scale: residuals of {n} pairs point {where}, beyond chance by {deviation:.0f} sigma"
    return ""


@kernel
def may_contradict(x, y, permutation, scale, shift):
    """Take a first look, in little time, and say whether there is half of what would be a doubt."""
    n, d = min(x.shape[0], _ASKED), x.shape[1]
    # A line for each coordinate, so that loops over the pairs are vector loops; a little longer, because
    # the cache has only a few places for addresses that differ by a power of two.
    residual, position = np.empty((d, n + 8)), np.empty((d, n + 8))
    spare = residual, position, np.zeros(d), np.zeros(n), np.empty(n), np.zeros(n)
    return _look_first(x, y, permutation, scale, shift, n, spare)


@summing_kernel
def _look_first(x, y, permutation, scale, shift, n, spare):
    d = x.shape[1]
    residual, position, centre, length, distance, product = spare
    greatest = 0.0
    for i in range(n):
        row = i * (x.shape[0] - 1) // (n - 1)
        partner = permutation[row]
        for k in range(d):
            value = x[row, k]
            mapped = scale * y[partner, k] + shift[k]
            residual[k, i] = value - mapped
            position[k, i] = value + mapped
            centre[k] += value + mapped
            greatest = max(greatest, abs(value))
    for k in range(d):
        centre[k] /= n
    # Two of Weiszfeld's steps from the mean to the spatial median, which stands in for that by coordinates.
    for _ in range(2):
        for i in range(n):
            distance[i] = 1e-300
        for k in range(d):
            middle, place = position[k], centre[k]
            for i in range(n):
                distance[i] += (middle[i] - place) * (middle[i] - place)
        weights = 0.0
        for i in range(n):
            distance[i] = 1.0 / math.sqrt(distance[i])
            weights += distance[i]
        for k in range(d):
            middle, total = position[k], 0.0
            for i in range(n):
                total += distance[i] * middle[i]
            centre[k] = total / weights
    for i in range(n):
        distance[i] = 0.0
    for k in range(d):
        difference, middle, place = residual[k], position[k], centre[k]
        for i in range(n):
            length[i] += difference[i] * difference[i]
            distance[i] += (middle[i] - place) * (middle[i] - place)
            product[i] += difference[i] * (middle[i] - place)
    least = _ROUNDING * greatest
    seen, total, squares = 0, 0.0, 0.0
    for i in range(n):
        size = math.sqrt(length[i])
        counts = size > least
        cosine = product[i] / (size * math.sqrt(distance[i]))
        cosine = cosine if counts and distance[i] > 0.0 else 0.0
        seen += counts
        total += cosine
        squares += cosine * cosine
        length[i] = 1.0 / size if counts else 0.0
    if seen < LEAST_PAIRS:
        return False
    sideways = 0.0
    for k in range(d):
        difference, mean = residual[k], 0.0
        for i in range(n):
            mean += length[i] * difference[i]
        sideways += (mean / seen) * (mean / seen)
    # The trace of S^2 is at least 1 / d.
    limit = _FIRST_LOOK * _BEYOND_CHANCE
    if sideways > _SIDEWAYS and seen * sideways - 1.0 > limit * math.sqrt(2.0 / d):
        return True
    outwards = abs(total / seen)
    deviation = math.sqrt(abs(squares / seen - outwards * outwards) / seen)
    # What is not finite is looked at closely, too.
    return not (outwards <= _FIRST_LOOK * _OUTWARDS or outwards <= limit * deviation)


def _norms(points: FloatArray) -> FloatArray:
    return np.sqrt(np.einsum("ij,ij->i", points, points))
