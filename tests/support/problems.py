"""Small assignment problems of two sets of points, for tests of the steps of the streamed solver."""

import numpy as np

from lslmatch import Affine
from lslmatch.costs import cost_matrix
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.objectives.table import make_rule

OBJECTIVES = ("lsl", "lss", "lsns", "distance")


def draw_priced(objective, n, m, d, noise=0.5, seed=0):
    """Two noisy sets in common coordinates, their rule without its offset, and the matrix of their costs."""
    rng = np.random.default_rng([n, m, d, seed])
    features = rng.normal(size=(max(n, m), d))
    x, y = (features + noise * rng.normal(size=features.shape) for _ in range(2))
    geometry = common_coordinates(x[:n], rng.permutation(y)[:m], Affine(1.0, np.zeros(d)))
    levels = np.exp(rng.normal(size=n)), np.exp(rng.normal(size=m))
    rule = make_rule(objective, geometry, 1.0, levels)._replace(offset=0.0)
    return geometry, rule, cost_matrix(geometry, rule)
