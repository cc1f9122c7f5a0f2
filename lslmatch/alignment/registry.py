"""The ways to align two sets, by name.

To add one: a module of its own with a function that takes two checked sets and the number of threads and
returns an :class:`~lslmatch.alignment.fit.Alignment`, and a line in `ALIGNMENTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from lslmatch._validation import check_affine, check_option
from lslmatch.alignment.fit import Alignment
from lslmatch.alignment.moments import affine_of_moments
from lslmatch.alignment.profile import fit_profile
from lslmatch.alignment.robust import fit_robust
from lslmatch.alignment.selection import fit_best
from lslmatch.results import Affine

#: Those that are learned together with the noise (:mod:`lslmatch.columns`).
WITH_NOISE = ("columns",)
ALIGNMENTS: dict[str, Callable[[FloatArray, FloatArray, int], Alignment]] = {
    "standardize": lambda x, y, workers: Alignment(affine_of_moments(x, y)),
    "identity": lambda x, y, workers: Alignment(Affine(1.0, np.zeros(x.shape[1]))),
    "profile": lambda x, y, workers: fit_profile(x, y, workers).alignment(),
    "robust": lambda x, y, workers: fit_robust(x, y),
    "auto": lambda x, y, workers: fit_best(x, y, workers),
}

#: Maps that kernels find themselves (None), or that are known before the sets are.
_DIRECT: dict[str, Callable[[int], Affine | None]] = {
    "standardize": lambda d: None,
    "identity": lambda d: Affine(1.0, np.zeros(d)),
}


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
    return ALIGNMENTS[check_option(alignment, "alignment", (*ALIGNMENTS, *WITH_NOISE))](x, y, workers)
