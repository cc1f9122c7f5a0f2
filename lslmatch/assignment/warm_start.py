"""What the solution of one problem tells about another one, whose points have hardly moved.

A shortlist holds the best pairs of a row, and says that all others have a reduced cost of at least ``bound``.
With logarithms as costs, these pairs have a distance of at least ``exp((bound + col_dual[j]) / 2)``. If
column j moves by ``move[j]``, the distance falls by no more than that, and the reduced cost by no more than
``-2 log(1 - w exp(-bound / 2))``, where w is the greatest of ``move[j] * exp(-col_dual[j] / 2)``. So a list
is still a list of its row, with a bound that is a little lower, and rows whose best pairs are clear need
not be compared with all columns again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.screening import PairScreen, price_pairs
from lslmatch.assignment.shortlists import Shortlists
from lslmatch.geometry.coordinates import Geometry

#: Share of the rows that may come to the end of their lists; with more of them, all rows get new ones.
_MOST_EXHAUSTED = 0.25
#: A move is longer than it looks by less than this times the root of the number of coordinates: each is 1 at
#: most, and rounded before the move and after it. That is also more than the distance up to which points
#: coincide, 2**-52 of the root mean square. So bounds below the floor say nothing.
_ROUNDING = 2.0**-51


class Recalled(NamedTuple):
    """What a similar problem has left: lists with costs and bounds as they are now, and column duals."""

    lists: Shortlists
    col_dual: FloatArray
    exhausted: IntArray  # rows whose list has come to its end


class WarmStart:
    """The lists and column duals of the last problem that was solved, if any."""

    def __init__(self) -> None:
        self._last: tuple[Geometry, Shortlists, FloatArray] | None = None

    def keep(self, geometry: Geometry, lists: Shortlists, col_dual: FloatArray) -> None:
        """Keep what was found."""
        self._last = geometry, lists, col_dual

    def recall(self, screen: PairScreen, size: int) -> Recalled | None:
        """Bring the last lists up to date, with room for `size` pairs; None if they are of no use."""
        if self._last is None or not screen.rule.logarithm:
            return None
        last, lists, col_dual = self._last
        geometry = screen.geometry
        n, m = geometry.shape
        if not (geometry.is_tame and last.is_tame):
            return None
        if n != m or last.exponent != geometry.exponent or not np.array_equal(last.a, geometry.a):
            return None
        # Column duals only ever fall. With their greatest at 0 they do not fall without end.
        top = col_dual.max()
        col_dual = col_dual - top
        bound = _bounds_after_move(screen, last, lists.bound + top, col_dual)
        found = _priced_anew(screen, lists, bound, size)
        best = (found.cost - col_dual[found.col]).min(axis=1)
        exhausted = np.flatnonzero(best > bound)
        return None if exhausted.size > _MOST_EXHAUSTED * n else Recalled(found, col_dual, exhausted)


def _bounds_after_move(
    screen: PairScreen, last: Geometry, bound: FloatArray, col_dual: FloatArray
) -> FloatArray:
    """Lower the bounds by as much as the move of the columns may lower reduced costs."""
    d = last.b.shape[1]
    move = np.linalg.norm(screen.geometry.b - last.b, axis=1) + _ROUNDING * math.sqrt(d)
    with np.errstate(over="ignore", divide="ignore"):
        share = (move * np.exp(-0.5 * col_dual)).max() * np.exp(-0.5 * bound)
        lowered: FloatArray = bound + 2.0 * np.log1p(-np.minimum(share, 1.0))
    return lowered


def _priced_anew(screen: PairScreen, lists: Shortlists, bound: FloatArray, size: int) -> Shortlists:
    """Compute the costs of the listed pairs, which come first in their lists."""
    n = bound.size
    found = Shortlists.empty(n, size)._replace(bound=bound)
    is_listed = np.isfinite(lists.cost)
    used = int(is_listed.sum(axis=1).max())
    found.col[:, :used] = lists.col[:, :used]
    cols = np.ascontiguousarray(np.where(is_listed, lists.col, -1)[:, :used])
    costs = np.empty((n, used))
    price_pairs(screen.geometry, screen.rule, np.arange(n), cols, costs)
    found.cost[:, :used] = costs
    return found
