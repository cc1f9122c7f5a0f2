"""How many pairs of a matching are partners, and which: a model of true pairs and of pairs of strangers.

An optimal matching gives each pair two numbers. Its *cost* c is the logarithm of its squared distance. Its
*margin* says how much dearer the other candidates of its two points are: the mean of the K-th least reduced
costs (cost minus duals) of its row and of its column. It is measured in units of ``1 / rate``, the rate at
which candidates become more frequent with cost: half of the local dimension, from gaps between candidates.

- **Strangers.** In these units margins of strangers follow nearly the same law in all data, because the
  candidates of a point are like the points of a Poisson process: Gumbel's, with a mean of 2.3 if all points
  are strangers and less if few are, as these must take what others leave, and the narrower the higher the
  dimension.
- **True pairs.** Margins are normal, and lie above those of strangers, but for some that may be anywhere:
  those of noisy points. What a linear regression on the margin leaves of c is normal for both kinds, with
  parameters of their own.

The shares of the two kinds and all parameters are found together by the EM algorithm. A true pair is right
unless its points exchanged partners with those of other pairs. A pair is accepted if it is more probably
right. If pairs do not stand out beyond chance at all, nothing is in common.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.results import MatchResult

#: Candidates of a point that are looked at.
_CANDIDATES = 6
#: Rounds in which row and column sums are brought to 1, and the change of their logarithms that ends them.
_BALANCING, _BALANCED = 60, 1e-3
#: Shares of the pairs, the most prominent ones, that are taken for true to begin with.
_STARTS = (0.5, 0.25, 1.0)
#: Steps of the EM algorithm at most, and the change of the share that ends them.
_STEPS, _SAME = 300, 1e-5
#: With how many pairs' weight the slope of the strangers' costs, and their level, follow those of all.
_SLOPE_PRIOR, _LEVEL_PRIOR = 10.0, 2.0
#: The residual spread of log distances, in units of that of equal noise, is not below this.
_LEAST_SPREAD = 0.5
#: The mean margin of strangers if all are, and how it falls with the logarithm of the share of free points.
#: On 16 kinds of unrelated data, planted and real, with a covariance and without, means were 1.9 to 2.8.
_STRANGERS_MEAN, _STRANGERS_FALL = 2.3, 0.5
#: The scale of Gumbel's law is the first of these, and the second over the rate more.
_STRANGERS_SCALE, _SCALE_IN_FEW_DIMENSIONS = 0.6, 0.8
#: True pairs' mean margin is at least so much above that of strangers; this share of them may be anywhere.
_ABOVE_STRANGERS, _ANYWHERE = 1.0, 0.1
#: Margins below this are ties, as of rows that repeat: how near they are to 0 says nothing.
_LEAST_MARGIN = 0.5
#: Pairs stand out if their mean prominence is above this multiple of that of chance, and this much over the
#: root of their number more. 200 points with nothing in common had 0.2 to 0.4 in the median, those with half
#: in common, near the noise floor, 0.6 to 0.8.
_STAND_OUT, _MORE = 0.4, 1.5
#: Prominences count up to this.
_GREATEST = math.log(1e4)
#: They also stand out if their mean margin is above this, and this much over the root of their number more,
#: counting margins up to a greatest one. In many dimensions a few points are near to all others, and
#: prominence is low even where pairs are right; margins do not suffer from that, as duals take it off. Real
#: sets with nothing in common had 2.2 to 2.8, those with a half in common 3.9 to 6.
_MARGIN_OUT, _MARGIN_MORE, _GREATEST_MARGIN = 3.2, 4.0, 8.0
#: In sets with fewer points a few pairs stand out by chance: at least that share must be right.
_SMALL, _LEAST_SHARE = 100, 1.0 / 3.0
#: And this share in sets of any size, where pairs are compared with those of sets that share nothing.
_CONFIRMED_SHARE = 0.25
#: The median of the mean gap between a point's candidates, beside its mean.
_MEDIAN_GAP = 0.93
_EULER = 0.5772156649015329
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


class Partnership(NamedTuple):
    """What the two-groups model says of the pairs of a matching."""

    rows: IntArray  # (k,): the matched rows, ascending
    cost: FloatArray  # (k,)
    true: FloatArray  # (k,): the probability that a pair is not one of strangers
    own: FloatArray  # (k,): the probability that it is not exchanged with another
    stands_out: float  # mean prominence of the pairs beside that of chance
    margin: float  # mean margin
    rate: float  # at which candidates become more frequent with cost
    is_confirmed: bool = False  # whether pairs are beyond those of sets that have nothing in common

    @property
    def right(self) -> FloatArray:
        """The probability that a pair is right."""
        return self.true * self.own

    @property
    def probable(self) -> IntArray:
        """The rows of the pairs that are more probably right, if anything is in common."""
        return self.rows[self.right > 0.5]

    @property
    def accepted(self) -> IntArray:
        """The rows of the pairs that are more probably right; none if pairs do not stand out."""
        root = math.sqrt(self.true.size)
        out = self.stands_out > _STAND_OUT + _MORE / root or self.margin > _MARGIN_OUT + _MARGIN_MORE / root
        few = self.rows.size < _SMALL and self.probable.size < _LEAST_SHARE * self.rows.size
        return self.probable if self.is_confirmed or (out and not few) else self.rows[:0]

    @property
    def are_many(self) -> bool:
        """Whether there are pairs enough to be compared with those of chance."""
        return self.probable.size >= _CONFIRMED_SHARE * self.rows.size

    def within(self, target: float) -> IntArray:
        """Give the surest rows of which at most that share is expected to be false.

        Never more than are accepted: nobody wants strangers for their own sake.
        """
        order = np.argsort(-self.right, kind="stable")
        false = 1.0 - self.right[order]
        enough = np.flatnonzero(np.cumsum(false) <= target * np.arange(1, false.size + 1))
        count = min(int(enough[-1]) + 1, self.accepted.size) if enough.size else 0
        return np.sort(self.rows[order[:count]])


def judge_pairs(
    costs: FloatArray, result: MatchResult, dimension: int, rate: float | None = None
) -> Partnership:
    """Fit the model to the pairs of a matching of at least four pairs.

    An exchange of partners is improbable by its cost times `rate`, which for isotropic noise is d / 2.
    """
    pairs = _Pairs.of(costs, result, dimension / 2.0 if rate is None else rate)
    fits = [_fit(pairs, share, dimension) for share in _STARTS]
    best = max(fits, key=lambda fit: fit.likelihood)
    margin = float(np.minimum(pairs.margin, _GREATEST_MARGIN).mean())
    return Partnership(pairs.rows, pairs.cost, best.true, pairs.own, pairs.stands_out, margin, pairs.rate)


class _Pairs(NamedTuple):
    """The pairs of a matching, and the candidates beside them."""

    rows: IntArray
    cost: FloatArray
    row_least: FloatArray  # (k, K): the least reduced costs of other pairs in the same row, ascending
    col_least: FloatArray
    own: FloatArray  # (k,): the probability that partners are not exchanged with other pairs
    shape: tuple[int, int]
    stands_out: float

    @classmethod
    def of(cls, costs: FloatArray, result: MatchResult, rate: float) -> _Pairs:
        assert result.row_dual is not None
        assert result.col_dual is not None
        rows = np.flatnonzero(result.permutation >= 0)
        cols = result.permutation[rows]
        own = costs[rows, cols]
        reduced = costs - result.row_dual[:, None]
        reduced -= result.col_dual + (result.price or 0.0)
        row_least, col_least = _least_others(reduced, rows, cols, _CANDIDATES)
        own_partners = _keep_partners(reduced[np.ix_(rows, cols)], rate)
        stands_out = _stands_out(costs, rows, cols, own)
        return cls(rows, own, row_least, col_least, own_partners, costs.shape, stands_out)

    @property
    def rate(self) -> float:
        """The rate at which candidates become more frequent with cost: half of the local dimension."""
        gaps = [(least[:, -1:] - least[:, :-1]).mean(axis=1) for least in (self.row_least, self.col_least)]
        # The median, as a cluster of strangers has gaps of its own. It is this share of the mean.
        return _MEDIAN_GAP / max(float(np.median(np.concatenate(gaps))), 1e-9)

    @property
    def margin(self) -> FloatArray:
        """How much dearer other candidates are, in units of 1 / rate."""
        margin = (self.row_least[:, -1] + self.col_least[:, -1]) / 2.0
        return np.maximum(self.rate * margin, _LEAST_MARGIN)


def _least_others(matrix: FloatArray, rows: IntArray, cols: IntArray, count: int) -> list[FloatArray]:
    """Give the least entries of each pair's row, and of its column, without the pair itself."""
    least = []
    for lines, own in ((matrix[rows], cols), (np.ascontiguousarray(matrix[:, cols].T), rows)):
        lines[np.arange(len(lines)), own] = np.inf
        few = min(count, lines.shape[1] - 1)
        least.append(np.sort(np.partition(lines, few - 1, axis=1)[:, :few], axis=1))
    return least


