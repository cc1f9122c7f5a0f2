"""How far partners are apart after alignment."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.results import Affine


def pair_distances(
    x: FloatArray, y: FloatArray, affine: Affine, rows: IntArray, cols: IntArray
) -> FloatArray:
    """Give the distances of ``x[rows]`` and the mapped ``y[cols]``, in the units of x."""
    # In units in which neither very large or small values nor a common offset do any harm.
    pairs = common_coordinates(x, y, affine).taken(rows, cols)
    difference = pairs.residuals()
    unit = np.abs(difference).max(initial=0.0) or 1.0
    with np.errstate(over="ignore"):
        return np.ldexp(unit * np.linalg.norm(difference / unit, axis=1), pairs.exponent)
