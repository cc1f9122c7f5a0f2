"""The probability that a matching goes wrong, however small, by importance sampling.

A rare failure exchanges two points i and j. With the noise e of the first set and e' of the second, let

    P = (e_i - e_j + e'_i - e'_j) / 2
    Q = (e_i - e_j - e'_i + e'_j) / 2
    S = (e_i + e_j - e'_i - e'_j) / 2

and D = theta_i - theta_j. The exchange is cheaper for LSL if |S + Q| |S - Q| > |S + D + P| |S - D - P|.
The sets are centred, which leaves of S its difference from the mean of e - e'. P is independent of Q and S;
these two are, too, if i and j have the same noise level. Then the likeliest way, at the noise level 1 and for
many points, is P = -D/3, Q = 0 and S = D sqrt(2)/3, with density exp(-|D|^2 / 6); for least squares,
|Q| > |D + P|, it is exp(-|D|^2 / 4), and pairs of unequal noise are in between (:func:`exchange_rate`).

So a pair is drawn, and P, Q and S, multiplied by the inverse root of their covariance, from normal
distributions under which failures are common: one for their parts along D, one for those across. The rest of
the noise is drawn given these. :func:`learn_tilt` finds the distributions for each kind of pair, by noise
levels, with the cross-entropy method. The weight is the ratio of the true density to that of the mixture over
all pairs, so that the estimate is unbiased, whatever went wrong.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brute, fmin
from scipy.special import logsumexp

from lslmatch import AlignmentWarning, theory
from lslmatch._types import FloatArray
from verification.scenarios.recovery import certified_match

#: Draws of one round of the cross-entropy method, and by how much a round may enlarge the distance.
_DRAWS, _STEP = 3000, 0.6
#: The share of draws that take any pair, so that no pair is forgotten.
_ANY_PAIR = 0.1
#: What the other order of a pair does to P, Q and S, each along D.
_REFLECTION = np.array([1.0, -1.0, 1.0])


class Tilt(NamedTuple):
    """Normal distributions of (P, Q, S), made independent and of variance 1, for a pair at one distance."""

    distance: float
    mean: FloatArray
    """Of the parts along D."""
    along: FloatArray
    """Their covariance, of shape (3, 3)."""
    across: FloatArray
    """The covariance in each direction across D, whose mean is 0."""
    log_chance: float
    """The logarithm of the probability of an exchange, as far as it was seen."""


def learn_tilt(distance: float, root: FloatArray, d: int, objective: str, rng: np.random.Generator) -> Tilt:
    """Find the distributions under which a pair of points at a distance is exchanged often.

    `root` is the lower root of the covariance of (P, Q, S). The distance grows from 0 in steps, and in each
    the draws that fail, by their weights, give the next tilt.
    """
    tilt = Tilt(0.0, np.zeros(3), np.eye(3), np.eye(3), 0.0)
    rounds = max(math.ceil(distance / root[0, 0] / _STEP), 1) + 2  # two more at the distance itself
    for k in range(rounds):
        at = min(distance * (k + 1) / (rounds - 2), distance)
        tilt = _learn_more(tilt, at, root, d, objective, rng)
    return tilt


def _learn_more(
    tilt: Tilt, distance: float, root: FloatArray, d: int, objective: str, rng: np.random.Generator
) -> Tilt:
    first = rng.multivariate_normal(tilt.mean, tilt.along, _DRAWS)
    rest = np.linalg.cholesky(tilt.across) @ _wishart_roots(d - 1, rng)
    rest = rest @ rest.transpose(0, 2, 1)
    log_ratio = _log_ratio(tilt, 1.0, first, rest + first[:, :, None] * first[:, None, :], d)
    moved = first @ root.T + [distance, 0.0, 0.0]
    failed = _exchanged(root @ rest @ root.T + moved[:, :, None] * moved[:, None, :], objective)
    if not failed.any():
        if tilt.distance > 0.0 and tilt.log_chance > -math.inf:
            raise ArithmeticError(f"no exchange in {_DRAWS} draws at the distance {distance:g}")
        # In many dimensions points of unequal noise are told apart by it, even where they coincide.
        return tilt._replace(distance=distance, log_chance=-math.inf)
    weight = np.exp(-(log_ratio[failed] - log_ratio[failed].min()))
    log_chance = float(np.log(weight.sum() / _DRAWS) - log_ratio[failed].min())
    weight /= weight.sum()
    # With the sets exchanged Q and S change their signs; the pair in the other order has the other sign.
    signs = np.ones((len(weight), 3))
    signs[:, 1:] = np.sign(moved[failed, 2:])
    first, rest = signs * first[failed], signs[:, :, None] * rest[failed] * signs[:, None, :]
    mean = weight @ first
    centred = first - mean
    along = centred.T @ (weight[:, None] * centred)
    across = np.tensordot(weight, rest, 1) / (d - 1) if d > 1 else np.eye(3)
    # A little wider than learned: too narrow a distribution is the dangerous mistake.
    return Tilt(distance, mean, 1.2 * along + 0.02 * np.eye(3), across + 0.01 * np.eye(3), log_chance)


def _wishart_roots(freedom: int, rng: np.random.Generator) -> FloatArray:
    """Draw roots of the products of three normal vectors with so many coordinates (Bartlett's way)."""
    roots = np.tril(rng.standard_normal((_DRAWS, 3, 3)), -1)
    for k in range(3):
        if freedom > k:
            roots[:, k, k] = np.sqrt(rng.chisquare(freedom - k, _DRAWS))
        else:
            roots[:, :, k] = 0.0
    return roots


def _exchanged(gram: FloatArray, objective: str) -> NDArray[np.bool_]:
    """Tell whether the exchange is cheaper, from the products of D + P, Q and S."""
    (p, q, s), (sp, sq) = np.einsum("...aa->a...", gram), (gram[..., 2, 0], gram[..., 2, 1])
    if objective == "lss":
        return q > p
    return (s + q) ** 2 - 4 * sq**2 > (s + p) ** 2 - 4 * sp**2


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


class Kind(NamedTuple):
    """The ordered pairs of two noise levels."""

    members: NDArray[np.bool_]
    """Of shape (n, n)."""
    root: FloatArray
    """The lower root of the covariance of (P, Q, S)."""
    tilt: Tilt


class Pairs(NamedTuple):
    """The pairs of a configuration, and how often each is drawn."""

    features: FloatArray
    noise: FloatArray
    """The noise levels, of shape (n,)."""
    distances: FloatArray
    chances: FloatArray
    """Of ordered pairs, of shape (n, n)."""
    kinds: tuple[Kind, ...]


def equidistant(noise: FloatArray, separation: float) -> FloatArray:
    """Place n points in n dimensions, all pairs equally close beside their noise, with a given kappa(Z)."""
    _, s = theory.centred_moments(np.eye(len(noise)), noise)
    return separation * np.diag(s)


def covariance_of_pair(i: int, j: int, noise: FloatArray) -> FloatArray:
    """Give the covariance of P, Q and S of two points, in each direction."""
    n = len(noise)
    first, second, total = noise[i] ** 2, noise[j] ** 2, (noise**2).sum()
    both, shared = (first + second) / 2, (first - second) * (0.5 - 1 / n)
    return np.array(
        [[both, 0.0, 0.0], [0.0, both, shared], [0.0, shared, both * (1 - 4 / n) + 2 * total / n**2]]
    )


def exchange_rate(covariance: FloatArray) -> float:
    """Give the rate at which -log of the probability of an exchange by LSL grows with |D|^2.

    The farthest D + P that S and Q can bridge has the direction of S, and the square of its length is
    |S|^2 + |S + Q| |S - Q|. The most of that at the cost 1/2, with Q partly along S and partly across it (in
    units of |S|), is found numerically; what is left of D is for P.
    """
    (quiet, mixed), (_, loud) = np.linalg.inv(covariance[1:, 1:])

    def bridged(place: Sequence[float]) -> float:
        along, across = place
        length = 1.0 + along**2 + across**2
        cost = quiet * (along**2 + across**2) + 2 * mixed * along + loud
        return (1.0 + math.sqrt(max(length**2 - 4 * along**2, 0.0))) / cost

    best = brute(lambda place: -bridged(place), ((-4.0, 4.0), (0.0, 4.0)), Ns=81, finish=fmin, disp=False)
    return float(1 / (2 * (covariance[0, 0] + bridged(best))))


def pairs_of(features: FloatArray, noise: FloatArray, objective: str, rng: np.random.Generator) -> Pairs:
    """Weigh the pairs by how likely they are exchanged, and learn the tilt for the closest of each kind."""
    n, d = features.shape
    differences = features[:, None] - features
    distances = np.sqrt((differences**2).sum(axis=2))
    apart = ~np.eye(n, dtype=bool)
    kinds, logs = [], np.full((n, n), -np.inf)
    for first, second in itertools.combinations_with_replacement(np.unique(noise), 2):
        members = np.outer(noise == first, noise == second) & apart
        if not members.any():
            continue
        i, j = np.argwhere(members)[0]
        root: FloatArray = np.linalg.cholesky(covariance_of_pair(i, j, noise)).astype(float)
        tilt = learn_tilt(float(distances[members].min()), root, d, objective, rng)
        stretch = distances[members] / tilt.distance
        logs[members] = tilt.log_chance + (1 - stretch**2) * (tilt.mean @ tilt.mean) / 2
        kinds.append(Kind(members, root, tilt))
        if first != second:  # the other order, in which Q has the other sign
            logs[members.T] = logs.T[members.T]
            kinds.append(Kind(members.T, _reflect(root), _reflected(tilt)))
    chances = np.exp(logs - logs.max())
    chances = (1 - _ANY_PAIR) * chances / chances.sum() + _ANY_PAIR * apart / apart.sum()
    return Pairs(features, noise, distances, chances, tuple(kinds))


def _reflect(matrix: FloatArray) -> FloatArray:
    return matrix * np.outer(_REFLECTION, _REFLECTION)


def _reflected(tilt: Tilt) -> Tilt:
    return tilt._replace(
        mean=tilt.mean * _REFLECTION, along=_reflect(tilt.along), across=_reflect(tilt.across)
    )


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
    tilt = next(kind.tilt for kind in pairs.kinds if kind.members[i, j])
    stretch = pairs.distances[i, j] / tilt.distance
    drawn = np.linalg.cholesky(tilt.across) @ rng.standard_normal((3, d))
    first = rng.multivariate_normal(stretch * tilt.mean, tilt.along)
    drawn += np.outer(first - drawn @ unit, unit)
    combinations = _combinations(i, j, pairs.noise)
    noise += combinations.T @ (drawn - combinations @ noise)
    noise *= np.tile(pairs.noise, 2)[:, None]
    return noise[:n], noise[n:], math.exp(-_log_mixture(pairs, noise[:n], noise[n:]))


def _combinations(i: int, j: int, noise: FloatArray) -> FloatArray:
    """Give P, Q and S of a pair, made independent, as combinations of the standard normal noise of both sets.

    They are orthonormal, of shape (3, 2n).
    """
    n = len(noise)
    point = np.zeros((2, n))
    point[0, i], point[1, j] = 1.0, 1.0
    difference, total = (point[0] - point[1]) / 2, (point[0] + point[1]) / 2 - 1 / n
    combinations = np.block([[difference, difference], [difference, -difference], [total, -total]])
    root = np.linalg.cholesky(covariance_of_pair(i, j, noise))
    solved: FloatArray = np.linalg.solve(root, combinations * np.tile(noise, 2))
    return solved


def _log_mixture(pairs: Pairs, noise: FloatArray, other: FloatArray) -> float:
    """Give the logarithm of the density of the mixture over the true one."""
    n, d = noise.shape
    total, gap = noise + other, noise - other
    # P and Q are half the difference of these between the points of a pair, S half the sum.
    signs = ((total, -1), (gap, -1), (gap - gap.mean(axis=0), 1))
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
    ratios = np.zeros((n, n))
    for members, root, tilt in pairs.kinds:
        inverse = np.linalg.inv(root)
        stretch = pairs.distances[members] / tilt.distance
        products = inverse @ gram[members] @ inverse.T
        ratios[members] = _log_ratio(tilt, stretch, first[members] @ inverse.T, products, d)
    return float(logsumexp(ratios, b=pairs.chances))
