"""Whether the pairs of a map stand out more than those that a search finds in unrelated sets.

The prominence of a pair is the log-ratio of the squared distances of the nearest other candidate and of the
pair, all under maps that leave out the pairs they judge. In unrelated sets of one size its mean is below 0,
but for chance: a matching that is optimal as a whole leaves many points a nearer candidate. That is not so
with few points for each dimension, where a rotation has nearly as many angles as there are pairs, nor where
one set is larger and most points get their nearest candidate. There maps that chance gave are improved too,
and the mean prominence must exceed theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from lslmatch.similarity.climbing import Climbed

#: Standard errors by which the mean prominence must exceed 0, and what maps by chance reach.
_BEYOND_CHANCE = 5.0
#: Share of prominences that must be positive.
_LEAST_SHARE = 0.5
#: With more points for each dimension than this, and a larger set that is at most so many times as large,
#: what chance gives is not looked at.
_MANY_POINTS, _LARGER = 8, 1.05
#: With fewer, nothing can be told.
_FEW_POINTS, _LEAST_POINTS = 2, 4


def least_points(d: int) -> int:
    """Give the number of pairs from which on a right rotation can be told from a wrong one at all."""
    return max(_FEW_POINTS * d, _LEAST_POINTS)


def needs_chance(n: int, m: int, d: int) -> bool:
    """Say whether maps that chance gave must be looked at beside the one that is to be confirmed."""
    return n < _MANY_POINTS * d or m > _LARGER * n


def has_few_points(n: int, d: int) -> bool:
    """Say whether maps that chance gave become much better when they are climbed from."""
    return n < _MANY_POINTS * d


def stands_out(found: Climbed, by_chance: Iterable[Climbed] = ()) -> float:
    """Give by how many standard errors the mean prominence exceeds 0, and what maps by chance reach."""
    values = found.prominence
    least = 0.0
    for other in by_chance:
        if np.mean(other.partner == found.partner) < 0.5 and other.value > found.value:
            least = max(least, float(other.prominence.mean()))
    gain, spread = float(values.mean()) - least, float(values.std())
    return gain * math.sqrt(values.size) / spread if spread > 0.0 else math.copysign(math.inf, gain)


def is_confirmed(found: Climbed, by_chance: Iterable[Climbed] = ()) -> bool:
    """Say whether the pairs of a map stand out beyond chance."""
    if not float(np.mean(found.prominence > 0.0)) > _LEAST_SHARE:
        return False
    return stands_out(found, by_chance) > _BEYOND_CHANCE
