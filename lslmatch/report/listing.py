"""What of a match a page lists: all pairs up to a limit, above it the doubtful ones and a sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import IntArray
from lslmatch.diagnosis.outcome import DOUBTFUL, Diagnosis
from lslmatch.results import MatchResult

#: Up to this many pairs are listed.
MOST_PAIRS = 5_000
#: Of more, the most doubtful 4,000 at most are listed; the others are drawn at random.
_MOST_DOUBTFUL = 4_000


class Listing(NamedTuple):
    """The pairs of a page, by row of x."""

    rows: IntArray
    """Rows of x, ascending."""
    doubtful: int
    """How many pairs are doubtful, listed or not."""
    sampled: int
    """How many pairs were drawn at random, if there are too many for all of them; 0 if all are listed."""


def list_pairs(result: MatchResult, diagnosis: Diagnosis | None, most: int = MOST_PAIRS) -> Listing:
    """Choose the pairs of a page. The draw is the same for the same pairs."""
    matched = np.flatnonzero(result.permutation >= 0)
    doubtful = np.empty(0, np.intp)
    if diagnosis is not None and diagnosis.confidence is not None:
        doubtful = diagnosis.doubtful(DOUBTFUL)
    if matched.size <= most:
        return Listing(matched, doubtful.size, 0)
    kept = doubtful[: min(_MOST_DOUBTFUL, most)]
    others = np.setdiff1d(matched, kept)
    drawn = np.random.default_rng(0).choice(others, most - kept.size, replace=False)
    return Listing(np.sort(np.concatenate([kept, drawn])), doubtful.size, drawn.size)
