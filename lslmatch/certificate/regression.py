"""Costs with the judged pair left out of a linear map, for the certificate: plain NumPy, on its own.

Nothing here comes from `lslmatch.linear`: the normal equations are diagonalised instead of factored, the
pairs of both points are taken out of the map one after the other, and the difference of every pair is written
out.
"""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_matching, check_number, check_vector
from lslmatch.results import Regression

#: Entries of the largest temporary array.
_BLOCK_ENTRIES = 1 << 18
#: What is left of 1 after a pair was taken out is never taken to be less than this.
_LEAST = 2.0**-40
#: Points coincide up to this share of the mean square.
_COINCIDENT = 2.0**-40
#: Costs suffice if they exceed the duals by this.
_MARGIN = 1e-9


class RegressionCosts:
    """The costs of the pairs by their definition, one map a pair."""

    def __init__(self, x: FloatArray, y: FloatArray, learned: Regression, criterion: str) -> None:
        n, m = len(x), len(y)
        if criterion != "lsl":
            raise ValueError(f"result.regression is for 'lsl'; got {criterion!r}")
        partner = check_matching(learned.reference, "result.regression.reference", n, m, True)
        weight = check_vector(learned.weight, "result.regression.weight", n)
        self.a = (x - learned.x_centre) @ learned.x_basis
        design = np.hstack([np.ones((m, 1)), (y - learned.y_centre) @ learned.y_basis])
        rows = np.flatnonzero(partner >= 0)
        cols, root = partner[rows], np.sqrt(weight[rows])[:, None]
        before = np.zeros((design.shape[1], self.a.shape[1]))
        if learned.prior is not None:
            before[1:] = learned.prior
        weighted = root * design[cols]
        normal = weighted.T @ weighted
        penalty = check_number(learned.penalty, "result.regression.penalty")
        normal[np.arange(1, len(normal)), np.arange(1, len(normal))] += penalty
        values, axes = np.linalg.eigh(normal)
        half = axes / np.sqrt(values)
        self.points, taken = design @ half, weighted @ half
        matrix = before + half @ (taken.T @ (root * (self.a[rows] - design[cols] @ before)))
        self.f = design @ matrix
        self.partner, self.back = partner, np.full(m, -1, np.intp)
        self.back[cols] = rows
        # Of the pairs, in the order of x: influence on others, weighted residual, leverage.
        self.of_pair, self.residual = np.zeros((n, design.shape[1])), np.zeros_like(self.a)
        self.left = np.ones(n)
        self.of_pair[rows], self.residual[rows] = taken, root * (self.a[rows] - self.f[cols])
        self.left[rows] = np.maximum(1.0 - (taken**2).sum(axis=1), _LEAST)
        self.noise, self.volume = np.zeros_like(self.a), 0.0
        if learned.metric_weight is not None:
            self._measure_by(learned, rows, root)
        centred = self.a - self.a.mean(axis=0)
        self.floor = float((centred**2).sum()) / n * _COINCIDENT
        self.rows, self.cols = np.arange(n), np.arange(m)

    def _measure_by(self, learned: Regression, rows: IntArray, root: FloatArray) -> None:
        """Take coordinates in which the covariance of the noise is the identity."""
        weight = check_vector(learned.metric_weight, "result.regression.metric_weight", len(self.a))
        alone = self.residual[rows] / (root * self.left[rows][:, None])
        self.noise[rows] = np.sqrt(weight[rows])[:, None] * alone
        covariance = self.noise.T @ self.noise
        covariance[np.diag_indices(len(covariance))] += learned.metric_ridge
        variances, axes = np.linalg.eigh(covariance)
        whitening = axes / np.sqrt(variances)
        self.a, self.f, self.residual, self.noise = (
            part @ whitening for part in (self.a, self.f, self.residual, self.noise)
        )
        self.volume = float(np.log(variances).mean())

    def taken(self, rows: IntArray, cols: IntArray) -> RegressionCosts:
        """Take some points of each set; the map stays that of all."""
        some = copy.copy(self)
        some.rows, some.cols = self.rows[rows], self.cols[cols]
        return some

    def suffice(self, block: slice, u: FloatArray, v: FloatArray) -> NDArray[np.bool_]:
        """Say for which pairs of some rows the cost is certainly not below the sum of the duals."""
        rows = np.arange(u.size)[block]
        i, j = np.repeat(rows, v.size), np.tile(np.arange(v.size), rows.size)
        enough: NDArray[np.bool_] = self.slack(i, j, u, v).reshape(rows.size, v.size) > _MARGIN
        return enough

    def slack(self, i: IntArray, j: IntArray, u: FloatArray, v: FloatArray) -> FloatArray:
        """Compute by how much the pairs (i[k], j[k]) cost more than the sum of their duals."""
        return self.of(i, j) - u[i] - v[j]

    def of(self, i: IntArray, j: IntArray) -> FloatArray:
        """Compute the costs of the pairs (i[k], j[k])."""
        costs = np.empty(i.size)
        step = max(1, _BLOCK_ENTRIES // max(self.a.shape[1], self.points.shape[1]))
        for start in range(0, i.size, step):
            some = slice(start, start + step)
            costs[some] = self._block(self.rows[i[some]], self.cols[j[some]])
        return costs

    def _block(self, i: IntArray, j: IntArray) -> FloatArray:
        k = self.back[j]
        # No pair, or the same one as that of i: there is nothing more to take out.
        other = (k >= 0) & (k != i)
        k = np.maximum(k, 0)
        mine, theirs = self.of_pair[i], self.of_pair[k] * other[:, None]
        own, next_ = self.residual[i], self.residual[k] * other[:, None]
        on_j = np.einsum("ij,ij->i", self.points[j], mine)
        cross = np.einsum("ij,ij->i", mine, theirs)
        # First the pair of i.
        left = self.left[i]
        mapped = self.f[j] - own * (on_j / left)[:, None]
        next_ = next_ + own * (cross / left * other)[:, None]
        on_j = np.einsum("ij,ij->i", self.points[j], theirs) + on_j * cross / left
        # Then that of j, under the map without the first.
        rest = np.maximum(1.0 - np.einsum("ij,ij->i", theirs, theirs) - cross**2 / left, _LEAST)
        mapped -= next_ * (on_j / rest)[:, None]
        difference = self.a[i] - mapped
        squares = np.einsum("ij,ij->i", difference, difference)
        first, second = self.noise[i], self.noise[k] * other[:, None]
        along, along_other = (
            np.einsum("ij,ij->i", difference, first),
            np.einsum("ij,ij->i", difference, second),
        )
        overlap = np.einsum("ij,ij->i", first, second)
        left = np.maximum(1.0 - np.einsum("ij,ij->i", first, first), _LEAST)
        squares += along**2 / left
        along_other = along_other + overlap * along / left
        rest = np.maximum(1.0 - np.einsum("ij,ij->i", second, second) - overlap**2 / left, _LEAST)
        squares += along_other**2 / rest
        volume = np.log(left) + np.log(rest)
        costs: FloatArray = np.log(np.maximum(squares, self.floor)) + volume / self.a.shape[1] + self.volume
        return costs
