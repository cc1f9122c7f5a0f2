"""The search for a map and the variances of the columns, each of which follows from a matching.

Each round takes a matching, estimates the map from its pairs, learns the variances from their residuals, and
matches by LSL under both. Pairs have weights (:mod:`lslmatch.columns.weights`): those that are far from each
other under the present map and variances say little of either. Of all matchings that are optimal for some map
and variances, the one that predicts its own pairs best is kept, with each pair left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.orientation import partners
from lslmatch.assignment.solve import assign_points
from lslmatch.columns.weights import pair_weights
from lslmatch.costs import log_rule
from lslmatch.covariance.diagonal import Diagonal, diagonal_surprises, learn_variances
from lslmatch.covariance.fit import column_moments
from lslmatch.geometry.columns import mapped_coordinates
from lslmatch.geometry.coordinates import Geometry
from lslmatch.results import Affine, ColumnMap

#: Rounds from one start, at most.
_MOST_ROUNDS = 15
#: Cross-entropy below which no other start is tried: nearly all pairs are certain.
_CERTAIN = 0.02
#: Rounds in which map and variances are fitted to the matching that is kept.
_SETTLING = 4
#: Variances of scores, whose squares are about 1, below which all residuals are rounding errors.
_NOISELESS = 1e-24


class Start(NamedTuple):
    """Where a search begins."""

    map: Affine | ColumnMap
    units: FloatArray | None = None  # of the columns, for the first matching; None: all equal
    fixed: bool = False  # whether the map stays as it is


class Found(NamedTuple):
    """A matching that is optimal for a map and variances, and how well it predicts itself."""

    map: Affine | ColumnMap
    units: FloatArray
    permutation: IntArray
    surprises: FloatArray
    rounds: int

    @property
    def cross_entropy(self) -> float:
        """The mean surprise."""
        return float(self.surprises.mean())


def search(a: FloatArray, b: FloatArray, starts: Iterable[Start], workers: int) -> Found | None:
    """Search from each start; None if no matching has residuals to learn from."""
    best: Found | None = None
    seen: set[bytes] = set()
    rounds, fixed = 0, False
    for start in starts:
        for found in _path(a, b, start, seen, workers):
            rounds += 1
            if best is None or found.cross_entropy < best.cross_entropy:
                best, fixed = found, start.fixed
        if best is not None and best.cross_entropy < _CERTAIN:
            break
    if best is None:
        return None
    best = best._replace(rounds=rounds)
    return best if fixed else _settled(a, b, best)


def _settled(a: FloatArray, b: FloatArray, found: Found) -> Found:
    """Fit map and variances to a matching, and to each other: those of a path belong to the one before."""
    rows = np.flatnonzero(found.permutation >= 0)
    cols = found.permutation[rows]
    mean_squares = _mean_squares(a)
    for _ in range(_SETTLING):
        residuals = _residuals(mapped_coordinates(a, b, found.map), rows, cols)
        learned = learn_variances(residuals, mean_squares)
        if learned is None or learned.variance.max() < _NOISELESS:
            break
        weight = pair_weights(residuals / learned.units)
        fitted = refit(a[rows], b[cols], weight, found.map, learned.units)
        found = found._replace(map=fitted, units=learned.units)
    return found


def _residuals(geometry: Geometry, rows: IntArray, cols: IntArray) -> FloatArray:
    return np.ldexp(geometry.taken(rows, cols).residuals(), geometry.exponent)


def _mean_squares(points: FloatArray) -> FloatArray:
    squares: FloatArray = ((points - points.mean(axis=0)) ** 2).mean(axis=0)
    return squares


def _path(a: FloatArray, b: FloatArray, start: Start, seen: set[bytes], workers: int) -> Iterable[Found]:
    """Give the matchings that follow from a start, until one comes back."""
    found, units = start.map, start.units
    mean_squares = _mean_squares(a)
    permutation, weight = match_columns_at(a, b, found, units, workers)
    for k in range(_MOST_ROUNDS + 1):
        rows = np.flatnonzero(permutation >= 0)
        cols = permutation[rows]
        fitted = found if start.fixed else refit(a[rows], b[cols], weight, found, units)
        geometry = mapped_coordinates(a, b, fitted)
        residuals = _residuals(geometry, rows, cols)
        learned = learn_variances(residuals, mean_squares)
        if learned is None or learned.variance.max() < _NOISELESS:
            yield Found(fitted, _units(units, a), permutation, np.zeros(rows.size), 0)
            return
        if k > 0:
            # Optimal for the map and the units of the round before; judged by what follows from it.
            surprises = _judge(geometry, permutation, residuals, learned)
            yield Found(found, _units(units, a), permutation, surprises, 0)
        key = permutation.tobytes() + bytes([start.fixed])
        if key in seen:
            return
        seen.add(key)
        found, units = fitted, learned.units
        permutation, weight = match_columns_at(a, b, found, units, workers)


def _units(units: FloatArray | None, a: FloatArray) -> FloatArray:
    return np.ones(a.shape[1]) if units is None else units


def _judge(geometry: Geometry, permutation: IntArray, residuals: FloatArray, learned: Diagonal) -> FloatArray:
    power = geometry.exponent
    return diagonal_surprises(
        np.ldexp(geometry.a, power), np.ldexp(geometry.b, power), permutation, residuals, learned
    )


def match_columns_at(
    a: FloatArray, b: FloatArray, found: Affine | ColumnMap, units: FloatArray | None, workers: int
) -> tuple[IntArray, FloatArray]:
    """Match by LSL under a map and units of columns, and give the pairs weights inverse to their squares."""
    geometry = mapped_coordinates(a, b, found, units)
    rule = log_rule(geometry)
    assignment = assign_points(geometry, rule, workers)
    apart = geometry.taken(assignment.row_ind, assignment.col_ind).residuals()
    weight = pair_weights(apart)
    permutation = partners(len(a), assignment.row_ind, assignment.col_ind)
    return permutation, weight[np.argsort(assignment.row_ind)]


def refit(
    a: FloatArray, b: FloatArray, weight: FloatArray, before: Affine | ColumnMap, units: FloatArray | None
) -> Affine | ColumnMap:
    """Standardise the pairs anew, with weights: each column by itself, or all by one scale."""
    if isinstance(before, ColumnMap):
        return column_moments(a, b, weight, before)
    unit = 1.0 if units is None else units
    weight = weight / weight.sum()
    a_mean, b_mean = weight @ a, weight @ b
    squares = [
        float(weight @ (((part - mean) / unit) ** 2).sum(axis=1)) for part, mean in ((a, a_mean), (b, b_mean))
    ]
    if not (squares[0] > 0.0 and squares[1] > 0.0):
        return before
    scale = math.sqrt(squares[0] / squares[1])
    return Affine(scale, a_mean - scale * b_mean)
