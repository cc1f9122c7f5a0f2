"""Starts by principal axes: those of one set go to those of the other, each with either sign.

In few dimensions and with little noise this is provably enough (Gong and Li, arXiv 2402.15095): of the 2**d
signs one is right.
"""

from __future__ import annotations

import itertools

import numpy as np

from lslmatch._types import FloatArray

#: The least squared distance, in squared robust units, whose logarithm is taken.
_LEAST = 1e-5
#: Sweeps over all signs, at most.
_SWEEPS = 6
#: Dimensions up to which all signs are tried.
MOST_AXES = 12


def principal_axes(points: FloatArray) -> FloatArray:
    """Give the principal axes of a set, the longest first, as columns."""
    apart = points - points.mean(axis=0)
    axes: FloatArray = np.linalg.eigh(apart.T @ apart)[1][:, ::-1]
    return axes


def signed_rotations(a_axes: FloatArray, b_axes: FloatArray, signs: FloatArray) -> FloatArray:
    """Give the rotations that take the axes of b to those of a times signs (k, d)."""
    return np.matmul(a_axes[None] * signs[:, None, :], b_axes.T)


def all_signs(d: int) -> FloatArray:
    """Give all 2**d choices of signs."""
    return np.array(list(itertools.product((1.0, -1.0), repeat=d)))


def best_signs(a: FloatArray, b: FloatArray, rng: np.random.Generator, count: int) -> FloatArray:
    """Improve random signs one after the other, and give the results (k, d), the best first, each once.

    `a` and `b` are points in their own axes. Signs are better if points are nearer to their nearest of the
    other set.
    """
    a, b = a.astype(np.float32), b.astype(np.float32)
    base = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)
    found: dict[bytes, tuple[float, FloatArray]] = {}
    for _ in range(count):
        signs = rng.choice(np.array([1.0, -1.0], np.float32), size=a.shape[1])
        value = _improve(a, b, base, signs)
        found[signs.tobytes()] = value, signs.astype(np.float64)
    return np.array([signs for _, signs in sorted(found.values(), key=lambda one: one[0])])


def _improve(a: FloatArray, b: FloatArray, base: FloatArray, signs: FloatArray) -> float:
    """Reverse signs, in place, as long as that helps."""
    squares = base - 2.0 * (a * signs) @ b.T
    value = _nearness(squares)
    for _ in range(_SWEEPS):
        before = value
        for k in range(signs.size):
            other = squares + (4.0 * signs[k]) * np.multiply.outer(a[:, k], b[:, k])
            nearer = _nearness(other)
            if nearer < value:
                squares, value = other, nearer
                signs[k] = -signs[k]
        if value == before:
            break
    return value


def _nearness(squares: FloatArray) -> float:
    return float(np.log(np.maximum(squares.min(axis=1), _LEAST)).mean())
