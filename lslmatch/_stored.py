"""Named tuples of arrays in a file, and back: an .npz archive without pickles, its structure as JSON.

The archive has one array for each array, and "json": an array of bytes with all else. A field that is missing
gets its default; what is not known, or is of another kind than the field, is refused.
"""

from __future__ import annotations

import json
import os
import types
import typing
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The name and the version of the format.
FORMAT, VERSION = "lslmatch result", 1
#: What an archive may unpack to, in bytes; how deeply tuples may hold tuples.
_MOST_BYTES, _DEEPEST = 1 << 32, 12
#: The kinds of arrays that are stored as they are; others are lists of strings and numbers.
_KINDS = "biufUMm"
#: What goes wrong in reading a file that is none.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, TypeError, IndexError),
    *(RecursionError, NotImplementedError, UnicodeError, OverflowError, MemoryError, RuntimeError),
)


def write_archive(path: str | os.PathLike[str], value: tuple[Any, ...]) -> None:
    """Write a named tuple; the file is whole or is not there."""
    arrays: dict[str, NDArray[Any]] = {}
    tree = {"format": FORMAT, "version": VERSION, "value": _packed(value, arrays, type(value).__name__)}
    text = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            np.savez_compressed(file, **{"json": text, **arrays})  # type: ignore[arg-type]
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def read_archive(path: str | os.PathLike[str], kind: type) -> Any:
    """Read a named tuple of a class; what is no such file is a ValueError of one line."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > _MOST_BYTES:
            raise ValueError(f"it unpacks to {size >> 20} MB, more than {_MOST_BYTES >> 20} MB")
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError("it has what is no array")
        tree = json.loads(arrays.pop("json").tobytes())
        if not isinstance(tree, dict) or tree.get("format") != FORMAT:
            raise ValueError("it has another format")
        if tree.get("version") != VERSION:
            raise ValueError(
                f"its version is {tree.get('version')!r:.20}, not {VERSION}: is lslmatch older than it?"
            )
        return _unpacked(tree["value"], arrays, kind, kind.__name__, 0)
    except OSError as error:
        if isinstance(error, FileNotFoundError | IsADirectoryError | PermissionError):
            raise
        raise _refused(path, error) from None
    except _BROKEN as error:
        raise _refused(path, error) from None


def _refused(path: Any, error: Exception) -> ValueError:
    reason = " ".join(str(error).split())[:150] or type(error).__name__
    return ValueError(f"{Path(path)} must be a file of MatchResult.save: {reason}")


def _packed(value: Any, arrays: dict[str, NDArray[Any]], where: str) -> Any:
    """Turn a value into what JSON has, and put its arrays aside."""
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _KINDS:
            return {"list": [_packed(entry, arrays, where) for entry in value.ravel().tolist()]}
        name = f"array_{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if hasattr(value, "_fields"):
        fields = {name: _packed(getattr(value, name), arrays, name) for name in value._fields}
        return {"tuple": type(value).__name__, "fields": fields}
    if isinstance(value, tuple):
        return {"items": [_packed(entry, arrays, where) for entry in value]}
    raise TypeError(f"{where} must hold numbers and strings to be stored; got {type(value).__name__}")


def _unpacked(tree: Any, arrays: dict[str, NDArray[Any]], hint: Any, where: str, depth: int) -> Any:
    """Turn it back, if it is of the kind that is wanted there."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    for option in _options(hint):
        found = _as(tree, arrays, option, where, depth)
        if found is not _NOT:
            return found
    raise ValueError(f"{where} is of another kind")


_NOT = object()


def _as(tree: Any, arrays: dict[str, NDArray[Any]], hint: Any, where: str, depth: int) -> Any:
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if hint is Any:
        return tree if tree is None or isinstance(tree, (bool, int, float, str)) else _NOT
    if hint is types.NoneType:
        return None if tree is None else _NOT
    if hint is float:
        return float(tree) if isinstance(tree, (int, float)) and not isinstance(tree, bool) else _NOT
    if hint in (bool, str, int):
        return tree if type(tree) is hint else _NOT
    if not isinstance(tree, dict):
        return _NOT
    if origin is np.ndarray:
        return _as_array(tree, arrays, arguments)
    if hasattr(hint, "_fields"):
        return _as_named(tree, arrays, hint, where, depth)
    if origin is tuple and isinstance(tree.get("items"), list):
        items = tree["items"]
        hints = [arguments[0]] * len(items) if arguments[-1] is Ellipsis else list(arguments)
        if len(hints) == len(items):
            parts = zip(items, hints, strict=True)
            return tuple(_unpacked(entry, arrays, kind, where, depth + 1) for entry, kind in parts)
    return _NOT


def _as_array(tree: dict[str, Any], arrays: dict[str, NDArray[Any]], arguments: tuple[Any, ...]) -> Any:
    if isinstance(tree.get("list"), list):
        entries = np.empty(len(tree["list"]), object)
        entries[:] = [_as_entry(entry) for entry in tree["list"]]
        return entries
    found = arrays.get(str(tree.get("array")))
    if found is None:
        return _NOT
    wanted = (
        typing.get_args(arguments[1])[0] if len(arguments) == 2 and typing.get_args(arguments[1]) else Any
    )
    if wanted is not Any and found.dtype != np.dtype(wanted):
        if found.dtype.kind not in "iu" or np.dtype(wanted).kind != "i":
            return _NOT
        return found.astype(np.intp)
    return found if found.dtype.kind in _KINDS else _NOT


def _as_entry(entry: Any) -> Any:
    if entry is not None and not isinstance(entry, (bool, int, float, str)):
        raise ValueError("a list must hold strings and numbers")
    return entry


def _as_named(
    tree: dict[str, Any], arrays: dict[str, NDArray[Any]], kind: Any, where: str, depth: int
) -> Any:
    if tree.get("tuple") != kind.__name__ or not isinstance(tree.get("fields"), dict):
        return _NOT
    fields, hints = tree["fields"], typing.get_type_hints(kind)
    unknown = [name for name in fields if name not in kind._fields]
    if unknown:
        raise ValueError(
            f"{where} has a field {unknown[0]!r:.40} that is not known: is lslmatch older than it?"
        )
    missing = [name for name in kind._fields if name not in fields and name not in kind._field_defaults]
    if missing:
        raise ValueError(f"{where} has no {missing[0]}")
    return kind(
        **{name: _unpacked(part, arrays, hints[name], name, depth + 1) for name, part in fields.items()}
    )


def _options(hint: Any) -> tuple[Any, ...]:
    """Give the kinds of a union, or the one kind."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)
