"""The brute force that judges definitions is right itself where numbers are awkward."""

import numpy as np

from verification.claims import definitions


def test_the_direction_of_a_point_to_itself_is_no_rounding_error():
    """In this draw the grid of a has 1 + 2**-52, and the supremum is at i = j."""
    rng = np.random.default_rng([777, 2321])
    n, d = int(rng.integers(5, 12)), int(rng.integers(3, 9))
    theta = 3 * rng.standard_normal((n, d)) + 10 * rng.standard_normal()
    sigma = np.exp(rng.standard_normal(n))
    found, right, _ = definitions._QUANTITIES["supremum zeta_1"](theta, sigma)
    np.testing.assert_allclose(found, right, rtol=1e-6)
