"""Writing pairs and pages: whole or not at all, and never over an input."""

from __future__ import annotations

import contextlib
import csv
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from lslmatch.io.sources import FileError, is_standard, reason
from lslmatch.summary import printable


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
        if target.exists() and not os.access(target, os.W_OK):
            raise FileError(f"{path}: is write-protected")
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
            _write(sys.stdout, _shown(columns) if sys.stdout.isatty() else columns)
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
    # Neither longer than the name of the target may be, nor that of another run, which may have been killed.
    unfinished = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        before = target.stat() if target.exists() else None
        mode = 0o666 if before is None else stat.S_IMODE(before.st_mode)

        def create(name: str, flags: int) -> int:
            return os.open(name, flags, mode)

        try:
            with open(
                unfinished, "x", encoding="utf-8", newline="", errors="backslashreplace", opener=create
            ) as stream:
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())
            if before is not None:
                _keep_permissions(unfinished, before)
            os.replace(unfinished, target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(f"{path}: {reason(error)}") from None


def _keep_permissions(path: Path, before: os.stat_result) -> None:
    """Give a new file the owner, as far as that is allowed, and the mode of the one that it replaces."""
    if hasattr(os, "chown"):
        # First, since another owner takes some bits of the mode away.
        with contextlib.suppress(OSError):
            os.chown(path, before.st_uid, before.st_gid)
    os.chmod(path, stat.S_IMODE(before.st_mode))


def _shown(columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Escape what a terminal would obey in the names of rows."""
    return {
        name: np.array([printable(str(cell)) for cell in column.tolist()], object)
        if column.dtype.kind in "OU"
        else column
        for name, column in columns.items()
    }


def _write(stream: TextIO, columns: Mapping[str, NDArray[Any]]) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
