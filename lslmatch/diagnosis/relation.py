"""Whether two sets are related at all: the matching beside matchings of sets that cannot be.

Any two sets can be matched, and a covariance that is learned makes the best of chance too. So the same
procedure is run on sets without a relation: the principal scores of y, which are uncorrelated and of
equal variance, are rotated at random. That keeps the mean and the covariance of y, and breaks the ties of
its points to those of x.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from lslmatch._validation import check_count, check_point_pair
from lslmatch.matching import match
from lslmatch.results import Affine

#: Principal axes with less than this share of the greatest spread are rounding errors.
_LEAST_SPREAD = 1e-12


def relation_p_value(
    x: Any,
    y: Any,
    *,
    alignment: str | Affine = "standardize",
    draws: int = 19,
    rng: Any = None,
    workers: int = 1,
) -> float:
    """Test whether two sets of points are related, with a covariance that is learned.

    The statistic is the cross-entropy of the matching, each pair left out: how badly the matching predicts
    its own pairs. The sets it is compared with have the mean and covariance of `y`, and no relation to `x`.
    The p-value is exact if the points of an unrelated `y` are normal, and approximate otherwise.

    Parameters
    ----------
    x : array_like of shape (n, d)
        The first set, with points as rows.
    y : array_like of shape (m, d)
        The second set.
    alignment : str or Affine, default "standardize"
        As for :func:`match`.
    draws : int, default 19
        Sets without a relation to compare with. Each is matched as `y` is, with a covariance learned.
    rng : optional
        Anything that `numpy.random.default_rng` takes.
    workers : int, default 1
        Threads that compute costs. The result does not depend on it.

    Returns
    -------
    float
        The share of sets, `y` among them, that are matched as well as `y`: ``1 / (draws + 1)`` at least.

    Examples
    --------
    >>> import numpy as np
    >>> from lslmatch import relation_p_value
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(12, 3))
    >>> y = x[::-1] + 0.1 * rng.normal(size=(12, 3))
    >>> relation_p_value(x, y, draws=9, rng=1)
    0.1
    """
    x, y = check_point_pair(x, y)
    draws, rng = check_count(draws, "draws", 1), np.random.default_rng(rng)
    found = _statistic(x, y, alignment, workers)
    as_good = sum(_statistic(x, _unrelated(y, rng), alignment, workers) <= found for _ in range(draws))
    return (1 + as_good) / (draws + 1)


def _statistic(x: FloatArray, y: FloatArray, alignment: str | Affine, workers: int) -> float:
    learned = match(x, y, alignment=alignment, covariance="estimate", workers=workers).covariance
    assert learned is not None
    return learned.isotropic_cross_entropy if math.isnan(learned.cross_entropy) else learned.cross_entropy


def _unrelated(y: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Rotate the principal scores of y, as many as there are."""
    mean = y.mean(axis=0)
    scores, spread, axes = np.linalg.svd(y - mean, full_matrices=False)
    count = int(np.count_nonzero(spread > _LEAST_SPREAD * spread[0]))
    if count < 2:
        raise ValueError("y must vary in at least 2 directions, or no rotation makes it an unrelated set")
    # Without the signs the rotations would not be uniform: all would have the same determinant.
    rotation, upper = np.linalg.qr(rng.normal(size=(count, count)))
    rotation *= np.sign(np.diag(upper))
    return mean + (scores[:, :count] @ rotation * spread[:count]) @ axes[:count]
