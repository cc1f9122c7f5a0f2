"""Blind pairs: sets to draw them from, and small structures of them whose coins can be enumerated."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray
from lslmatch.choice.blind.learning import pair_and_learn
from lslmatch.choice.blind.pool import pool_sets
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.objectives.table import make_rule
from lslmatch.results import Affine

#: By how many noise levels relatives differ.
_RELATED = 1.0


class Ranked(NamedTuple):
    """Blind pairs in the order of their rank."""

    joins: NDArray[np.bool_]  # whether a pair joins the two sets
    right: NDArray[np.bool_]  # whether it joins partners


class Setting(NamedTuple):
    """What sets are drawn from."""

    pairs: int
    strangers: int  # in each set
    d: int
    noise: float
    correlated: bool  # noise of one common direction, which is learned
    relatives: int  # strangers of y that are like strangers of x


def draw_ranked(setting: Setting, rng: np.random.Generator) -> Ranked:
    """Draw two sets whose map is known, of equal noise levels for partners, and pair them blindly."""
    pairs, strangers, d = setting[:3]
    n = pairs + strangers
    levels = setting.noise * 4.0 ** rng.uniform(-0.5, 0.5, (pairs + 2 * strangers, 1))
    features = rng.standard_normal((pairs + 2 * strangers, d))
    sets = []
    for side in range(2):
        own = np.r_[:pairs, pairs + side * strangers : n + side * strangers]
        residual = rng.standard_normal((n, d))
        if setting.correlated:
            residual += 4.0 * rng.standard_normal((n, 1))
        sets.append(features[own] + levels[own] * residual)
    x, y = sets
    like = slice(pairs, pairs + setting.relatives)
    y[like] = x[like] + _RELATED * setting.noise * rng.standard_normal((setting.relatives, d))
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(d)))
    pool = pool_sets(geometry, make_rule("lsl", geometry, 1.0), 0)
    edges, pool, _, _ = pair_and_learn(pool, "full" if setting.correlated else "isotropic", 1)
    first, second = edges.ends.T
    joins = pool.in_y[first] != pool.in_y[second]
    right = joins & (pool.row[first] == pool.row[second]) & (pool.row[first] < pairs)
    return Ranked(joins, right)


class Structure(NamedTuple):
    """False edges among the points of some objects, in the order of their rank.

    A point is (object, side): an object has two of them, a stranger one. True edges join the two sets for
    certain: of them only matters how many there are before each false edge.
    """

    edges: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    objects: int
    before: tuple[int, ...]  # true edges before each false edge, and in all

    def joins(self) -> list[tuple[bool, ...]]:
        """Give which edges join the two sets, for every outcome of the objects' coins."""
        return [
            tuple(coins[p[0]] ^ p[1] != coins[q[0]] ^ q[1] for p, q in self.edges)
            for coins in product((0, 1), repeat=self.objects)
        ]

    def are_fair_coins(self) -> bool:
        """Say whether all outcomes of the edges are equally frequent."""
        seen = self.joins()
        counts = {outcome: seen.count(outcome) for outcome in set(seen)}
        return len(counts) == 2 ** len(self.edges) and len(set(counts.values())) == 1

    def mean_false_share(self, share: Fraction) -> Fraction:
        """Give the expected share of false pairs when the rule is applied, exactly."""
        seen = self.joins()
        return sum((self._false_share(outcome, share) for outcome in seen), Fraction(0)) / len(seen)

    def _false_share(self, joins: tuple[bool, ...], share: Fraction) -> Fraction:
        false, within = 0, 0
        kept = Fraction(0)
        for place in range(len(joins) + 1):
            # The last place before the next false edge has the most true ones, and passes most easily.
            between = self.before[place] + false
            if 1 + within <= share * between:
                kept = Fraction(false, between)
            if place < len(joins):
                false, within = false + joins[place], within + (not joins[place])
        return kept


def draw_structure(edges: int, kind: str, share: Fraction, rng: np.random.Generator) -> Structure:
    """Draw false edges: a "forest", or also cycles of two edges ("twins") or of any length ("cycles").

    Those with cycles have at least one. There are about as many true edges as the rule needs for `share`.
    """
    drawn: list[tuple[tuple[int, int], tuple[int, int]]] = []
    objects = 0
    while len(drawn) < edges:
        left = edges - len(drawn)
        is_cycle = kind != "forest" and left >= 2 and (not drawn or rng.random() < 0.6)
        length = min(left, 2 if is_cycle and kind == "twins" else int(rng.integers(2 if is_cycle else 1, 5)))
        sides = rng.integers(2, size=length + 1)
        for place in range(length):
            last = is_cycle and place == length - 1
            # Each object is entered by one of its points and left by the other.
            start = objects + place, int(sides[place])
            end = (objects, 1 - int(sides[0])) if last else (start[0] + 1, 1 - int(sides[place + 1]))
            drawn.append((start, end))
        objects += length + (not is_cycle)
    order = rng.permutation(len(drawn))
    # Where the rule stops is decided by how many pairs within the sets it allows at each place: that grows
    # with the true edges before it.
    allowed = np.cumsum(rng.random(len(drawn) + 1) < rng.choice([0.0, 0.2, 0.5]))
    before = round(1 / share) * (1 + allowed) - rng.integers(2) * np.arange(len(drawn) + 1)
    before = np.maximum.accumulate(before)
    return Structure(tuple(drawn[k] for k in order), objects, tuple(before.tolist()))


def pick_false(ranked: Ranked, kept: int, rng: np.random.Generator) -> bool:
    """Say whether one of the kept pairs that join the sets, drawn at random, is false; no pair is not."""
    right = ranked.right[:kept][ranked.joins[:kept]]
    return bool(right.size and not right[rng.integers(right.size)])


def looked_at(ranked: Ranked) -> Ranked:
    """Put the pairs that join the sets first: what must not be done."""
    order = np.argsort(~ranked.joins, kind="stable")
    return Ranked(ranked.joins[order], ranked.right[order])


def kept_without_one(joins: NDArray[np.bool_], share: float) -> int:
    """Apply the rule without its 1."""
    within: FloatArray = np.cumsum(~joins)
    passed = np.flatnonzero(within <= share * np.cumsum(joins))
    return int(passed[-1]) + 1 if passed.size else 0
