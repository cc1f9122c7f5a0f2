"""The search: climb from one start after the other, until the pairs of a map stand out beyond chance."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from lslmatch._progress import tell
from lslmatch.similarity.climbing import ROUNDS, Climbed, climb, climb_flips
from lslmatch.similarity.confirming import (
    has_few_points,
    is_confirmed,
    least_points,
    needs_chance,
    stands_out,
)
from lslmatch.similarity.procrustes import Rules
from lslmatch.similarity.rivals import find_rival, is_rival
from lslmatch.similarity.starting import Part, chance_starts, starts
from lslmatch.similarity.units import Turn, Units

#: More points than this are not all looked at in a search, but so many, and so many for each dimension.
_MOST_ROWS, _ROWS, _ROWS_BY_DIMENSION = 1200, 600, 4
#: Maps that chance gave.
_BY_CHANCE = 4
#: Rounds that such a map is improved where there are many points for each angle.
_FEW_ROUNDS = 4
#: Climbs that ended without being confirmed, the best of which are flipped.
_FLIPPED = 3
#: A map under which fewer pairs stand out may have one weak axis reversed, although it is confirmed.
_NEARLY_RIGHT = 0.9
#: Starts that are not tried once a map is confirmed, although it has a rival.
_AFTER_SPREAD = ("profiles", "Gromov-Wasserstein")


class Found(NamedTuple):
    """A map at the end of a climb, and what is thought of it."""

    best: Climbed
    start: str
    climbs: int
    part: Part
    stands_out: float  # by so many standard errors
    can_tell: bool  # whether there are enough points to confirm a map at all
    confirmed: bool = False  # whether its pairs stand out beyond chance
    rival: Climbed | None = None  # another one that is as likely


def search(a: Units, b: Units, rules: Rules, first: Turn | None = None) -> Found | None:
    """Look for the map between two sets in robust units, of which `a` is not the larger one.

    A map that there is a reason for may come before all other starts.
    """
    # The same numbers for the same sets, however often.
    rng = np.random.default_rng(0)
    part = _part(a, b, rng)
    n, d = part.a.shape
    tells = n >= least_points(d)
    by_chance: list[Climbed] = []
    if tells and needs_chance(n, len(part.b), d):
        rounds = ROUNDS if has_few_points(n, d) else _FEW_ROUNDS
        drawn = [
            climb(part.a, part.b, start, rules, rounds) for start in chance_starts(d, rules, rng, _BY_CHANCE)
        ]
        by_chance = [one for one in drawn if one is not None]
    ends: list[Found] = []
    begin = [] if first is None else [("a look at all angles", first)]
    for word, start in itertools.chain(begin, starts(part, rules, rng)):
        if word in _AFTER_SPREAD and any(one.confirmed for one in ends):
            break
        found = climb(part.a, part.b, start, rules)
        tell("starts tried", len(ends), 0)
        if found is None:
            continue
        seen = _judge(part, found, word, len(ends) + 1, by_chance, rules) if tells else None
        if seen is not None and seen.rival is None:
            others = [one.best for one in ends if one.confirmed and is_rival(one.best, seen.best)]
            seen = seen._replace(rival=others[0] if others else None)
        ends.append(seen or Found(found, word, len(ends) + 1, part, stands_out(found, by_chance), tells))
        if seen is not None and seen.rival is None:
            return seen
    ends.sort(key=lambda one: one.best.value)
    for k, one in enumerate(ends[:_FLIPPED]):
        if not any(other.confirmed for other in ends):
            flipped = climb_flips(part.a, part.b, one.best, rules)
            seen = _judge(part, flipped, one.start, len(ends), by_chance, rules) if tells else None
            ends[k] = seen or one._replace(best=flipped, stands_out=stands_out(flipped, by_chance))
    if not ends:
        return None
    # Of what is confirmed, the best; it has a rival, or it would have been returned.
    confirmed = [one for one in ends if one.confirmed]
    return min(confirmed or ends, key=lambda one: one.best.value)._replace(climbs=len(ends))


def _judge(
    part: Part, found: Climbed, word: str, climbs: int, by_chance: list[Climbed], rules: Rules
) -> Found | None:
    """Say how far a map stands out, with a rival if it has one; None if it is not confirmed."""
    if not is_confirmed(found, by_chance):
        return None
    if np.mean(found.prominence > 0.0) < _NEARLY_RIGHT:
        found = climb_flips(part.a, part.b, found, rules)
    rival = find_rival(part, found, rules, np.random.default_rng(1))
    if rival is not None and rival.value < found.value:
        found, rival = rival, found
    return Found(found, word, climbs, part, stands_out(found, by_chance), True, True, rival)


def _part(a: Units, b: Units, rng: np.random.Generator) -> Part:
    n, d = a.points.shape
    count = n if n <= _MOST_ROWS else max(_ROWS, _ROWS_BY_DIMENSION * d)
    rows = rng.permutation(n)[: min(count, n)]
    return Part(a.points[rows], b.points, a.core, b.core, rows)
