"""The rule by which ranked blind pairs are kept: as many as the pairs within the sets allow.

Of blind pairs a true one joins the two sets. A false one does so by a fair coin, as which of an object's two
points is in x is a coin, too. So pairs that join a set to itself tell how many of the others are false, and

    the largest k for which ``1 + within_k <= share * between_k``

keeps the expected share of false pairs among the first k that join the sets at or below `share`. The theorem,
its proof and what breaks it are on the page "A limit for false pairs" of the documentation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray
from lslmatch.choice.deletion import isotonic


class Count(NamedTuple):
    """What became of ranked pairs when the sets were looked at."""

    kept: int  # the first so many pairs are kept, as far as they join the sets
    between: int  # how many of these do
    within: int  # how many do not
    later_between: int  # the same of the pairs that are not kept
    later_within: int
    right: FloatArray  # (between + later_between,): estimated for each pair that joins the sets, in order

    @property
    def strangers(self) -> int:
        """Twice the pairs that are estimated to be false: about as many points have no partner."""
        return 2 * (self.within + self.later_within)


def count_pairs(joins: NDArray[np.bool_], share: float) -> Count:
    """Apply the rule to pairs in the order of their rank, of which some join the two sets."""
    between, within = np.cumsum(joins), np.cumsum(~joins)
    passed = np.flatnonzero(1 + within <= share * between)
    kept = int(passed[-1]) + 1 if passed.size else 0
    inside = int(joins[:kept].sum())
    later = int(joins[kept:].sum())
    right = _share_of_right(joins)
    return Count(kept, inside, kept - inside, later, joins.size - kept - later, right)


def _share_of_right(joins: NDArray[np.bool_]) -> FloatArray:
    """Estimate how probably each pair that joins the sets is right, from pairs of its rank that do not.

    Of false pairs as many join the sets as do not; how frequent the latter are only grows with the rank
    (isotonic regression, with one of them before all others, as in the rule).
    """
    if joins.size == 0:
        return np.empty(0)
    same = np.concatenate([[1.0], ~joins])
    level = np.minimum(isotonic(same, np.ones(same.size))[1:], 0.5)
    right: FloatArray = ((1.0 - 2.0 * level) / (1.0 - level))[joins]
    return right
