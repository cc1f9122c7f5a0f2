"""Rows of a table: in another order, where some places have no row; those that repeat others."""

from __future__ import annotations

from typing import Any

import numpy as np

from lslmatch._types import FloatArray, IntArray


def rows_in_order(values: Any, order: IntArray, index: Any = None) -> Any:
    """Give row ``order[i]`` of `values` at place i, and a missing value where ``order[i]`` is negative.

    A DataFrame or a Series stays one, with the given `index` or 0, 1, ...; anything else becomes an array, of
    floats if NaN must stand in it.
    """
    if hasattr(values, "iloc") and hasattr(values, "reset_index"):
        # By position: a missing place is a label that no row has.
        found = values.reset_index(drop=True)
        found = found.iloc[order] if (order >= 0).all() else found.reindex(order)
        return found.set_axis(range(order.size) if index is None else index, axis=0)
    array = np.asarray(values)
    found = array[np.maximum(order, 0)]
    missing = order < 0
    if missing.any():
        if found.dtype.kind in "biu":
            found = found.astype(np.float64)
        elif found.dtype.kind not in "fcmM":
            found = found.astype(object)
        found[missing] = "NaT" if found.dtype.kind in "mM" else np.nan
    return found


def count_repeated(points: FloatArray) -> int:
    """Count the rows that are equal to a row before them."""
    order = np.lexsort(points.T)
    return int(np.count_nonzero((points[order[1:]] == points[order[:-1]]).all(axis=1)))
