"""The control: the same search for a set that has no relation to x, but the same covariance as y.

Reflecting y, or turning its coordinates, would be no control: both are linear maps. So its objects are
turned: the deviations of the points from their mean are mixed by a random rotation of as many dimensions as
there are points, which keeps the mean and all inner products of columns.
"""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray

#: One rotation for all calls: the answer to a question does not depend on when it is asked.
_SEED = 20_260_701


def mix_objects(points: FloatArray) -> FloatArray:
    """Mix the points of a set by a random rotation that keeps their mean."""
    n = len(points)
    rng = np.random.default_rng(_SEED)
    # An orthogonal basis whose first vector is constant: rotations of the others keep the mean.
    basis = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, n - 1))]))[0][:, 1:]
    turn, triangle = np.linalg.qr(rng.normal(size=(n - 1, n - 1)))
    turn *= np.sign(np.diag(triangle))
    centre = points[0] + (points - points[0]).mean(axis=0)
    mixed: FloatArray = centre + basis @ (turn @ (basis.T @ (points - centre)))
    return mixed
