"""Points with names: which column is which coordinate, and what the rows are called.

Frames are known by what they offer, so that none of the packages they come from is imported: those of
pandas and polars, tables of Arrow, structured arrays, sparse matrices, what has ``dims`` and ``coords`` as
arrays of xarray have, and what has ``X``, ``obs_names`` and ``var_names`` as AnnData has. As in scikit-learn
only strings count as names of columns.
"""

from __future__ import annotations

import numbers
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._arrays import as_array, has_named_parts, is_sparse

#: What pandas calls a column that has no name, or that was an index without one.
_INDEX_NAMES = ("", "Unnamed: 0", "index", "level_0")


class ColumnNamesWarning(UserWarning):
    """Columns were paired by their position, though the names of one set say nothing about the other's."""


class Frame(NamedTuple):
    """Points with the names that came with them."""

    values: Any
    """What an array can be made of, of shape (n, d)."""
    columns: tuple[str, ...] | None
    """The names of the columns; None if they have none that counts."""
    labels: NDArray[Any] | None
    """(n,): the names of the rows; None if they have none."""


def as_frame(points: Any, name: str) -> Frame:
    """Take points apart into numbers and names; what has no names comes back as it is."""
    if isinstance(points, Frame):
        return points
    values, columns = points, _columns(points)
    if is_annotated(points):
        values = as_array(points.X, name)
    elif is_sparse(points) or is_labelled(points):
        values = as_array(points, name)
    elif columns is not None:
        values = _numbers(points, columns, name)
    names = _names(columns, name)
    if names is not None:
        refuse_index(values, names, name)
    return Frame(values, names, row_names(points))


def pair_columns(x: Any, y: Any) -> tuple[Frame, Frame]:
    """Bring the columns of y into the order of those of x, if both have names.

    Raises
    ------
    ValueError
        If the names do not agree; the message lists the difference.
    """
    _refuse_turned(x, y)
    first, second = as_frame(x, "x"), as_frame(y, "y")
    if first.columns is not None and second.columns is not None:
        order = column_order(first.columns, second.columns)
        if order is None:
            return first, second
        values = np.asarray(second.values)[:, order]
        return first, Frame(values, first.columns, second.labels)
    if first.columns is not None or second.columns is not None:
        with_names, without = ("x", "y") if second.columns is None else ("y", "x")
        _warn(
            f"{with_names} has column names and {without} has none: columns are paired by position; "
            "give names to both sets, or to neither"
        )
    elif _in_another_order(_columns(x), _columns(y)):
        _warn("x and y have the same columns in another order, but only strings count as names: columns are "
              "paired by position")  # fmt: skip
    return first, second


def column_order(
    x_columns: Sequence[str], y_columns: Sequence[str], names: tuple[str, str] = ("x", "y")
) -> list[int] | None:
    """Tell where each column of x is found in y; None if they stand in the same order."""
    if tuple(x_columns) == tuple(y_columns):
        return None
    of_x, of_y = set(x_columns), set(y_columns)
    for name, columns, different in zip(names, (x_columns, y_columns), (of_x, of_y), strict=True):
        if len(different) < len(columns):
            raise ValueError(
                f"{name} must have different column names, to be paired by them; {listed(repeated(columns))} "
                "occurs more than once"
            )
    only_x = [column for column in x_columns if column not in of_y]
    only_y = [column for column in y_columns if column not in of_x]
    if only_x or only_y:
        parts = [f"only {n} has {listed(o)}" for n, o in zip(names, (only_x, only_y), strict=True) if o]
        folded = {_fold(column) for column in only_x} & {_fold(column) for column in only_y}
        hint = " (some differ in case or blanks only)" if folded else ""
        raise ValueError(f"x and y must have the same column names; {', '.join(parts)}{hint}")
    place = {column: k for k, column in enumerate(y_columns)}
    return [place[column] for column in x_columns]


def column_names(points: Any, name: str) -> tuple[str, ...] | None:
    """Give the names of the columns, if they have any that count."""
    return _names(_columns(points), name)


