"""How much the buffers of an Arrow file (.feather) unpack to, read from what it says of them, unpacking none.

pyarrow allocates what each compressed buffer claims to need, and tells of it only afterwards. The layout is
that of Arrow's columnar format: flatbuffers, found from the footer at the end of the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

_MAGIC = b"ARROW1"
#: The kind of a message that holds a dictionary instead of rows.
_DICTIONARY = 2


class Sizes(NamedTuple):
    """What an Arrow file claims."""

    rows: int
    buffers: int
    """Bytes of all buffers together, unpacked."""


def unpacked_sizes(stream: BinaryIO) -> Sizes:
    """Add up what the batches of a file claim.

    Raises
    ------
    ValueError
        If the file contradicts itself.
    """
    try:
        rows = buffers = 0
        footer = _footer(stream)
        for field in (2, 3):  # dictionaries, and batches of rows
            for start, length, _ in footer.structs(field, "<qi4xq"):
                batch, is_rows = _batch(stream, start, length)
                rows += batch.number(0, "<q") if is_rows else 0
                is_packed = batch.place(3) is not None
                for offset, size in batch.structs(2, "<qq"):
                    buffers += _unpacked(stream, start + length + offset, size) if is_packed else size
        return Sizes(rows, buffers)
    except (struct.error, OverflowError):
        raise ValueError("the file is damaged") from None


def _footer(stream: BinaryIO) -> _Table:
    end = stream.seek(-10, 2)
    length, magic = struct.unpack("<i6s", stream.read(10))
    if magic != _MAGIC or not 0 < length <= end:
        raise ValueError("not an Arrow file")
    stream.seek(end - length)
    return _Table.root(stream.read(length))


def _batch(stream: BinaryIO, start: int, length: int) -> tuple[_Table, bool]:
    """Give what is said of a batch, and whether it holds rows."""
    stream.seek(start)
    text = stream.read(length)
    message = _Table.root(text[8:] if text.startswith(b"\xff\xff\xff\xff") else text[4:])
    batch = message.table(2)
    is_rows = message.number(1, "<B") != _DICTIONARY
    return (batch if is_rows else batch.table(1)), is_rows


def _unpacked(stream: BinaryIO, start: int, size: int) -> int:
    """Tell the size that a compressed buffer begins with; -1 says that it is stored as it is."""
    if size == 0:
        return 0
    stream.seek(start)
    (claim,) = struct.unpack("<q", stream.read(8))
    if claim < -1:
        raise ValueError("the file is damaged")
    return size if claim == -1 else int(claim)


class _Table(NamedTuple):
    """A table of a flatbuffer."""

    data: bytes
    start: int

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, *struct.unpack_from("<I", data))

    def place(self, field: int) -> int | None:
        """Tell where a field is, if it is there."""
        (back,) = struct.unpack_from("<i", self.data, self.start)
        index = self.start - back
        (size,) = struct.unpack_from("<H", self.data, index)
        if 4 + 2 * field >= size:
            return None
        (offset,) = struct.unpack_from("<H", self.data, index + 4 + 2 * field)
        return self.start + offset if offset else None

    def number(self, field: int, kind: str) -> int:
        place = self.place(field)
        return 0 if place is None else int(struct.unpack_from(kind, self.data, place)[0])

    def table(self, field: int) -> _Table:
        place = self.place(field)
        if place is None:
            raise ValueError("the file is damaged")
        return _Table(self.data, place + struct.unpack_from("<I", self.data, place)[0])

    def structs(self, field: int, kind: str) -> Iterator[tuple[int, ...]]:
        """Give the entries of a vector of structures."""
        place = self.place(field)
        if place is None:
            return
        place += struct.unpack_from("<I", self.data, place)[0]
        (count,) = struct.unpack_from("<I", self.data, place)
        for k in range(count):
            yield struct.unpack_from(kind, self.data, place + 4 + k * struct.calcsize(kind))
