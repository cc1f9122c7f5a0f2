"""NumPy's files: one array in .npy, one of several in .npz; pickles are never loaded."""

from __future__ import annotations

import io
import math
import warnings
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lslmatch.io.sources import MOST_BYTES, FileError, Source, size_text

#: The members of a file that SciPy keeps a sparse matrix in.
_SPARSE = {"format", "shape", "data"}


def read_npy(source: Source) -> NDArray[Any]:
    """Read the array of a .npy file, whose size must be what its header says."""
    stream, size = source.stream, source.size
    if size is None:
        data = source.stream.read()
        stream, size = io.BytesIO(data), len(data)
    return _read_array(stream, size, source.name, ".npy")


def read_npz(source: Source, wanted: str | None) -> Any:
    """Read the only array of a .npz file or the one that is asked for; or a sparse matrix of SciPy."""
    stream = source.stream if source.size is not None else io.BytesIO(source.stream.read())
    try:
        with zipfile.ZipFile(stream) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            if wanted is None and members.keys() >= _SPARSE:
                _check_size(sum(info.file_size for info in members.values()), source.name)
                return _read_sparse(stream)
            name = _chosen(list(members), wanted, source.name)
            info = members[name]
            _check_size(info.file_size, source.name)
            with archive.open(info) as member:
                # The archive gives as many bytes as it says it has, and no more.
                return _read_array(member, info.file_size, source.name, ".npz")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise FileError(f"{source.name}: not a readable .npz file: {str(error).lower()}") from None


def _chosen(names: list[str], wanted: str | None, file: str) -> str:
    if not names:
        raise FileError(f"{file}: holds no array")
    if wanted is not None:
        if wanted not in names:
            raise FileError(f"{file}: has no array {wanted!r}; its arrays are {', '.join(names)}")
        return wanted
    if len(names) > 1:
        raise FileError(f"{file}: holds several arrays; choose one of {', '.join(names)} with --array")
    return names[0]


def _read_array(stream: Any, size: int, file: str, suffix: str) -> NDArray[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            start = io.BytesIO(stream.read(min(size, 1 << 16)))
            needed = _needed_bytes(start)
            if needed is not None and needed > size:
                raise FileError(f"{file}: not a readable {suffix} array: it ends too early")
            start.seek(0)
            # An array on a disk is read without a copy of its bytes.
            if hasattr(stream, "fileno") and not isinstance(stream, (io.BytesIO, zipfile.ZipExtFile)):
                stream.seek(0)
                return np.lib.format.read_array(stream, allow_pickle=False)
            rest: BinaryIO = io.BytesIO(start.read() + stream.read())
            return np.lib.format.read_array(rest, allow_pickle=False)
        except (OSError, MemoryError, FileError):
            raise
        except Exception as error:
            # The header is parsed as Python, so damage comes out as SyntaxError, TokenError, ...
            reason = str(error).strip().partition("\n")[0]
            raise FileError(f"{file}: not a readable {suffix} array: {reason}") from None


def _needed_bytes(stream: io.BytesIO) -> int | None:
    """Tell how many bytes the numbers of an array take, from its header; None if that cannot be told."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        return None
    return None if dtype.hasobject else math.prod(shape) * dtype.itemsize


def _read_sparse(stream: Any) -> Any:
    from scipy.sparse import load_npz

    stream.seek(0)
    return load_npz(stream)


def _check_size(size: int, file: str) -> None:
    if size > MOST_BYTES:
        raise FileError(f"{file}: unpacks to {size_text(size)}, more than {size_text(MOST_BYTES)}")
