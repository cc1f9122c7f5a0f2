"""Where bytes come from: files, compressed files and standard input, none of them endless."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

#: What is unpacked, or comes through a pipe, ends before this many bytes, or is refused.
MOST_BYTES = 1 << 31

#: So many lines of text may be packed: more points would not fit into memory, after minutes of reading.
MOST_LINES = 1 << 24
#: Text, of which the lines are counted.
TEXT = (".csv", ".tsv", ".txt")

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
    """How many bytes there are, if they can be counted without unpacking any."""
    is_limited: bool = True
    """Whether few bytes may stand for so much that there are limits; not if they lie on a disk as such."""
    lines: int | None = None
    """How many lines were counted in packed text."""


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
        lines = _count_lines([data], name) if suffix in TEXT else None
        yield Source(name, suffix, io.BytesIO(data), len(data), lines=lines)
        return
    status = path.stat()
    _refuse_device(status.st_mode, name)
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(open(path, "rb"))
        size: int | None = status.st_size
        is_regular = stat.S_ISREG(status.st_mode)
        is_packed, lines = path.suffix.lower() == ".gz", None
        if is_packed:
            unpacked = stack.enter_context(gzip.GzipFile(fileobj=stream))
            if is_regular and format_of(path) in TEXT:
                # To unpack twice takes seconds; to find out by reading that there is too much takes minutes.
                blocks = bounded(unpacked, name)
                lines = _count_lines(iter(lambda: blocks.read(1 << 20), b""), name)
                unpacked.seek(0)
            stream = bounded(unpacked, name)
            size = None
        elif not is_regular:
            stream = bounded(stream, name)
            size = None
        yield Source(name, format_of(path), stream, size, is_packed or not is_regular, lines)


def _count_lines(blocks: Iterable[bytes], name: str) -> int:
    """Count the lines of text, and refuse too many of them."""
    feeds = returns = 0
    for block in blocks:
        feeds += block.count(b"\n")
        returns += block.count(b"\r")
        check_lines(feeds or returns, name)
    return feeds or returns


def check_lines(lines: int, name: str) -> None:
    """Raise a :class:`FileError` if there are more lines than can be points."""
    if lines > MOST_LINES:
        raise FileError(f"{name}: holds more than {MOST_LINES:,} lines when unpacked")


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
