"""How many pairs of a matching are partners, and which: a model of true pairs and of pairs of strangers.

An optimal matching gives each pair two numbers. Its *cost* c is the logarithm of its squared distance. Its
*margin* r says how much dearer the other candidates of its two points are: the mean of the K-th least reduced
costs (cost minus duals) of its row and of its column.

- **Strangers.** The reduced costs of a point's candidates are like the points of a Poisson process. With a
  margin r there would be ``V = q * K * exp(-rate * r)`` candidates on average that are still to be had and
  cheaper than the pair, and r has the density ``rate * V * exp(-V)``. The rate, half of the local dimension,
  comes from the gaps between candidates; q is the share of points without a partner.
- **True pairs.** Margins are normal. What a linear regression on r leaves of c is normal for both kinds, with
  parameters of their own.

The shares of the two kinds and all parameters are found together by the EM algorithm. A pair is accepted if
it is more probably a true one. If pairs do not stand out beyond chance at all, nothing is in common.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.results import MatchResult

#: Candidates of a point that are looked at.
_CANDIDATES = 6
#: Shares of the pairs, the most prominent ones, that are taken for true to begin with.
_STARTS = (0.5, 0.25, 1.0)
#: Steps of the EM algorithm at most, and the change of the share that ends them.
_STEPS, _SAME = 300, 1e-5
#: With how many pairs' weight the slope of the strangers' costs, and their level, follow those of all.
_SLOPE_PRIOR, _LEVEL_PRIOR = 10.0, 2.0
#: The residual spread of log distances, in units of that of equal noise, is not below this.
_LEAST_SPREAD = 0.5
#: Pairs stand out if their mean prominence is above this multiple of that of chance, and this much over the
#: root of their number more. 200 points with nothing in common had 0.2 to 0.4 in the median, those with half
#: in common, near the noise floor, 0.6 to 0.8.
_STAND_OUT, _MORE = 0.4, 1.5
#: Prominences count up to this.
_GREATEST = math.log(1e4)
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


class Partnership(NamedTuple):
    """What the two-groups model says of the pairs of a matching."""

    rows: IntArray  # (k,): the matched rows, ascending
    cost: FloatArray  # (k,)
    true: FloatArray  # (k,): the probability that a pair is not one of strangers
    right: FloatArray  # (k,): the probability that it is right: true, and not exchanged with another
    stands_out: float  # mean prominence of the pairs beside that of chance

    @property
    def accepted(self) -> int:
        """How many pairs are more probably true; none if pairs do not stand out."""
        limit = _STAND_OUT + _MORE / math.sqrt(self.true.size)
        return int((self.true > 0.5).sum()) if self.stands_out > limit else 0

    def within(self, target: float) -> int:
        """How many of the cheapest pairs there are with at most that expected share of false ones.

        Never more than are accepted: nobody wants strangers for their own sake.
        """
        false = 1.0 - self.right[np.argsort(self.cost, kind="stable")]
        enough = np.flatnonzero(np.cumsum(false) <= target * np.arange(1, false.size + 1))
        return min(int(enough[-1]) + 1, self.accepted) if enough.size else 0


def judge_pairs(costs: FloatArray, result: MatchResult, dimension: int) -> Partnership:
    """Fit the model to the pairs of a matching of at least four pairs."""
    pairs = _Pairs.of(costs, result)
    fits = [_fit(pairs, share, dimension) for share in _STARTS]
    best = max(fits, key=lambda fit: fit.likelihood)
    odds = np.exp(-dimension / 2.0 * pairs.exchanges).sum(axis=1)
    return Partnership(pairs.rows, pairs.cost, best.true, best.true / (1.0 + odds), pairs.stands_out)


class _Pairs(NamedTuple):
    """The pairs of a matching, and the candidates beside them."""

    rows: IntArray
    cost: FloatArray
    row_least: FloatArray  # (k, K): the least reduced costs of other pairs in the same row, ascending
    col_least: FloatArray
    exchanges: FloatArray  # (k, K): what it costs at least to exchange partners with another pair
    shape: tuple[int, int]
    stands_out: float

    @classmethod
    def of(cls, costs: FloatArray, result: MatchResult) -> _Pairs:
        assert result.row_dual is not None
        assert result.col_dual is not None
        rows = np.flatnonzero(result.permutation >= 0)
        cols = result.permutation[rows]
        own = costs[rows, cols]
        reduced = costs - result.row_dual[:, None]
        reduced -= result.col_dual + (result.price or 0.0)
        row_least, col_least = _least_others(reduced, rows, cols, _CANDIDATES)
        reduced = reduced[np.ix_(rows, cols)]
        reduced = reduced + reduced.T
        every = np.arange(rows.size)
        exchanges, _ = _least_others(reduced, every, every, _CANDIDATES)
        stands_out = _stands_out(costs, rows, cols, own)
        return cls(rows, own, row_least, col_least, exchanges, costs.shape, stands_out)

    @property
    def rate(self) -> float:
        """The rate at which candidates become more frequent with cost: half of the local dimension."""
        gaps = [(least[:, -1:] - least[:, :-1]).ravel() for least in (self.row_least, self.col_least)]
        return 1.0 / max(float(np.concatenate(gaps).mean()), 1e-9)


def _least_others(matrix: FloatArray, rows: IntArray, cols: IntArray, count: int) -> list[FloatArray]:
    """Give the least entries of each pair's row, and of its column, without the pair itself."""
    least = []
    for lines, own in ((matrix[rows], cols), (np.ascontiguousarray(matrix[:, cols].T), rows)):
        lines[np.arange(len(lines)), own] = np.inf
        few = min(count, lines.shape[1] - 1)
        least.append(np.sort(np.partition(lines, few - 1, axis=1)[:, :few], axis=1))
    return least


