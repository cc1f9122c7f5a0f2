"""From a map to a better one, where some pairs are known: match what is allowed, learn from all pairs, again.

Pairs have weights, inverse to their squared distance, and known ones have no more than others: one that does
not fit says little, and is not forced on the map. What is kept is the map, among all that were matched under,
with the least profile likelihood: the mean of ``log r**2`` less the logarithm of the factor of lengths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.allowed.solving import assign_allowed_points
from lslmatch.assignment.orientation import partners
from lslmatch.costs import log_rule
from lslmatch.covariance.diagonal import Diagonal, diagonal_surprises, learn_variances
from lslmatch.geometry.columns import mapped_coordinates
from lslmatch.given import Given
from lslmatch.known.families import Family
from lslmatch.maps import AnyMap

#: Rounds from one start, at most, and rounds in which known pairs get their weights.
_MOST_ROUNDS, _WEIGHING = 15, 4
#: No pair has more than this many times the mean weight.
_GREATEST_WEIGHT = 10.0


class Climbed(NamedTuple):
    """A map, the units of columns, and the cheapest allowed matching under both."""

    map: AnyMap
    units: FloatArray | None
    permutation: IntArray
    value: float
    rounds: int


class Sets(NamedTuple):
    """What is matched, and in which units of columns noise is looked at."""

    x: FloatArray
    y: FloatArray
    given: Given
    units: FloatArray | None
    workers: int


def climb(sets: Sets, family: Family | None, start: AnyMap, variances: bool) -> Climbed:
    """Learn the map, unless there is no family, and the variances of columns, if asked, from a map on."""
    found, units = start, sets.units
    best: Climbed | None = None
    seen: set[bytes] = set()
    for _ in range(_MOST_ROUNDS):
        permutation, squares, value = _match(sets, found, units)
        if best is None or value < best.value:
            best = Climbed(found, units, permutation, value, 0)
        if permutation.tobytes() in seen or (family is None and not variances):
            break
        seen.add(permutation.tobytes())
        rows = np.flatnonzero(permutation >= 0)
        if variances:
            learned = learn_noise(sets, found, permutation)[1]
            if learned is not None:
                units = learned.units if sets.units is None else sets.units * learned.units
        if family is not None:
            again = family.fit(sets.x[rows], sets.y[permutation[rows]], _weights(squares), found)
            found = found if again is None else again
    assert best is not None
    return best._replace(rounds=len(seen))


def start_from_known(sets: Sets, family: Family, before: AnyMap | None) -> AnyMap | None:
    """Give the map of the known pairs alone, the more by those that fit; None if they are few."""
    rows, cols = sets.given.known.T
    if rows.size < family.fewest(sets.x.shape[1]):
        return None
    weight, found = np.ones(rows.size), None
    for _ in range(_WEIGHING):
        found = family.fit(sets.x[rows], sets.y[cols], weight, before)
        if found is None:
            return None
        geometry = mapped_coordinates(sets.x, sets.y, found, sets.units)
        apart = geometry.taken(rows, cols).residuals()
        weight = _weights(np.maximum(np.einsum("ij,ij->i", apart, apart), log_rule(geometry).floor))
    return found


def learn_noise(
    sets: Sets, found: AnyMap, permutation: IntArray
) -> tuple[FloatArray | None, Diagonal | None]:
    """Learn variances of columns, with how much each pair surprises under them; None without any noise."""
    geometry = mapped_coordinates(sets.x, sets.y, found, sets.units)
    rows = np.flatnonzero(permutation >= 0)
    residuals = geometry.taken(rows, permutation[rows]).residuals()
    mean_squares = ((geometry.a - geometry.a.mean(axis=0)) ** 2).mean(axis=0)
    learned = learn_variances(residuals, mean_squares)
    if learned is None:
        return None, None
    return diagonal_surprises(geometry.a, geometry.b, permutation, residuals, learned), learned


def _match(sets: Sets, found: AnyMap, units: FloatArray | None) -> tuple[IntArray, FloatArray, float]:
    """Match by LSL what is allowed; give the pairs, their squared distances, and the value."""
    geometry = mapped_coordinates(sets.x, sets.y, found, units)
    rule = log_rule(geometry)
    assignment = assign_allowed_points(geometry, rule, sets.given, sets.workers)
    permutation = partners(len(sets.x), assignment.row_ind, assignment.col_ind)
    rows = np.flatnonzero(permutation >= 0)
    apart = geometry.taken(rows, permutation[rows]).residuals()
    squares = np.maximum(np.einsum("ij,ij->i", apart, apart), rule.floor)
    value = assignment.objective / max(rows.size, 1) - found.log_volume / found.shift.size
    return permutation, squares, value


def _weights(squares: FloatArray) -> FloatArray:
    weight = np.median(squares) / squares
    return np.minimum(weight, _GREATEST_WEIGHT * weight.mean())
