"""What ``lslmatch match`` reads: two sets of points whose columns belong together, noise and covariance."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._frames import column_order, listed
from lslmatch._shared_columns import left_out, shared_names
from lslmatch._types import IntArray
from lslmatch.allowed.checking import check_forbidden, check_known
from lslmatch.cli.covariance import covariance_file
from lslmatch.io.choice import Choice, PointFile
from lslmatch.io.headers import read_header
from lslmatch.io.pairs import read_pairs
from lslmatch.io.points import check_format, read_points
from lslmatch.io.sources import FileError, is_standard
from lslmatch.io.writing import check_output
from lslmatch.results import Labels

#: What --columns says for the columns that both files have.
SHARED = "common"


class Inputs(NamedTuple):
    """Two sets of points as `match` takes them, and what was seen when they were read."""

    x: NDArray[Any]
    y: NDArray[Any]
    columns: tuple[str, ...] | None
    labels: Labels | None
    noise: tuple[NDArray[Any], NDArray[Any]] | None
    covariance: str | NDArray[Any]
    notes: tuple[str, ...]
    known: IntArray | None = None
    groups: tuple[NDArray[Any], NDArray[Any]] | None = None
    forbidden: IntArray | None = None


def check_files(options: argparse.Namespace) -> None:
    """Refuse, before anything is read, what cannot be read or written."""
    more = (options.noise_x, options.noise_y, options.known, options.forbidden)
    paths = [options.x, options.y, *filter(None, more)]
    matrix = covariance_file(options.covariance)
    paths += [matrix] if matrix is not None else []
    for path in paths:
        check_format(path)
    if options.out is not None:
        check_output(options.out, paths)
    if options.report is not None:
        check_output(options.report, [*paths, *([] if options.out is None else [options.out])], ".html")


def read_inputs(options: argparse.Namespace) -> Inputs:
    """Read all files, and bring the columns of Y into the order of those of X."""
    first, second = _choices(options)
    shared: tuple[str, ...] = ()
    if options.columns == SHARED:
        first, second, shared = _shared_choices(options, first, second)
    x, y = read_points(options.x, first), read_points(options.y, second)
    notes = [
        f"{set_name(path)}: {note}" for path, file in ((options.x, x), (options.y, y)) for note in file.notes
    ]
    notes = [*shared, *notes]
    values = y.values
    if options.alignment == "linear":
        pass  # columns of X and of Y need have nothing to do with each other
    elif x.columns is not None and y.columns is not None:
        order = column_order(x.columns, y.columns, (set_name(options.x), set_name(options.y)))
        if order is not None:
            values = values[:, order]
            notes.append("the columns of Y stand in another order; they were paired by name")
    elif x.columns is not None or y.columns is not None:
        named, nameless = (options.x, options.y) if y.columns is None else (options.y, options.x)
        notes.append(
            f"{set_name(named)} has names of columns and {set_name(nameless)} has none: paired by position"
        )
    labels = None if x.labels is None and y.labels is None else Labels(x.labels, y.labels)
    noise = None
    if options.noise_x is not None:
        noise = _read_levels(options.noise_x, first, x), _read_levels(options.noise_y, second, y)
    covariance = _read_covariance(options.covariance, x.columns)
    known = forbidden = None
    if options.known is not None:
        known = check_known(read_pairs(options.known, labels), len(x.values), len(values), labels)
    if options.forbidden is not None:
        forbidden = check_forbidden(read_pairs(options.forbidden, labels), len(x.values), len(values), labels)
    return Inputs(
        x.values,
        values,
        x.columns,
        labels,
        noise,
        covariance,
        tuple(dict.fromkeys(notes)),
        known,
        _read_groups(options, x, y),
        forbidden,
    )


def set_name(path: Path) -> str:
    """Give what a set is called after the file it came from."""
    return "standard input" if is_standard(path) else str(path)


def _choices(options: argparse.Namespace) -> tuple[Choice, Choice]:
    given = options.columns
    columns = None if given in (None, SHARED) else _split(given, "--columns")
    names = ("",) if options.id is None else _split(options.id, "--id")
    if len(names) > 2:
        raise ValueError(f"--id must be one name, or one for X and one for Y; got {listed(names)}")
    if columns is not None and len(set(columns)) < len(columns):
        raise ValueError(f"--columns must name each column once; got {listed(columns)}")
    if columns is not None and set(names) & set(columns):
        raise ValueError(f"--columns must not have the column of --id; got {listed(columns)}")
    if columns is not None and options.group in columns:
        raise ValueError(f"--columns must not have the column of --group; got {listed(columns)}")
    first, second = (
        Choice(columns, name or None, options.array, options.group) for name in (names[0], names[-1])
    )
    return first, second


def _read_groups(
    options: argparse.Namespace, x: PointFile, y: PointFile
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Read the column of groups of both files, as text."""
    if options.group is None:
        return None
    sides = []
    for path, points in ((options.x, x), (options.y, y)):
        if is_standard(path):
            raise ValueError("--group must have files: standard input is read once only")
        # Some column must be a coordinate: one that is known to be.
        width = points.values.shape[1] + 1
        others = [k for k in range(width) if str(k) != options.group]
        column = str(others[-1]) if points.columns is None else points.columns[0]
        labels = read_points(path, Choice((column,), options.group, options.array)).labels
        assert labels is not None
        sides.append(labels)
    return sides[0], sides[1]


