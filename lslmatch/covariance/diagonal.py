"""Noise whose variance differs between columns: learned from the pairs, with the judged pair left out.

With residuals r_i and weights w_i the variance of column k is the sum of ``w_i r_ik**2``. Weights are those
of Tyler, for noise of unequal levels: inverse to the residual's own quadratic form, with the residual left
out of the variances. Logarithms of the variances are shrunk to their mean, as much as chance alone would
spread them: with K pairs each has a variance of about 2 / K.

To judge a pair, its points' present residuals are taken out of the variances of all columns, first of the
point of x, then of that of y; the pair that is in the variances itself once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._jit import kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.orientation import partners
from lslmatch.covariance.evidence import at_best_rate, both_entropies, row_entropies

#: Rounds of Tyler's fixed point.
_ROUNDS = 6
#: A quadratic form below this share of the mean one gives no greater weight.
_LEAST_FORM = 1e-12
#: The least variance of a column, as a share of the mean square of its points: one in which partners agree
#: exactly, as whole numbers may, decides, but leaves the others their digits.
_LEAST_VARIANCE = 1e-12
#: What is left of a variance is never taken to be less than this share of it.
_LEAST_LEFT = 2.0**-8
#: Numbers (pairs of points times columns) up to which all pairs are judged; otherwise those of some points.
_JUDGED, _ASKED = 1 << 26, 512


class Diagonal(NamedTuple):
    """The variances of the columns."""

    variance: FloatArray  # (d,), shrunk
    share: (
        FloatArray  # (K, d): what a residual has of the variance of each column, times what shrinkage leaves
    )

    @property
    def units(self) -> FloatArray:
        """The standard deviations, of shape (d,)."""
        return np.sqrt(self.variance)


def learn_variances(residuals: FloatArray, mean_squares: FloatArray) -> Diagonal | None:
    """Learn the variances from the residuals of matched pairs; None if there is no noise at all.

    `mean_squares` are those of the points, by column.
    """
    squares = residuals**2
    count, d = squares.shape
    weight = np.full(count, 1.0 / count)
    variance = weight @ squares
    if not variance.max() > 0.0:
        return None
    least = _LEAST_VARIANCE * np.where(mean_squares > 0.0, mean_squares, mean_squares.max() or 1.0)
    for _ in range(_ROUNDS):
        own = weight[:, None] * squares
        left = np.maximum(variance - own, np.maximum(_LEAST_LEFT * variance, least))
        forms = (squares / left).mean(axis=1)
        weight = 1.0 / np.maximum(forms, _LEAST_FORM * forms.mean())
        weight /= weight.sum()
        variance = weight @ squares
    raw = np.maximum(variance, least)
    logarithms = np.log(raw)
    spread = float(logarithms.var(ddof=1)) if d > 1 else 0.0
    kept = max(1.0 - 2.0 / count / spread, 0.0) if spread > 0.0 else 0.0
    mean = logarithms.mean()
    share = weight[:, None] * squares * (kept / raw)
    return Diagonal(np.exp(mean + kept * (logarithms - mean)), share)


def diagonal_surprises(
    a: FloatArray, b: FloatArray, partner: IntArray, residuals: FloatArray, found: Diagonal
) -> FloatArray:
    """Give how much each pair of a matching surprises, as `surprises` of `lslmatch.covariance.evidence` does.

    Both sets are aligned; `residuals` and `found` are those of the matched rows of `a`, ascending.
    """
    d, rows = a.shape[1], np.flatnonzero(partner >= 0)
    unit = found.units
    judge = _Judge(a / unit, b / unit, np.zeros(a.shape), np.zeros(b.shape), partner, np.zeros(a.shape))
    judge.a_share[rows], judge.b_share[partner[rows]] = found.share, found.share
    judge.own[rows] = residuals / unit
    if len(a) > len(b):
        judge = judge.transposed()
    rows = np.flatnonzero(judge.partner >= 0)
    n, m = len(judge.a), len(judge.b)
    if n * m * d <= _JUDGED:
        costs = judge.costs(np.arange(n))
        return at_best_rate(both_entropies(costs, judge.partner, d)[rows])
    some = rows[np.unique(np.linspace(0, rows.size - 1, _ASKED).astype(np.intp))]
    total = np.zeros(())
    for side, asked in ((judge, some), (judge.transposed(), judge.partner[some])):
        total = total + row_entropies(side.costs(asked), side.partner[asked], d)
    return at_best_rate(total)


class _Judge(NamedTuple):
    a: FloatArray  # (n, d), in units of the standard deviations
    b: FloatArray  # (m, d)
    a_share: FloatArray  # (n, d): what the present pair of each point has of the variances
    b_share: FloatArray  # (m, d)
    partner: IntArray  # (n,)
    own: FloatArray  # (n, d): residuals of the present pairs, with all their digits

    def transposed(self) -> _Judge:
        rows = np.flatnonzero(self.partner >= 0)
        own = np.zeros(self.b.shape)
        own[self.partner[rows]] = self.own[rows]
        partner = partners(len(self.b), self.partner[rows], rows)
        return _Judge(self.b, self.a, self.b_share, self.a_share, partner, own)

    def costs(self, asked: IntArray) -> FloatArray:
        costs = np.empty((asked.size, len(self.b)))
        squares = self.a[asked], np.ascontiguousarray(self.b.T), self.a_share[asked]
        others = np.ascontiguousarray(self.b_share.T), self.partner[asked], self.own[asked]
        _fill_costs(
            *squares, *others, np.log1p(-np.minimum(self.b_share, 1 - _LEAST_LEFT)).mean(axis=1), costs
        )
        return costs


@kernel
def _fill_costs(a, b, a_share, b_share, partner, own, b_volume, costs):
    """Fill in costs with the judged pair left out; the second set has a row for each column of the first."""
    n, m = costs.shape
    d = a.shape[1]
    least = 2.0**-8
    for i in range(n):
        row = costs[i]
        row[:] = 0.0
        volume = 0.0
        own_square = 0.0
        for k in range(d):
            left = max(1.0 - a_share[i, k], least)
            volume += np.log(left)
            own_square += own[i, k] * own[i, k] / left
            point, line, shares = a[i, k], b[k], b_share[k]
            for j in range(m):
                apart = point - line[j]
                row[j] += apart * apart / max(left - shares[j], least)
        volume /= d
        for j in range(m):
            row[j] = np.log(max(row[j], 1e-300)) + volume + b_volume[j]
        if partner[i] >= 0:
            row[partner[i]] = np.log(max(own_square, 1e-300)) + volume
