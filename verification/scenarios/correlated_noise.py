"""Planted data whose noise is correlated between coordinates: covariances by name, separations that compare.

The data are those of the paper's model in coordinates where the noise is isotropic, mapped by a factor of the
covariance. How far points are apart is measured in these coordinates, so that LSL under the true covariance
has the same task whatever the covariance is, and what a method does not know of it makes the difference.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

import lslmatch
from lslmatch import theory
from lslmatch._types import FloatArray, IntArray
from lslmatch.model import Configuration
from verification.engine.samples import Row
from verification.scenarios.configurations import draw_permutation
from verification.scenarios.families import FAMILIES, typical_separation
from verification.scenarios.recovery import require_certificate

#: Typical separations in units of the paper's noise floor, by name. Under the true covariance about no, some,
#: and all pairs are recovered.
LEVELS: Mapping[str, float] = {"below": 0.5, "near": 1.0, "above": 2.0}

#: What is compared, by name: the paper's model, the covariance learned if that is better, and the true one.
ISOTROPIC, AUTO, KNOWN = METHODS = ("isotropic", "auto", "true covariance")

#: From the dimension and the ratio of the greatest variance to the smallest one to a covariance.
Shape = Callable[[int, float, np.random.Generator], FloatArray]


class CorrelatedConfiguration(NamedTuple):
    """The truth behind two sets with noise of one covariance, the same for all points up to their levels."""

    white: Configuration
    """The sets in coordinates where the noise is isotropic."""
    factor: FloatArray
    """L of shape (d, d): a point of the sets is L times one of `white`."""

    @property
    def permutation(self) -> IntArray:
        """The true matching."""
        return self.white.permutation

    @property
    def covariance(self) -> FloatArray:
        """L L^T, the covariance of noise of level 1."""
        return self.factor @ self.factor.T

    def sample(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw both sets."""
        x, y = self.white.sample(rng)
        return x @ self.factor.T, y @ self.factor.T


def match_in_each_way(truth: CorrelatedConfiguration, rng: np.random.Generator) -> Row:
    """Draw two sets, match them with each :data:`METHODS`, and give the shares that are right.

    Also whether "auto" kept the covariance that it learned, and seconds.
    """
    x, y = truth.sample(rng)
    row: dict[str, float] = {}
    for name, covariance in ((ISOTROPIC, "isotropic"), (AUTO, "auto"), (KNOWN, truth.covariance)):
        started = time.perf_counter()
        result = lslmatch.match(x, y, covariance=covariance)
        row[f"seconds {name}"] = time.perf_counter() - started
        require_certificate(x, y, result)
        row[f"right {name}"] = float((result.permutation == truth.permutation).mean())
        if name == AUTO:
            row["kept"] = float(result.covariance is not None and not result.covariance.is_isotropic)
    return row


def isotropic(d: int, condition: float, rng: np.random.Generator) -> FloatArray:
    """Give the identity, whatever the strength."""
    return np.eye(d)


def one_direction(d: int, condition: float, rng: np.random.Generator) -> FloatArray:
    """Give one strong direction above equal noise in all."""
    return _strong_directions(d, 1, condition, rng)


def low_rank(d: int, condition: float, rng: np.random.Generator) -> FloatArray:
    """Give a fifth of the directions strong, above equal noise in all."""
    return _strong_directions(d, max(d // 5, 1), condition, rng)


def all_directions(d: int, condition: float, rng: np.random.Generator) -> FloatArray:
    """Give variances that are evenly spread on the logarithmic scale, in random directions."""
    axes = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return (axes * np.geomspace(1.0, condition, d)) @ axes.T


def autoregressive(d: int, condition: float, rng: np.random.Generator) -> FloatArray:
    """Give correlations r^|j - k|, r such that the condition number is reached when d is large."""
    return autoregressive_covariance(d, autoregressive_parameter(condition))


def blocks(d: int, condition: float, rng: np.random.Generator) -> FloatArray:
    """Give five blocks of equal correlation, independent of each other."""
    number = np.arange(d) * 5 // d
    same = (number[:, None] == number).astype(float)
    correlation = (condition - 1) / (condition - 1 + max(same.sum(axis=0)))
    return correlation * same + (1 - correlation) * np.eye(d)


def mixed(d: int, condition: float, rng: np.random.Generator) -> FloatArray:
    """Give the sum of a strong direction, blocks and neighbours that are correlated."""
    parts = [shape(d, condition, rng) for shape in (one_direction, blocks, autoregressive)]
    total: FloatArray = np.mean(parts, axis=0)
    return total


#: Covariances by name.
SHAPES: Mapping[str, Shape] = {
    "isotropic": isotropic,
    "one direction": one_direction,
    "low rank": low_rank,
    "all directions": all_directions,
    "AR(1)": autoregressive,
    "blocks": blocks,
    "mixed": mixed,
}


def autoregressive_covariance(d: int, parameter: float) -> FloatArray:
    """Give the covariance of an AR(1) process of variance 1."""
    place = np.arange(d)
    return np.power(float(parameter), np.abs(place[:, None] - place))


def autoregressive_parameter(condition: float) -> float:
    """Give the r for which the spectrum of an AR(1) process varies by this factor, ((1 + r) / (1 - r))^2."""
    root = math.sqrt(condition)
    return (root - 1) / (root + 1)


def equal_levels(n: int, rng: np.random.Generator) -> FloatArray:
    """Give n noise levels of 1."""
    return np.ones(n)


def heavy_levels(n: int, rng: np.random.Generator) -> FloatArray:
    """Give n noise levels whose noise is Student's t with two degrees of freedom."""
    return 1.0 / np.sqrt(rng.chisquare(2.0, n) / 2.0)


#: Noise levels of points by name.
NOISE_LEVELS: Mapping[str, Callable[[int, np.random.Generator], FloatArray]] = {
    "equal": equal_levels,
    "heavy-tailed": heavy_levels,
}


def correlated_configuration(
    covariance: FloatArray,
    n: int,
    *,
    level: float,
    noise: str = "equal",
    rng: np.random.Generator,
) -> CorrelatedConfiguration:
    """Draw Gaussian features, isotropic in the coordinates of the data, under a covariance of the noise.

    Half of the points have another one at most `level` times the noise floor away, in units of the noise of
    the two, where the noise is isotropic.
    """
    features = rng.standard_normal((n, len(covariance)))
    return _at_level(features, NOISE_LEVELS[noise](n, rng), covariance, level, rng)


def correlated_family(
    name: str, n: int, *, shape: str, condition: float, level: float, rng: np.random.Generator
) -> CorrelatedConfiguration:
    """Draw the features and noise levels of one of the families, under a covariance of the noise."""
    features, noise = FAMILIES[name](n, rng)
    return _at_level(features, noise, SHAPES[shape](features.shape[1], condition, rng), level, rng)


def _strong_directions(d: int, count: int, condition: float, rng: np.random.Generator) -> FloatArray:
    axes = np.linalg.qr(rng.standard_normal((d, count)))[0]
    return np.eye(d) + (condition - 1) * axes @ axes.T


def _at_level(
    features: FloatArray, noise: FloatArray, covariance: FloatArray, level: float, rng: np.random.Generator
) -> CorrelatedConfiguration:
    n, d = features.shape
    factor = np.linalg.cholesky(covariance).astype(np.float64)
    white: FloatArray = np.linalg.solve(factor, features.T).T.astype(np.float64)
    white *= level * theory.noise_floor(n, d) / typical_separation(white, noise)
    truth = Configuration(white, noise, 3.0, np.full(d, 5.0), draw_permutation(n, rng))
    return CorrelatedConfiguration(truth, factor)
