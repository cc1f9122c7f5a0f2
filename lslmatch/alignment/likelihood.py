"""Residuals of pairs as functions of the scale, and what they say about it.

With centred sets a and b, and a factor t of the scale, |a_i - t b_j|^2 is a parabola in t: its `height`
over 0 at its `foot`, t = a_i.b_j / |b_j|^2, and `squares` = |b_j|^2. A few numbers a pair serve every scale.

The likelihood has poles: one pair can always be brought close by a scale of its own (exactly, if
d = 1). So one pair is counted as spent on the scale. With w_i = |b_j|^2 / |a_i - t b_j|^2, the
information that a pair holds about t, the value at t is

    sum log |a_i - t b_j|^2 - K log t + log sum w_i,

in which a pair alone gains nothing by coming close, and two pairs together as much as one would.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lslmatch._jit import kernel, step_kernel, summing_kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.costs import log_kernel

#: MatchedResiduals of a point that are followed through the window, and those of them that propose a scale.
_PAIRS, _PROPOSALS = 32, 8
#: Squared distances from the centre are 0 below this, in units in which the largest coordinate is about 1.
_LEAST_SQUARE = 2.0**-900
#: Reweightings at most, and the relative change of the factor at which they end.
_REWEIGHTINGS, _SAME = 200, 1e-12
#: Information is not below this: it may be 0, if every point of b is in the centre.
_TINY = float(np.finfo(np.float64).tiny)


class MatchedResiduals(NamedTuple):
    """Matched pairs as functions of the factor t: |a - t b|^2 = height + squares (t - foot)^2."""

    height: FloatArray
    foot: FloatArray
    squares: FloatArray
    floor: float

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray, floor: float) -> MatchedResiduals:
        """Take the rows of `a` and of `b` as partners."""
        height, foot, squares = (np.empty(len(a)) for _ in range(3))
        _fill_parabolas(as_lines(a), as_lines(b), height, foot, squares)
        return cls(height, foot, squares, floor)

    @classmethod
    def all_of(cls, a: FloatArray, b: FloatArray, floor: float) -> MatchedResiduals:
        """Take each row of `a` with each row of `b`."""
        squares = _squares(b)
        foot = np.zeros((a.shape[0], b.shape[0]))
        _add_products(a, np.ascontiguousarray(b.T), foot)
        foot /= np.where(squares > 0.0, squares, 1.0)
        height = np.maximum(np.einsum("ij,ij->i", a, a)[:, None] - squares * foot**2, 0.0)
        return cls(height, foot, squares, floor)

    def costs(self, factor: float) -> FloatArray:
        """Give the logarithms of the squared residuals."""
        return np.log(self.residuals(factor))

    def residuals(self, factor: Any) -> FloatArray:
        """Give the squared residuals, not below the coincident-point floor."""
        return np.maximum(self.height + self.squares * (factor - self.foot) ** 2, self.floor)

    def value(self, factor: float) -> float:
        """Give the value at one factor."""
        return float(self.values(np.array([factor]))[0])

    def values(self, factors: FloatArray) -> FloatArray:
        """Give the same at several factors."""
        values = np.empty(len(factors))
        _fill_values(self.height, self.foot, self.squares, self.floor, factors, values)
        return values

    def part(self, rows: IntArray) -> MatchedResiduals:
        """Take some of the pairs."""
        return MatchedResiduals(self.height[rows], self.foot[rows], self.squares[rows], self.floor)

    def refine(self, factor: float) -> float:
        """Descend from a factor to a minimum of the value."""
        return float(_refine_factor(self.height, self.foot, self.squares, self.floor, factor))


class CandidateResiduals(NamedTuple):
    """Some points, and for each the pairs that may be its best somewhere in the window."""

    cols: IntArray  # (points, pairs), most promising first
    height: FloatArray
    foot: FloatArray
    squares: FloatArray
    price: FloatArray  # exp(-col_dual)
    floor: float

    @classmethod
    def of(
        cls, a: FloatArray, b: FloatArray, col_dual: FloatArray, window: tuple[float, float], floor: float
    ) -> CandidateResiduals:
        """Choose for each row of `a` the pairs that are cheapest where they are closest in the window."""
        pairs = MatchedResiduals.all_of(a, b, floor)
        price = np.exp(col_dual.max() - col_dual)
        least = pairs.residuals(np.clip(pairs.foot, *window)) * price
        size = min(_PAIRS, b.shape[0])
        cols = np.argpartition(least, size - 1, axis=1)[:, :size]
        order = np.argsort(np.take_along_axis(least, cols, axis=1), axis=1, kind="stable")
        cols = np.take_along_axis(cols, order, axis=1)
        height, foot = (np.take_along_axis(values, cols, axis=1) for values in pairs[:2])
        return cls(cols, height, foot, pairs.squares[cols], price[cols], floor)

    def proposals(self, low: float, high: float) -> FloatArray:
        """Give the factors at which a promising pair is closest."""
        foot = self.foot[:, :_PROPOSALS]
        return foot[(low < foot) & (foot < high)]

    def best(self, factor: float) -> IntArray:
        """Give the column of least price of every point."""
        residuals = np.maximum(self.height + self.squares * (factor - self.foot) ** 2, self.floor)
        at = np.argmin(residuals * self.price, axis=1)[:, None]
        return np.take_along_axis(self.cols, at, axis=1)[:, 0]

    def bounds(self, factors: FloatArray, information: Any) -> FloatArray:
        """Give the value with each point's least priced cost, beside the `information` of other pairs."""
        sums = np.empty((2, factors.size))
        _sum_least(self.height, self.foot, self.squares, self.price, self.floor, factors, sums)
        return (
            sums[0] - self.cols.shape[0] * np.log(factors) + np.log(np.maximum(sums[1] + information, _TINY))
        )


