"""Branch and bound over the angle: arcs are cut in two until assignments show that none holds a better turn.

Two sums are looked for: the least of all, and the least apart from it, under turns that are farther away or
of the mirror image. A matching that an arc was not better than is followed to the turn that suits it best.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._progress import tell
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.dense import raise_duals
from lslmatch.assignment.solve import assign
from lslmatch.plane.arcs import FIRST, ROUNDING, WHOLE, Arc, Plane, end_costs, take_logarithms

#: Steps that follow one matching: at a first look, and to the end; alternations of matchings and turns; the
#: change of an angle that ends the steps.
_FEW_STEPS, _STEPS, _ALTERNATIONS, _SETTLED = 12, 200, 50, 1e-14
#: How much of a tolerance the search leaves to those who check it with their own rounding.
_OWN_SHARE = 0.9
#: Angles that are nearly apart by so much count as apart.
_ROUNDED = 1e-6


class Turned(NamedTuple):
    """A turn, and the matching of the least sum under it."""

    angle: float  # from 0 to a whole turn
    mirrored: bool
    value: float  # the sum of log q
    partner: IntArray  # (n,)


class Leaf(NamedTuple):
    """An arc, and column duals at both of its ends."""

    arc: Arc
    bound: float
    low: FloatArray
    high: FloatArray


class Wanted(NamedTuple):
    """What is to be shown."""

    tolerance: float  # the sum of no turn is less than the best one's by more than this
    apart: float  # angles farther away than this are other turns
    margin: float  # of those it is to be shown that their sum is greater by this
    loose: float  # or, if it is not, that it is not less than the least of theirs by more than this
    most: int  # arcs that may be looked at
    mirrors: bool = True  # whether mirror images are turns as well


class Proof(NamedTuple):
    """The best turn, the best one apart from it that was seen, and arcs that leave out no angle."""

    best: Turned
    other: Turned | None
    leaves: list[Leaf]
    nodes: int
    is_closed: bool  # whether all was shown, or arcs ran out


def prove(plane: Plane, start: Turned, wanted: Wanted) -> Proof:
    """Show that no turn is better than the best one, to which the search climbs if it is not the first."""
    search = _Search(plane, start, wanted)
    m = plane.b.shape[1]
    width = WHOLE // FIRST
    waiting = [
        Leaf(Arc(mirrored, k * width, width), -math.inf, np.zeros(m), np.zeros(m))
        for mirrored in ((True, False) if wanted.mirrors else (False,))
        for k in range(FIRST)
    ]
    done: list[Leaf] = []
    while waiting:
        leaf = waiting.pop()
        if search.nodes >= wanted.most or leaf.arc.width <= 1:
            done.append(leaf)
            continue
        tell("arcs looked at", search.nodes, 0)
        leaf = search.bounded(leaf)
        if leaf.bound >= search.target(leaf.arc):
            done.append(leaf)
        else:
            waiting += [leaf._replace(arc=half) for half in leaf.arc.halves()]
        if not waiting and search.nodes < wanted.most:
            # What was near the best turn may be apart from a better one that was found later.
            waiting = [one for one in done if one.bound < search.target(one.arc)]
            kept = {one.arc for one in waiting}
            done = [one for one in done if one.arc not in kept]
    is_closed = all(one.bound >= search.target(one.arc) for one in done)
    return Proof(search.best, search.other, sorted(done), search.nodes, is_closed)


class _Search:
    def __init__(self, plane: Plane, start: Turned, wanted: Wanted) -> None:
        self.plane, self.wanted = plane, wanted
        self.best = climb_turn(plane, start)
        self.other: Turned | None = None
        self.nodes = 0

    def target(self, arc: Arc) -> float:
        """Give the sum that all turns of an arc are to be shown to reach."""
        wanted = self.wanted
        least = self.best.value - _OWN_SHARE * wanted.tolerance
        if is_within(arc, self.best, wanted.apart):
            return least
        more = self.best.value + wanted.margin
        if self.other is not None:
            more = min(more, self.other.value - _OWN_SHARE * wanted.loose)
        return max(least, more)

    def bounded(self, leaf: Leaf) -> Leaf:
        """Bound the sums of all turns of an arc; follow its matchings where that does not suffice."""
        self.nodes += 1
        arc, duals = leaf.arc, [leaf.low, leaf.high]
        bound = math.inf
        for k, costs in enumerate(end_costs(self.plane, arc)):
            take_logarithms(costs)
            target = self.target(arc)
            enough = target + 1e-12 * abs(target)
            if k == 1 and duals[1] is leaf.low:
                duals[1] = duals[0]
            state, value = raise_duals(costs, duals[k], enough)
            duals[k] = state.col_dual
            bound = min(bound, value)
            if value < target:
                partner = state.col_of_row[: len(self.plane.a)]
                self._follow(arc, partner)
                if value < self.target(arc):
                    break
        return Leaf(arc, bound, duals[0], duals[1])

    def _follow(self, arc: Arc, partner: IntArray) -> None:
        """See how good a matching is within its arc, and climb from there if it is better."""
        angle, value = best_turn(self.plane, partner, arc.middle, arc.mirrored, arc.half_width, _FEW_STEPS)
        seen = Turned(angle % math.tau, arc.mirrored, value, partner)
        tolerance = self.wanted.tolerance
        if value < self.best.value - 0.01 * tolerance:
            climbed = climb_turn(self.plane, seen)
            if self._is_other(self.best, climbed):
                self.other = self.best
            elif self.other is not None and not self._is_other(self.other, climbed):
                self.other = None
            self.best = climbed
        elif self._is_other(seen, self.best) and (self.other is None or value < self.other.value):
            climbed = climb_turn(self.plane, seen)
            self.other = climbed if self._is_other(climbed, self.best) else seen
            if self.other.value < self.best.value:
                self.best, self.other = self.other, self.best

    def _is_other(self, one: Turned, best: Turned) -> bool:
        # A little nearer than all arcs that are apart: what is followed within them may end at their ends.
        apart = self.wanted.apart * (1.0 - 2.0 * _ROUNDED)
        return one.mirrored != best.mirrored or _between(one.angle, best.angle) >= apart


def is_within(arc: Arc, best: Turned, apart: float) -> bool:
    """Say whether no angle of an arc is apart from the best one."""
    if arc.mirrored != best.mirrored:
        return False
    return _between(arc.middle, best.angle) + arc.half_width <= apart * (1.0 - _ROUNDED)


def _between(one: float, other: float) -> float:
    return abs(math.remainder(one - other, math.tau))


def best_turn(
    plane: Plane,
    partner: IntArray,
    angle: float,
    mirrored: bool,
    within: float = math.inf,
    steps: int = _STEPS,
) -> tuple[float, float]:
    """Follow one matching from an angle to a turn of a lesser sum, within some angles; give it and its sum.

    In each step logarithms give way to their tangents, which lie above them: the sum can only fall.
    """
    ax, ay = plane.a[:, 0], plane.a[:, 1]
    bx, by = plane.b[0, partner], plane.b[1, partner]
    by = -by if mirrored else by
    p, s = 2.0 * (ax * bx + ay * by), 2.0 * (ay * bx - ax * by)
    first = angle
    for _ in range(steps):
        weight = 1.0 / plane.squares_of_pairs(angle, mirrored, partner)
        moved = math.atan2(float(weight @ s), float(weight @ p))
        moved = angle + (moved - angle + math.pi) % math.tau - math.pi
        moved = min(max(moved, first - within), first + within)
        if abs(moved - angle) < _SETTLED:
            break
        angle = moved
    return angle, float(np.log(plane.squares_of_pairs(angle, mirrored, partner)).sum())


def climb_turn(plane: Plane, start: Turned) -> Turned:
    """Alternate between the best matching of a turn and the best turn of a matching."""
    best = start
    for _ in range(_ALTERNATIONS):
        costs = np.log(plane.squares(best.angle, best.mirrored))
        partner = assign(costs).col_ind
        angle, value = best_turn(plane, partner, best.angle, best.mirrored)
        if not value < best.value:
            break
        best = Turned(angle % math.tau, best.mirrored, value, partner)
    return best


def blur(plane: Plane, turned: Turned) -> float:
    """Give what rounding may change a sum by."""
    partner = turned.partner
    sizes = plane.a[:, 2] + plane.b[2, partner] + plane.floor
    squares = plane.squares_of_pairs(turned.angle, turned.mirrored, partner)
    return ROUNDING * float((sizes / squares).sum())


def turned_from(plane: Plane, angle: float, mirrored: bool) -> Turned:
    """Give the best matching of a turn, and the turn that suits it best."""
    nothing: IntArray = np.arange(len(plane.a))
    return climb_turn(plane, Turned(angle, mirrored, math.inf, nothing))
