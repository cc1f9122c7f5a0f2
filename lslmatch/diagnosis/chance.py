"""What chance looks like: the same procedure on a set without a relation.

Any two sets can be matched, and a nearest candidate is always nearer than the next. A covariance that is
learned from few pairs adds to that: wrong pairs confirm each other, although each is judged with itself left
out. How sure chance looks is measured: `y` is reflected in its mean, which keeps its covariance and all
distances within it and breaks the ties to `x`, and matched and judged in the same way. Confidences are
believed as far as they exceed those, or as far as the pairs are nearer to each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.covariance.worth import reflect

#: Fewer pairs than this are not enough for a mean to be compared.
_LEAST_PAIRS = 8
#: The mean confidence is believed if it exceeds that of unrelated sets by 4 standard errors, by 0.25, or as
#: far as it can; and less in proportion.
_BEYOND_CHANCE, _EXCESS = 4.0, 0.25


def beside_chance(
    confidence: FloatArray,
    costs: FloatArray,
    y: FloatArray,
    judge_unrelated: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
) -> FloatArray:
    """Lower confidences that are near those of chance, unless the pairs are nearer than by chance.

    `costs` are those of the pairs. `judge_unrelated` matches `x` with another second set, and gives its
    confidences and costs.
    """
    pairs, mean = np.count_nonzero(~np.isnan(confidence)), float(np.nanmean(confidence))
    if pairs < _LEAST_PAIRS:
        return confidence
    unrelated = reflect(y)
    if unrelated is None:
        return confidence
    other, other_costs = judge_unrelated(unrelated)
    chance = float(np.nanmean(other))
    error = math.sqrt((np.nanvar(confidence) + np.nanvar(other)) / pairs)
    surer = (mean - chance) / max(min(_BEYOND_CHANCE * error, _EXCESS, 1.0 - chance), 1e-9)
    # Of unrelated pairs one half costs more than the median, of pairs that are nearer none.
    nearer = 1.0 - 2.0 * float(np.mean(costs > np.median(other_costs)))
    believed = min(max(surer, nearer, 0.0), 1.0)
    return believed * confidence + (1.0 - believed) / max(confidence.size, len(y))
