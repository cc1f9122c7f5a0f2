"""The observation model of the paper (its eq. 1 and 2), and the configurations that it is tried on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lslmatch import theory
from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import (
    check_at_least,
    check_count,
    check_filled_vector,
    check_finite,
    check_permutation,
    check_points,
    check_positive,
    check_positive_vector,
    check_vector,
)

#: In the adversarial family every pair but the adversarial one is separated by this times kappa(Z), or more.
_MARGIN = 1.001


class Configuration(NamedTuple):
    """The truth behind two sets: theta_i = tau theta#_pi(i) + beta and sigma_i = tau sigma#_pi(i).

    Examples
    --------
    >>> truth = Configuration(np.eye(3), np.full(3, 1e-9), 2.0, np.ones(3), np.array([1, 2, 0]))
    >>> x, y = truth.sample(rng=0)
    >>> np.allclose(x, truth.scale * y[truth.permutation] + truth.shift, atol=1e-6)
    True
    """

    features: FloatArray
    """theta of the first set, of shape (n, d)."""
    noise: FloatArray
    """sigma of the first set, of shape (n,)."""
    scale: float
    """tau, a positive number."""
    shift: FloatArray
    """beta, of shape (d,)."""
    permutation: IntArray
    """pi, of shape (n,): ``y[permutation[i]]`` is the partner of ``x[i]``."""

    def sample(self, rng: Any = None) -> tuple[FloatArray, FloatArray]:
        """Draw both sets.

        Parameters
        ----------
        rng : anything that `numpy.random.default_rng` takes
            It gives the (n, d) standard normal xi of the first set, then the (n, d) xi# of the second.

        Returns
        -------
        x : array of shape (n, d)
            x_i = theta_i + sigma_i xi_i.
        y : array of shape (n, d)
            y_pi(i) = (theta_i - beta + sigma_i xi#_i) / tau, so that row i of xi# belongs to the
            partner of x_i.
        """
        features = check_points(self.features, "features")
        n, d = features.shape
        noise = check_positive_vector(self.noise, "noise", n)[:, None]
        scale, shift = check_positive(self.scale, "scale"), check_vector(self.shift, "shift", d)
        permutation = check_permutation(self.permutation, "permutation", n)
        rng = np.random.default_rng(rng)
        x = features + noise * rng.standard_normal((n, d))
        y = np.empty((n, d))
        y[permutation] = (features - shift + noise * rng.standard_normal((n, d))) / scale
        return x, y


def random_configuration(
    n: int,
    d: int,
    *,
    separation: float,
    noise_ratio: float = 1.0,
    scale: float = 1.0,
    shift: ArrayLike | None = None,
    rng: Any = None,
) -> Configuration:
    """Draw Gaussian features with a given separation, log-uniform noise and a uniform permutation.

    Parameters
    ----------
    n, d : int
        Number of points, at least 2, and dimension, at least 1.
    separation : float
        kappa(Z), met up to rounding: relatively 1e-16 times the ratio of the largest feature to the
        smallest distance, which is only noticeable for many points on a line.
    noise_ratio : float
        rho_sigma >= 1. The smallest noise is 1 and the largest its root; both occur. With n > 2
        the others are log-uniform in between.
    scale, shift : float and array_like of shape (d,)
        tau and beta. One number is the same shift in every coordinate, None is no shift.
    rng : anything that `numpy.random.default_rng` takes
        It gives n - 2 uniforms for the noise, the noise's order, the permutation and the (n, d)
        standard normal features.

    Examples
    --------
    >>> truth = random_configuration(50, 3, separation=4.0, noise_ratio=9.0, scale=2.0, rng=0)
    >>> round(theory.separation(truth.features, truth.noise), 9), round(theory.noise_ratio(truth.noise), 9)
    (4.0, 9.0)
    """
    n, d = check_count(n, "n", 2), check_count(d, "d", 1)
    separation = check_positive(separation, "separation")
    noise_ratio = check_at_least(noise_ratio, "noise_ratio", 1)
    scale = check_positive(scale, "scale")
    beta = check_filled_vector(0.0 if shift is None else shift, "shift", d)
    rng = np.random.default_rng(rng)

    exponents = np.concatenate([[0.0, 1.0], rng.random(n - 2)])
    noise = rng.permutation(math.sqrt(noise_ratio) ** exponents)
    permutation = rng.permutation(n)
    features, drawn_separation = _draw_apart(lambda: rng.standard_normal((n, d)), noise)
    with np.errstate(over="ignore"):
        features = features * (separation / drawn_separation)
    check_finite(features, "features, rescaled to this separation,")
    return Configuration(features, noise, scale, beta, permutation)


def adversarial_configuration(
    n: int,
    d: int,
    *,
    noise_ratio: float,
    separation: float,
    strength: float = 1.0,
    rng: Any = None,
) -> Configuration:
    """Build the family of section 5.2, on which standardisation costs sqrt(rho_sigma) in separation.

    With R = sqrt(rho_sigma), M = strength R sqrt(n d) and V the first axis: rows 0 and 1 are the
    adversarial pair M V and (M + Delta) V, rows 2 and 3 its mirror image, all of noise 1; the
    other rows are the inflators, pairs r u_k and -r u_k of noise R, where the u_k are random unit
    vectors orthogonal to V. The scale is 1, the shift 0, the permutation the identity.

    Delta = sqrt(2) s_1 kappa(Z) lets the adversarial pair attain the separation, and r is the
    smallest radius that separates every two inflators by 1.001 kappa(Z). So r grows with kappa(Z),
    and from about r = 2 strength R sqrt(d) on tau-hat gains accuracy from it and the obstruction
    falls. (r also grows as the smallest angle between inflators falls: with many of them in three
    dimensions they are anything but low-signal.)

    One departure from the paper, whose mirror pair ties with the adversarial pair: here it is 1.001
    times as wide about the same centre. The mean of the features remains 0, and no pair but
    the adversarial one attains kappa(Z).

    Parameters
    ----------
    n, d : int
        Number of points, even and at least 6, and dimension, at least 3 (at least 2 for n = 6).
    noise_ratio, separation : float
        rho_sigma >= 1, and kappa(Z) up to rounding.
    strength : float
        C of the paper. Too small a value brings other pairs closer than kappa(Z) and is refused.
    rng : anything that `numpy.random.default_rng` takes
        It gives the ((n - 4) / 2, d - 1) standard normal vectors along which the u_k point.

    Examples
    --------
    >>> truth = adversarial_configuration(50, 15, noise_ratio=100.0, separation=5.0, rng=0)
    >>> round(theory.separation(truth.features, truth.noise), 9), round(theory.noise_ratio(truth.noise), 9)
    (5.0, 100.0)
    """
    n, d = check_count(n, "n", 6), check_count(d, "d", 2)
    if n % 2:
        raise ValueError(f"n must be even; got {n}")
    if d == 2 and n > 6:
        raise ValueError(f"d must be at least 3 if n > 6, for the inflators to differ; got d = 2, n = {n}")
    largest_noise = math.sqrt(check_at_least(noise_ratio, "noise_ratio", 1))
    separation = check_positive(separation, "separation")
    offset = check_positive(strength, "strength") * largest_noise * math.sqrt(n * d)  # M
    rng = np.random.default_rng(rng)

    noise = np.concatenate([np.ones(4), np.full(n - 4, largest_noise)])
    s = theory.centred_moments(np.zeros((n, d)), noise)[1]
    gap = math.sqrt(2) * s[0] * separation  # Delta
    inner = offset - (_MARGIN - 1) / 2 * gap  # of the mirror pair, the end nearer to 0

    directions, unit_separation = _draw_apart(lambda: _draw_opposite(n - 4, d - 1, rng), np.ones(n - 4))
    smallest_distance = unit_separation * math.sqrt(2 * (n - 5) / (n - 4))  # undo s of equal noise
    radius = _MARGIN * separation * math.sqrt(2) * s[-1] / smallest_distance

    features = np.zeros((n, d))
    features[:4, 0] = offset, offset + gap, -inner, -(inner + _MARGIN * gap)
    features[4:, 1:] = radius * directions
    to_mirror = (offset + inner) / (math.sqrt(2) * s[0])
    to_inflators = math.hypot(inner, radius) / math.hypot(s[0], s[-1])
    if min(to_mirror, to_inflators) < _MARGIN * separation:
        raise ValueError(
            f"strength must be raised, or separation lowered, for the adversarial pair to be the closest "
            f"one; got strength = {strength:g}, separation = {separation:g}"
        )
    return Configuration(features, noise, 1.0, np.zeros(d), np.arange(n))


def _draw_apart(draw: Callable[[], FloatArray], noise: FloatArray) -> tuple[FloatArray, float]:
    """Draw points and their separation, again while any two coincide: nothing could rescale those."""
    while True:
        points = draw()
        separation = theory.separation(points, noise)
        if separation > 0:
            return points, separation


def _draw_opposite(count: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Draw count / 2 uniform unit vectors u_k, as rows u_1, -u_1, u_2, -u_2, ..."""
    directions = rng.standard_normal((count // 2, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.stack([directions, -directions], axis=1).reshape(count, d)
