"""Configurations for the statements that hold for any features and any noise, with their corners by name."""

from __future__ import annotations

import math

import numpy as np

from lslmatch import theory
from lslmatch._types import FloatArray, IntArray
from lslmatch.model import Configuration
from verification.engine.studies import Parameters


def noise_levels(kind: str, n: int) -> FloatArray:
    """Give n noise levels: equal, dominating (one of 1, the rest 1/n^2), spread (1 to 10) or noisy-k.

    "dominating" is the paper's example of alpha_sigma near 1; "noisy-5" has five equal levels and the rest
    negligible.
    """
    if kind == "equal":
        return np.ones(n)
    if kind == "dominating":
        return np.concatenate([[1.0], np.full(n - 1, float(n) ** -2)])
    if kind == "spread":
        return 10.0 ** np.linspace(0, 1, n)
    count = int(kind.removeprefix("noisy-"))
    return np.concatenate([np.ones(count), np.full(n - count, 1e-6)])


def draw_configuration(parameters: Parameters, rng: np.random.Generator) -> Configuration:
    """Draw Gaussian features of a given distortion-to-noise ratio, with the other parameters of a cell.

    Reads ``n``, ``d``, ``noise`` (see :func:`noise_levels`), ``distortion`` (lambda, 0 for features that all
    coincide), and optionally ``scale`` (tau) and ``shift`` (the same in every coordinate). The noise levels
    come in random order, and the permutation is not its own inverse. With ``features`` "aligned" only the
    noisiest point is away from the others, for which the bounds on sums of squares have the least room.
    """
    n, d = int(parameters["n"]), int(parameters["d"])
    noise = rng.permutation(noise_levels(parameters["noise"], n))
    features = rng.standard_normal((n, d))
    if parameters.get("features") == "aligned":
        features[:] = 0.0
        features[noise.argmax(), 0] = 1.0
    features *= parameters["distortion"] / theory.distortion_to_noise(features, noise)
    shift = np.full(d, float(parameters.get("shift", 0.0)))
    scale = float(parameters.get("scale", 1.0))
    return Configuration(features + shift, noise, scale, shift, draw_permutation(n, rng))


def draw_permutation(n: int, rng: np.random.Generator) -> IntArray:
    """Draw a permutation that is not its own inverse, so that a confusion of the two cannot pass."""
    while True:
        permutation = rng.permutation(n)
        if n < 3 or not np.array_equal(permutation[permutation], np.arange(n)):
            return permutation


def centred_noise(noise: FloatArray, d: int, rng: np.random.Generator) -> FloatArray:
    """Draw the correlated xi-bar_i = sigma_i xi_i - mean, each N(0, s_i^2 I_d)."""
    drawn: FloatArray = noise[:, None] * rng.standard_normal((len(noise), d))
    drawn -= drawn.mean(axis=0)
    return drawn


def smallest_delta(d: int, relative_noise: float, constant: float) -> float:
    """Give 4 exp(-d / (constant alpha^2)), the smallest delta of a theorem, rounded up to three digits.

    Retyped here, so that a cell's delta does not follow a mistake in the library.
    """
    exact = 4 * math.exp(-d / (constant * relative_noise**2))
    digits = 10.0 ** (2 - math.floor(math.log10(exact)))
    return math.ceil(exact * digits) / digits
