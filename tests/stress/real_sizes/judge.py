"""Whether a matching is optimal, by costs in extended precision and without any code of the library.

The duals of a result prove it: no pair may cost less than the sum of its duals, and matched pairs cost just
that. Costs of all pairs are bounded from below in doubles; what that leaves in doubt, and all matched pairs,
are computed by :mod:`tests.stress.real_sizes.extended`.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy.optimize
from scipy.spatial.distance import cdist

from tests.stress.real_sizes.extended import LONG, logarithm, products, residuals, sums, two_sum

#: Violations that count as rounding errors: of logarithms, and of other costs as a share of large ones.
LOG_LIMIT, LIMIT = 1e-9, 1e-12
#: A squared distance is known in doubles to this share, and to its inverse times squared rounding errors.
_SHARE = 2.0**-44
#: Added to numbers that may have been too small for doubles.
_TINY = 2.0**-900
_BLOCK_ENTRIES, _EXACT_ENTRIES = 1 << 18, 1 << 16


class Judgement(NamedTuple):
    """How far an answer is from being proven, in units of what is allowed: up to 1 it is."""

    violation: float
    """Of the inequalities, of equality on matched pairs, and of the signs of the duals."""
    total: float
    """What the value that came with the answer differs from the sum of the costs, for each pair."""
    excess: float
    """What each pair costs more than in SciPy's answer, if that was asked for."""
    allowed: float
    """The unit."""
    greatest: float
    """What is allowed beside the greatest of all costs, about."""

    @property
    def is_proven(self):
        """Whether all of it is rounding error; a NaN is not."""
        return self.violation <= 1.0 and self.total <= 1.0 and self.excess <= 1.0


_NO_MATCHING = Judgement(math.inf, math.nan, math.nan, math.nan, math.nan)


def judge(x, y, result, with_scipy=False):
    """Measure how far a result of :func:`lslmatch.match` is from being optimal for its scale and shift."""
    n, m = len(x), len(y)
    permutation, u, v = (np.asarray(part) for part in (result.permutation, result.row_dual, result.col_dual))
    rows = np.flatnonzero(permutation >= 0)
    cols = permutation[rows]
    if rows.size != min(n, m) or np.unique(cols).size != cols.size or cols.max() >= m:
        return _NO_MATCHING
    if u.shape != (n,) or v.shape != (m,) or not (np.isfinite(u).all() and np.isfinite(v).all()):
        return _NO_MATCHING
    costs = Costs(x, y, result)
    low, high = costs.of(rows, cols)
    allowed = greatest = LOG_LIMIT
    if result.criterion != "lsl":
        # A fill without a partner does not count: a cost of 1e40 somewhere says nothing about the others.
        others = np.median(costs.of(rows, np.roll(cols, 1))[1])
        allowed = LIMIT * float(max(high.max(), np.abs(u).max(), np.abs(v).max(), others))
        greatest = max(allowed, LIMIT * costs.greatest())
    duals = LONG(u[rows]) + v[cols]
    worst = [0.0, (low - duals).max(), (duals - high).max()]
    if n != m:
        longer, matched = (u, rows) if n > m else (v, cols)
        worst += [longer.max(), np.abs(np.delete(longer, matched)).max()]
    for i, j in costs.doubtful(u, v, allowed / 4):
        others = permutation[i] != j
        worst.append(costs.violation(i[others], j[others], u, v))
    total = np.max([0.0, low.sum() - result.objective, result.objective - high.sum()]) / rows.size
    excess = _excess(costs, (n, m), rows, cols) if with_scipy else 0.0
    unit = allowed or np.finfo(float).tiny
    # NumPy's maximum of numbers one of which is none is none, Python's may be another one.
    return Judgement(float(np.max(worst)) / unit, float(total) / unit, excess / unit, allowed, greatest)


def _excess(costs, shape, rows, cols):
    """Say what each pair costs more than in SciPy's answer, at least."""
    low, high = (part.reshape(shape) for part in costs.of(*np.divmod(np.arange(math.prod(shape)), shape[1])))
    unit = np.frexp(np.abs(high).max())[1]
    theirs = scipy.optimize.linear_sum_assignment(np.ldexp(high, -unit).astype(float))
    return max(0.0, float((low[rows, cols].sum() - high[theirs].sum()) / rows.size))


class Floor(NamedTuple):
    """Squared distances that do not tell points apart: below `exact` all pairs cost the same."""

    exact: np.longdouble
    doubtful: np.longdouble
    """Below this a pair may cost anything between the logarithms of the two."""


