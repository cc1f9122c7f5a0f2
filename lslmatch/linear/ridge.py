"""Ridge regression of matched points, and the costs of all pairs with the judged pair left out, exactly.

Points of x are a_i and those of y are b_j, in coordinates of their own. Of pairs t = (i, j) that are given,
with weights w_t, the map f_j = c + M b_j minimises ``sum of w_t |a_t - f_t|^2 + penalty |M|^2``. A map with
as many numbers as there are pairs would lead through all of them: a pair is judged by the map that both of
its points had no part in. With S the present pairs of a_i and of b_j, H the hat matrix of the weighted pairs,
R their residuals and P_jS the influence of the pairs in S on f_j,

    a_i - f_j without S  =  a_i - f_j + P_jS (1 - H_SS)^-1 sqrt(w_S) R_S.

All of it is made of products of n by m entries. The noise is isotropic, or has the covariance of the
residuals with themselves left out, R_t / (1 - h_t), shrunk; then the same pairs are left out of that as well,
by Woodbury's formula (see :mod:`lslmatch.covariance.leave_out`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._threads import over_rows
from lslmatch._types import FloatArray, IntArray
from lslmatch.covariance.metric import Metric, equal_metric, tyler_metric

#: Entries of a block of rows whose costs are computed at once.
_BLOCK_ENTRIES = 1 << 17
#: A squared distance below this share of the squared norms is computed anew by differences.
_CANCELLED = 1e-4
#: Residuals up to this share of the greatest coordinate are rounding.
_ROUNDINGS = 2.0**-46
#: No factor of a determinant is taken to be smaller than this.
_LEAST = 2.0**-40
#: Squared distances are at least this share of the mean square of the points of x.
COINCIDENT = 2.0**-40


class Pairs(NamedTuple):
    """What a map is learned from: a partner for some points of x, and a weight for each of them."""

    partner: IntArray  # (n,), -1 where there is none
    weight: FloatArray  # (n,)

    @property
    def rows(self) -> IntArray:
        """The points of x that have partners."""
        return np.flatnonzero(self.partner >= 0)

    def transposed(self, m: int) -> Pairs:
        """Exchange the roles of the two sets."""
        rows = self.rows
        partner, weight = np.full(m, -1, np.intp), np.zeros(m)
        partner[self.partner[rows]], weight[self.partner[rows]] = rows, self.weight[rows]
        return Pairs(partner, weight)


class Ridge(NamedTuple):
    """A map that was learned from pairs, and what leaving pairs out of it takes."""

    a: FloatArray  # (n, p)
    f: FloatArray  # (m, p): points of y, mapped
    residual: FloatArray  # (n, p): of the pairs, times the root of the weight; 0 without a partner
    pairs: Pairs
    left: FloatArray  # (n, q + 1): points in coordinates whose inner products are influences,
    right: FloatArray  # (m, q + 1): of the pairs of x and on the points of y
    coefficients: FloatArray  # (q + 1, p)
    penalty: float  # what the sum of squares of the matrix was multiplied by

    @property
    def leverage(self) -> FloatArray:
        """The diagonal of the hat matrix, of shape (n,); 0 without a partner."""
        found = np.zeros(len(self.a))
        rows = self.pairs.rows
        found[rows] = np.einsum("ij,ij->i", self.left[rows], self.left[rows])
        return found

    def left_out_residuals(self) -> FloatArray:
        """Give the residual of each pair with itself left out, of shape (K, p)."""
        rows = self.pairs.rows
        own = np.sqrt(self.pairs.weight[rows]) * np.maximum(1.0 - self.leverage[rows], _LEAST)
        kept: FloatArray = self.residual[rows] / own[:, None]
        return kept


def fit_ridge(
    a: FloatArray,
    b: FloatArray,
    pairs: Pairs,
    share: float | None,
    prior: FloatArray | None = None,
    penalty: float = 0.0,
) -> Ridge:
    """Learn the map from b to a of some pairs.

    The penalty is a `share` of the mean weighted square of a column of b, over the pairs; or it is given. It
    draws the matrix to the `prior` one, of shape (q, p), or to 0.
    """
    from scipy.linalg import cholesky, solve_triangular

    rows = pairs.rows
    cols, root = pairs.partner[rows], np.sqrt(pairs.weight[rows])
    design = np.column_stack([np.ones(len(b)), b])
    weighted = design[cols] * root[:, None]
    squares = weighted.T @ weighted
    if share is not None:
        mean = weighted[:, 1:].T @ root / (root @ root)
        trace = float(np.trace(squares[1:, 1:]) - (root @ root) * (mean @ mean))
        penalty = share * trace / b.shape[1] if trace > 0.0 else 1.0
    squares[np.arange(1, len(squares)), np.arange(1, len(squares))] += penalty
    factor = cholesky(squares, lower=True, check_finite=False)
    right = solve_triangular(factor, design.T, lower=True, check_finite=False).T
    left = np.zeros((len(a), design.shape[1]))
    left[rows] = right[cols] * root[:, None]
    targets = a[rows] if prior is None else a[rows] - b[cols] @ prior
    coefficients = solve_triangular(
        factor, weighted.T @ (targets * root[:, None]), lower=True, check_finite=False
    )
    coefficients = solve_triangular(factor, coefficients, lower=True, trans=1, check_finite=False)
    if prior is not None:
        coefficients[1:] += prior
    f = design @ coefficients
    residual = np.zeros_like(a)
    residual[rows] = (a[rows] - f[cols]) * root[:, None]
    return Ridge(a, f, residual, pairs, left, np.ascontiguousarray(right), coefficients, penalty)


def learn_metric(found: Ridge, weighting: str) -> Metric | None:
    """Learn the covariance of the noise from the residuals with themselves left out; None without noise.

    Residuals of a few roundings of the coordinates are none.
    """
    if not np.abs(found.residual).max() > _ROUNDINGS * np.abs(found.a).max():
        return None
    residuals = found.left_out_residuals()
    learn = tyler_metric if weighting == "tyler" else equal_metric
    return learn(residuals, residuals.shape[1], None)


def left_out_costs(found: Ridge, metric: Metric | None = None, workers: int = 1) -> FloatArray:
    """Compute the logarithms of the squared distances of all pairs, each with its own points left out."""
    judge = _Judge.of(found, metric)
    n, m = len(found.a), len(found.f)
    costs = np.empty((n, m))

    def fill(worker: int, first: int, last: int) -> None:
        judge.fill(first, last, costs[first:last])

    over_rows(fill, n, max(_BLOCK_ENTRIES // m, 1), workers)
    return costs


class _Judge(NamedTuple):
    """Both sets in coordinates where the metric is Euclidean."""

    a: FloatArray
    f: FloatArray
    e: FloatArray  # (n, p): weighted residuals of the pairs of x
    g: FloatArray  # (m, p): those of the pairs of y
    ridge: Ridge
    of_metric: FloatArray  # (n,): what makes residuals columns of the metric's root; 0 if isotropic
    of_metric_y: FloatArray  # (m,)
    floor: float
    offset: float

    @classmethod
    def of(cls, found: Ridge, metric: Metric | None) -> _Judge:
        pairs, rows = found.pairs, found.pairs.rows
        a, f, e = found.a, found.f, found.residual
        spread = a - a.mean(axis=0)
        floor, offset = float(np.vdot(spread, spread)) / len(a) * COINCIDENT, 0.0
        share = np.zeros(len(a))
        if metric is not None:
            a, f, e = metric.whiten(a), metric.whiten(f), metric.whiten(e)
            own = np.sqrt(pairs.weight[rows]) * np.maximum(1.0 - found.leverage[rows], _LEAST)
            share[rows] = np.sqrt(metric.weight) / own
            offset = metric.log_determinant() / a.shape[1]
            spread = a - a.mean(axis=0)
            floor = float(np.vdot(spread, spread)) / len(a) * COINCIDENT
        g, of_y = np.zeros_like(f), np.zeros(len(f))
        g[pairs.partner[rows]], of_y[pairs.partner[rows]] = e[rows], share[rows]
        return cls(a, f, e, g, found, share, of_y, floor, offset)

    def fill(self, first: int, last: int, costs: FloatArray) -> None:
        """Fill in the costs of some rows."""
        costs[:] = self.offset
        some = slice(first, last)
        pairs, m = self.ridge.pairs, len(self.f)
        back = pairs.transposed(m)
        a, e = self.a[some], self.e[some]
        influence = self.ridge.left[some] @ self.ridge.right.T
        own_y = np.zeros(m)
        cols = np.flatnonzero(back.partner >= 0)
        own_y[cols] = np.einsum("ij,ij->i", self.ridge.left[back.partner[cols]], self.ridge.right[cols])
        root = np.sqrt(back.weight)
        x_left = np.maximum(1.0 - self.ridge.leverage[some], _LEAST)[:, None]
        y_left = np.maximum(1.0 - root * own_y, _LEAST)
        cross = influence * root
        # What is to be added to the difference: so much of the residual of a_i's pair, and of b_j's.
        with np.errstate(all="ignore"):
            determinant = np.maximum(x_left * y_left - cross**2, _LEAST)
            of_x = (influence * y_left + own_y * cross) / determinant
            of_y = (influence * cross + own_y * x_left) / determinant
        mine = np.flatnonzero(pairs.partner[some] >= 0)
        partners = pairs.partner[some][mine]
        of_x[mine, partners] = own_y[partners] / x_left[mine, 0]
        of_y[mine, partners] = 0.0
        norms = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", self.f, self.f)
        squares = norms - 2.0 * (a @ self.f.T)
        along_x = np.einsum("ij,ij->i", a, e)[:, None] - e @ self.f.T
        along_y = a @ self.g.T - np.einsum("ij,ij->i", self.f, self.g)
        overlap = e @ self.g.T
        e_norm, g_norm = np.einsum("ij,ij->i", e, e)[:, None], np.einsum("ij,ij->i", self.g, self.g)
        squares += 2.0 * (of_x * along_x + of_y * along_y) + of_x**2 * e_norm
        squares += of_y**2 * g_norm + 2.0 * of_x * of_y * overlap
        close = np.nonzero(~(squares > _CANCELLED * norms))
        if close[0].size:
            exact = a[close[0]] - self.f[close[1]]
            exact += of_x[close][:, None] * e[close[0]] + of_y[close][:, None] * self.g[close[1]]
            squares[close] = np.einsum("ij,ij->i", exact, exact)
        if self.of_metric.any():
            along_x += of_x * e_norm + of_y * overlap
            along_y += of_x * overlap + of_y * g_norm
            # The same pairs, out of the metric.
            x_share, y_share = self.of_metric[some][:, None], self.of_metric_y
            u, v, g = along_x * x_share, along_y * y_share, overlap * x_share * y_share
            x_left = np.maximum(1.0 - x_share**2 * e_norm, _LEAST)
            y_left = np.maximum(1.0 - y_share**2 * g_norm, _LEAST)
            determinant = np.maximum(x_left * y_left - g**2, _LEAST)
            more = (y_left * u**2 + 2.0 * g * u * v + x_left * v**2) / determinant
            more[mine, partners] = u[mine, partners] ** 2 / x_left[mine, 0]
            determinant[mine, partners] = x_left[mine, 0]
            squares += more
            costs += np.log(determinant) / self.a.shape[1]
        costs += np.log(np.maximum(squares, self.floor))
