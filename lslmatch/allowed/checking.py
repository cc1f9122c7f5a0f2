"""The arguments `known`, `groups` and `forbidden`, checked: each by itself, and against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lslmatch._arrays import as_array, is_sparse
from lslmatch._frames import in_row_order, listed
from lslmatch._types import IntArray
from lslmatch._validation import shown
from lslmatch.given import Given, in_order
from lslmatch.results import Labels


def check_given(
    known: Any, groups: Any, forbidden: Any, n: int, m: int, labels: Labels | None = None
) -> Given | None:
    """Return what is known and allowed in terms of row numbers; None if nothing is.

    Names of rows may stand for their numbers. The message of an error names the argument, the rule and what
    came.
    """
    pairs = check_known(known, n, m, labels)
    sides = check_groups(groups, n, m, labels)
    banned = check_forbidden(forbidden, n, m, labels)
    if not len(pairs) and sides is None and not len(banned):
        return None
    given = Given(pairs, None if sides is None else sides[0], None if sides is None else sides[1], banned)
    _refuse_contradictions(given, n, m, labels)
    return given


def check_known(known: Any, n: int, m: int, labels: Labels | None = None) -> IntArray:
    """Return known pairs as row numbers of shape (k, 2), in the order of x; no point may occur twice."""
    if known is None:
        return np.empty((0, 2), np.intp)
    pairs = in_order(_check_pairs(known, "known", n, m, labels))
    for side, name in ((0, "x"), (1, "y")):
        points, times = np.unique(pairs[:, side], return_counts=True)
        if (times > 1).any():
            point = int(points[times > 1][0])
            raise ValueError(
                f"known must have each point once; {_named(point, name, labels)} is in {times.max()} pairs"
            )
    return pairs


def check_groups(
    groups: Any, n: int, m: int, labels: Labels | None = None
) -> tuple[IntArray, IntArray] | None:
    """Return the groups of both sets as numbers 0, 1, ... of the same groups."""
    if groups is None:
        return None
    if not isinstance(groups, (tuple, list)) or len(groups) != 2:
        raise ValueError(f"groups must be a pair (groups of x, groups of y); got {shown(groups)}")
    sides = []
    for side, name, count in ((0, "x", n), (1, "y", m)):
        values = groups[side]
        if labels is not None:
            values = in_row_order(values, labels[side], f"groups[{side}]")
        array = as_array(values, f"groups[{side}]")
        if array.shape != (count,):
            raise ValueError(
                f"groups[{side}] must have shape ({count},), one entry a point of {name}; "
                f"got shape {array.shape}"
            )
        sides.append(array.tolist())
        for i, value in enumerate(sides[-1]):
            if value is None or value != value:
                raise ValueError(
                    f"groups[{side}] must not have missing entries; that of {_named(i, name, labels)} is"
                )
    try:
        number = {value: k for k, value in enumerate(dict.fromkeys(sides[0] + sides[1]))}
    except TypeError:
        raise TypeError("groups must be names or numbers, which can be compared") from None
    of_x, of_y = (np.array([number[value] for value in side], np.intp) for side in sides)
    if not np.intersect1d(of_x, of_y).size:
        first, second = (listed(list(dict.fromkeys(side)), 3) for side in sides)
        raise ValueError(f"groups must have one with points of both sets; x has {first}, and y has {second}")
    return of_x, of_y


def check_forbidden(forbidden: Any, n: int, m: int, labels: Labels | None = None) -> IntArray:
    """Return forbidden pairs as row numbers of shape (f, 2), ascending, each once."""
    if forbidden is None:
        return np.empty((0, 2), np.intp)
    if is_sparse(forbidden):
        if forbidden.shape != (n, m):
            raise ValueError(
                f"forbidden must have shape ({n}, {m}) if it is a sparse matrix; got shape {forbidden.shape}"
            )
        matrix = forbidden.tocoo()
        rows, cols = (np.asarray(part).astype(np.intp) for part in (matrix.row, matrix.col))
        pairs = np.stack([rows, cols], axis=1)[np.asarray(matrix.data) != 0]
        _refuse_outside(pairs, "forbidden", n, m)
    else:
        array = forbidden if isinstance(forbidden, np.ndarray) else None
        if array is None and hasattr(forbidden, "__array__"):
            array = as_array(forbidden, "forbidden")
        if array is None and isinstance(forbidden, (list, tuple)) and len(forbidden) == n:
            are_rows = all(isinstance(row, (list, tuple, np.ndarray)) and len(row) == m for row in forbidden)
            array = np.array(forbidden) if are_rows and m != 2 else None
            array = None if array is None or array.dtype != np.bool_ else array
        if array is not None and array.dtype == np.bool_:
            if array.shape != (n, m):
                raise ValueError(
                    f"forbidden must have shape ({n}, {m}) if it is boolean; got shape {array.shape}"
                )
            pairs = np.argwhere(array)
        else:
            pairs = _check_pairs(forbidden, "forbidden", n, m, labels)
    if not len(pairs):
        return np.empty((0, 2), np.intp)
    codes = np.unique(pairs[:, 0] * m + pairs[:, 1])
    return np.stack(np.divmod(codes, m), axis=1).astype(np.intp)


def _check_pairs(pairs: Any, argument: str, n: int, m: int, labels: Labels | None) -> IntArray:
    """Return pairs of row numbers, or of names of rows, as row numbers."""
    if isinstance(pairs, Mapping):
        pairs = list(pairs.items())
    if hasattr(pairs, "to_numpy") and len(getattr(pairs, "shape", ())) == 2:
        pairs = pairs.to_numpy()
    shape: tuple[Any, ...]
    if isinstance(pairs, np.ndarray):
        shape, rows = pairs.shape, pairs.tolist()
    else:
        try:
            rows = [tuple(pair) for pair in pairs if not isinstance(pair, str)]
        except TypeError:
            raise TypeError(f"{argument} must be pairs (row of x, row of y); got {shown(pairs)}") from None
        shape = (len(rows), next((len(row) for row in rows if len(row) != 2), 2))
    if not rows:
        return np.empty((0, 2), np.intp)
    if len(shape) != 2 or shape[1] != 2:
        raise ValueError(f"{argument} must have shape (k, 2), a row of x and one of y; got shape {shape}")
    names = Labels(None, None) if labels is None else labels
    of_x = _row_numbers([row[0] for row in rows], argument, "x", n, names.x)
    of_y = _row_numbers([row[1] for row in rows], argument, "y", m, names.y)
    return np.stack([of_x, of_y], axis=1).astype(np.intp)


def _row_numbers(values: list[Any], argument: str, name: str, count: int, labels: Any) -> IntArray:
    """Return row numbers, for which names may stand if the rows have names.

    Where names are whole numbers themselves, they are what counts.
    """
    if labels is not None and (labels.dtype.kind in "iuf" or any(isinstance(v, str) for v in values)):
        place: dict[Any, int] = {}
        for k, label in enumerate(labels.tolist()):
            place[label] = -1 if label in place else k
        found = []
        for value in values:
            row = place.get(value) if getattr(value, "__hash__", None) else None
            if row is None:
                raise ValueError(
                    f"{argument} must name rows of {name}; got {shown(value)}, which none is called"
                )
            if row < 0:
                raise ValueError(
                    f"{argument} must name one row of {name}; more than one is called {shown(value)}"
                )
            found.append(row)
        return np.array(found, np.intp)
    for value in values:
        is_whole = isinstance(value, (int, np.integer)) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, (bool, np.bool_)) or not is_whole:
            raise TypeError(
                f"{argument} must hold row numbers{'' if labels is None else ' or names'}; got {shown(value)}"
                f"{', but the rows of ' + name + ' have no names' if isinstance(value, str) else ''}"
            )
        if not 0 <= value < count:
            raise ValueError(f"{argument} must hold rows of {name} from 0 to {count - 1}; got {shown(value)}")
    return np.array(values, np.intp)


def _refuse_outside(pairs: IntArray, argument: str, n: int, m: int) -> None:
    for side, name, count in ((0, "x", n), (1, "y", m)):
        some = pairs[:, side]
        if some.size and not (some.min() >= 0 and some.max() < count):
            raise ValueError(
                f"{argument} must hold rows of {name} from 0 to {count - 1}; got {some.min()} to {some.max()}"
            )


def _refuse_contradictions(given: Given, n: int, m: int, labels: Labels | None) -> None:
    """Raise if a known pair is forbidden, or not of one group."""
    rows, cols = given.known[:, 0], given.known[:, 1]
    if given.x_group is not None and given.y_group is not None:
        apart = np.flatnonzero(given.x_group[rows] != given.y_group[cols])
        if apart.size:
            i, j = given.known[apart[0]].tolist()
            raise ValueError(
                f"known contradicts groups: {_named(i, 'x', labels)} and {_named(j, 'y', labels)} are of "
                "different groups"
            )
    both = np.flatnonzero(np.isin(rows * m + cols, given.forbidden[:, 0] * m + given.forbidden[:, 1]))
    if both.size:
        i, j = given.known[both[0]].tolist()
        raise ValueError(
            f"known contradicts forbidden: {_named(i, 'x', labels)} and {_named(j, 'y', labels)} are in both"
        )


def _named(row: int, name: str, labels: Labels | None) -> str:
    """Give a row of a set its number, and its name if it has one."""
    names = None if labels is None else labels[0 if name == "x" else 1]
    return f"row {row} of {name}" + ("" if names is None else f" ({shown(names.tolist()[row])})")
