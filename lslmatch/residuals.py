"""Residuals of pairs as functions of the scale, and what they say about it.

With centred sets a and b, and a factor t of the scale, |a_i - t b_j|^2 is a parabola in t: its `height`
over 0 at its `foot`, t = a_i.b_j / |b_j|^2, and `squares` = |b_j|^2. A few numbers a pair serve every scale.

The likelihood has poles: one pair can always be brought close by a scale of its own (exactly, if
d = 1). With |b_j|^2 / |a_i - t b_j|^2, the information that a pair holds about the scale, no pair may
count for more than all others together: the logarithm of its excess is added.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lslmatch._jit import kernel
from lslmatch.results import FloatArray, IntArray

#: Pairs of a point that are followed through the window, and those of them that propose a scale.
_PAIRS, _PROPOSALS = 32, 8
#: Steps of the centres at most, and the step that ends them in units of the smallest residual.
_RECENTRINGS, _STILL = 30, 1e-2
#: Reweightings at most, and the relative change of the factor at which they end.
_REWEIGHTINGS, _SAME = 200, 1e-12


class Pairs(NamedTuple):
    """Matched pairs as functions of the factor t: |a - t b|^2 = height + squares (t - foot)^2."""

    height: FloatArray
    foot: FloatArray
    squares: FloatArray
    floor: float

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray, floor: float) -> Pairs:
        """Take the rows of `a` and of `b` as partners."""
        squares = np.einsum("ij,ij->i", b, b)
        foot = np.einsum("ij,ij->i", a, b) / np.where(squares > 0.0, squares, 1.0)
        rest = a - foot[:, None] * b
        return cls(np.einsum("ij,ij->i", rest, rest), foot, squares, floor)

    @classmethod
    def all_of(cls, a: FloatArray, b: FloatArray, floor: float) -> Pairs:
        """Take each row of `a` with each row of `b`."""
        squares = np.einsum("ij,ij->i", b, b)
        foot = (a @ b.T) / np.where(squares > 0.0, squares, 1.0)
        height = np.maximum(np.einsum("ij,ij->i", a, a)[:, None] - squares * foot**2, 0.0)
        return cls(height, foot, squares, floor)

    def costs(self, factor: float) -> FloatArray:
        """Give the logarithms of the squared residuals."""
        return np.log(self.residuals(factor))

    def residuals(self, factor: Any) -> FloatArray:
        """Give the squared residuals, not below the coincident-point floor."""
        return np.maximum(self.height + self.squares * (factor - self.foot) ** 2, self.floor)

    def value(self, factor: float) -> float:
        """Give sum log |a - t b|^2 - K log t at a factor t, and the excess of a single pair."""
        residuals = self.residuals(factor)
        information = self.squares / residuals
        excess = _excess(information.sum(), information.max(initial=0.0))
        return float(np.log(residuals).sum() - residuals.size * math.log(factor) + excess)

    def values(self, factors: FloatArray) -> FloatArray:
        """Give the same at several factors."""
        return np.array([self.value(factor) for factor in factors])

    def part(self, rows: IntArray) -> Pairs:
        """Take some of the pairs."""
        return Pairs(self.height[rows], self.foot[rows], self.squares[rows], self.floor)

    def refine(self, factor: float) -> float:
        """Descend from a factor to a minimum for these pairs.

        The logarithm lies below its tangents, so the sum of logarithms lies below the sum of squares with
        the weights 1 / |r_i|^2, which it touches. With the term -K log t the latter is least at the root
        of A t^2 - B t - K / 2. Weights are cut as in the excess.
        """
        for _ in range(_REWEIGHTINGS):
            information = self.squares / self.residuals(factor)
            top = int(np.argmax(information))
            information[top] = min(information[top], information.sum() - information[top])
            total, slope = information.sum(), information @ self.foot
            if not total > 0.0:
                break
            before, factor = factor, (slope + math.sqrt(slope**2 + 2 * self.foot.size * total)) / (2 * total)
            if abs(factor - before) <= _SAME * factor:
                break
        return factor


class Lists(NamedTuple):
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
    ) -> Lists:
        """Choose for each row of `a` the pairs that are cheapest where they are closest in the window."""
        pairs = Pairs.all_of(a, b, floor)
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

    def bounds(self, factors: FloatArray, information: float) -> FloatArray:
        """Give the sum of the points' least priced costs, and the excess, beside others' `information`."""
        parts = np.empty((3, factors.size))
        _sum_least(self.height, self.foot, self.squares, self.price, self.floor, factors, parts)
        return parts[0] + _excess(parts[1] + information, parts[2])


def _excess(information: Any, largest: Any) -> Any:
    """Give the logarithm of how much more one pair says about the scale than all others, if it does."""
    others = np.maximum(information - largest, np.finfo(np.float64).tiny)
    return np.maximum(np.log(np.maximum(largest, others)) - np.log(others), 0.0)


@kernel
def _sum_least(height, foot, squares, price, floor, factors, parts):
    """Fill for each factor, over the best pairs: sum of logarithms, of information, largest information."""
    n, size = height.shape
    for k in range(factors.size):
        total, information, largest = 0.0, 0.0, 0.0
        for i in range(n):
            least, ratio = np.inf, 0.0
            for j in range(size):
                residual = height[i, j] + squares[i, j] * (factors[k] - foot[i, j]) ** 2
                residual = residual if residual > floor else floor
                if residual * price[i, j] < least:
                    least, ratio = residual * price[i, j], squares[i, j] / residual
            total += math.log(least)
            information += ratio
            largest = max(largest, ratio)
        parts[0, k], parts[1, k], parts[2, k] = total, information, largest


@kernel
def find_centres(a, b, factor, floor, centres):
    """Fill `centres` with the points of both sets that fit best as origins; return the factor that fits them.

    The likelihood weighs pairs by 1 / |r_i|^2, so that quiet pairs count more; each step is a weighted
    mean, and the root of `Pairs.refine` about it. No pair weighs more than all others together. In one or
    two dimensions such weights have no mean, and chance would rule: there pairs are weighed equally.
    """
    n, d = a.shape
    weights = np.empty(n)
    before = np.empty(d)
    for _ in range(_RECENTRINGS):
        least = np.inf
        for i in range(n):
            residual = 0.0
            for k in range(d):
                residual += (a[i, k] - centres[0, k] - factor * (b[i, k] - centres[1, k])) ** 2
            residual = max(residual, floor)
            least = min(least, residual)
            weights[i] = 1.0 / residual if d > 2 else 1.0 / n
        top = np.argmax(weights)
        weights[top] = min(weights[top], weights.sum() - weights[top])
        total = weights.sum()
        before[:] = centres[0] - factor * centres[1]
        centres[:] = 0.0
        for i in range(n):
            for k in range(d):
                centres[0, k] += weights[i] / total * a[i, k]
                centres[1, k] += weights[i] / total * b[i, k]
        if d <= 2:
            break
        squares, products = 0.0, 0.0
        for i in range(n):
            for k in range(d):
                offset = b[i, k] - centres[1, k]
                squares += weights[i] * offset * offset
                products += weights[i] * offset * (a[i, k] - centres[0, k])
        if squares > 0.0:
            factor = (products + math.sqrt(products**2 + 2 * n * squares)) / (2 * squares)
        moved = 0.0
        for k in range(d):
            moved += (centres[0, k] - factor * centres[1, k] - before[k]) ** 2
        if moved <= _STILL**2 * least:
            break
    return factor
