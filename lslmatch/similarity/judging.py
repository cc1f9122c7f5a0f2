"""Which of many rotations is worth a climb: some points look for their nearest partner under each."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray, IntArray

#: Distances that are computed at a time.
_BLOCK = 1 << 20
#: Squared distances below this count as this, in squared robust units: single precision is not exact.
_LEAST = 1e-5


def rank_rotations(a: FloatArray, b: FloatArray, rotations: FloatArray) -> tuple[IntArray, FloatArray]:
    """Rank rotations (k, d, d) from b to a by the mean log-distance of the points a to their nearest of b."""
    k, d, _ = rotations.shape
    scores = np.empty(k)
    points, others = a.astype(np.float32), b.astype(np.float32)
    squares = np.einsum("ij,ij->i", others, others)
    own = np.einsum("ij,ij->i", points, points)
    turned = others.T * np.float32(-2.0)
    step = max(1, _BLOCK // (len(a) * len(b)))
    matrices = rotations.astype(np.float32)
    for start in range(0, k, step):
        some = matrices[start : start + step]
        moved = np.matmul(points[None], some).reshape(-1, d)
        distances = moved @ turned
        distances += squares
        nearest = distances.min(axis=1).reshape(len(some), -1) + own
        scores[start : start + step] = np.log(np.maximum(nearest, _LEAST)).mean(axis=1)
    return np.argsort(scores, kind="stable"), scores
