"""Points that need not be in memory: rows of an array of floats, brought in as doubles some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lslmatch._types import FloatArray, IntArray

#: Numbers that are brought in at a time.
_BLOCK = 1 << 20


def is_array(points: Any) -> bool:
    """Say whether points are an array of floats on which nothing has to be changed but the precision."""
    if not (isinstance(points, np.ndarray) and type(points) in (np.ndarray, np.memmap)):
        return False
    return points.ndim == 2 and points.dtype.kind == "f" and points.dtype.itemsize <= 8


def doubles(points: FloatArray, rows: slice | IntArray) -> FloatArray:
    """Copy some rows as doubles, in the one layout that kernels are compiled for."""
    return np.array(points[rows], np.float64, order="C", subok=False)


def blocks(n: int, d: int, divisor: int = 1) -> Iterator[slice]:
    """Cut n rows of d numbers into blocks of moderate size, each but the last divisible as wanted."""
    step = max(_BLOCK // d // divisor, 1) * divisor
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
