"""Points that are hard for an exact solver: ties by the thousand, coincidences, forty orders of magnitude."""

import numpy as np


def draw(rng, n, m, d):
    """Two sets of n and m points whose features come from a random family, and its name."""
    name = str(rng.choice(list(FAMILIES)))
    features = FAMILIES[name](rng, m, d)
    x, y = features[rng.permutation(m)[:n]], features
    level = rng.choice([0.0, 0.0, 1e-16, 1e-8, 0.1, 1.0, 3.0])
    if name == "lattice":
        # Noise that leaves the lattice a lattice.
        x, y = (points + (level > 0) * rng.integers(-1, 2, points.shape) for points in (x, y))
    else:
        x, y = (points + level * rng.normal(size=points.shape) for points in (x, y))
    if rng.random() < 0.15:
        y = FAMILIES[name](rng, m, d)
    return x, y * rng.choice([1.0, 1.0, 0.3]) + rng.choice([0.0, 0.0, 1e9]), name


def _few_values(rng, m, d):
    distinct = max(1, m // int(rng.integers(2, 40)))
    return rng.normal(size=(distinct, d))[rng.integers(0, distinct, m)]


def _half_zero(rng, m, d):
    return rng.normal(size=(m, d)) * (rng.random((m, 1)) < 0.5)


FAMILIES = {
    "ordinary": lambda rng, m, d: rng.normal(size=(m, d)),
    "few values": _few_values,
    "one value": lambda rng, m, d: np.ones((m, d)),
    "half zero": _half_zero,
    "lattice": lambda rng, m, d: rng.integers(0, rng.integers(2, 5), (m, d)).astype(float),
    "equidistant": lambda rng, m, d: np.arange(m)[:, None] * np.ones((1, d)),
    "units in the last place": lambda rng, m, d: 1.0 + rng.integers(0, 3, (m, d)) * 2.0**-52,
    "points of all sizes": lambda rng, m, d: rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-15, 15, (m, 1)),
    "coordinates of all sizes": lambda rng, m, d: (
        rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-20, 20, (m, d))
    ),
    "line": lambda rng, m, d: rng.normal(size=(m, 1)) * np.ones((1, d)) + 1e-9 * rng.normal(size=(m, d)),
}
