"""How Minasyan, Galstyan, Hunanyan and Dalalyan (2023) choose the number of pairs, for comparison.

Their setting: scale and shift are known, the noise has one level, and pairs are matched by least squares. The
least sum of squares of k pairs grows by more and more with each k. Pairs are added until one adds more than

    (d + lambda) * s(k),    lambda = max(d * sqrt(log(4 n^2 / alpha)), log(8 n^2 / alpha)) / 4,

where s(k), twice the noise variance, is estimated from the k pairs so far by
``sum of squares / (d * k - gamma * sqrt(d * k))``. This is the rule of the program that the authors published
with their article (Matching Map Recovery with an Unknown Number of Outliers, AISTATS 2023), with its alpha
and gamma, written anew; the program also counts the pair that is too dear, which is not done here. Only the
abstract of the article itself was at hand: its constants may differ.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray

#: The level of the threshold and the correction of the variance, as in the authors' program.
_ALPHA, _GAMMA = 0.01, 0.05
#: How many pairs there are at least.
_LEAST = 2


def number_of_pairs(increments: FloatArray, n: int, d: int) -> int:
    """Choose the number of pairs from what each adds to the least sum of squares.

    Parameters
    ----------
    increments : ndarray of shape (k,)
        What the first, second, ... pair adds.
    n : int
        The number of points of a set, the larger one if they differ.
    d : int
        The number of coordinates.
    """
    sums = np.cumsum(increments)
    limit = max(d * math.sqrt(math.log(4 * n * n / _ALPHA)), math.log(8 * n * n / _ALPHA)) / 4
    for k in range(_LEAST, increments.size):
        # The variance is estimated with the pair in question, as theirs is.
        degrees = d * (k + 1)
        variance = sums[k] / (degrees - _GAMMA * math.sqrt(degrees))
        if increments[k] > (d + limit) * variance:
            return k
    return int(increments.size)
