"""How far partners are apart after alignment."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.geometry.columns import mapped_coordinates
from lslmatch.maps import AnyMap


def pair_distances(
    x: FloatArray,
    y: FloatArray,
    affine: AnyMap,
    rows: IntArray,
    cols: IntArray,
    units: FloatArray | None = None,
) -> FloatArray:
    """Give the distances of ``x[rows]`` and the mapped ``y[cols]``, in the units of x.

    If columns have units of their own, they are divided by these, times the geometric mean of all.
    """
    # In units in which neither very large or small values nor a common offset do any harm.
    pairs = mapped_coordinates(x, y, affine, units).taken(rows, cols)
    difference = pairs.residuals()
    unit = np.abs(difference).max(initial=0.0) or 1.0
    with np.errstate(over="ignore"):
        return np.ldexp(unit * np.linalg.norm(difference / unit, axis=1), pairs.exponent)
