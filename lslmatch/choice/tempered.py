"""Costs to begin with where nothing is known of the noise: between isotropic ones and whitened ones.

Strangers spoil a covariance that is learned from all pairs, and under isotropic noise the directions in which
points vary most decide. Here each principal component of both sets is divided by a power of its size: the
power 0 leaves isotropic costs, 1 whitens and makes noise of what varies little. Between them enough
pairs are nearest to each other to begin with.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.covariance.trimmed import Relearned
from lslmatch.geometry.columns import mapped_coordinates
from lslmatch.results import MatchResult

#: The powers that are tried.
_POWERS = (0.25, 0.5)
#: Components and squared distances below this share of the greatest are raised to it.
_LEAST = 1e-12


def tempered_starts(x: FloatArray, y: FloatArray, result: MatchResult) -> Iterator[Relearned]:
    """Give the costs of all pairs under the map of a result, for each power."""
    units = None if result.covariance is None else result.covariance.units
    sets = mapped_coordinates(x, y, result.map, units)
    a, b = sets.a - sets.a.mean(axis=0), sets.b - sets.b.mean(axis=0)
    _, sizes, axes = np.linalg.svd(np.vstack([a, b]), full_matrices=False)
    sizes = np.maximum(sizes / sizes[0], _LEAST) if sizes[0] > 0.0 else np.ones(sizes.size)
    a, b = a @ axes.T, b @ axes.T
    for power in _POWERS:
        weight = sizes**-power
        yield Relearned(result, _log_squares(a * weight, b * weight))


def _log_squares(a: FloatArray, b: FloatArray) -> FloatArray:
    squares = a @ b.T
    squares *= -2.0
    squares += np.einsum("ij,ij->i", a, a)[:, None]
    squares += np.einsum("ij,ij->i", b, b)
    least = max(_LEAST * float(squares.mean()), np.finfo(float).tiny)
    return np.log(np.maximum(squares, least, out=squares), out=squares)
