"""The columns that both sets have, where one of them, or each, has others besides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lslmatch._frames import column_names, is_annotated, is_labelled, listed


def take_shared_columns(x: Any, y: Any) -> tuple[Any, Any, str]:
    """Take the columns that both sets have, and say which were left out; nothing if none was."""
    names = {name: column_names(points, name) for name, points in (("x", x), ("y", y))}
    of_x, of_y = names["x"], names["y"]
    if of_x is None or of_y is None:
        without = " and ".join(name for name, found in names.items() if found is None)
        raise ValueError(f"columns must be 'same' for sets without names of columns: {without} has none")
    shared = shared_names(of_x, of_y)
    return take_columns(x, shared), take_columns(y, shared), left_out(of_x, of_y, ("x", "y"))


def shared_names(
    x_names: Sequence[str], y_names: Sequence[str], names: tuple[str, str] = ("x", "y")
) -> list[str]:
    """Give the names that both sets have, in the order of the first."""
    shared = [name for name in x_names if name in set(y_names)]
    if not shared:
        raise ValueError(
            f"{names[0]} and {names[1]} must have a column in common; {names[0]} has {listed(x_names)}, "
            f"{names[1]} has {listed(y_names)}"
        )
    return shared


def left_out(x_names: Sequence[str], y_names: Sequence[str], names: tuple[str, str]) -> str:
    """Say which columns only one set has; nothing if there is none."""
    only = [
        [name for name in x_names if name not in y_names],
        [name for name in y_names if name not in x_names],
    ]
    parts = [f"only {name} has {listed(left)}" for name, left in zip(names, only, strict=True) if left]
    return f"columns: {len(x_names) - len(only[0])} that both have; {', '.join(parts)}" if parts else ""


def take_those_of(points: Any, columns: Sequence[str] | None) -> Any:
    """Take the columns that were matched from points that have them and others; all else stays as it is."""
    if columns is None or (type(points) is np.ndarray and points.dtype.names is None):
        return points
    try:
        names = column_names(points, "points")
    except TypeError:  # some are no strings: by position then
        return points
    if names is None or not set(columns) < set(names):
        return points
    return take_columns(points, list(columns))


def take_columns(points: Any, names: list[str]) -> Any:
    """Take columns by their names, in the type in which the points came."""
    if isinstance(points, np.ndarray):  # structured
        return points[names]
    if hasattr(points, "iloc"):  # pandas
        return points.loc[:, names]
    if is_annotated(points):
        return points[:, names]
    if is_labelled(points):
        return points.sel({points.dims[1]: names})
    return points.select(names)  # polars and Arrow
