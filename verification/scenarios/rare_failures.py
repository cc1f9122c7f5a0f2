"""The probability that a matching goes wrong, however small, by importance sampling, for equal noise levels.

A rare failure exchanges two points i and j. With the noise e of the first set and e' of the second, let

    P = (e_i - e_j + e'_i - e'_j) / 2
    Q = (e_i - e_j - e'_i + e'_j) / 2
    S = (e_i + e_j - e'_i - e'_j) / 2

which are independent and distributed as the noise of one point, and D = theta_i - theta_j. The exchange is
cheaper for LSL if |S + Q| |S - Q| > |S + D + P| |S - D - P|. The likeliest way, at the noise level 1, is
P = -D/3, Q = 0 and S = D sqrt(2)/3, with density exp(-|D|^2 / 6); for least squares, |Q| > |D + P|, it is
exp(-|D|^2 / 4). The sets are centred, which leaves of S its difference from the mean of e - e'; it is divided
by sqrt(1 - 2/n), its noise level.

So a pair is drawn, and P, Q and S are drawn from normal distributions under which failures are common: one
for their parts along D, one for those across. The rest of the noise is drawn given these. :func:`learn_tilt`
finds the distributions for a single pair by the cross-entropy method. The weight is the ratio of the true
density to that of the mixture over all pairs, so that the estimate is unbiased, whatever went wrong.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from lslmatch import AlignmentWarning
from lslmatch._types import FloatArray
from verification.scenarios.recovery import certified_match

#: Draws of one round of the cross-entropy method, and by how much a round may enlarge the distance.
_DRAWS, _STEP = 3000, 0.6
#: The share of draws that take any pair, so that no pair is forgotten.
_ANY_PAIR = 0.1


class Tilt(NamedTuple):
    """Normal distributions of (P, Q, S), in units of the noise, for a pair at one distance."""

    distance: float
    mean: FloatArray
    """Of the parts along D."""
    along: FloatArray
    """Their covariance, of shape (3, 3)."""
    across: FloatArray
    """The covariance in each direction across D, whose mean is 0."""


def learn_tilt(distance: float, n: int, d: int, objective: str, rng: np.random.Generator) -> Tilt:
    """Find the distributions under which a pair of points at a distance is exchanged often.

    The distance grows from 0 in steps, and in each the draws that fail, by their weights, give the next tilt.
    """
    tilt = Tilt(0.0, np.zeros(3), np.eye(3), np.eye(3))
    rounds = max(math.ceil(distance / _STEP), 1) + 2  # two more at the distance itself
    for k in range(rounds):
        at = min(distance * (k + 1) / (rounds - 2), distance)
        tilt = _learn_more(tilt, at, n, d, objective, rng)
    return tilt


def _learn_more(
    tilt: Tilt, distance: float, n: int, d: int, objective: str, rng: np.random.Generator
) -> Tilt:
    drawn = rng.standard_normal((_DRAWS, 3, d))
    drawn = np.linalg.cholesky(tilt.across) @ drawn
    drawn[:, :, 0] = rng.multivariate_normal(tilt.mean, tilt.along, _DRAWS)
    gram = drawn @ drawn.transpose(0, 2, 1)
    log_ratio = _log_ratio(tilt, 1.0, drawn[:, :, 0], gram, d)
    p, q, s = drawn[:, 0].copy(), drawn[:, 1], drawn[:, 2]
    p[:, 0] += distance
    failed = _exchanged(p, q, math.sqrt(1 - 2 / n) * s, objective)
    if not failed.any():
        raise ArithmeticError(f"no exchange in {_DRAWS} draws at the distance {distance:g}")
    weight = np.exp(-(log_ratio[failed] - log_ratio[failed].min()))
    weight /= weight.sum()
    kept = drawn[failed]
    kept[:, 2] *= np.sign(
        kept[:, 2, :1]
    )  # S and -S are alike, and the pair in the other order has the other sign
    first, rest = kept[:, :, 0], kept[:, :, 1:]
    mean = weight @ first
    centred = first - mean
    along = centred.T @ (weight[:, None] * centred)
    across = np.eye(3)
    if d > 1:
        across = np.einsum("t,tak,tbk->ab", weight, rest, rest) / (d - 1)
    # A little wider than learned: too narrow a distribution is the dangerous mistake.
    return Tilt(distance, mean, 1.2 * along + 0.02 * np.eye(3), across + 0.01 * np.eye(3))


def _exchanged(p: FloatArray, q: FloatArray, s: FloatArray, objective: str) -> FloatArray:
    right, crossed = ((s + q, s - q), (s + p, s - p))
    squares = [[(part**2).sum(axis=-1) for part in side] for side in (right, crossed)]
    if objective == "lss":
        return squares[0][0] + squares[0][1] > squares[1][0] + squares[1][1]
    return squares[0][0] * squares[0][1] > squares[1][0] * squares[1][1]


def _log_ratio(
    tilt: Tilt, stretch: FloatArray | float, first: FloatArray, gram: FloatArray, d: int
) -> FloatArray:
    """Give the logarithm of the tilted density over the true one, from the parts along D and all products."""
    centred = first - np.asarray(stretch)[..., None] * tilt.mean
    inside = np.linalg.inv(tilt.along)
    outside = np.linalg.inv(tilt.across)
    across = gram - first[..., :, None] * first[..., None, :]
    squares = (
        np.einsum("...a,ab,...b->...", centred, inside, centred)
        - (first**2).sum(axis=-1)
        + np.einsum("ab,...ab->...", outside - np.eye(3), across)
    )
    volumes = np.linalg.slogdet(tilt.along)[1] + (d - 1) * np.linalg.slogdet(tilt.across)[1]
    return -(squares + volumes) / 2


class Pairs(NamedTuple):
    """The pairs of a configuration with the noise level 1, and how often each is drawn."""

    features: FloatArray
    distances: FloatArray
    chances: FloatArray
    """Of ordered pairs, of shape (n, n)."""
    tilt: Tilt


def equidistant(n: int, separation: float) -> FloatArray:
    """Place n points in n dimensions at equal distances, with a given kappa(Z) at the noise level 1."""
    # s_i^2 = 1 - 1/n, and two unit vectors are sqrt(2) apart.
    return math.sqrt(1 - 1 / n) * separation * np.eye(n)


def pairs_of(features: FloatArray, objective: str, rng: np.random.Generator) -> Pairs:
    """Weigh the pairs by how likely they are exchanged, and learn the tilt for the closest."""
    n, d = features.shape
    differences = features[:, None] - features
    distances = np.sqrt((differences**2).sum(axis=2))
    apart = ~np.eye(n, dtype=bool)
    tilt = learn_tilt(float(distances[apart].min()), n, d, objective, rng)
    stretch = distances / tilt.distance
    chances = np.where(apart, np.exp((1 - stretch**2) * (tilt.mean @ tilt.mean) / 2), 0.0)
    chances = (1 - _ANY_PAIR) * chances / chances.sum() + _ANY_PAIR * apart / apart.sum()
    return Pairs(features, distances, chances, tilt)


def failure_weight(pairs: Pairs, objective: str, rng: np.random.Generator) -> float:
    """Give one unbiased estimate of the probability that not all points are matched to their partners."""
    noise, other, weight = draw_noise(pairs, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)  # the noise is large on purpose
        found = certified_match(pairs.features + noise, pairs.features + other, objective=objective)
    return 0.0 if np.array_equal(found.permutation, np.arange(len(noise))) else weight


def draw_noise(pairs: Pairs, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, float]:
    """Draw the noise of both sets, and give it with its weight, the true density over that of the draw."""
    n, d = pairs.features.shape
    noise = rng.standard_normal((2 * n, d))
    i, j = divmod(int(rng.choice(n * n, p=pairs.chances.ravel())), n)
    unit = (pairs.features[i] - pairs.features[j]) / pairs.distances[i, j]
    stretch = pairs.distances[i, j] / pairs.tilt.distance
    drawn = np.linalg.cholesky(pairs.tilt.across) @ rng.standard_normal((3, d))
    first = rng.multivariate_normal(stretch * pairs.tilt.mean, pairs.tilt.along)
    drawn += np.outer(first - drawn @ unit, unit)
    combinations = _combinations(i, j, n)
    noise += combinations.T @ (drawn - combinations @ noise)
    return noise[:n], noise[n:], math.exp(-_log_mixture(pairs, noise[:n], noise[n:]))


def _combinations(i: int, j: int, n: int) -> FloatArray:
    """Give P, Q and S of a pair as combinations of the noise of both sets, orthonormal, of shape (3, 2n)."""
    point = np.zeros((2, n))
    point[0, i], point[1, j] = 1.0, 1.0
    difference, half_sum = point[0] - point[1], (point[0] + point[1]) / 2 - 1 / n
    half_sum /= math.sqrt(1 - 2 / n)
    return np.block(
        [[difference / 2, difference / 2], [difference / 2, -difference / 2], [half_sum, -half_sum]]
    )


def _log_mixture(pairs: Pairs, noise: FloatArray, other: FloatArray) -> float:
    """Give the logarithm of the density of the mixture over the true one."""
    n, d = noise.shape
    total, gap = noise + other, noise - other
    # P and Q are half the difference of these between the points of a pair, S half the sum.
    level = math.sqrt(1 - 2 / n)
    signs = ((total, -1), (gap, -1), ((gap - gap.mean(axis=0)) / level, 1))
    gram, first = np.empty((n, n, 3, 3)), np.empty((n, n, 3))
    scale = pairs.distances + np.eye(n)
    for a, (left, left_sign) in enumerate(signs):
        projected = left @ pairs.features.T
        own = np.diag(projected)
        first[:, :, a] = (own[:, None] - projected + left_sign * (projected.T - own)) / (2 * scale)
        for b, (right, right_sign) in enumerate(signs):
            product = left @ right.T
            own = np.diag(product)
            gram[:, :, a, b] = (
                own[:, None] + right_sign * product + left_sign * product.T + left_sign * right_sign * own
            ) / 4
    ratios = _log_ratio(pairs.tilt, pairs.distances / pairs.tilt.distance, first, gram, d)
    return float(logsumexp(ratios, b=pairs.chances))