def in_row_order(values: Any, labels: NDArray[Any] | None, name: str) -> Any:
    """Bring a series whose index holds the names of the rows into their order."""
    index = row_names(values)
    if index is None or labels is None or np.ndim(values) != 1 or np.array_equal(index, labels):
        return values
    place = {label: k for k, label in enumerate(index.tolist())}
    if len(place) != len(index) or set(place) != set(labels.tolist()) or len(index) != len(labels):
        raise ValueError(
            f"{name} must have the index of its set, in any order, or none; give {name}.to_numpy() "
            "if it is in the order of the rows already"
        )
    return np.asarray(values)[[place[label] for label in labels.tolist()]]


def in_column_order(values: Any, columns: tuple[str, ...] | None, name: str) -> Any:
    """Bring named variances, or a named matrix of covariances, into the order of the columns of x."""
    if columns is None or isinstance(values, str):
        return values
    if _columns(values) is None:
        index = row_names(values)
        return in_row_order(values, np.array(columns, object), name) if index is not None else values
    frame = as_frame(values, name)
    rows = None if frame.labels is None else frame.labels.tolist()
    if frame.columns is None or (rows is not None and set(rows) != set(frame.columns)):
        return frame.values
    order = column_order(columns, frame.columns, ("x", name))
    row_order = order if rows is None else column_order(columns, rows, ("x", name))
    matrix = np.asarray(frame.values)
    matrix = matrix if order is None else matrix[:, order]
    return matrix if row_order is None else matrix[row_order]


