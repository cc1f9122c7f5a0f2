"""Whether a learned covariance is worth keeping beside isotropic noise.

Both predict the pairs of their own matching; what they are surprised by is compared pair by pair. That does
not suffice: where most pairs are wrong, they confirm the covariance that was learned from them, although each
is judged with itself left out. So the same is done with a set that has no relation to `x`: `y` reflected in
its mean, which keeps its covariance and all distances within it, and given as many rounds. Pairs that are no
surer than those of unrelated sets do not tell one covariance from another.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lslmatch._types import FloatArray

#: By how many standard errors an estimate must predict its pairs better than isotropic noise does, and must
#: be surer of them than of pairs of unrelated sets. Both were chosen on planted sets, between what is gained
#: where noise is correlated and how many estimates of unrelated sets are kept.
_BETTER, _SURER = 1.0, 0.75


def doubt_estimate(
    learned: FloatArray,
    isotropic: FloatArray,
    y: FloatArray,
    learn_unrelated: Callable[[FloatArray], FloatArray | None],
) -> str:
    """Say why an estimate should not be kept, or nothing if it should.

    Parameters
    ----------
    learned, isotropic : ndarray of shape (k,)
        The surprises of the same k points.
    y : ndarray of shape (m, d)
        The second set.
    learn_unrelated : callable
        Learns the covariance of `x` and another second set, and gives the surprises of their points; None if
        that is impossible.
    """
    gain = isotropic - learned
    if not gain.mean() > _BETTER * gain.std(ddof=1) / math.sqrt(gain.size):
        return (
            f"isotropic noise predicts the pairs as well: cross-entropy {isotropic.mean():.3g} against "
            f"{learned.mean():.3g}"
        )
    other = reflect(y)
    unrelated = None if other is None else learn_unrelated(other)
    if unrelated is None:  # there is nothing to compare with
        return ""
    if not are_surer(learned, unrelated):
        return (
            f"the estimate predicts pairs of unrelated sets as well: cross-entropy {unrelated.mean():.3g} "
            f"against {learned.mean():.3g}"
        )
    return ""


def are_surer(learned: FloatArray, unrelated: FloatArray) -> bool:
    """Say whether pairs are surer than those of an unrelated set, beyond chance."""
    error = math.sqrt(learned.var(ddof=1) / learned.size + unrelated.var(ddof=1) / unrelated.size)
    return bool(unrelated.mean() - learned.mean() > _SURER * error)


def reflect(points: FloatArray) -> FloatArray | None:
    """Reflect points in their mean; None if that is beyond the range of numbers."""
    with np.errstate(over="ignore"):
        middle = (points / len(points)).sum(axis=0)
        reflected: FloatArray = middle - (points - middle)
    return reflected if np.isfinite(reflected).all() else None