def as_lines(points: FloatArray) -> FloatArray:
    """Give coordinates one below the other, a line for each, as kernels want them."""
    return np.ascontiguousarray(points.T)


def _squares(b: FloatArray) -> FloatArray:
    """Give |b_j|^2, and 0 for points so near the centre that their foot would be out of range."""
    squares = np.einsum("ij,ij->i", b, b)
    return np.where(squares > _LEAST_SQUARE, squares, 0.0)


@kernel
def _add_products(a, b, products):
    """Add the matrix product of a and b, without the threads that a BLAS would start."""
    for i in range(a.shape[0]):
        row = products[i]
        for k in range(a.shape[1]):
            factor, other = a[i, k], b[k]
            for j in range(row.size):
                row[j] += factor * other[j]


@kernel
def _sum_least(height, foot, squares, price, floor, factors, sums):
    """Fill for each factor: the sum of the points' least costs, and of the information of those pairs."""
    (n, size), count = height.shape, factors.size
    least, residual, square = np.empty(count), np.empty(count), np.empty(count)
    for k in range(count):
        sums[0, k] = sums[1, k] = 0.0
    for i in range(n):
        for k in range(count):
            least[k] = np.inf
        for j in range(size):
            pair = height[i, j], foot[i, j], squares[i, j], price[i, j]
            _note_less(pair, floor, factors, least, residual, square)
        for k in range(count):
            sums[0, k] += log_kernel(least[k])
            sums[1, k] += square[k] / residual[k]


@step_kernel
def _note_less(pair, floor, factors, least, residual, square):
    """Note a pair at the factors at which its price is less than the least so far, by a vector loop."""
    height, foot, squares, price = pair
    for k in range(factors.size):
        distance = factors[k] - foot
        value = max(height + squares * (distance * distance), floor)
        is_less = value * price < least[k]
        least[k] = value * price if is_less else least[k]
        residual[k] = value if is_less else residual[k]
        square[k] = squares if is_less else square[k]


# Steps of the kernels of small sets, and the same for Python to call.


@kernel
def _fill_parabolas(a, b, height, foot, squares):
    fill_parabolas(a, b, height, foot, squares)


@kernel
def _fill_values(height, foot, squares, floor, factors, values):
    fill_values(height, foot, squares, floor, factors, values)


@kernel
def _refine_factor(height, foot, squares, floor, factor):
    return refine_factor(height, foot, squares, floor, factor)


@step_kernel
def fill_parabolas(a, b, height, foot, squares):
    """Fill the parabolas of pairs whose coordinates are lines, as :class:`MatchedResiduals` holds them."""
    d, n = a.shape
    for i in range(n):
        foot[i] = squares[i] = height[i] = 0.0
    for k in range(d):
        p, q = a[k], b[k]
        for i in range(n):
            foot[i] += p[i] * q[i]
            squares[i] += q[i] * q[i]
    for i in range(n):
        squares[i] = squares[i] if squares[i] > _LEAST_SQUARE else 0.0
        foot[i] /= squares[i] if squares[i] > 0.0 else 1.0
    for k in range(d):
        p, q = a[k], b[k]
        for i in range(n):
            rest = p[i] - foot[i] * q[i]
            height[i] += rest * rest


@step_kernel
def fill_values(height, foot, squares, floor, factors, values):
    """Fill the values at several factors."""
    for k in range(factors.size):
        values[k] = _value(height, foot, squares, floor, factors[k])


@summing_kernel
def _value(height, foot, squares, floor, factor):
    total, information = 0.0, _TINY
    for i in range(foot.size):
        residual = max(height[i] + squares[i] * ((factor - foot[i]) * (factor - foot[i])), floor)
        information += squares[i] / residual
        total += log_kernel(residual)
    return total - foot.size * math.log(factor) + math.log(information)


@step_kernel
def refine_factor(height, foot, squares, floor, factor):
    """Descend from a factor to a minimum of the value.

    Where the derivative vanishes so does that of a sum of squares with the weights
    (1 - w_i / sum w) / |r_i|^2. With the term -K log t that is least at the root of A t^2 - B t - K / 2,
    which is the next factor.
    """
    weights = np.empty(foot.size)
    for _ in range(_REWEIGHTINGS):
        total, slope = _weighted_sums(height, foot, squares, floor, factor, weights)
        if not total > 0.0:
            break
        before, factor = factor, root(total, slope, foot.size)
        if abs(factor - before) <= _SAME * factor:
            break
    return factor


@summing_kernel
def _weighted_sums(height, foot, squares, floor, factor, weights):
    """Give A and B: sums of w_i (1 - w_i / sum w), and of the same times the foot."""
    total = slope = whole = 0.0
    for i in range(foot.size):
        residual = max(height[i] + squares[i] * ((factor - foot[i]) * (factor - foot[i])), floor)
        weights[i] = squares[i] / residual
        whole += weights[i]
    share = 1.0 / whole if whole > 0.0 else 1.0
    for i in range(foot.size):
        # The difference comes first: it is 0 for a pair beside which all others are lost in rounding.
        weight = (whole - weights[i]) * share * weights[i]
        total += weight
        slope += weight * foot[i]
    return total, slope


@step_kernel
def root(total, slope, count):
    """Give the factor at which `total` t^2 / 2 - `slope` t - `count` / 2 log t is least."""
    return (slope + math.sqrt(slope * slope + 2.0 * count * total)) / (2.0 * total)
