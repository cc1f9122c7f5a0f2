"""Reading back a result that :meth:`MatchResult.save` has written."""

from __future__ import annotations

import os

import numpy as np

from lslmatch._stored import read_archive
from lslmatch._validation import check_matching
from lslmatch.results import MatchResult


def load(path: str | os.PathLike[str]) -> MatchResult:
    """Read a result that `MatchResult.save` has written.

    Nothing in the file is executed: it has no pickles. That it proves anything is for
    :func:`check_certificate` to say.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    MatchResult
        Equal to the one that was saved.

    Raises
    ------
    ValueError
        If the file is no such file, of a later version, damaged, or contradicts itself; in one line.
    OSError
        If there is no such file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from lslmatch import load, match
    >>> x = np.random.default_rng(1).normal(size=(20, 3))
    >>> result = match(x, 2.0 * x[::-1] + 1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "match.npz"
    ...     result.save(path)
    ...     load(path) == result
    True
    """
    result: MatchResult = read_archive(path, MatchResult)
    try:
        _check(result)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"{os.fspath(path)} must be a file of MatchResult.save: {error}") from None
    return result


def _check(result: MatchResult) -> None:
    """Raise if the parts of a result do not fit together."""
    if result.permutation.ndim != 1 or result.shift.ndim != 1:
        raise ValueError("permutation and shift must be vectors")
    n = result.permutation.size
    m = max(int(result.permutation.max(initial=0)) + 1, 1)
    if result.col_dual is not None:
        m = result.col_dual.size
    check_matching(result.permutation, "permutation", n, m, True)
    if result.chosen_from is not None:
        check_matching(result.chosen_from, "chosen_from", n, m, True)
    for name, size in (("row_dual", n), ("col_dual", m), ("confidence", n)):
        values = getattr(result, name)
        if values is not None and values.shape != (size,):
            raise ValueError(f"{name} must have shape ({size},); got shape {values.shape}")
    if result.labels is not None:
        for labels, size in zip(result.labels, (n, m), strict=True):
            if labels is not None and (labels.ndim != 1 or labels.size < size):
                raise ValueError(f"labels must name {size} points; got shape {np.shape(labels)}")
    if result.columns is not None and len(result.columns) != result.shift.size:
        raise ValueError(f"columns must be {result.shift.size}; got {len(result.columns)}")
