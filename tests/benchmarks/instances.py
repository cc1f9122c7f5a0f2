"""What is timed: point sets from perfect separation to no signal, and matrices of seven families.

Every instance follows from its case alone: the seed is made of the case.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv

from lslmatch.model import Configuration

#: In words, for tables and pictures.
KINDS = {
    "above": "planted above the floor",
    "near": "planted near the floor",
    "below": "planted below the floor",
    "nosignal": "no signal",
    "uniform": "uniform",
    "integer": "integers below 100",
    "geometric": "planar distances",
    "lowrank": "rank 3",
    "twocost": "two costs",
    "signed": "logarithms of both signs",
    "machol": "Machol-Wien",
}
POINTS = ("above", "near", "below", "nosignal")
MATRICES = ("uniform", "integer", "geometric", "lowrank", "twocost", "signed", "machol")

#: Rows on which the noise of a planted set is calibrated.
_SAMPLE = 400


class Case(NamedTuple):
    """An instance by its properties; d is 0 for a matrix."""

    kind: str
    n: int
    d: int = 0

    @property
    def group(self):
        return "match" if self.kind in POINTS else "dense"

    @property
    def name(self):
        return f"{self.group}-{self.kind}-n{self.n}" + (f"-d{self.d}" if self.d else "")


def catalogue(largest=10_000):
    """All cases of up to `largest` points."""
    points = [Case(kind, n, d) for kind in POINTS for d in (3, 20, 100) for n in (1000, 2000, 5000, 10_000)]
    matrices = [Case(kind, n) for kind in MATRICES for n in (300, 1000, 2000)]
    return [case for case in points + matrices if case.n <= largest]


def smoke_catalogue():
    """Cases of every kind, too small to say anything about speed."""
    return [Case(kind, 24, 2) for kind in POINTS] + [Case(kind, 16) for kind in MATRICES]


def draw(case):
    """Give the two point sets of a case, or its matrix in a tuple of one."""
    return draw_points(case) if case.group == "match" else (draw_matrix(case),)


# ---------------------------------------------------------------------------------- point sets


def draw_points(case):
    """Draw x, and y as a noisy copy of it in another order, scale and place."""
    kind, n, d = case
    rng = _rng(case)
    if kind == "nosignal":
        return rng.standard_normal((n, d)), 3.0 * rng.standard_normal((n, d)) + 5.0
    features = rng.standard_normal((n, d))
    levels = 10.0 ** rng.random(n) if kind == "below" else np.ones(n)
    if kind == "above":
        level = _safe_noise(n, d)
    else:
        level = _noise_for_errors(features, levels, 0.5 if kind == "below" else 0.03, rng)
    shift = np.linspace(-2.0, 2.0, d)
    return Configuration(features, level * levels, 0.25, shift, rng.permutation(n)).sample(rng)


def _safe_noise(n, d):
    """Give a noise that leaves each point of x nearest to its partner.

    Of two standard normal points, half the squared distance is chi-square: all of the n (n - 1) / 2
    distances exceed the quantile used here with probability 0.99. In units of the noise that distance is
    twice the sum of the two terms of the recovery threshold that do not depend on the noise ratio.
    """
    closest = 2.0 * math.sqrt(gammaincinv(d / 2.0, 0.02 / n**2))
    separation = 2.0 * ((d * math.log(n)) ** 0.25 + math.sqrt(math.log(n)))
    return closest / (math.sqrt(2.0) * separation)


def _noise_for_errors(features, levels, rate, rng):
    """Find by bisection the noise at which a given share of points is nearest to a wrong partner."""
    n, d = features.shape
    rows = rng.permutation(n)[:_SAMPLE]
    x_noise = levels[rows, None] * rng.standard_normal((rows.size, d))
    y_noise = levels[:, None] * rng.standard_normal((n, d))
    low, high = -20.0, 5.0
    for _ in range(20):
        middle = (low + high) / 2.0
        x, y = features[rows] + np.exp(middle) * x_noise, features + np.exp(middle) * y_noise
        nearest = np.argmin((y * y).sum(axis=1) - 2.0 * (x @ y.T), axis=1)
        low, high = (middle, high) if np.mean(nearest != rows) < rate else (low, middle)
    return math.exp(low)


# ------------------------------------------------------------------------------------ matrices


def draw_matrix(case):
    """Draw the cost matrix of a dense case, in double precision."""
    return _FAMILIES[case.kind](_rng(case), case.n)


def _planar_distances(rng, n):
    a, b = rng.random((2, n, 2))
    return np.hypot(a[:, None, 0] - b[:, 0], a[:, None, 1] - b[:, 1])


def _signed_logarithms(rng, n):
    """Logarithms of squared distances without signal, less their mean, so that both signs occur."""
    a, b = rng.standard_normal((2, n, 10))
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * (a @ b.T)
    logarithms = np.log(squares)
    return logarithms - logarithms.mean()


_FAMILIES = {
    "uniform": lambda rng, n: rng.random((n, n)),
    "integer": lambda rng, n: rng.integers(0, 100, (n, n)).astype(float),
    "geometric": _planar_distances,
    "lowrank": lambda rng, n: rng.random((n, 3)) @ rng.random((3, n)),
    "twocost": lambda rng, n: rng.choice([1.0, 100.0], (n, n)),
    "signed": _signed_logarithms,
    "machol": lambda rng, n: np.outer(np.arange(1.0, n + 1), np.arange(1.0, n + 1)),
}


def _rng(case):
    return np.random.default_rng([list(KINDS).index(case.kind), case.n, case.d])