def _shared_choices(
    options: argparse.Namespace, first: Choice, second: Choice
) -> tuple[Choice, Choice, tuple[str, ...]]:
    """Choose the columns of numbers that both files have; text that stands first names the rows."""
    headers = []
    for path, choice in ((options.x, first), (options.y, second)):
        found = None if is_standard(path) else read_header(path, choice.id, options.group)
        if found is None:
            raise ValueError(f"--columns common needs names of columns, which {set_name(path)} has not")
        headers.append(found)
    files = set_name(options.x), set_name(options.y)
    one, other = headers
    names = shared_names(one.numbers, other.numbers, files)
    first = first._replace(columns=tuple(names), id=one.label)
    second = second._replace(columns=tuple(names), id=other.label)
    said = left_out(one.numbers, other.numbers, files).removeprefix("columns: ")
    return first, second, (f"columns: {said}",) if said else ()


def _split(text: str, option: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True), []))
    if not any(names) or (option == "--columns" and not all(names)):
        raise ValueError(f"{option} must be names with commas between them; got {text!r}")
    return names


def _read_levels(path: Path, choice: Choice, points: PointFile) -> NDArray[Any]:
    """Read a vector, which in a table is a column; its rows may have the names of the points."""
    try:
        file = read_points(path, Choice(id=choice.id))
    except FileError:
        if choice.id is None:
            raise
        file = read_points(path)
    values = file.values
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if file.labels is None or points.labels is None or np.array_equal(file.labels, points.labels):
        return values
    place = {label: k for k, label in enumerate(file.labels.tolist())}
    if len(place) < len(values) or place.keys() != set(points.labels.tolist()):
        raise FileError(f"{set_name(path)}: must name the same rows as the points, each once")
    return values[[place[label] for label in points.labels.tolist()]]


def _read_covariance(option: str, columns: tuple[str, ...] | None) -> str | NDArray[Any]:
    """Give what `match` is to be told: a name, variances, or a matrix."""
    path = covariance_file(option)
    if path is None:
        return option
    file = read_points(path)
    values = file.values
    if columns is not None and file.columns is not None and values.ndim == 2:
        order = column_order(columns, file.columns, ("X", set_name(path)))
        if order is not None:
            values = values[:, order] if len(values) == 1 else values[np.ix_(order, order)]
    # Variances are one row or one column of a table.
    return values.ravel() if values.ndim == 2 and 1 in values.shape else values
