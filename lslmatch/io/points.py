"""Reading points from the files that people have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lslmatch._frames import Frame, as_frame, counts_rows, refuse_index
from lslmatch.io.arrays import read_npy, read_npz
from lslmatch.io.choice import Choice, PointFile, numbered
from lslmatch.io.columnar import read_columnar
from lslmatch.io.sheets import as_text
from lslmatch.io.sources import TEXT, FileError, Source, format_of, is_standard, open_source
from lslmatch.io.text import read_text

ARRAYS = (".npy", ".npz")
COLUMNAR = (".parquet", ".feather")
SHEETS = (".xlsx",)
FORMATS = TEXT + ARRAYS + COLUMNAR + SHEETS


def read_points(path: Path, choice: Choice | None = None) -> PointFile:
    """Read the points of a file, one a row, with the names of its columns and rows.

    Parameters
    ----------
    path : Path
        A file whose suffix tells its format: text (.csv, .tsv, .txt), NumPy's (.npy, .npz), columns
        (.parquet, .feather) or a sheet (.xlsx), all also with .gz; or ``-`` for standard input, whose
        format is told by its first bytes.
    choice : Choice, optional
        Which columns are coordinates, which one names the rows, and which array of a .npz file to take.

    Raises
    ------
    FileError
        If the file is missing, unreadable, malformed, a device, or too large when unpacked.
    """
    choice = choice or Choice()
    check_format(path)
    with open_source(path) as source:
        if source.suffix in SHEETS:
            source = as_text(source)
        if source.suffix in TEXT:
            return read_text(source, choice)
        if source.suffix in COLUMNAR:
            return _from_columns(read_columnar(source, choice), source)
        array = read_npy(source) if source.suffix == ".npy" else read_npz(source, choice.array)
        return _from_array(array, source, choice)


def check_format(path: Path) -> None:
    """Raise a :class:`FileError` now if the suffix of a path says that it cannot be read."""
    if not is_standard(path) and format_of(path) not in FORMATS:
        hint = "; save the sheet as .csv" if format_of(path) in (".xls", ".ods") else ""
        raise FileError(
            f"{path}: the suffix must be one of {', '.join(FORMATS)}, or one of these before .gz{hint}"
        )


def _from_array(table: Any, source: Source, choice: Choice) -> PointFile:
    """Take the columns that were asked for from an array."""
    if np.ndim(table) != 2 and getattr(table, "dtype", np.dtype(float)).names is None:
        return PointFile(np.asarray(table), None, None)
    try:
        frame = as_frame(table, source.name)
    except TypeError as error:
        text = str(error).partition(". Leave")[0].removeprefix(f"{source.name} ")
        raise FileError(
            f"{source.name}: {text}; choose columns with --columns, or let one name the rows with --id"
        ) from None
    except ValueError as error:
        raise FileError(f"{source.name}: {str(error).removeprefix(f'{source.name} ')}") from None
    values, labels = np.asarray(frame.values), None
    chosen = choice.id_position(frame.columns, values.shape[1], source.name)
    wanted = choice.positions(frame.columns, values.shape[1], source.name)
    if chosen is not None:
        labels = values[:, chosen].astype(str)
    others = choice.no_coordinates(frame.columns, values.shape[1], source.name)
    keep = wanted if wanted is not None else [k for k in range(values.shape[1]) if k not in others]
    if len(keep) < values.shape[1] or keep != sorted(keep):
        values = values[:, keep]
    columns = None if frame.columns is None else tuple(frame.columns[k] for k in keep)
    return _noted(Frame(values, columns, labels))


def _from_columns(frame: Frame, source: Source) -> PointFile:
    """Refuse the numbers of rows as a coordinate."""
    if frame.columns is not None:
        try:
            refuse_index(frame.values, frame.columns, source.name)
        except ValueError as error:
            raise FileError(f"{source.name}: {str(error).removeprefix(f'{source.name} ')}") from None
    return _noted(frame)


def _noted(frame: Frame) -> PointFile:
    """Say what is seen in the numbers."""
    notes: tuple[str, ...] = ()
    has_labels = frame.labels is not None or np.ndim(frame.values) != 2
    if not has_labels and frame.values.shape[1] > 1 and counts_rows(frame.values[:, 0]):
        which = frame.columns[0] if frame.columns else 0
        notes = (f"{numbered(frame.columns, 0)} numbers the rows: if it is no coordinate, say --id {which}",)
    return PointFile(*frame, notes)
