"""Families of configurations that no method here was made for, by name, at a typical separation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.model import Configuration
from verification.scenarios.configurations import draw_permutation

Draw = Callable[[int, np.random.Generator], tuple[FloatArray, FloatArray]]


def _gaussian(d: int, noise_ratio: float = 1.0) -> Draw:
    def draw(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        return rng.standard_normal((n, d)), noise_ratio ** (rng.random(n) / 2)

    return draw


def _heavy_noise(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    return rng.standard_normal((n, 15)), 1.0 / np.sqrt(rng.chisquare(1.0, n))


def _clusters(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    centres = rng.standard_normal((20, 15))
    near = centres[rng.integers(20, size=n)] + 0.05 * rng.standard_normal((n, 15))
    return near, 10.0 ** rng.random(n)


def _low_rank(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, 15)), 10.0 ** rng.random(n)


def _line(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    return rng.standard_normal((n, 1)) * rng.standard_normal(15), 10.0 ** rng.random(n)


def _heavy_line(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    return rng.standard_t(2.0, (n, 1)) * rng.standard_normal(15), 10.0 ** rng.random(n)


def _quiet_few(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    quiet = rng.random(n) < 0.05
    return np.where(quiet[:, None], 3.0, 1.0) * rng.standard_normal((n, 15)), np.where(quiet, 1.0, 100.0)


def _quiet_dense(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    # A tight cloud of quiet points, far away in one direction, and wide noisy ones around the centre.
    quiet = rng.random(n) < 0.1
    features = rng.standard_normal((n, 15))
    features[quiet] *= 0.01
    features[quiet, 0] += 20.0
    return features, np.where(quiet, 1.0, 100.0)


#: Features and noise levels of n points, up to a common factor of the features.
FAMILIES: dict[str, Draw] = {
    "equal noise": _gaussian(15),
    "noise ratio 100": _gaussian(15, 100.0),
    "noise ratio 10,000": _gaussian(15, 1e4),
    "heavy-tailed noise": _heavy_noise,
    "clusters": _clusters,
    "rank 2": _low_rank,
    "on a line": _line,
    "on a line, heavy-tailed": _heavy_line,
    "few quiet points": _quiet_few,
    "quiet cloud far away": _quiet_dense,
    "d = 1": _gaussian(1, 100.0),
    "d = 2": _gaussian(2, 100.0),
    "d = 200": _gaussian(200, 100.0),
}


def draw_family(
    name: str,
    n: int,
    *,
    separation: float,
    scale: float = 3.0,
    shift: float = 5.0,
    rng: np.random.Generator,
) -> Configuration:
    """Draw a configuration of a family in which half of the points are separated by at least `separation`.

    The paper's kappa is the least separation over all pairs; here it is the median over the points, so that
    each family goes from hopeless to easy over about the same range.
    """
    features, noise = FAMILIES[name](n, rng)
    features = features * (separation / typical_separation(features, noise))
    beta = np.full(features.shape[1], shift)
    return Configuration(features, noise, scale, beta, draw_permutation(n, rng))


def typical_separation(features: FloatArray, noise: FloatArray) -> float:
    """Give the median over the points of the least distance to another, in units of the noise of the two."""
    squares = np.einsum("ij,ij->i", features, features)
    ratio = squares[:, None] + squares - 2 * features @ features.T
    ratio = np.maximum(ratio, 0.0) / (noise[:, None] ** 2 + noise**2)
    np.fill_diagonal(ratio, np.inf)
    return float(np.median(np.sqrt(ratio.min(axis=1))))