def _stands_out(costs: FloatArray, rows: IntArray, cols: IntArray, own: FloatArray) -> float:
    """Give the mean prominence of the pairs beside that of their candidates without them.

    Were a pair absent, its point would be one without a partner: the second and third candidate are then
    the first and second, and by the Poisson process their gap is half of that of the first two.
    """
    row, col = _least_others(costs, rows, cols, 2)
    prominence = np.clip(np.minimum(row[:, 0], col[:, 0]) - own, 0.0, _GREATEST)
    chance = float((row[:, 1] - row[:, 0]).mean() + (col[:, 1] - col[:, 0]).mean())
    return float(prominence.mean()) / max(chance, 1e-12)


class _Fitted(NamedTuple):
    true: FloatArray
    likelihood: float


def _fit(pairs: _Pairs, share: float, dimension: int) -> _Fitted:
    """Run the EM algorithm from the most prominent pairs."""
    cost, rate, count = pairs.cost, pairs.rate, pairs.cost.size
    margin = (pairs.row_least[:, -1] + pairs.col_least[:, -1]) / 2.0
    candidates = math.sqrt(pairs.row_least.shape[1] * pairs.col_least.shape[1])
    first = pairs.row_least[:, 0] + pairs.col_least[:, 0]
    true = np.full(count, 0.05)
    true[np.argsort(-first, kind="stable")[: max(int(share * count), 3)]] = 0.95
    least_spread = _LEAST_SPREAD * _log_square_spread(dimension)
    share = min(share, 0.9)
    likelihood = -math.inf
    for step in range(_STEPS):
        if true.sum() < 3.0:
            break
        kind = _regress(cost, margin, true, 0.0, 0.0)
        spread = max(math.sqrt(true @ kind.residual**2 / true.sum()), least_spread)
        margin_spread = max(kind.margin_spread, 0.5 / rate)
        of_true = _normal(kind.residual, spread) + _normal(margin - kind.margin, margin_spread)
        false = 1.0 - true
        other = _regress(cost, margin, false, kind.slope, _SLOPE_PRIOR / rate**2)
        level, weight = other.residual + other.level, false.sum() + _LEVEL_PRIOR
        residual = level - (false @ level + _LEVEL_PRIOR * cost.mean()) / weight
        other_spread = (false @ residual**2 + _LEVEL_PRIOR * spread**2) / weight
        free = max(max(size - share * count, 0.5) / size for size in pairs.shape)
        near = math.log(free * candidates) - rate * margin
        of_false = math.log(rate) + near - np.exp(near)
        of_false = of_false + _normal(residual, max(math.sqrt(other_spread), least_spread))
        one, none = math.log(share) + of_true, math.log1p(-share) + of_false
        total = np.logaddexp(one, none)
        true, likelihood = np.exp(one - total), float(total.sum())
        before, share = share, min(max(float(true.mean()), 1e-6), 1.0 - 1e-6)
        if step > 2 and abs(share - before) < _SAME:
            break
    return _Fitted(true, likelihood)


class _Regression(NamedTuple):
    slope: float
    level: float  # of the cost at the mean margin
    margin: float  # the mean margin
    margin_spread: float
    residual: FloatArray


def _regress(
    cost: FloatArray, margin: FloatArray, weight: FloatArray, slope: float, prior: float
) -> _Regression:
    """Regress the costs on the margins; the slope, between -1 and 0, is drawn to a given one by a prior."""
    total = max(float(weight.sum()), 1e-9)
    level, centre = float(weight @ cost) / total, float(weight @ margin) / total
    squares = float(weight @ (margin - centre) ** 2)
    products = float(weight @ ((cost - level) * (margin - centre)))
    slope = (products + prior * slope) / max(squares + prior, 1e-9)
    slope = min(max(slope, -1.0), 0.0)
    residual = cost - level - slope * (margin - centre)
    return _Regression(slope, level, centre, math.sqrt(squares / total), residual)


def _normal(deviation: FloatArray, spread: float) -> FloatArray:
    """Give the logarithm of a normal density."""
    return -0.5 * (deviation / spread) ** 2 - (math.log(spread) + _HALF_LOG_2PI)


def _log_square_spread(dimension: int) -> float:
    """Give the standard deviation of the logarithm of a chi-squared variable."""
    from scipy.special import polygamma  # takes longer than the rest of the import

    return math.sqrt(float(polygamma(1, dimension / 2.0)))
