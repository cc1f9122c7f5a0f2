"""NumPy's files: one array in .npy, one of several in .npz; pickles are never loaded."""

from __future__ import annotations

import io
import math
import shutil
import warnings
import zipfile
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch.io.sources import MOST_BYTES, FileError, Source, size_text

#: As much of a file as its header may take.
_HEAD = 1 << 16
#: Arrays of at least this many bytes are not read but mapped, if their file lies on a disk as such.
_MAPPED = 1 << 28
#: The members of a file that SciPy keeps a sparse matrix in, and those that say where its numbers stand.
_SPARSE = {"format", "shape", "data"}
_INDICES = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}


def read_npy(source: Source) -> NDArray[Any]:
    """Read the array of a .npy file, whose size must be what its header says."""
    stream, size = source.stream, source.size
    if size is None:
        # What stands at the beginning says how much there is to come.
        head = stream.read(_HEAD)
        claim = _claim(head)
        if claim is not None:
            _check_size(claim.as_numbers, source.name)
        rest, stream = stream, io.BytesIO()
        stream.write(head)
        shutil.copyfileobj(rest, stream)
        size = stream.tell()
        stream.seek(0)
    return _read_array(stream, size, source.name, ".npy", source.is_limited)


def read_npz(source: Source, wanted: str | None) -> Any:
    """Read the only array of a .npz file or the one that is asked for; or a sparse matrix of SciPy."""
    stream = source.stream if source.size is not None else io.BytesIO(source.stream.read())
    try:
        with zipfile.ZipFile(stream) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}

            def read(name: str) -> NDArray[Any]:
                return _read_member(archive, members, name, source.name)

            if wanted is None and members.keys() >= _SPARSE:
                _check_size(sum(info.file_size for info in members.values()), source.name)
                return _read_sparse(
                    lambda name: _read_member(archive, members, name, source.name), source.name
                )
            return _read_member(archive, members, _chosen(list(members), wanted, source.name), source.name)
    except (OSError, MemoryError, FileError, zlib.error, EOFError):
        raise
    except Exception as error:
        # Damage to the directory of an archive comes out as errors of many kinds.
        raise FileError(f"{source.name}: not a readable .npz file: {str(error).lower()}") from None


def _read_member(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str, file: str
) -> NDArray[Any]:
    if name not in members:
        raise FileError(f"{file}: not a readable sparse matrix: has no array {name!r}")
    info = members[name]
    _check_size(info.file_size, file)
    with archive.open(info) as member:
        # The archive gives as many bytes as it says it has, and no more.
        return _read_array(member, info.file_size, file, ".npz", is_limited=True)


def _chosen(names: list[str], wanted: str | None, file: str) -> str:
    if not names:
        raise FileError(f"{file}: holds no array")
    if wanted is not None:
        if wanted not in names:
            raise FileError(f"{file}: has no array {wanted!r}; its arrays are {_abridged(names)}")
        return wanted
    if len(names) > 1:
        raise FileError(f"{file}: holds several arrays; choose one of {_abridged(names)} with --array")
    return names[0]


def _abridged(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 20 else [*names[:20], "..."])


def _read_array(stream: Any, size: int, file: str, suffix: str, is_limited: bool) -> NDArray[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            claim = _claim(stream.read(min(size, _HEAD)))
            if claim is not None and claim.stored > size:
                raise FileError(f"{file}: not a readable {suffix} array: it ends too early")
            if claim is not None and is_limited:
                _check_size(claim.as_numbers, file)
            if claim is not None and claim.is_floats and not is_limited and claim.stored >= _MAPPED:
                return np.lib.format.open_memmap(stream.name, mode="r")
            # (It is read by parts, without a copy of all of its bytes.)
            stream.seek(0)
            return np.lib.format.read_array(stream, allow_pickle=False)
        except (OSError, MemoryError, FileError):
            raise
        except Exception as error:
            # The header is parsed as Python, so damage comes out as SyntaxError, TokenError, ...
            reason = str(error).strip().partition("\n")[0]
            raise FileError(f"{file}: not a readable {suffix} array: {reason}") from None


class _Claim(NamedTuple):
    """The size of an array by its header."""

    stored: int
    as_numbers: int
    """The bytes that its numbers take where they are matched, which are more than those of small integers."""
    is_floats: bool


def _claim(head: bytes) -> _Claim | None:
    """Tell the size of an array from how its file begins; None if that cannot be told."""
    stream = io.BytesIO(head)
    try:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        elif version in ((2, 0), (3, 0)):  # which differ in the encoding of names
            shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
        else:
            return None
    except Exception:
        return None  # damage, of which the reader tells
    entries = 0 if dtype.hasobject else math.prod(shape)
    as_numbers = entries * max(dtype.itemsize, 8 * len(dtype.names or " "))
    return _Claim(entries * dtype.itemsize, as_numbers, dtype.kind == "f")


def _read_sparse(read: Callable[[str], NDArray[Any]], file: str) -> Any:
    """Build a sparse matrix of its arrays; that its indices lie within it is checked where it is made dense.

    SciPy's own reader takes what are no whole numbers for indices, or are too large for the type it chooses.
    """
    import scipy.sparse

    try:
        kind, shape, data = (read(name) for name in ("format", "shape", "data"))
        word = kind.item().decode("ascii") if kind.dtype.kind == "S" else str(kind.item())
        if word not in _INDICES:
            raise ValueError(f"unknown format {word!r}")
        indices = [read(name) for name in _INDICES[word]]
        if shape.shape != (2,) or any(array.dtype.kind not in "iu" for array in (shape, *indices)):
            raise ValueError("shape and indices must be whole numbers")
        largest = max(*shape.tolist(), data.shape[0] if data.ndim else 0)
        if any(array.size and max(-int(array.min()), int(array.max())) > largest for array in indices):
            raise ValueError("an index lies outside of the matrix")
        where = indices[0] if word == "dia" else tuple(indices)
        parts = (data, where) if word in ("dia", "coo") else (data, *indices)
        return getattr(scipy.sparse, f"{word}_matrix")(parts, shape=tuple(shape.tolist()))
    except (FileError, MemoryError):
        raise
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise FileError(f"{file}: not a readable sparse matrix: {reason}") from None


def _check_size(size: int, file: str) -> None:
    if size > MOST_BYTES:
        raise FileError(f"{file}: unpacks to {size_text(size)}, more than {size_text(MOST_BYTES)}")
