"""Points and costs that are hard for an exact solver: near-ties, coincidences, forty orders of magnitude."""

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


def draw_matrix(rng, n, m):
    """An n-by-m matrix of costs from a random family, and its name."""
    name = str(rng.choice(list(MATRICES)))
    return MATRICES[name](rng, n, m), name


def _near_ties(rng, n, m):
    # But for the last digits, all assignments of a square matrix cost the same.
    return rng.random((n, 1)) + rng.random((1, m)) + rng.integers(-1, 2, (n, m)) * 2.0**-52


def _forbidden(rng, n, m):
    cost = np.where(rng.random((n, m)) < 0.7, np.inf, rng.normal(size=(n, m)))
    short = min(n, m)
    cost[rng.permutation(n)[:short], rng.permutation(m)[:short]] = rng.normal(size=short)
    return cost


MATRICES = {
    "uniform": lambda rng, n, m: rng.random((n, m)),
    "both signs": lambda rng, n, m: rng.normal(size=(n, m)),
    "few whole numbers": lambda rng, n, m: rng.integers(0, rng.integers(2, 6), (n, m)).astype(float),
    "many whole numbers": lambda rng, n, m: rng.integers(-1000, 1000, (n, m)).astype(float),
    "products": lambda rng, n, m: np.outer(np.arange(1.0, n + 1), np.arange(1.0, m + 1)),
    "units in the last place": lambda rng, n, m: 1.0 + rng.integers(0, 2, (n, m)) * 2.0**-52,
    "near-ties": _near_ties,
    "forty orders of magnitude": lambda rng, n, m: 10.0 ** rng.uniform(-20, 20, (n, m)),
    "subnormal": lambda rng, n, m: rng.integers(0, 1000, (n, m)) * 2.0**-1074,
    "huge": lambda rng, n, m: rng.random((n, m)) * 1e308,
    "forbidden pairs": _forbidden,
}
