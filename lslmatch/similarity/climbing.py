"""From a map to a better one: the exact matching under it, the map of its pairs, and so on."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.solve import assign
from lslmatch.similarity.procrustes import Fit, Rules, fit_pairs, squares_under
from lslmatch.similarity.units import Turn

#: Rounds, at most, from a start, and after a flip.
ROUNDS, FLIP_ROUNDS = 40, 12
#: A pair with no distance at all counts this many times as much as one of the median distance, and one more.
_QUIET = 0.1
#: Flips that are tried, at most.
_FLIPS = 6
#: A set that is so many times as large as the other has a nearest partner for each of its points.
_FAR_LARGER = 4


class Climbed(NamedTuple):
    """A matching, the map of its pairs, and how well each pair is predicted by the others."""

    turn: Turn
    partner: IntArray  # (n,): of the matching that the map was fitted to
    value: float  # the mean of log(r**2 / scale), each pair left out
    fit: Fit
    squares: FloatArray  # (n, m)

    @property
    def prominence(self) -> FloatArray:
        """The log-ratio of the nearest other candidate of either partner and of the pair."""
        return prominence(np.log(self.squares), self.partner)


def climb(a: FloatArray, b: FloatArray, start: Turn, rules: Rules, rounds: int = ROUNDS) -> Climbed | None:
    """Climb from a map until the matching repeats; the best on the way. `a` is not larger than `b`."""
    return _climb(a, b, squares_under(start, a, b), rules, rounds)


def climb_flips(a: FloatArray, b: FloatArray, found: Climbed, rules: Rules) -> Climbed:
    """Reverse a singular direction, climb again, and keep that if it is better.

    A climb hardly ever changes the sign of the determinant: one that ended with one weak axis reversed stays
    there.
    """
    last = found.fit.singular[1].size - 1
    for k in (last, last - 1, last - 2)[:_FLIPS]:
        if k < 0:
            break
        fit = fit_pairs(a, b, found.partner, found.fit.weight, rules, flip=k)
        other = _climb(a, b, squares_under(fit.turn, a, b), rules, FLIP_ROUNDS)
        if other is not None and other.value < found.value:
            found = other
    return found


def _climb(a: FloatArray, b: FloatArray, squares: FloatArray, rules: Rules, rounds: int) -> Climbed | None:
    rows = np.arange(len(a))
    seen: set[bytes] = set()
    best: Climbed | None = None
    for _ in range(rounds):
        partner = _match(squares)
        key = partner.tobytes()
        if key in seen:
            break
        seen.add(key)
        own = squares[rows, partner]
        for _ in range(2):
            fit = fit_pairs(a, b, partner, pair_weights(own), rules)
            own = fit.squares_of_pairs()
        if not (np.isfinite(own).all() and math.isfinite(fit.turn.scale)):
            break
        squares = fit.squares()
        value = float(np.log(own).mean()) - math.log(fit.turn.scale)
        if best is None or value < best.value:
            best = Climbed(fit.turn, partner, value, fit, squares)
    return best


def _match(squares: FloatArray) -> IntArray:
    """Match all points of the smaller set; where the other is far larger, each with its nearest partner."""
    n, m = squares.shape
    if m >= _FAR_LARGER * n:
        nearest: IntArray = squares.argmin(axis=1)
        return nearest
    return assign(np.log(squares)).col_ind


def pair_weights(squares: FloatArray) -> FloatArray:
    """Weigh pairs inversely to their squared distance, and none infinitely."""
    middle = float(np.median(squares))
    return middle / (_QUIET * middle + squares)


def prominence(logarithms: FloatArray, partner: IntArray) -> FloatArray:
    """Give how much dearer the cheapest other candidate of either partner of each pair is."""
    rows = np.arange(len(partner))
    own = logarithms[rows, partner]
    others = logarithms.copy()
    others[rows, partner] = np.inf
    return np.minimum(others.min(axis=1), others.min(axis=0)[partner]) - own
