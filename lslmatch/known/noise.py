"""The noise under a map, learned from an allowed matching: equal, one variance a column, or all of it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.columns.learning import is_better
from lslmatch.covariance.fit import Aligned
from lslmatch.covariance.iteration import learn
from lslmatch.covariance.known import known_covariance
from lslmatch.covariance.learned import describe, isotropic_surprises
from lslmatch.known.climbing import Climbed, Sets, learn_noise
from lslmatch.maps import Affine, AnyMap, ColumnMap
from lslmatch.results import Covariance, MatchResult

#: A covariance of fewer pairs than this says nothing.
_LEAST_PAIRS = 4
#: Squares of coordinates must be in the range of float64: the covariance is one.
_GREATEST_EXPONENT = 450


class Noise(NamedTuple):
    """A map and a covariance for it, with how much pairs surprise under both."""

    map: AnyMap
    covariance: Covariance | None
    surprises: FloatArray | None
    permutation: IntArray


def equal_noise(sets: Sets, found: Climbed, judged: bool = True) -> Noise:
    """Take the noise to be isotropic; only if `judged` it is asked how much pairs surprise."""
    if not judged:
        return Noise(found.map, None, None, found.permutation)
    nobody = MatchResult(found.permutation, found.map.scale, found.map.shift, 0.0, None, None, "lsl", None)
    surprises = isotropic_surprises(sets.x, sets.y, nobody.with_map(found.map), sets.workers)
    return Noise(found.map, None, surprises, found.permutation)


def given_noise(sets: Sets, found: Climbed, covariance: Any) -> Noise:
    """Take a covariance as it is given."""
    return Noise(found.map, known_covariance(covariance, sets.x.shape[1]), None, found.permutation)


def diagonal_noise(sets: Sets, found: Climbed) -> Noise:
    """Take the variances of columns that were learned with the map."""
    d = sets.x.shape[1]
    surprises = learn_noise(sets, found.map, found.permutation)[0]
    units = found.units
    if units is None:
        reason = "variances of columns need two columns, and pairs with some noise"
        return Noise(
            found.map, Covariance(np.empty((0, d)), 1.0, reason=reason), surprises, found.permutation
        )
    units = units / math.exp(float(np.log(units).mean()))
    entropy = math.nan if surprises is None else float(surprises.mean())
    covariance = Covariance(np.empty((0, d)), 1.0, units=units, cross_entropy=entropy, rounds=found.rounds)
    return Noise(found.map, covariance, surprises, found.permutation)


def full_noise(sets: Sets, found: Climbed, refit: bool) -> Noise | str:
    """Learn a covariance from the matching, each pair judged without itself; or say why there is none."""
    d = sets.x.shape[1]
    if d == 1:
        return "in one dimension a covariance has no shape"
    if np.count_nonzero(found.permutation >= 0) < _LEAST_PAIRS:
        return f"a covariance needs at least {_LEAST_PAIRS} pairs"
    aligned = Aligned.at(sets.x, sets.y, found.map, sets.units)
    if aligned.residuals(found.permutation) is None:
        return "the pairs have no residuals to learn from"
    if abs(aligned.exponent) > _GREATEST_EXPONENT:
        return "the squares of the coordinates exceed the range of float64"
    refit = refit and isinstance(found.map, (Affine, ColumnMap))
    learned = learn(
        sets.x, sets.y, found.map, [found.permutation], refit, sets.workers, None, sets.units, sets.given
    )
    if learned is None:
        return "a start has no residuals to learn from"
    record = describe(sets.x, sets.y, learned)
    return Noise(learned.fit.affine, record, learned.surprises, learned.fit.reference)


def choose_noise(sets: Sets, kinds: list[Noise | str]) -> Noise:
    """Keep the first kind unless a later one predicts its pairs better, beyond the error of that."""
    best = kinds[0]
    assert not isinstance(best, str)
    for other in kinds[1:]:
        if isinstance(other, str) or other.surprises is None:
            continue
        if best.surprises is None or is_better(other.surprises, best.surprises):
            best = other
    return best
