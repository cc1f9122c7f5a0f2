"""Sets of points that the tests of several parts draw; what one test alone needs stands beside it."""

import numpy as np


def draw(n, d, seed=0):
    """Draw standard normal points, the same ones for the same arguments."""
    return np.random.default_rng([n, d, seed]).normal(size=(n, d))