def _keep_partners(reduced: FloatArray, rate: float) -> FloatArray:
    """Give the probability that a pair is not part of an exchange, from reduced costs, 0 on the diagonal.

    An exchange costs the sum of its reduced costs, and its odds are the exponential of that, times `-rate`.
    Weights ``exp(-2 rate reduced)`` with row and column sums of 1 give an exchange of two pairs just these
    odds if the two costs are equal, and chains of several a part, too: near the noise floor they are many.
    """
    weights = np.exp(-2.0 * rate * np.maximum(reduced, 0.0))
    np.fill_diagonal(weights, 1.0)
    row, col = np.ones(len(weights)), np.ones(len(weights))
    for _ in range(_BALANCING):
        before = col
        row = 1.0 / (weights @ col)
        col = 1.0 / (row @ weights)
        if np.abs(np.log(col / before)).max() < _BALANCED:
            break
    return np.minimum(row * col, 1.0)


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
    cost, margin, rate, count = pairs.cost, pairs.margin, pairs.rate, pairs.cost.size
    first = pairs.row_least[:, 0] + pairs.col_least[:, 0]
    true = np.full(count, 0.05)
    true[np.argsort(-first, kind="stable")[: max(int(share * count), 3)]] = 0.95
    least_spread = _LEAST_SPREAD * _log_square_spread(dimension)
    scale = _STRANGERS_SCALE + _SCALE_IN_FEW_DIMENSIONS / rate
    anywhere = math.log(_ANYWHERE / (float(margin.max()) + 1.0))
    share = min(share, 0.9)
    likelihood = -math.inf
    for step in range(_STEPS):
        if true.sum() < 3.0:
            break
        free = max(max(size - share * count, 0.5) / size for size in pairs.shape)
        strangers = _STRANGERS_MEAN + _STRANGERS_FALL * math.log(free)
        kind = _regress(cost, margin, true, 0.0, 0.0, -1.0 / rate)
        spread = max(math.sqrt(true @ kind.residual**2 / true.sum()), least_spread)
        centre = max(kind.margin, strangers + _ABOVE_STRANGERS)
        margin_spread = max(math.sqrt(true @ (margin - centre) ** 2 / true.sum()), 0.5)
        of_true = np.logaddexp(math.log1p(-_ANYWHERE) + _normal(margin - centre, margin_spread), anywhere)
        of_true = of_true + _normal(kind.residual, spread)
        false = 1.0 - true
        other = _regress(cost, margin, false, kind.slope, _SLOPE_PRIOR, -1.0 / rate)
        level, weight = other.residual + other.level, false.sum() + _LEVEL_PRIOR
        residual = level - (false @ level + _LEVEL_PRIOR * cost.mean()) / weight
        other_spread = (false @ residual**2 + _LEVEL_PRIOR * spread**2) / weight
        of_false = _gumbel(margin - strangers, scale)
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
    residual: FloatArray


