"""Probabilities of rare suprema, Phi_1 and Phi_2 of Lemmas 3 and 4, by importance sampling.

A supremum over pairs and scales is large because one of its members is. So one member, a pair at a scale of a
grid, is drawn at random and made large, and the rest is drawn given it. If `count` of the members are then
above the level, the draw was `count` times as likely as for a single one, and the weight

    (number of members) * P(one member is above) / count

makes the estimate unbiased. In the angle atan(a w_j / w_i) a member is its largest value times the cosine of
the distance from it. So if a supremum is above the level, some member of the grid is above the level times
the cosine of half a step: the level of the members is lowered to that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, norm

from lslmatch._types import FloatArray
from verification.scenarios.configurations import centred_noise
from verification.scenarios.suprema import linear_supremum, quadratic_supremum

_ANGLES = 8


class Members(NamedTuple):
    """The pairs at the scales of a grid."""

    noise: FloatArray
    covariance: FloatArray
    """Of the centred noise of two points, in each coordinate."""
    spread: FloatArray
    """omega_i."""
    scales: FloatArray
    """a, of shape (n, n, angles)."""
    deviations: FloatArray
    """sqrt(omega_i^2 + a^2 omega_j^2), likewise."""
    shrink: float
    """The cosine of half of the largest step between angles."""
    epsilon: float


def members(noise: FloatArray, epsilon: float) -> Members:
    """Lay the grid of scales, evenly in the angle, for every pair."""
    n = len(noise)
    centring = np.eye(n) - 1.0 / n
    covariance = centring @ np.diag(noise**2) @ centring
    spread = np.sqrt(np.diag(covariance))
    ratio = spread / spread[:, None]  # omega_j / omega_i
    first, last = np.arctan((1 - epsilon) * ratio), np.arctan((1 + epsilon) * ratio)
    step = (last - first) / _ANGLES
    angles = first[:, :, None] + (np.arange(_ANGLES) + 0.5) * step[:, :, None]
    scales = np.tan(angles) / ratio[:, :, None]
    deviations = np.sqrt(spread[:, None, None] ** 2 + (scales * spread[None, :, None]) ** 2)
    shrink = math.cos(float(step.max()) / 2)
    return Members(noise, covariance, spread, scales, deviations, shrink, epsilon)


def linear_weight(grid: Members, directions: FloatArray, level: float, rng: np.random.Generator) -> float:
    """Give one unbiased estimate of P(Phi_1 > level), for unit vectors of shape (n, n, d)."""
    lowered = level * grid.shrink
    i, j, k = _choose(grid, rng)
    eta, other = (centred_noise(grid.noise, directions.shape[2], rng) for _ in range(2))
    a, deviation, unit = grid.scales[i, j, k], grid.deviations[i, j, k], directions[i, j]
    value = float(unit @ (eta[i] - a * other[j])) / deviation
    large = float(norm.isf(rng.random() * norm.sf(lowered))) * (1 if rng.random() < 0.5 else -1)
    change = (large - value) / deviation * unit
    eta += grid.covariance[i][:, None] * change
    other -= a * grid.covariance[j][:, None] * change
    along = np.einsum("ijk,ik->ij", directions, eta)
    across = np.einsum("ijk,jk->ij", directions, other)
    if linear_supremum(along, across, grid.spread, grid.epsilon) <= level:
        return 0.0
    values = np.abs(along[:, :, None] - grid.scales * across[:, :, None]) / grid.deviations
    return grid.scales.size * 2 * float(norm.sf(lowered)) / int((values > lowered).sum())


def quadratic_weight(grid: Members, d: int, level: float, rng: np.random.Generator) -> float:
    """Give one unbiased estimate of P(Phi_2 > level), for a level of at least d.

    Then only values above d + level matter, since a squared norm is not negative.
    """
    if level < d:
        raise ValueError(f"level must be at least d; got {level:g}, d = {d}")
    lowered = (d + level) * grid.shrink**2
    i, j, k = _choose(grid, rng)
    eta, other = (centred_noise(grid.noise, d, rng) for _ in range(2))
    a, deviation = grid.scales[i, j, k], grid.deviations[i, j, k]
    direction = rng.standard_normal(d)
    radius = math.sqrt(float(chi2.isf(rng.random() * chi2.sf(lowered, d), d)))
    large = radius * direction / np.linalg.norm(direction)
    change = (large - (eta[i] - a * other[j]) / deviation) / deviation
    eta += grid.covariance[i][:, None] * change
    other -= a * grid.covariance[j][:, None] * change
    if quadratic_supremum(eta, other, grid.spread, grid.epsilon) <= level:
        return 0.0
    gaps = eta[:, None, None] - grid.scales[..., None] * other[None, :, None]
    values = (gaps**2).sum(axis=3) / grid.deviations**2
    return grid.scales.size * float(chi2.sf(lowered, d)) / int((values > lowered).sum())


def _choose(grid: Members, rng: np.random.Generator) -> tuple[int, int, int]:
    n = len(grid.spread)
    return int(rng.integers(n)), int(rng.integers(n)), int(rng.integers(_ANGLES))
