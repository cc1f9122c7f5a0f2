"""Two sets that have only a part in common: partners, and strangers of several kinds on either side.

Methods are developed on the kinds and features in `DEVELOPMENT` and judged on those in `HELD_OUT`. The split
was written down before the first method was tried on any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.results import Affine
from verification.scenarios.families import typical_separation

Features = Callable[[int, int, np.random.Generator], FloatArray]
Kind = Callable[[FloatArray, int, np.random.Generator], FloatArray]


def _gaussian(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    return rng.standard_normal((n, d))


def _uniform(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    return rng.uniform(-1.0, 1.0, (n, d))


def _clustered(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    centres = 3.0 * rng.standard_normal((8, d))
    return centres[rng.integers(8, size=n)] + rng.standard_normal((n, d))


def _uneven(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    # Standard deviations that fall from coordinate to coordinate, as those of principal components do.
    return rng.standard_normal((n, d)) / np.sqrt(np.arange(1, d + 1))


def _spread(features: FloatArray) -> tuple[FloatArray, float]:
    """Give the mean of the points and the standard deviation of their coordinates."""
    mean = features.mean(axis=0)
    return mean, float(np.sqrt(np.square(features - mean).mean()))


def _direction(d: int, rng: np.random.Generator) -> FloatArray:
    vector = rng.standard_normal(d)
    return vector / np.linalg.norm(vector)


def _wide(features: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    mean, spread = _spread(features)
    return mean + 4.0 * spread * rng.standard_normal((n, features.shape[1]))


def _far_cluster(features: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    mean, spread = _spread(features)
    d = features.shape[1]
    centre = mean + 8.0 * spread * np.sqrt(d) * _direction(d, rng)
    return centre + 0.3 * spread * rng.standard_normal((n, d))


def _population(features: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    mean, spread = _spread(features)
    d = features.shape[1]
    return mean + spread * (2.0 * np.sqrt(d) * _direction(d, rng) + rng.standard_normal((n, d)))


def _several_clusters(features: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    mean, spread = _spread(features)
    d = features.shape[1]
    centres = mean + 4.0 * spread * rng.standard_normal((4, d))
    return centres[rng.integers(4, size=n)] + 0.2 * spread * rng.standard_normal((n, d))


def _constant(features: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    mean, spread = _spread(features)
    d = features.shape[1]
    return np.tile(mean + 3.0 * spread * np.sqrt(d) * _direction(d, rng), (n, 1))


def _heavy(features: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    mean, spread = _spread(features)
    return mean + spread * rng.standard_t(1.5, (n, features.shape[1]))


#: Kinds of strangers that are made from the features of the partners.
#: A further kind, "like the others", is more of the features.
KINDS: dict[str, Kind] = {
    "wide": _wide,
    "one far cluster": _far_cluster,
    "another population": _population,
    "several clusters": _several_clusters,
    "constant rows": _constant,
    "heavy-tailed": _heavy,
}
LIKE = "like the others"
FEATURES: dict[str, Features] = {
    "normal": _gaussian,
    "uniform": _uniform,
    "clustered": _clustered,
    "uneven": _uneven,
}

#: (kinds of strangers, features) on which methods were developed, and those on which they are judged.
DEVELOPMENT = (LIKE, "wide", "one far cluster", "another population"), ("normal",)
HELD_OUT = ("several clusters", "constant rows", "heavy-tailed"), ("uniform", "clustered", "uneven")


class PartlyCommon(NamedTuple):
    """Two sets, and the truth about them."""

    x: FloatArray
    y: FloatArray
    partner: IntArray  # (n,): the true partner of each x, -1 for a stranger
    affine: Affine

    def score(self, permutation: IntArray) -> tuple[float, float, int]:
        """Give recall, share of false pairs, and error of the number of pairs."""
        return score_pairs(self.partner, permutation)


def score_pairs(partner: IntArray, permutation: IntArray) -> tuple[float, float, int]:
    """Give recall, share of false pairs, and error of the number of pairs; -1 is no partner in both."""
    matched, true = permutation >= 0, partner >= 0
    right = int((true & (permutation == partner)).sum())
    pairs, common = int(matched.sum()), int(true.sum())
    return right / max(common, 1), (pairs - right) / max(pairs, 1), pairs - common


def draw_partly_common(
    kind: str,
    features: str,
    *,
    pairs: int,
    strangers: tuple[int, int],
    d: int,
    separation: float,
    noise_ratio: float,
    rng: np.random.Generator,
) -> PartlyCommon:
    """Draw partners and strangers, in random order, with scale 3 and shift 5.

    Half of the partners' features are separated by at least `separation`, in units of the noise.
    """
    if kind != LIKE and kind not in KINDS:
        raise ValueError(f"unknown kind of strangers {kind!r}")
    everything = FEATURES[features](max(pairs, 2) + sum(strangers), d, rng)
    common = everything[: max(pairs, 2)]
    levels = noise_ratio ** (rng.random(len(everything)) / 2)
    levels *= typical_separation(common, levels[: len(common)]) / separation
    sets = []
    for side, count in enumerate(strangers):
        begin = max(pairs, 2) + side * strangers[0]
        own = everything[begin : begin + count] if kind == LIKE else KINDS[kind](common, count, rng)
        noise = levels[begin : begin + count, None]
        if kind == "constant rows":
            noise = 0.0 * noise
        true = common[:pairs] + levels[:pairs, None] * rng.standard_normal((pairs, d))
        sets.append(np.vstack([true, own + noise * rng.standard_normal((count, d))]))
    order = [rng.permutation(len(points)) for points in sets]
    place = np.empty(len(order[1]), np.intp)
    place[order[1]] = np.arange(len(order[1]))
    partner = np.where(order[0] < pairs, place[np.minimum(order[0], len(place) - 1)], -1)
    affine = Affine(3.0, np.full(d, 5.0))
    return PartlyCommon(sets[0][order[0]], (sets[1][order[1]] - 5.0) / 3.0, partner, affine)