def _regress(
    cost: FloatArray, margin: FloatArray, weight: FloatArray, slope: float, prior: float, steepest: float
) -> _Regression:
    """Regress the costs on the margins; the slope, at most 0, is drawn to a given one by a prior."""
    total = max(float(weight.sum()), 1e-9)
    level, centre = float(weight @ cost) / total, float(weight @ margin) / total
    squares = float(weight @ (margin - centre) ** 2)
    products = float(weight @ ((cost - level) * (margin - centre)))
    slope = (products + prior * slope) / max(squares + prior, 1e-9)
    slope = min(max(slope, steepest), 0.0)
    return _Regression(slope, level, centre, cost - level - slope * (margin - centre))


def _gumbel(deviation: FloatArray, scale: float) -> FloatArray:
    """Give the logarithm of the density of Gumbel's law about its mean."""
    power = deviation / scale + _EULER
    return -power - np.exp(-power) - math.log(scale)


def _normal(deviation: FloatArray, spread: float) -> FloatArray:
    """Give the logarithm of a normal density."""
    return -0.5 * (deviation / spread) ** 2 - (math.log(spread) + _HALF_LOG_2PI)


def _log_square_spread(dimension: int) -> float:
    """Give the standard deviation of the logarithm of a chi-squared variable."""
    from scipy.special import polygamma  # takes longer than the rest of the import

    return math.sqrt(float(polygamma(1, dimension / 2.0)))
