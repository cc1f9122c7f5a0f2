"""Costs with the judged pair left out of a learned covariance, for the certificate: plain NumPy, on its own.

Nothing here comes from `lslmatch.covariance`: residuals are computed anew from the two sets, the
reference matching and the map, the matrix is diagonalised instead of factored, and the two residuals are
taken out one after the other.
"""

from __future__ import annotations

import copy
import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_map, check_matching, check_vector
from lslmatch.certificate.coincident import share_of_sets, typical_point
from lslmatch.certificate.columns import column_weights, plain_sets
from lslmatch.certificate.exact import exact_residuals
from lslmatch.maps import MATRIX_MAPS, ColumnMap
from lslmatch.results import MatchResult

#: Entries of the largest temporary array.
_BLOCK_ENTRIES = 1 << 18
#: What is left of 1 after a residual was taken out is never taken to be less than this.
_LEAST = 2.0**-104
#: Points coincide up to this share of the mean square: whitened coordinates are rounded more than once.
_COINCIDENT = 2.0**-84
#: Costs from a matrix product suffice if they exceed the duals by this, and their distance did not cancel.
_MARGIN, _CANCELLED = 1e-6, 1e-5


class LeftOutCosts:
    """The costs of the pairs by their definition, one metric a pair."""

    def __init__(self, x: FloatArray, y: FloatArray, result: MatchResult) -> None:
        (n, d), m = x.shape, y.shape[0]
        learned = result.covariance
        assert learned is not None
        if result.criterion != "lsl":
            raise ValueError(f"result.covariance with pairs left out is for 'lsl'; got {result.criterion!r}")
        reference = check_matching(learned.reference, "result.covariance.reference", n, m, True)
        weight = check_vector(learned.weight, "result.covariance.weight", n)
        rows = np.flatnonzero(reference >= 0)
        share = 1.0
        if result.matrix_map is not None:
            x, y, difference = plain_sets(x, y, result)
        else:
            scale, shift = _scales_and_shift(result, d)
            difference = np.zeros((n, d))
            difference[rows] = exact_residuals(x[rows], y[reference[rows]], scale, shift)
            origin, other = typical_point(x), typical_point(y)
            if not isinstance(scale, np.ndarray):
                share = share_of_sets(x, y, scale, shift)
            x, y = x - origin, scale * (y - other) + _seen_from(origin, other, scale, shift)
            if learned.units is not None:
                weights = column_weights(result, d)
                x, y, difference = x * weights, y * weights, difference * weights
        if d > n + m:  # in all other directions the points do not differ, and the variance is the ridge
            basis = np.linalg.qr(np.vstack([x, y]).T)[0]
            x, y, difference = x @ basis, y @ basis, difference @ basis
        k = x.shape[1]
        residuals = np.zeros((n, k))
        residuals[rows] = difference[rows] * np.sqrt(weight[rows])[:, None]
        matrix = residuals.T @ residuals
        matrix[np.diag_indices(k)] += learned.ridge
        variances, axes = np.linalg.eigh(matrix)
        whitening = axes / np.sqrt(variances)
        self.x, self.y, self.x_residual = x @ whitening, y @ whitening, residuals @ whitening
        self.difference = difference @ whitening
        self.y_residual = np.zeros((m, k))
        self.y_residual[reference[rows]] = self.x_residual[rows]
        if not learned.leave_out:
            self.x_residual[:] = 0.0
            self.y_residual[:] = 0.0
        self.reference, self.dimension = reference, d
        self.offset = float(np.log(variances).sum() + (d - k) * np.log(learned.ridge)) / d
        centre = self.x.mean(axis=0)
        total = ((self.x - centre) ** 2).sum() + ((self.y - centre) ** 2).sum()
        self.floor = total / (n + m) * _COINCIDENT * share
        self.x_left = np.maximum(1.0 - (self.x_residual**2).sum(axis=1), _LEAST)

    def taken(self, rows: IntArray, cols: IntArray) -> LeftOutCosts:
        """Take some points of each set; the metric stays that of all."""
        some = copy.copy(self)
        some.x, some.x_residual, some.difference = self.x[rows], self.x_residual[rows], self.difference[rows]
        some.y, some.y_residual, some.x_left = self.y[cols], self.y_residual[cols], self.x_left[rows]
        place = np.full(len(self.y) + 1, -1, np.intp)  # and of the partner -1
        place[cols] = np.arange(cols.size)
        some.reference = place[self.reference[rows]]
        return some

    def suffice(self, block: slice, u: FloatArray, v: FloatArray) -> NDArray[np.bool_]:
        """Say for which pairs of some rows the cost is certainly not below the sum of the duals."""
        x, residual, left = self.x[block], self.x_residual[block], self.x_left[block, None]
        norms = (x**2).sum(axis=1)[:, None] + (self.y**2).sum(axis=1)
        squares = norms - 2.0 * (x @ self.y.T)
        exact = squares > _CANCELLED * norms
        along_x = (residual * x).sum(axis=1)[:, None] - residual @ self.y.T
        along_y = x @ self.y_residual.T - (self.y_residual * self.y).sum(axis=1)
        overlap = residual @ self.y_residual.T
        leverage = (self.y_residual**2).sum(axis=1)
        costs = self._combine(squares, along_x, along_y, overlap, left, leverage)
        partner = self.reference[block]
        own = np.flatnonzero(partner >= 0)
        exact[own, partner[own]] = False
        enough: NDArray[np.bool_] = exact & (costs - u[block, None] - v > _MARGIN)
        return enough

    def slack(self, i: IntArray, j: IntArray, u: FloatArray, v: FloatArray) -> FloatArray:
        """Compute by how much the pairs (i[k], j[k]) cost more than the sum of their duals."""
        return self.of(i, j) - u[i] - v[j]

    def of(self, i: IntArray, j: IntArray) -> FloatArray:
        """Compute the costs of the pairs (i[k], j[k]) by differences of coordinates."""
        costs = np.empty(i.size)
        step = max(1, _BLOCK_ENTRIES // self.x.shape[1])
        for start in range(0, i.size, step):
            row, col = i[start : start + step], j[start : start + step]
            difference = self.x[row] - self.y[col]
            first = self.x_residual[row]
            # Partners may nearly coincide, and then the difference of their coordinates has few digits.
            partners = self.reference[row] == col
            difference[partners] = self.difference[row[partners]]
            # Of partners there is one residual: once taken out, nothing is left for the second.
            second = self.y_residual[col] * ~partners[:, None]
            costs[start : start + step] = self._combine(
                (difference**2).sum(axis=1),
                (difference * first).sum(axis=1),
                (difference * second).sum(axis=1),
                (first * second).sum(axis=1),
                self.x_left[row],
                (second**2).sum(axis=1),
            )
        return costs

    def _combine(
        self,
        squares: FloatArray,
        along_x: FloatArray,
        along_y: FloatArray,
        overlap: FloatArray,
        left: FloatArray,
        leverage: FloatArray,
    ) -> FloatArray:
        """Take the residual of x out, then in the new metric that of y."""
        squares = squares + along_x**2 / left
        along_y = along_y + overlap * along_x / left
        left_then = np.maximum(1.0 - leverage - overlap**2 / left, _LEAST)
        squares = squares + along_y**2 / left_then
        volume = np.log(left) + np.log(left_then)
        costs: FloatArray = np.log(np.maximum(squares, self.floor)) + volume / self.dimension + self.offset
        return costs


def whitened(x: FloatArray, y: FloatArray, result: MatchResult) -> tuple[FloatArray, FloatArray, MatchResult]:
    """Give both sets and the shift in coordinates where a covariance that was given is the identity.

    The coordinates are those of its principal axes, in a unit in which its determinant is 1.
    """
    assert result.covariance is not None
    factor, weights = result.covariance.factor, column_weights(result, x.shape[1])
    axes, sizes = np.linalg.svd(factor.T)[:2]
    whitening = axes / sizes * math.exp(float(np.log(sizes).mean()))
    if result.matrix_map is not None:
        x, y, _ = plain_sets(x, y, result)
        noise = None if result.noise is None else (result.noise[0], result.noise[1] * result.scale)
        nowhere = np.zeros(x.shape[1])
        mapped = result._replace(scale=1.0, shift=nowhere, matrix_map=None, noise=noise)
        return x @ whitening, y @ whitening, mapped
    scale, shift = _scales_and_shift(result, x.shape[1])
    origin, other = typical_point(x), typical_point(y)
    shift = (weights * _seen_from(origin, other, scale, shift)) @ whitening
    difference = weights * (y - other)
    if isinstance(scale, np.ndarray):
        difference *= scale / result.map.scale
    result = result._replace(shift=shift, column_map=None)
    return (weights * (x - origin)) @ whitening, difference @ whitening, result


def _scales_and_shift(result: MatchResult, dimension: int) -> tuple[float | FloatArray, FloatArray]:
    """Give the scale, or one for each column, and the shift, once they are checked."""
    found = check_map(result.map, "result.map", dimension)
    assert not isinstance(found, MATRIX_MAPS), "sets that a matrix maps come with a map of their own"
    return (found.scales if isinstance(found, ColumnMap) else found.scale), found.shift


def _seen_from(
    origin: FloatArray, point: FloatArray, scale: float | FloatArray, shift: FloatArray
) -> FloatArray:
    """Give ``scale * point + shift - origin``, in rationals: its terms may cancel."""
    factors = [Fraction(factor) for factor in np.broadcast_to(scale, shift.shape).tolist()]
    terms = zip(factors, origin.tolist(), point.tolist(), shift.tolist(), strict=True)
    return np.array([float(a * Fraction(p) + Fraction(b) - Fraction(o)) for a, o, p, b in terms])
