"""Writing pairs and pages: whole or not at all, and never over an input."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

from numpy.typing import NDArray

from lslmatch.io.sources import FileError, is_standard, reason


def check_output(path: Path, others: Iterable[Path], suffix: str = ".csv") -> None:
    """Raise a :class:`FileError` now if `path` could not be written, or is one of the other files."""
    if is_standard(path):
        return
    if path.suffix.lower() != suffix:
        raise FileError(f"{path}: the suffix of the output must be {suffix}")
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
        if str(target) in map(os.path.realpath, others):
            raise FileError(f"{path}: the output would overwrite an input")
    except OSError as error:
        raise FileError(f"{path}: {reason(error)}") from None


def write_csv(path: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write columns; other readers never see a half-written file. ``-`` is standard output."""
    if is_standard(path):
        try:
            _write(sys.stdout, columns)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise FileError(f"standard output: {reason(error)}") from None
        return
    _write_whole(path, lambda stream: _write(stream, columns))


def write_text(path: Path, text: str) -> None:
    """Write a text as it is, whole or not at all."""
    _write_whole(path, lambda stream: stream.write(text))


def _write_whole(path: Path, write: Callable[[TextIO], object]) -> None:
    """Write beside the file and rename, so that nobody sees a half-written one."""
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        try:
            with open(unfinished, "x", encoding="utf-8", newline="", errors="backslashreplace") as stream:
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(unfinished, target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(f"{path}: {reason(error)}") from None


def _write(stream: TextIO, columns: Mapping[str, NDArray[Any]]) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