def listed(names: Sequence[Any], most: int = 6) -> str:
    """List names in one line, the first of them if there are many."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def repeated(names: Sequence[str]) -> list[str]:
    """Give the names that occur more than once."""
    return sorted(name for name, times in Counter(names).items() if times > 1)


def counts_rows(values: Any) -> bool:
    """Tell whether a column holds 0, 1, 2, ... or 1, 2, 3, ..., as a number of the row does."""
    column = np.asarray(values)
    if column.dtype.kind not in "iuf" or column.size < 2:
        return False
    return bool(column[0] in (0, 1) and np.array_equal(column, np.arange(column.size) + column[0]))


def _columns(points: Any) -> list[Any] | None:
    """Give the names of the columns as they are, whatever their type; None if there are none."""
    if isinstance(points, np.ndarray):
        return None if points.dtype.names is None else list(points.dtype.names)
    if hasattr(points, "iloc"):  # pandas, where a column may be called anything
        return list(points.columns) if len(points.shape) == 2 else None
    if is_annotated(points):
        return list(points.var_names)
    if is_labelled(points):
        found = _coordinate(points, 1) if len(points.dims) == 2 else None
        return None if found is None else found.tolist()
    for attribute in ("column_names", "columns"):  # "columns" of an Arrow table are those themselves
        found = getattr(points, attribute, None)
        if found is not None and not callable(found):
            return list(found)
    return None


def _names(columns: list[Any] | None, name: str) -> tuple[str, ...] | None:
    """Keep names that are strings, all of them; as in scikit-learn a mixture is an error."""
    strings = [isinstance(column, str) for column in columns or ()]
    if columns is None or not any(strings):
        return None
    if not all(strings):
        others = [column for column in columns if not isinstance(column, str)]
        raise TypeError(
            f"{name} must have column names that are all strings, or none that is; got {listed(columns)}; "
            f"rename {listed(others)}, or leave out what is no coordinate"
        )
    if len(set(columns)) < len(columns):
        raise ValueError(
            f"{name} must have different column names; {listed(repeated(columns))} occurs more than once"
        )
    return tuple(columns)


def row_names(points: Any) -> NDArray[Any] | None:
    """Give the names of the rows, unless they are the numbers 0, 1, 2, ... that every frame has."""
    if isinstance(points, Frame):
        return points.labels
    if isinstance(points, np.ndarray):  # of which a field may be called "index"
        return None
    if is_annotated(points):
        index = points.obs_names
    elif is_labelled(points):
        index = _coordinate(points, 0) if points.dims else None
    else:
        index = getattr(points, "index", None)
    if index is None or callable(index):  # lists have a method of that name
        return None
    labels = np.asarray(index)
    if labels.ndim != 1:
        return None
    if labels.dtype.kind in "iu" and np.array_equal(labels, np.arange(labels.size)):
        return None
    return labels


def _numbers(points: Any, columns: list[Any], name: str) -> NDArray[Any]:
    """Give the numbers of a frame, or say which of its columns hold something else."""
    if not isinstance(points, np.ndarray) and hasattr(points, "iloc"):
        whole = np.asarray(points)
        if whole.dtype.kind in "biuf":
            return whole
    parts = [_column_numbers(part) for part in _parts(points)]
    bad = {column: part for column, part in zip(columns, parts, strict=True) if isinstance(part, str)}
    if bad:
        described = ", ".join(f"{column!r} ({kind})" for column, kind in list(bad.items())[:6])
        more = f" and {len(bad) - 6} more" if len(bad) > 6 else ""
        raise TypeError(
            f"{name} must be real numbers; these columns are not: {described}{more}. Leave them out "
            f"({name}.drop(columns=...)) or turn them into numbers; names of rows belong into the index "
            "(set_index)"
        )
    return np.column_stack([np.asarray(part) for part in parts]) if parts else np.empty((len(points), 0))


def _parts(points: Any) -> list[Any]:
    """Give the columns of a frame one by one."""
    if isinstance(points, np.ndarray):
        return [points[field] for field in points.dtype.names or ()]
    if hasattr(points, "iloc"):  # pandas
        return [points.iloc[:, k] for k in range(points.shape[1])]
    if hasattr(points, "get_columns"):  # polars
        return list(points.get_columns())
    return list(points.columns)  # Arrow


def _column_numbers(column: Any) -> NDArray[Any] | str:
    """Give the numbers of one column, NaN where there is none, or the kind of what it holds instead."""
    if getattr(getattr(column, "dtype", None), "kind", "") in tuple("biuf") and hasattr(column, "isna"):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    array = np.asarray(column)
    if array.ndim != 1:
        return "more than one number a row"
    if array.dtype.kind in "biuf":
        return array
    if array.dtype.kind in "mM":
        return "dates or times"
    if array.dtype.kind == "c":
        return "complex numbers"
    if array.dtype.kind in "OUST":
        filled = [cell for cell in array.tolist() if cell is not None and cell == cell]  # without NaN
        if filled and all(isinstance(cell, numbers.Real) for cell in filled):
            return np.array([np.nan if cell is None else float(cell) for cell in array.tolist()])
        if all(isinstance(cell, str) for cell in filled):
            is_name = len(filled) == len(array) == len(set(filled))
            return "text, different in every row" if is_name else "text"
    return str(array.dtype)


def refuse_index(values: Any, names: tuple[str, ...], name: str) -> None:
    """Refuse the numbers of rows as a coordinate: an index that was written to a file and read again."""
    if len(names) > 1 and names[0] in _INDEX_NAMES:
        column = np.asarray(values)[:, 0]
        if counts_rows(column):
            raise ValueError(
                f"{name} has a first column {names[0]!r} that numbers the rows, as to_csv writes an index: "
                "it is no coordinate. Read the file with index_col=0, or drop the column "
                f"({name}.drop(columns={names[0]!r}))"
            )


def is_annotated(points: Any) -> bool:
    """Tell whether points are numbers with annotations of both axes."""
    offers = all(hasattr(points, attribute) for attribute in ("X", "obs_names", "var_names"))
    return offers and not has_named_parts(points)


def is_labelled(points: Any) -> bool:
    """Tell whether points are an array whose axes have names, and coordinates."""
    offers = isinstance(getattr(points, "dims", None), tuple) and hasattr(points, "coords")
    return offers and not has_named_parts(points)


def _coordinate(points: Any, axis: int) -> NDArray[Any] | None:
    """Give the names along an axis of an array with coordinates; None if it has none."""
    dimension = points.dims[axis]
    return np.asarray(points.coords[dimension]) if dimension in points.coords else None


def _refuse_turned(x: Any, y: Any) -> None:
    if is_labelled(x) and is_labelled(y) and x.dims != y.dims and set(x.dims) == set(y.dims):
        raise ValueError(
            f"x and y must have their dimensions in the same order, points first; got {listed(x.dims)} and "
            f"{listed(y.dims)}"
        )


def _in_another_order(x_columns: list[Any] | None, y_columns: list[Any] | None) -> bool:
    if x_columns is None or y_columns is None or x_columns == y_columns:
        return False
    return len(x_columns) == len(y_columns) and set(x_columns) == set(y_columns)


def _fold(column: str) -> str:
    return "".join(column.split()).casefold()


def _warn(message: str) -> None:
    """Warn at the line that called the library."""
    depth, frame = 1, sys._getframe()
    package = __name__.partition(".")[0]
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, ColumnNamesWarning, stacklevel=depth)
