"""Costs of all pairs under a metric from which the pair that is judged was left out.

A matching is given, and the metric ``A = sum w_k r_k r_k^T + ridge I`` made from its residuals. To judge
the pair (i, j), the residual of x_i with its present partner and that of y_j with its present partner are
taken out of A: otherwise the present pairs would be cheap because the metric was made from them. Let U
hold the two columns sqrt(w) r, z = x_i - scale y_j - shift, u = U^T A^-1 z and G = U^T A^-1 U. Then

    Q   = z^T A^-1 z + u^T (I - G)^-1 u            (Woodbury's formula),
    det = det(I - G),

and the cost is ``log Q + log(det) / d + log(det A) / d``: the logarithm of the squared distance in the
metric A without the two, divided by the d-th root of its determinant, as the volume is to be that of the
coordinates. Where i and j are partners there is one column, and where a point has no partner it has none.

All inner products come from four matrix products a block of rows; a kernel puts them together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._jit import kernel, step_kernel
from lslmatch._threads import over_rows
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.orientation import partners
from lslmatch.covariance.metric import Metric

#: Entries of each of the four products of a block of rows (8 MB).
_BLOCK_ENTRIES = 1 << 20
#: A squared distance below this share of the squared norms is computed anew by differences.
_CANCELLED = 1e-5
#: No factor of the determinant is taken to be smaller than this.
_LEAST_RATIO = 2.0**-104
#: Points coincide up to this share of the mean square: whitened coordinates are rounded more than once.
WHITE_COINCIDENT = 2.0**-84


class White(NamedTuple):
    """Both sets in coordinates where the metric is Euclidean, and residuals of the present partners."""

    a: FloatArray  # (n, d)
    b: FloatArray  # (m, d)
    a_residual: FloatArray  # (n, d), times the root of its weight; 0 where there is no partner
    b_residual: FloatArray  # (m, d)
    partner: IntArray  # (n,): the present partner of each x, or -1
    own: FloatArray  # (n,): its squared distance, of which differences of a and b would lose digits
    floor: float  # squared distances below this are raised to it
    offset: float  # log(det A) / d
    dimension: int

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of points n and m."""
        return len(self.a), len(self.b)

    def transposed(self) -> White:
        """Exchange the roles of the two sets."""
        rows = np.flatnonzero(self.partner >= 0)
        partner, own = partners(len(self.b), self.partner[rows], rows), np.zeros(len(self.b))
        own[self.partner[rows]] = self.own[rows]
        turned = self._replace(a=self.b, b=self.a, partner=partner, own=own)
        return turned._replace(a_residual=self.b_residual, b_residual=self.a_residual)

    def rows(self, chosen: IntArray) -> White:
        """Keep some points of the first set."""
        a, a_residual, partner = self.a[chosen], self.a_residual[chosen], self.partner[chosen]
        return self._replace(a=a, a_residual=a_residual, partner=partner, own=self.own[chosen])


def whiten(
    x: FloatArray,
    y: FloatArray,
    partner: IntArray,
    metric: Metric,
    dimension: int,
    leave_out: bool = True,
    coincident: float = WHITE_COINCIDENT,
) -> White:
    """Bring two aligned sets and their present residuals into the coordinates of a metric.

    The metric is that of the residuals of the partners, in the order of x. Points coincide up to a share
    `coincident` of the mean square.
    """
    a, b = whiten_pairs(x, y, partner, metric)
    rows = np.flatnonzero(partner >= 0)
    a_residual, b_residual = np.zeros_like(a), np.zeros_like(b)
    if leave_out:
        residuals = metric.white * np.sqrt(metric.weight)[:, None]
        a_residual[rows], b_residual[partner[rows]] = residuals, residuals
    own = np.zeros(len(a))
    own[rows] = np.einsum("ij,ij->i", metric.white, metric.white)
    spread = float(((a - a.mean(axis=0)) ** 2).sum() + ((b - a.mean(axis=0)) ** 2).sum()) / (len(a) + len(b))
    log_volume = metric.log_determinant() + (dimension - a.shape[1]) * np.log(metric.ridge)
    floor, offset = spread * coincident, log_volume / dimension
    return White(a, b, a_residual, b_residual, partner, own, floor, offset, dimension)


