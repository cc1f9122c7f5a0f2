"""Planted matchings whose noise has a given covariance."""

import numpy as np


def strong_direction(d):
    """A covariance with one direction of much more noise than the others, and a mean variance of 1."""
    direction = np.ones(d) / np.sqrt(d)
    return (np.eye(d) + 10.0 * d * np.outer(direction, direction)) / 11.0


def draw(covariance, n, signal, rng, levels=None):
    """Draw two sets and the permutation between them; the second is scaled by 1/2 and shifted."""
    d = len(covariance)
    factor = np.linalg.cholesky(covariance)
    features = rng.normal(size=(n, d)) * signal
    levels = np.ones(n) if levels is None else levels
    x, partner = (features + levels[:, None] * (rng.normal(size=(n, d)) @ factor.T) for _ in range(2))
    permutation = rng.permutation(n)
    y = np.empty_like(x)
    y[permutation] = (partner - 3.0) / 2.0
    return x, y, permutation
