"""Where bytes come from: files, compressed files and standard input, none of them endless."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

#: What is unpacked, or comes through a pipe, ends before this many bytes, or is refused.
MOST_BYTES = 1 << 31

#: The first bytes of a file, by which the format of standard input is told.
_MAGIC = {b"\x93NUMPY": ".npy", b"PK\x03\x04": ".npz", b"PAR1": ".parquet", b"ARROW1": ".feather"}


class FileError(ValueError):
    """A file that cannot be used; the message names it and says why, in one line."""


class Source(NamedTuple):
    """Bytes that are open for reading."""

    name: str
    """As a message should call it."""
    suffix: str
    """The format, without a suffix that says that it is compressed."""
    stream: BinaryIO
    size: int | None
    """How many bytes there are, if they lie on a disk as they are."""


def format_of(path: Path) -> str:
    """Tell the suffix that stands for the format: ".csv" of ``x.csv.gz`` and of ``X.CSV``."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
        return suffixes[-1] if suffixes else ""
    return suffixes[-1] if suffixes else ""


@contextlib.contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open a file, or standard input if the path is ``-``.

    Raises
    ------
    FileError
        If it cannot be opened or read, is a device, does not unpack, or unpacks to too much.
    """
    name = "standard input" if is_standard(path) else str(path)
    try:
        with _opened(path, name) as source:
            yield source
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise FileError(f"{name}: does not unpack: {str(error).lower()}") from None
    except OSError as error:
        raise FileError(f"{name}: {reason(error)}") from None
    except MemoryError:
        raise FileError(f"{name}: too large for the memory of this machine") from None


def is_standard(path: Path) -> bool:
    """Tell whether a path stands for standard input or output."""
    return str(path) == "-"


def reason(error: OSError) -> str:
    """Say in a few words why the system refused."""
    return (error.strerror or str(error)).lower()


@contextlib.contextmanager
def _opened(path: Path, name: str) -> Iterator[Source]:
    if is_standard(path):
        stream = sys.stdin.buffer
        mode = os.fstat(stream.fileno()).st_mode
        if stream.isatty():
            raise FileError(f"{name}: is a terminal; pipe a file into the program")
        _refuse_device(mode, name)
        data = bounded(stream, name).read()
        if data[:2] == b"\x1f\x8b":
            data = bounded(gzip.GzipFile(fileobj=io.BytesIO(data)), name).read()
        suffix = next((found for magic, found in _MAGIC.items() if data.startswith(magic)), ".csv")
        yield Source(name, suffix, io.BytesIO(data), len(data))
        return
    status = path.stat()
    _refuse_device(status.st_mode, name)
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(open(path, "rb"))
        size: int | None = status.st_size
        if path.suffix.lower() == ".gz":
            stream = bounded(stack.enter_context(gzip.GzipFile(fileobj=stream)), name)
            size = None
        elif not stat.S_ISREG(status.st_mode):
            stream = bounded(stream, name)
            size = None
        yield Source(name, format_of(path), stream, size)


def bounded(stream: Any, name: str) -> BinaryIO:
    """Give a stream that refuses to go on beyond the limit."""
    return io.BufferedReader(_Bounded(stream, name))


class _Bounded(io.RawIOBase):
    """The bytes of a stream, counted."""

    def __init__(self, stream: Any, name: str) -> None:
        self._inner, self._name, self._left = stream, name, MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._inner.read(min(len(buffer), 1 << 20))
        self._left -= len(data)
        if self._left < 0:
            raise FileError(f"{self._name}: holds more than {size_text(MOST_BYTES)} when unpacked")
        buffer[: len(data)] = data
        return len(data)


def size_text(size: int) -> str:
    """Say a number of bytes in a unit that makes it short."""
    for unit, bits in (("GB", 30), ("MB", 20), ("kB", 10)):
        if size >= 1 << bits:
            return f"{size / (1 << bits):.3g} {unit}"
    return f"{size} bytes"


def _refuse_device(mode: int, name: str) -> None:
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise FileError(f"{name}: is a device")  # which may have no end