def whiten_pairs(
    x: FloatArray, y: FloatArray, partner: IntArray, metric: Metric
) -> tuple[FloatArray, FloatArray]:
    """Give both sets in the coordinates of a metric whose residuals are those of the partners.

    A point is its partner and their residual, so that only the others need a solution of their own.
    """
    rows = np.flatnonzero(partner >= 0)
    if len(x) > len(y):
        a = metric.whiten(x)
        return a, _of_partners(y, partner[rows], a[rows] - metric.white, metric)
    b = metric.whiten(y)
    return _of_partners(x, rows, b[partner[rows]] + metric.white, metric), b


def _of_partners(points: FloatArray, matched: IntArray, white: FloatArray, metric: Metric) -> FloatArray:
    """Put the points that have a partner and the others together."""
    found = np.empty_like(white) if matched.size == len(points) else metric.whiten(points)
    found[matched] = white
    return found


def cost_matrix(white: White, workers: int = 1) -> FloatArray:
    """Compute the costs of all pairs."""
    n, m = white.shape
    costs = np.empty((n, m))

    def fill(worker: int, first: int, last: int) -> None:
        fill_rows(white, first, last, costs[first:last])

    over_rows(fill, n, max(_BLOCK_ENTRIES // m, 1), workers)
    return costs


def fill_rows(white: White, first: int, last: int, costs: FloatArray) -> None:
    """Fill in the costs of some rows."""
    rows = slice(first, last)
    a, a_residual = white.a[rows], white.a_residual[rows]
    np.matmul(a, white.b.T, out=costs)
    row_product = a_residual @ white.b.T
    col_product = a @ white.b_residual.T
    overlap = a_residual @ white.b_residual.T
    _combine(white, first, row_product, col_product, overlap, costs)


@kernel
def _combine(white, first, row_product, col_product, overlap, costs):
    """Turn the products ``a . b``, which `costs` holds, into costs."""
    rows, m = costs.shape
    d = white.a.shape[1]
    b_norm, b_own, b_leverage = np.empty(m), np.empty(m), np.empty(m)
    for j in range(m):
        b_norm[j] = _inner(white.b[j], white.b[j])
        b_own[j] = _inner(white.b_residual[j], white.b[j])
        b_leverage[j] = _inner(white.b_residual[j], white.b_residual[j])
    for r in range(rows):
        i = first + r
        a_norm = _inner(white.a[i], white.a[i])
        a_own = _inner(white.a_residual[i], white.a[i])
        a_rest = max(1.0 - _inner(white.a_residual[i], white.a_residual[i]), _LEAST_RATIO)
        for j in range(m):
            norms = a_norm + b_norm[j]
            square = norms - 2.0 * costs[r, j]
            if square < _CANCELLED * norms:
                square = 0.0
                for k in range(d):
                    square += (white.a[i, k] - white.b[j, k]) ** 2
            u = a_own - row_product[r, j]
            if white.partner[i] == j:  # z is the residual itself, and Woodbury's formula a quotient
                determinant = a_rest
                square = white.own[i] / a_rest
            else:
                b_rest = max(1.0 - b_leverage[j], _LEAST_RATIO)
                v = col_product[r, j] - b_own[j]
                g = overlap[r, j]
                determinant = max(a_rest * b_rest - g * g, _LEAST_RATIO)
                square += (b_rest * u * u + 2.0 * g * u * v + a_rest * v * v) / determinant
            square = max(square, white.floor)
            costs[r, j] = np.log(square) + np.log(determinant) / white.dimension + white.offset


@step_kernel
def _inner(p, q):
    total = 0.0
    for k in range(p.size):
        total += p[k] * q[k]
    return total
