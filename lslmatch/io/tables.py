"""Reading points from .npy and .csv files, and writing pairs: what the command line knows of files."""

from __future__ import annotations

import csv
import os
import stat
import warnings
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class FileError(ValueError):
    """A file that cannot be used; the message names it and says why, in one line."""


class Table(NamedTuple):
    """The numbers of one file."""

    values: np.ndarray[Any, Any]
    """As stored: the array of a .npy file, of shape (lines, columns) for a .csv file."""
    has_header: bool
    """Whether the first line of a .csv file held names instead of numbers."""


def read_table(path: Path) -> Table:
    """Read the array of a ``.npy`` file or the numbers of a ``.csv`` file.

    The first line of a ``.csv`` file is a header if a word stands in it. Pickles are never loaded.

    Raises
    ------
    FileError
        If the file is missing, unreadable, malformed, a device, or of another suffix.
    """
    suffix = path.suffix.lower()
    if suffix not in (".npy", ".csv"):
        raise FileError(f"{path}: the suffix must be .npy or .csv")
    try:
        mode = path.stat().st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise FileError(f"{path}: is a device")  # which may have no end
        return Table(_read_npy(path), False) if suffix == ".npy" else _read_csv(path)
    except OSError as error:
        raise FileError(f"{path}: {_reason(error)}") from None
    except MemoryError:
        raise FileError(f"{path}: too large for the memory of this machine") from None


def check_output(path: Path, inputs: Iterable[Path]) -> None:
    """Raise a :class:`FileError` now if `path` could not be written, or is one of the inputs."""
    if path.suffix.lower() != ".csv":
        raise FileError(f"{path}: the suffix of the output must be .csv")
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise FileError(f"{path}: is a directory")
        if target.exists() and not target.is_file():
            raise FileError(f"{path}: is not a regular file")
        if not target.parent.is_dir():
            raise FileError(f"{path}: the directory {path.parent} does not exist")
        if not os.access(target.parent, os.W_OK):
            raise FileError(f"{path}: the directory {path.parent} cannot be written to")
        if str(target) in map(os.path.realpath, inputs):
            raise FileError(f"{path}: the output would overwrite an input")
    except OSError as error:
        raise FileError(f"{path}: {_reason(error)}") from None


def write_csv(path: Path, header: tuple[str, ...], columns: tuple[np.ndarray[Any, Any], ...]) -> None:
    """Write columns of numbers, whole or not at all: other readers never see a half-written file."""
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        try:
            with open(unfinished, "x", encoding="ascii", newline="") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                writer.writerow(header)
                writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(unfinished, target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(f"{path}: {_reason(error)}") from None


def _read_npy(path: Path) -> np.ndarray[Any, Any]:
    with open(path, "rb") as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.lib.format.read_array(stream, allow_pickle=False)
        except (OSError, MemoryError):
            raise
        except Exception as error:
            # The header is parsed as Python, so damage comes out as SyntaxError, TokenError, ...
            reason = str(error).strip().partition("\n")[0]
            raise FileError(f"{path}: not a readable .npy array: {reason}") from None


def _read_csv(path: Path) -> Table:
    values = array("d")
    has_header, width = False, 0
    with open(path, encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream)
        try:
            for row in reader:
                if len(row) < 2 and not "".join(row).strip():
                    continue
                if not width:
                    width, has_header = len(row), any(_is_word(cell) for cell in row)
                    if has_header:
                        continue
                if len(row) != width:
                    raise FileError(f"{path}: line {reader.line_num} has {len(row)} values, not {width}")
                values.extend(_number(cell, path, reader.line_num) for cell in row)
        except UnicodeDecodeError:
            raise FileError(f"{path}: not a text file in UTF-8") from None
        except csv.Error as error:
            raise FileError(f"{path}: line {reader.line_num}: {error}") from None
    if not values:
        raise FileError(f"{path}: holds no numbers")
    return Table(np.array(values).reshape(-1, width), has_header)


def _is_word(cell: str) -> bool:
    # An empty cell is a missing value, not the name of a column: taken for a header, its line
    # would be dropped in silence.
    return _to_float(cell) is None and bool(cell.strip())


def _number(cell: str, path: Path, line: int) -> float:
    number = _to_float(cell)
    if number is None:
        shown = repr(cell) if len(cell) <= 40 else repr(cell[:40]) + "..."
        raise FileError(f"{path}: line {line}: {shown} is not a number")
    return number


def _to_float(cell: str) -> float | None:
    try:
        # Python reads "1_1" as eleven; in a table it is the name of a column.
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
