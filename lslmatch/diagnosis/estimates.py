"""Noise levels, separation and distortion, estimated from matched pairs."""

from __future__ import annotations

import math

import numpy as np

from lslmatch import theory
from lslmatch._types import FloatArray
from lslmatch.costs import COINCIDENT, CostRule
from lslmatch.diagnosis.margins import Optimum, shortest_arcs
from lslmatch.geometry.coordinates import Geometry

#: Squared levels, in the unit of the data, are never below this, even if all points coincide.
_LEAST_SQUARE = 2.0**-900
#: The probability that among equal levels any one seems to be too far out for chance.
_BEYOND_CHANCE = 0.01


def noise_levels(pairs: Geometry) -> FloatArray:
    """Estimate sigma_i from the distances of the pairs, in the unit of the geometry.

    A squared distance is 2 sigma_i^2 times a chi-square variable of d degrees of freedom. Its logarithm
    has a known bias and variance, so the levels are shrunk towards their mean on that scale as James
    and Stein do: by the share of the spread which that variance explains. A level too far from the mean for
    chance alone moves by one standard error at most: so a few points with little noise among many with
    much keep their levels.
    """
    # Here, because it would take longer than all the rest of importing the library.
    from scipy.special import digamma, gammaincinv, polygamma

    k, d = pairs.a.shape
    residuals = pairs.residuals()
    floor = max(pairs.mean_square() * COINCIDENT, _LEAST_SQUARE)
    squares = np.maximum(np.einsum("ij,ij->i", residuals, residuals), floor) / (2 * d)
    logarithms = np.log(squares)
    spread, by_chance = float(logarithms.var(ddof=1)), float(polygamma(1, d / 2))
    if spread <= by_chance:
        variances = np.full(k, squares.mean())
    else:
        unbiased = logarithms + math.log(d / 2) - float(digamma(d / 2))
        centre = unbiased.mean()
        pull = by_chance / spread * (unbiased - centre)
        tail = _BEYOND_CHANCE / (2 * k)
        low, high = centre + np.log(gammaincinv(d / 2, [tail, 1.0 - tail])) - digamma(d / 2)
        reach = np.where((unbiased < low) | (unbiased > high), math.sqrt(by_chance), np.inf)
        variances = np.exp(unbiased - np.clip(pull, -reach, reach))
    if np.linalg.norm(residuals.sum(axis=0)) <= 1e-9 * np.abs(residuals).sum():
        variances = _undo_centring(variances)
    levels: FloatArray = np.sqrt(variances)
    return levels


def _undo_centring(variances: FloatArray) -> FloatArray:
    """Give the sigma_i^2 whose s_i^2 these are: a shift that makes residuals sum to 0 spreads their noise.

    A point with much less noise than the others has nearly all its s_i^2 from them, and its own share
    cannot be told; at least half is left to it.
    """
    k = variances.size
    total = variances.sum() * (k / (k - 1))
    if k == 2:
        return np.full(2, total / 2)
    undone: FloatArray = np.maximum((variances - total / k**2) * (k / (k - 2)), variances / 2)
    return undone


def midpoints(pairs: Geometry) -> Geometry:
    """Estimate the features, which are the same for both sets now, with half the variance of the noise."""
    middle, low = (pairs.a + pairs.b) / 2, (pairs.a_low + pairs.b_low) / 2
    return Geometry(middle, middle, low, low, pairs.exponent)


def separation_of(features: Geometry, levels: FloatArray, workers: int) -> float:
    """Estimate kappa(Z), less what noise adds to the squared distance of two midpoints."""
    k, d = features.a.shape
    variances = theory.centred_moments(features.a, levels)[1] ** 2
    rule = CostRule(False, False, 0.0, 0.0, variances, variances)
    others = Optimum(features, rule, np.zeros(k), np.zeros(k), np.arange(k))
    least = float(shortest_arcs(others, workers).leaving.min())
    return math.sqrt(max(least - d / 2, 0.0))


def distortion_of(features: Geometry, levels: FloatArray) -> float:
    """Estimate lambda, less what noise adds to the spread of the midpoints."""
    k, d = features.a.shape
    mu = theory.centred_moments(features.a, levels)[0]
    unit = float(levels.max())
    total, noise = float(np.vdot(mu / unit, mu / unit)), float(np.vdot(levels / unit, levels / unit))
    return math.sqrt(max(total / noise - (k - 1) / k * d / 2, 0.0))
