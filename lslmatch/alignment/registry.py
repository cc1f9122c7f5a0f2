"""The alignments that find a map before anything is matched under it.

To add one: a module of its own with a function that takes two checked sets and the number of threads and
returns an :class:`~lslmatch.alignment.fit.Alignment`, its row, and the row's name in `ALIGNERS`. Those that
match as well, because they learn map and noise together, are in :mod:`lslmatch.tables`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from lslmatch._validation import check_affine
from lslmatch.alignment.fit import Alignment, AlignmentRow
from lslmatch.alignment.moments import STANDARDIZE
from lslmatch.alignment.profile import PROFILE
from lslmatch.alignment.robust import ROBUST
from lslmatch.alignment.selection import AUTO
from lslmatch.results import Affine


def _identity(d: int) -> Affine:
    return Affine(1.0, np.zeros(d))


IDENTITY = AlignmentRow(
    "identity",
    "there are none: scale 1, shift 0",
    align=lambda x, y, workers: Alignment(_identity(x.shape[1])),
    direct=_identity,
)
ALIGNERS: dict[str, AlignmentRow] = {row.name: row for row in (STANDARDIZE, IDENTITY, PROFILE, ROBUST, AUTO)}
_DIRECT = {row.name: row.direct for row in ALIGNERS.values() if row.direct is not None}


def is_direct(alignment: Any) -> bool:
    """Say whether nothing has to be searched for, so that a kernel may align and match at once."""
    return alignment in _DIRECT if isinstance(alignment, str) else isinstance(alignment, tuple)


def direct_map(alignment: str | Affine, d: int) -> Affine | None:
    """Give the map of a direct alignment; None if it is to be estimated by moments."""
    if isinstance(alignment, str):
        return _DIRECT[alignment](d)
    return check_affine(alignment, "alignment", d)


def align(x: FloatArray, y: FloatArray, alignment: str | Affine, workers: int) -> Alignment:
    """Align two checked sets in the way that is named, or by a given map."""
    if isinstance(alignment, tuple):
        return Alignment(check_affine(alignment, "alignment", x.shape[1]))
    find = ALIGNERS[alignment].align
    assert find is not None, "it aligns"
    return find(x, y, workers)