def coincidence_floor(x, y, sizes, shift_size):
    """Give the floor under the logarithms: the one place where its rule stands.

    `x` and `y` are aligned, about any point. The sizes are the lengths of the points before that: of the rows
    of x, and of scale times those of y. The floor is 2**-104 of the mean squared distance from the mean of x;
    but of the least squared size that is not 0, or of the shift if it is longer, if that is smaller by more
    than 2**40, and then of 2**-800 of the greatest at least.
    """
    centre = x.mean(axis=0)
    unit = sum(((points - centre) ** 2).sum() for points in (x, y)) / sizes.size
    least = max(sizes[sizes > 0].min(initial=np.inf), shift_size) ** 2
    if least < unit * LONG(2.0) ** -40:
        unit = max(least, sizes.max() ** 2 * LONG(2.0) ** -800)
    floor = unit * LONG(2.0) ** -104
    return Floor(floor, 4 * floor)


def _lengths(points):
    return np.sqrt((points**2).sum(axis=1))


class Costs:
    """The costs of the pairs under the map of a result."""

    def __init__(self, x, y, result):
        scale, shift = float(result.scale), LONG(np.asarray(result.shift))
        self.is_logarithm = result.criterion == "lsl"
        # About a point amid those of x, so that neither offsets nor fills cost digits in doubles.
        centre = LONG(np.sort(x, axis=0)[len(x) // 2])
        self._x = two_sum(LONG(x), -centre)
        self._y = sums(
            [*products(scale, y), np.broadcast_to(shift, y.shape), np.broadcast_to(-centre, y.shape)]
        )
        greatest = max(np.abs(self._x[0]).max(), np.abs(self._y[0]).max())
        self._unit = 2 * int(np.frexp(greatest)[1])
        self._near = [np.ldexp(part[0], -self._unit // 2).astype(float) for part in (self._x, self._y)]
        self._variances = None
        if result.criterion == "lsns":
            self._variances = LONG(result.noise[0]) ** 2, (scale * LONG(result.noise[1])) ** 2
        if self.is_logarithm:
            of_x, of_y = _lengths(LONG(x)), scale * _lengths(LONG(y))
            self.floor = coincidence_floor(
                self._x[0], self._y[0], np.r_[of_x, of_y], _lengths(shift[None])[0]
            )

    def of(self, i, j):
        """Compute the costs of the pairs (i[k], j[k]): the least and the greatest they may be."""
        squares = np.empty(i.size, LONG)
        step = max(1, _EXACT_ENTRIES // self._x[0].shape[1])
        for start in range(0, i.size, step):
            row, col = i[start : start + step], j[start : start + step]
            rest = residuals([part[row] for part in self._x], [part[col] for part in self._y])
            squares[start : start + step] = (rest**2).sum(axis=1)
        if self._variances is not None:
            squares = squares / (self._variances[0][i] + self._variances[1][j])
        if not self.is_logarithm:
            return squares, squares
        if self.floor.exact == 0:
            return np.zeros_like(squares), np.zeros_like(squares)
        costs = logarithm(np.maximum(squares, self.floor.exact))
        is_doubtful = squares < self.floor.doubtful
        ends = (np.where(is_doubtful, logarithm(end), costs) for end in self.floor)
        return tuple(ends)

    def greatest(self):
        """Give the greatest cost of a pair with a point that is farthest out."""
        (i, j), (n, m) = (np.abs(part).max(axis=1).argmax() for part in self._near), map(len, self._near)
        pairs = np.r_[np.full(m, i), np.arange(n)], np.r_[np.arange(m), np.full(n, j)]
        return float(self.of(*pairs)[1].max())

    def violation(self, i, j, u, v):
        """Say by how much the sum of their duals exceeds the cost of some pairs, at most."""
        return (LONG(u[i]) + v[j] - self.of(i, j)[1]).max(initial=0.0)

    def doubtful(self, u, v, allowed):
        """Yield the pairs, some at a time, that may cost less than the duals by more than is allowed."""
        a, b = self._near
        # The squared rounding errors of coordinates in doubles, and what is too small for them.
        of_a, of_b = (2.0 * 2.0**-106 / _SHARE * (part**2).sum(axis=1) + _TINY for part in (a, b))
        step = max(1, _BLOCK_ENTRIES // len(b))
        for start in range(0, len(a), step):
            block = slice(start, start + step)
            least = cdist(a[block], b, "sqeuclidean") * (1.0 - _SHARE) - of_b - of_a[block, None]
            with np.errstate(all="ignore"):
                i, j = np.nonzero(~self._suffice(least, block, u, v - allowed))
            yield i + start, j

    def _suffice(self, least, block, u, v):
        """Say which of the least squared distances are certainly enough; what is not a number is not."""
        if not self.is_logarithm:
            needed = np.ldexp(u, -self._unit)[block, None] + np.ldexp(v, -self._unit)
            if self._variances is not None:
                of_x, of_y = self._variances
                needed *= of_x[block, None].astype(float) + of_y.astype(float) + _TINY
            return least >= needed
        if self.floor.exact == 0:
            return np.zeros(least.shape, bool)
        offset = self._unit * math.log(2.0)
        floor = float(logarithm(self.floor.exact)) - offset
        return np.maximum(np.log(np.maximum(least, 0.0)), floor) >= u[block, None] + (v - offset)
