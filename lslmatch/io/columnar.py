"""Files of columns, .parquet and .feather: read by pyarrow, which the extra ``files`` brings.

Only columns of numbers are read, and those that name the rows: a column of text repeats in memory what is
stored once. All is measured before it is unpacked.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._frames import Frame, listed, repeated
from lslmatch._optional import load
from lslmatch.io.arrow_sizes import unpacked_sizes
from lslmatch.io.choice import Choice
from lslmatch.io.sources import MOST_BYTES, FileError, Source, size_text

#: How many numbers are unpacked at a time, apart from those that are kept.
_GROUP = 1 << 25


def read_columnar(source: Source, choice: Choice) -> Frame:
    """Read the columns that were asked for, unless the file says that they are too large."""
    with _opened(source) as file:
        return _read(file, source.name, choice)


def read_names(source: Source) -> tuple[list[str], list[bool]]:
    """Read the names of the columns that are no index, and tell which hold no numbers."""
    with _opened(source) as file:
        index = (file.schema.pandas_metadata or {}).get("index_columns", ())
        fields = [field for field in file.schema if field.name not in index]
        return [field.name for field in fields], [_kind(field.type) is not None for field in fields]


@contextlib.contextmanager
def _opened(source: Source) -> Iterator[_File]:
    """Open a file of columns; all that goes wrong while it is read is said in one line."""
    try:
        load("pyarrow", "files", source.suffix)
    except ImportError:
        raise FileError(
            f"{source.name}: {source.suffix} files need pyarrow: pip install 'lslmatch[files]'"
        ) from None
    stream = source.stream if source.size is not None else io.BytesIO(source.stream.read())
    try:
        yield _open_parquet(stream) if source.suffix == ".parquet" else _open_feather(stream)
    except (FileError, MemoryError):
        raise
    except Exception as error:
        # Damage comes out as errors of many kinds, some of them of the system.
        text = str(error).strip().partition("\n")[0]
        raise FileError(f"{source.name}: not a readable {source.suffix} file: {text}") from None


def _part(name: str) -> Any:
    return load(f"pyarrow.{name}", "files", "a file of columns")


class _File(NamedTuple):
    schema: Any
    rows: int
    size: int
    """Bytes that it takes in memory by its own account."""
    read: Callable[[list[int]], Any]
    """Give some columns, as a table of Arrow whose text is not repeated."""


def _open_parquet(stream: Any) -> _File:
    parquet = _part("parquet")
    schema = parquet.read_schema(stream)
    stream.seek(0)
    texts = [field.name for field in schema if _is_text(field.type)]
    file = parquet.ParquetFile(stream, read_dictionary=texts)
    metadata = file.metadata
    stored = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    return _File(
        schema,
        metadata.num_rows,
        stored,
        lambda columns: file.read([schema.names[k] for k in columns]),
    )


def _open_feather(stream: Any) -> _File:
    ipc = _part("ipc")
    schema = ipc.open_file(stream).schema
    rows, size = unpacked_sizes(stream)

    def read(columns: list[int]) -> Any:
        stream.seek(0)
        options = ipc.IpcReadOptions(included_fields=columns)
        return ipc.open_file(stream, options=options).read_all()

    return _File(schema, rows, size, read)


def _read(file: _File, name: str, choice: Choice) -> Frame:
    names = list(file.schema.names)
    described = file.schema.pandas_metadata or {}
    index = [column for column in described.get("index_columns", ()) if column in names]
    places = [k for k, column in enumerate(names) if column not in index]
    visible = [names[k] for k in places]
    if twice := repeated(names):
        raise FileError(f"{name}: must have different column names; {listed(twice)} occurs more than once")
    chosen = choice.id_position(visible, len(visible), name)
    wanted = choice.positions(visible, len(visible), name)
    others = choice.no_coordinates(visible, len(visible), name)
    keep = wanted if wanted is not None else [k for k in range(len(visible)) if k not in others]
    _refuse_text([file.schema.field(places[k]) for k in keep], name)
    _check_size(max(file.size, file.rows * max(len(keep), 1) * 8), name)
    labels = None
    if chosen is not None:
        labels = _texts(_column(file, places[chosen]), name)
    elif index:
        labels = _index([_column(file, names.index(column)) for column in index], name)
    elif described.get("index_columns"):
        labels = _range(described["index_columns"][0], file.rows)
    columns = None if all(column.isdecimal() for column in visible) else tuple(visible[k] for k in keep)
    return Frame(_numbers(file, [places[k] for k in keep]), columns, labels)


def _column(file: _File, place: int) -> Any:
    table = file.read([place])
    table.validate(full=True)
    return table.column(0)


def _numbers(file: _File, places: list[int]) -> NDArray[Any]:
    """Give columns as an array, some of them at a time."""
    values = np.empty((file.rows, len(places)))
    step = max(1, _GROUP // max(file.rows, 1))
    for start in range(0, len(places), step):
        some = places[start : start + step]
        table = file.read(some)
        # What a file says of its buffers is not true because it says so.
        table.validate(full=True)
        for k, place in enumerate(some, start):
            values[:, k] = _as_floats(table.column(file.schema.names[place]))
    return values


def _as_floats(column: Any) -> NDArray[Any]:
    types = _part("types")
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not types.is_floating(column.type):
        column = column.cast("float64", safe=False)
    # What is missing becomes NaN.
    return np.asarray(column.to_numpy())


def _refuse_text(fields: Sequence[Any], name: str) -> None:
    bad = [f"{field.name!r} ({kind})" for field in fields if (kind := _kind(field.type)) is not None]
    if bad:
        more = f" and {len(bad) - 6} more" if len(bad) > 6 else ""
        raise FileError(
            f"{name}: must be real numbers; these columns are not: {', '.join(bad[:6])}{more}; choose "
            "columns with --columns, or let one name the rows with --id"
        )


def _kind(kind: Any) -> str | None:
    """Say what a column holds instead of numbers; None if it holds numbers."""
    types = _part("types")
    if types.is_dictionary(kind):
        return _kind(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return None
    if types.is_temporal(kind):
        return "dates or times"
    return "text" if "string" in str(kind) else str(kind)


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string")


def _texts(column: Any, name: str) -> NDArray[Any]:
    """Give the cells of a column as text, as long as that is not too large."""
    texts, size = [], 0
    for cell in column:
        texts.append(str(cell.as_py()))
        size += sys.getsizeof(texts[-1])
        if size > MOST_BYTES:
            raise FileError(f"{name}: the names of the rows take more than {size_text(MOST_BYTES)}")
    return _objects(texts)


def _index(columns: list[Any], name: str) -> NDArray[Any] | None:
    """Give the names of the rows as pandas stored them, unless they are the numbers 0, 1, 2, ..."""
    types = _part("types")
    if len(columns) > 1:
        return _objects(list(zip(*(_texts(column, name).tolist() for column in columns), strict=True)))
    if not types.is_integer(columns[0].type):
        return _texts(columns[0], name)
    labels = np.asarray(columns[0].to_numpy())
    return None if np.array_equal(labels, np.arange(labels.size)) else labels


def _range(described: Any, rows: int) -> NDArray[Any] | None:
    """Give the names of rows that are equally spaced numbers, unless these are 0, 1, 2, ..."""
    if not isinstance(described, dict) or described.get("kind") != "range":
        return None
    found = range(described["start"], described["stop"], described["step"])
    return None if found == range(rows) or len(found) != rows else np.array(found)


def _objects(values: list[Any]) -> NDArray[Any]:
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _check_size(size: int, file: str) -> None:
    if size > MOST_BYTES:
        raise FileError(f"{file}: takes {size_text(size)} in memory, more than {size_text(MOST_BYTES)}")
