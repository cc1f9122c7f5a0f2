"""Arrays out of what holds numbers; a sparse matrix is checked and made dense, if that is not too large."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Sparse points are made dense up to this many bytes.
MOST_DENSE_BYTES = 1 << 29


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Give what holds numbers as an array, or say why it is none; what is one already is not copied."""
    if is_sparse(values):
        return as_dense(values, name)
    try:
        return np.asarray(values)
    except MemoryError:
        raise
    except Exception as error:
        # Other packages raise what they like: a tensor that has a gradient, a RuntimeError.
        kind = TypeError if isinstance(error, TypeError) else ValueError
        reason = str(error).strip().partition("\n")[0]
        raise kind(f"{name} must be convertible to an array: {reason}") from None


def is_sparse(points: Any) -> bool:
    """Tell whether points are a sparse matrix of SciPy."""
    return hasattr(points, "toarray") and hasattr(points, "nnz") and not has_named_parts(points)


def has_named_parts(points: Any) -> bool:
    """Tell whether columns can be called as attributes are, so that attributes say nothing of the kind."""
    return isinstance(points, np.ndarray) or hasattr(points, "iloc")


def as_dense(matrix: Any, name: str) -> NDArray[Any]:
    """Make a sparse matrix dense, if that is not too large and its indices lie within it.

    SciPy does not look at all indices before it writes to where they point.
    """
    size = int(np.prod(matrix.shape, dtype=object)) * max(8, matrix.dtype.itemsize)
    if size > MOST_DENSE_BYTES:
        shape = " x ".join(map(str, matrix.shape))
        raise ValueError(
            f"{name} must fit into {MOST_DENSE_BYTES >> 20} MB if it is sparse, because it is made dense; "
            f"its {shape} numbers need {size >> 20} MB. Reduce it to some principal components first"
        )
    try:
        _check_indices(matrix)
        return np.asarray(matrix.toarray())
    except (ValueError, TypeError, IndexError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(f"{name} must be a valid sparse matrix: {reason}") from None


def _check_indices(matrix: Any) -> None:
    if hasattr(matrix, "indptr"):  # csr, csc, bsr
        # Before anything of SciPy's, which trusts them: where rows begin and end.
        bounds = np.asarray(matrix.indptr)
        if bounds.size == 0 or bounds[0] != 0 or (bounds[1:] < bounds[:-1]).any():
            raise ValueError("index pointers do not ascend from 0")
        if bounds[-1] > min(len(matrix.indices), len(matrix.data)):
            raise ValueError("index pointers go beyond the data")
        matrix.check_format(full_check=True)
    elif hasattr(matrix, "offsets"):  # dia
        rows, columns = matrix.shape
        offsets = np.asarray(matrix.offsets)
        if ((offsets <= -rows) | (offsets >= columns)).any():
            raise ValueError("a diagonal lies outside of the matrix")
    elif hasattr(matrix, "row"):  # coo
        for axis, indices in enumerate(getattr(matrix, "coords", (matrix.row, matrix.col))):
            if len(indices) != len(matrix.data):
                raise ValueError("there are not as many indices as numbers")
            if ((np.asarray(indices) < 0) | (np.asarray(indices) >= matrix.shape[axis])).any():
                raise ValueError(f"an index of axis {axis} lies outside of the matrix")
