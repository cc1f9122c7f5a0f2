"""Learning a unit for each column: the starts, both kinds of noise, and which one is kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.alignment.robust import improve_moments
from lslmatch.columns.search import Found, Start, match_columns_at, search
from lslmatch.columns.signs import guess_signs
from lslmatch.columns.standard import Standard, standard_units
from lslmatch.covariance.iteration import Learned, judges_all, learn
from lslmatch.covariance.learned import describe
from lslmatch.maps import Affine, AnyMap, ColumnMap
from lslmatch.results import Covariance, MatchResult

#: A covariance of fewer pairs than this says nothing.
LEAST_PAIRS = 4
#: A diagonal covariance under which pairs are as certain as this is not compared with a full one.
_CERTAIN = 0.02
#: The most pairs of points, times columns, for which a full covariance is learned without being asked for.
_MOST_PRODUCTS = 1 << 27


class Learner(NamedTuple):
    """A map and a covariance that were learned, in the units of the sets."""

    map: AnyMap
    covariance: Covariance
    surprises: FloatArray
    permutation: IntArray  # the matching that they were learned from

    @property
    def cross_entropy(self) -> float:
        """The mean surprise of the pairs."""
        return float(self.surprises.mean())


def learn_columns(
    x: FloatArray,
    y: FloatArray,
    kinds: tuple[str, ...],
    given: ColumnMap | None,
    workers: int,
    signed: bool = False,
) -> Learner | None:
    """Learn a scale and a shift for each column, with a covariance of one of the `kinds`.

    These are "diagonal" and "full". A map that is `given` stays as it is. Scales are positive unless they may
    be `signed`. None if there is no noise to learn from, or too few pairs.
    """
    if min(len(x), len(y)) < LEAST_PAIRS:
        return None
    sets = standard_units(x, y)
    if not sets.are_moderate:
        return None
    diagonal = None
    for turned in map(sets.turned, guess_signs(sets)) if signed else (sets,):
        candidate = search(turned.a, turned.b, _starts(turned, given), workers)
        if candidate is not None and (diagonal is None or candidate.cross_entropy < diagonal.cross_entropy):
            diagonal, sets = candidate, turned
        if diagonal is not None and diagonal.cross_entropy < _CERTAIN:
            break
    if diagonal is None:
        return None
    found = _described(sets, diagonal)
    if "full" in kinds and x.shape[1] > 1:
        asked = "diagonal" not in kinds
        small = judges_all(x, y) and len(x) * len(y) * x.shape[1] <= _MOST_PRODUCTS
        if asked or (small and found.cross_entropy > _CERTAIN):
            full = _learn_full(x, y, sets, diagonal, given, workers)
            if full is not None and (asked or is_better(full.surprises, found.surprises)):
                found = full
    return found


def is_better(one: FloatArray, other: FloatArray, errors: float = 1.0) -> bool:
    """Say whether pairs surprise less on average, by so many standard errors."""
    if one.size != other.size:  # of some points, not the same ones
        gain, error = other.mean() - one.mean(), math.sqrt(one.var() / one.size + other.var() / other.size)
        return bool(gain > errors * error)
    gain = other - one
    return bool(gain.mean() > errors * gain.std() / math.sqrt(gain.size))


def learn_diagonal(
    x: FloatArray, y: FloatArray, base: MatchResult, fixed: bool, workers: int
) -> Learner | None:
    """Learn the variances of the columns with one scale for all of them, from a matching by isotropic noise.

    Unless the map is `fixed` it is learned again under the variances.
    """
    if min(len(x), len(y)) < LEAST_PAIRS or x.shape[1] == 1:
        return None
    sets = standard_units(x, y, one_scale=True)
    if not sets.are_moderate:
        return None
    found = search(sets.a, sets.b, _starts_with_one_scale(sets, base.affine, fixed), workers)
    if found is None:
        return None
    learned = _described(sets, found)
    if fixed:
        return learned._replace(map=base.affine)
    assert isinstance(learned.map, ColumnMap)
    return learned._replace(map=Affine(float(learned.map.scales[0]), learned.map.shift))


def _starts_with_one_scale(sets: Standard, base: Affine, fixed: bool) -> Iterator[Start]:
    """Give the map of isotropic noise, with equal units and with those of the columns, and a robust one."""
    scores = sets.of(base)
    first = Affine(float(scores.scales[0]), scores.shift)
    spread = np.sqrt((sets.a**2).mean(axis=0))
    yield Start(first, None, fixed)
    yield Start(first, np.where(spread > 0.0, spread, 1.0), fixed)
    if not fixed:
        robust = _robust(sets)
        if robust is not None:
            yield Start(Affine(float(robust.scales[0]), robust.shift))


def _starts(sets: Standard, given: ColumnMap | None) -> Iterator[Start]:
    """Give the maps of scores to begin with: moments, medians, and one that strangers do not disturb."""
    if given is not None:
        yield Start(sets.of(given), None, True)
        return
    yield Start(sets.identity)
    yield Start(*sets.robust())
    robust = _robust(sets)
    if robust is not None:
        yield Start(robust)
        yield Start(robust, None, True)


def _robust(sets: Standard) -> ColumnMap | None:
    d = sets.a.shape[1]
    if not (sets.a.any() and sets.b.any()):
        return None
    found = improve_moments(sets.a, sets.b, Affine(1.0, np.zeros(d))).affine
    return None if found is None else ColumnMap(np.full(d, found.scale), found.shift)


def _learn_full(
    x: FloatArray, y: FloatArray, sets: Standard, diagonal: Found, given: ColumnMap | None, workers: int
) -> Learner | None:
    """Learn a full covariance of the scores, from the same starts and from what a diagonal one ended with."""
    best: Learned | None = None
    first = diagonal.map if isinstance(diagonal.map, ColumnMap) else sets.identity
    if given is not None:
        first = sets.of(given)

    def matchings() -> Iterator[IntArray]:
        yield diagonal.permutation
        for start in _starts(sets, given):
            if not start.fixed or given is not None:
                yield match_columns_at(sets.a, sets.b, start.map, start.units, workers)[0]

    best = learn(sets.a, sets.b, first, matchings(), given is None, workers)
    robust = None if given is not None else _robust(sets)
    if robust is not None:
        fixed = [match_columns_at(sets.a, sets.b, robust, None, workers)[0]]
        other = learn(sets.a, sets.b, robust, fixed, False, workers)
        if other is not None and (best is None or other.cross_entropy < best.cross_entropy):
            best = other
    return None if best is None else _described_full(sets, best)


def _described(sets: Standard, found: Found) -> Learner:
    """Describe what was found with a diagonal covariance in the units of the sets."""
    covariance = Covariance(
        np.empty((0, sets.a.shape[1])),
        1.0,
        units=_normalised(sets.a_unit * found.units)[0],
        cross_entropy=found.cross_entropy,
        rounds=found.rounds,
    )
    return Learner(sets.given(found.map), covariance, found.surprises, found.permutation)


def _described_full(sets: Standard, found: Learned) -> Learner:
    """Do the same for a full one, which is that of columns divided by their units."""
    covariance = describe(sets.a, sets.b, found)
    units, unit = _normalised(sets.a_unit)
    covariance = covariance._replace(
        units=units, factor=covariance.factor * unit, ridge=covariance.ridge * unit**2
    )
    return Learner(sets.given(found.fit.affine), covariance, found.surprises, found.fit.reference)


def _normalised(units: FloatArray) -> tuple[FloatArray, float]:
    """Give units whose product is 1, and what they were divided by."""
    mean = math.exp(float(np.log(units).mean()))
    return units / mean, mean
