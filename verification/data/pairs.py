"""Two sets of points whose partners are known, without the rows that have no answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lslmatch._types import FloatArray


class Pairs(NamedTuple):
    """Two sets of the same shape; row i of both describes the same object."""

    x: FloatArray
    y: FloatArray


def answerable_pairs(x: ArrayLike, y: ArrayLike) -> Pairs:
    """Keep the objects that are known in full in both sets and that no other object of a set repeats.

    Where two objects have the same numbers, nobody can tell which of them is the partner.
    """
    first, second = (np.asarray(points, dtype=np.float64) for points in (x, y))
    if first.ndim != 2 or first.shape != second.shape:
        raise ValueError(f"x and y must be tables of one shape, not of {first.shape} and {second.shape}")
    known = np.isfinite(first).all(axis=1) & np.isfinite(second).all(axis=1)
    first, second = first[known], second[known]
    single = _occurs_once(first) & _occurs_once(second)
    return Pairs(first[single], second[single])


def partner_correlations(pairs: Pairs, rng: np.random.Generator) -> tuple[float, float]:
    """Check that the rows correspond: how alike partners are, and how alike rows of shuffled sets are.

    Returns
    -------
    tuple of two floats
        The mean over the objects of the correlation between x[i] and y[i], each set centred on its own
        mean; and the same with the rows of y in random order.
    """
    x, y = (_unit_rows(points - points.mean(axis=0)) for points in pairs)
    return float((x * y).sum(axis=1).mean()), float((x * rng.permutation(y)).sum(axis=1).mean())


def _unit_rows(points: FloatArray) -> FloatArray:
    centred = points - points.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    # A row without any contrast correlates with nothing.
    return np.divide(centred, lengths, out=np.zeros_like(centred), where=lengths > 0)


def _occurs_once(points: FloatArray) -> NDArray[np.bool_]:
    _, group, counts = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    return counts[group.reshape(-1)] == 1
