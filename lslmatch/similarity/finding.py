"""The similarity between two sets, in their own units, with what is to be said of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.maps import Similarity
from lslmatch.similarity.confirming import least_points
from lslmatch.similarity.polishing import polish
from lslmatch.similarity.procrustes import Rules
from lslmatch.similarity.searching import Found, search
from lslmatch.similarity.units import Turn, Units, as_similarity, as_turn, robust_units
from lslmatch.summary import count, number, turn_words


class Turned(NamedTuple):
    """A map, why it was chosen, and why it should be doubted; the latter is empty if it should not."""

    map: Similarity
    decision: str
    doubt: str
    confirmed: bool


def find_similarity(
    x: FloatArray,
    y: FloatArray,
    mirror: bool = True,
    scale: float | None = None,
    workers: int = 1,
    first: Similarity | None = None,
) -> Turned:
    """Find the rotation, the scale and the shift between two checked sets; a scale that is given is held.

    The search may begin with a map, of which all angles were seen to speak.
    """
    a, b = robust_units(x), robust_units(y)
    if a is None or b is None:
        doubt = "half of the points of a set coincide, or are out of range, so that no rotation can be told"
        return Turned(_without_spread(x, y, scale), f"alignment: none, as {doubt}", doubt, False)
    is_swapped = len(x) > len(y)
    if is_swapped:
        a, b = b, a
    held = None if scale is None else (1.0 / scale if is_swapped else scale) * (b.unit / a.unit)
    rules = Rules(mirror, held)
    before = None
    if first is not None:
        before = as_turn(first.inverse() if is_swapped else first, a, b)
    with np.errstate(all="ignore"):
        found = search(a, b, rules, before)
        if found is None:
            doubt = "no map could be fitted"
            return Turned(_without_spread(x, y, scale), f"alignment: none, as {doubt}", doubt, False)
        turn = polish(a.points, b.points, found.best.turn, rules, workers)
    if is_swapped:
        turn, a, b = turn.inverse(), b, a
    other = None
    if found.rival is not None:
        other = found.rival.turn.inverse() if is_swapped else found.rival.turn
    exact = _in_given_units(turn, a, b, scale)
    return Turned(exact, *_words(found, turn, other), found.confirmed and other is None)


def _in_given_units(turn: Turn, a: Units, b: Units, scale: float | None) -> Similarity:
    found = as_similarity(turn, a, b)
    if scale is None:
        return found
    held = found._replace(scale=scale)
    # The middle of y goes where it went.
    return held._replace(shift=found.shift + (found.scale - scale) * (found.rotation @ b.centre))


def _words(found: Found, turn: Turn, rival: Turn | None) -> tuple[str, str]:
    """Say what was chosen, and why it should be doubted."""
    stands_out = f"pairs stand out by {number(found.stands_out)} standard errors"
    tried = f"{count(found.climbs, 'start')} tried, the best by {found.start}"
    words = turn_words(turn.rotation)
    n, d = found.part.a.shape
    if rival is not None:
        doubt = f"the map is ambiguous: {words} and {turn_words(rival.rotation)} are as likely"
    elif found.confirmed:
        return f"alignment: {words}, confirmed ({stands_out}; {tried})", ""
    elif found.can_tell:
        doubt = f"no rotation is confirmed: {stands_out}, as in unrelated sets ({tried})"
    else:
        doubt = f"{count(n, 'pair')} cannot tell a rotation in {count(d, 'dimension')}"
        doubt += f": that takes {least_points(d)}"
    return f"alignment: {words}, but {doubt}", doubt


def _without_spread(x: FloatArray, y: FloatArray, scale: float | None) -> Similarity:
    """Give the map that takes median to median, where nothing else can be told."""
    scale = 1.0 if scale is None else scale
    d = x.shape[1]
    return Similarity(scale, np.eye(d), np.median(x, axis=0) - scale * np.median(y, axis=0))
