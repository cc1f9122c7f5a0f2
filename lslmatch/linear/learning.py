"""Learning a linear map: from known pairs, from columns that correspond, or from nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.columns.learning import learn_columns
from lslmatch.given import Given
from lslmatch.linear.climbing import Learned, climb
from lslmatch.linear.coordinates import Sets, corresponding_sets, principal_sets
from lslmatch.linear.growth import grow
from lslmatch.linear.unrelated import guess_pairs
from lslmatch.maps import as_column_map

#: Known pairs from which on others grow from them.
FEWEST_KNOWN = 3
#: The cross-entropy of a sure end, as a share of that of a guess: no other start is tried then.
_SURE = 1 / 6


class Found(NamedTuple):
    """What a search ended with."""

    start: str
    sets: Sets
    learned: Learned

    @property
    def cross_entropy(self) -> float:
        """How badly the matching predicts its own pairs, each left out."""
        return self.learned.cross_entropy


def learn_linear(
    x: FloatArray,
    y: FloatArray,
    given: Given | None,
    metrics: tuple[str, ...],
    workers: int,
    only: str | None = None,
) -> Found | None:
    """Search from each start until an end is sure, and keep the one that predicts itself best.

    With `only`, from the start of that name.
    """
    best: Found | None = None
    for name, sets, matching in _starts(x, y, given, workers, only):
        learned = climb(sets.a, sets.b, matching, given, metrics, sets.prior, workers)
        if learned is not None and (best is None or learned.cross_entropy < best.cross_entropy):
            best = Found(name, sets, learned)
        if best is not None and best.cross_entropy < _SURE * math.log(len(x) * len(y)):
            break
    return best


def _starts(
    x: FloatArray, y: FloatArray, given: Given | None, workers: int, only: str | None
) -> Iterator[tuple[str, Sets, IntArray]]:
    """Give coordinates and a first matching of all points, with the name of where it comes from."""
    known = 0 if given is None else len(given.known)
    if given is not None and known >= FEWEST_KNOWN:
        first = np.full(len(x), -1, np.intp)
        first[given.known[:, 0]] = given.known[:, 1]
        for name, by_column in (("known pairs", False), ("known pairs, in units of the columns", True)):
            if only in (None, name):
                sets = principal_sets(x, y, by_column)
                yield name, sets, grow(sets.a, sets.b, first, given, workers)
    if x.shape[1] == y.shape[1] and only in (None, "columns"):
        columns = learn_columns(x, y, ("diagonal", "full"), None, workers)
        if columns is not None:
            yield "columns", corresponding_sets(x, y, as_column_map(columns.map)), columns.permutation
    if known < FEWEST_KNOWN:
        for by_column in (False, True):
            sets = principal_sets(x, y, by_column)
            for name, first in guess_pairs(sets.a, sets.b, given):
                name += ", in units of the columns" * by_column
                if only in (None, name):
                    yield name, sets, grow(sets.a, sets.b, first, given, workers)
