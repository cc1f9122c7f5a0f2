"""What is timed: point sets from perfect separation to no signal and of awkward shapes, and matrices.

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
    "clusters": "planted clusters",
    "duplicates": "planted duplicates",
    "lattice": "two lattices",
    "tails": "planted heavy tails",
    "wild": "heavy tails, no signal",
    "embeddings": "planted embeddings",
}
#: Kinds of the ratios that are stated in the README.
POINTS = ("above", "near", "below", "nosignal")
SHAPES = ("clusters", "duplicates", "lattice", "tails", "wild", "embeddings")
MATRICES = ("uniform", "integer", "geometric", "lowrank", "twocost", "signed", "machol")

#: Dimensions of the ratios that are stated.
_STATED = (3, 20, 100)
#: Dimensions of the other shapes.
_SHAPES = {"clusters": 5, "duplicates": 5, "lattice": 2, "tails": 5, "wild": 5, "embeddings": 384}
#: Rows on which the noise of a planted set is calibrated.
_SAMPLE = 400


class Case(NamedTuple):
    """An instance by its properties; d is 0 for a matrix, and m is 0 for sets of equal size."""

    kind: str
    n: int
    d: int = 0
    m: int = 0
    objective: str = "lsl"

    @property
    def group(self):
        if self.kind in MATRICES:
            return "dense"
        stated = self.kind in POINTS and self.d in _STATED and not self.m and self.objective == "lsl"
        return "match" if stated else "other"

    @property
    def name(self):
        numbers = {"n": self.n, "m": self.m, "d": self.d}
        parts = [self.group, self.kind, *(f"{key}{value}" for key, value in numbers.items() if value)]
        return "-".join(parts if self.objective == "lsl" else [*parts, self.objective])


def catalogue(largest=20_000):
    """All cases of up to `largest` points."""
    cases = [*_stated_cases(), *_other_cases()]
    return [case for case in cases if max(case.n, case.m) <= largest]


def _stated_cases():
    points = [Case(kind, n, d) for kind in POINTS for d in _STATED for n in (1000, 2000, 5000, 10_000)]
    matrices = [Case(kind, n) for kind in MATRICES for n in (300, 1000, 2000)]
    return points + matrices


def _other_cases():
    """Other objectives, shapes and sizes: none of them should be slower than the best pipeline."""
    objectives = [Case(kind, 1500, 15, 0, name) for name in ("lss", "lsns") for kind in POINTS]
    objectives += [case._replace(n=3000) for case in objectives if case.kind in ("near", "below")]
    wide = [Case("near", n, 10, m) for n, m in ((500, 2000), (1000, 5000), (200, 20_000), (3000, 3300))]
    shapes = [Case(kind, n, d) for kind, d in _SHAPES.items() for n in (700, 2000, 10_000)]
    low = [Case(kind, n, d) for kind in ("near", "nosignal") for d in (1, 2) for n in (2000, 10_000)]
    small = [Case("near", n, 10) for n in (10, 30, 100, 200, 300, 500, 700)]
    return objectives + wide + shapes + low + small


def smoke_catalogue():
    """Cases of every kind, too small to say anything about speed."""
    points = [Case(kind, 24, 3) for kind in POINTS] + [Case(kind, 25, 2) for kind in SHAPES]
    points += [Case("near", 12, 2, 20), *(Case("near", 24, 2, 0, name) for name in ("lss", "lsns"))]
    return points + [Case(kind, 16) for kind in MATRICES]


def draw(case, number=0):
    """Give the two point sets of a case, for "lsns" with noise levels, or its matrix in a tuple of one.

    Every number gives another draw of point sets.
    """
    return (draw_matrix(case),) if case.kind in MATRICES else draw_points(case, number)


# ---------------------------------------------------------------------------------- point sets


def draw_points(case, number=0):
    """Draw x, and y as a noisy copy of it in another order, scale and place, with m - n strangers."""
    rng, size = _rng(case, number), case.m or case.n
    x, y = _draw_equally_many(case.kind, size, case.d, rng)
    if case.objective != "lsns":
        return x[: case.n], y
    return x[: case.n], y, *(10.0 ** rng.random(n) for n in (case.n, size))


def _draw_equally_many(kind, n, d, rng):
    if kind == "lattice":
        side = math.isqrt(n - 1) + 1
        return tuple(
            rng.permutation(np.stack(divmod(np.arange(n), width), axis=1).astype(float))
            for width in (side, 2 * side)
        )
    if kind == "wild":
        return rng.standard_t(2, (n, d)), rng.standard_t(2, (n, d))
    if kind in SHAPES:
        features, level = _shape_features(kind, n, d, rng)
        return Configuration(features, np.full(n, level), 0.25, np.ones(d), rng.permutation(n)).sample(rng)
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


def _shape_features(kind, n, d, rng):
    """Draw features of an awkward shape, and the level of the noise that goes with them."""
    if kind == "clusters":
        return 3.0 * rng.standard_normal((20, d))[rng.integers(20, size=n)] + rng.standard_normal((n, d)), 0.2
    if kind == "duplicates":
        return rng.standard_normal((-(-2 * n // 3), d))[np.arange(n) % -(-2 * n // 3)], 0.05
    if kind == "tails":
        return rng.standard_t(2, (n, d)), 0.2
    features = rng.standard_normal((n, 32)) @ rng.standard_normal((32, d)) + rng.standard_normal((n, d))
    return features / np.linalg.norm(features, axis=1, keepdims=True), 0.02


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


def _rng(case, number=0):
    # (Neither the strangers nor the objective had a part in the seeds of the first cases.)
    seed = [list(KINDS).index(case.kind), case.n, case.d, *([case.m] if case.m or number else [])]
    return np.random.default_rng([*seed, number] if number else seed)
