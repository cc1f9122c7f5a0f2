"""Scale and matching together: the profile likelihood, minimised over a window around tau-hat.

With both sets centred, and K the size of the smaller one, the profile likelihood of the scale is

    f(tau) = min over matchings of sum log ||Z_i - tau Z#_pi(i)||^2 - K log(tau).

Standardising takes tau-hat, which noisy points spoil for quiet ones; f looks at the quiet points, since
nothing lowers it as much as a scale at which their residuals become small.

1. Match at tau-hat. The noise of a pair, r_i = Z_i - tau Z#_pi(i), is independent of its sum
   p_i = Z_i + tau Z#_pi(i) in the model, and the sums of squares differ by sum r_i.p_i. So the error of
   log(tau-hat) has the variance sum |p_i|^2 |r_i|^2 / d over (2 sum |Z_i|^2)^2, without a free constant.
   The window is five of these standard errors to either side.
2. Across the window most points move by less than their residual: their partners stay, and their part of
   f is a smooth function. The others are the live ones. A pair (i, j) is closest at the scale
   tau_ij = Z_i.Z#_j / |Z#_j|^2, and f has a sharp minimum only where some pairs are close, so the
   tau_ij of live points are where to look; no grid has to be fine enough.
3. Prices from the duals of step 1 turn each live point's best pair into a lower bound of f at every scale,
   equal to f at tau-hat. The deepest minima of the bound are solved exactly, from those duals, while they
   are below the least value found so far.
4. For a known matching f is minimised by reweighting (`_refine`). The end is a matching that is exactly
   optimal at the scale which is best for it.

The likelihood has poles: one pair can always be brought close by a scale of its own (exactly, if
d = 1). With w_i = |Z#_pi(i)|^2 / |r_i|^2, the information that a pair holds about the scale, no pair may
count for more than all others together: the logarithm of the excess is added to f.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._jit import kernel
from lslmatch.alignment import estimate_affine
from lslmatch.assignment.solve import _assignment
from lslmatch.assignment.streamed import solve_streamed
from lslmatch.costs import log_kernel, log_rule
from lslmatch.distances import common_coordinates, least_exponent, nonzero_exponent, times_power
from lslmatch.results import Affine, Assignment, FloatArray, IntArray, ProfileCurve

#: Half the window, in standard errors of log(tau-hat).
_STANDARD_ERRORS = 5.0
#: The window never goes beyond this factor: with a handful of points the standard error means little.
_WIDEST = 2.0
#: A point is live if the window moves it by more than this share of its residual.
_LIVE = 0.5
#: Live points that are looked at, their pairs that are followed, and those that propose a scale.
_POINTS, _PAIRS, _PROPOSALS = 64, 32, 8
#: Scales looked at besides the proposed ones, for the curve.
_EVEN = 33
#: Minima of the bound that are solved exactly, and matchings in all.
_MINIMA, _MATCHINGS = 3, 8
#: Reweightings at most, and the relative change of the factor at which they end.
_REWEIGHTINGS, _SAME = 200, 1e-12
#: A smaller fall of f than this is not worth another matching.
_GAIN = 1e-9


class Fit(NamedTuple):
    """A matching that is optimal for an alignment, with what the likelihood says of both."""

    affine: Affine
    assignment: Assignment
    value: float  # the profile likelihood f: the objective minus K log(scale)
    curve: ProfileCurve | None = None


def fit_at(
    x: FloatArray, y: FloatArray, affine: Affine, workers: int, col_dual: FloatArray | None = None
) -> Fit:
    """Match under a given alignment, by LSL; `col_dual` is a warm start for sets of equal size."""
    geometry, exponent = common_coordinates(x, y, affine)
    rule = log_rule(geometry, exponent)
    n, m = geometry.shape
    oriented = geometry.transposed() if n > m else geometry
    solution = solve_streamed(oriented, rule, workers=workers, col_dual=col_dual if n == m else None)
    costs = solution.row_dual + solution.col_dual[solution.col_of_row] + rule.offset
    solution = solution._replace(row_dual=solution.row_dual + rule.offset)
    assignment = _assignment(solution, n > m, float(costs.sum()))
    return Fit(affine, assignment, assignment.objective - min(n, m) * math.log(affine.scale))


def fit_best(x: FloatArray, y: FloatArray, workers: int) -> Fit:
    """Compare the likelihood at the identity, after standardising, and at its minimum.

    The identity has no free parameter and the others d + 1, whose price is that of Schwarz: log(K d) / 2
    each in the log-likelihood, which is -d / 2 times f.
    """
    n, d = x.shape
    fits = [fit_profile(x, y, workers)]
    if n != y.shape[0]:
        fits.append(fit_at(x, y, estimate_affine(x, y), workers))
    best = min(fits, key=lambda fit: fit.value)
    identity = fit_at(x, y, Affine(1.0, np.zeros(d)), workers)
    price = (d + 1) / d * math.log(min(n, y.shape[0]) * d)
    if identity.value < best.value + price:
        best = identity
    return best._replace(curve=fits[0].curve)


def fit_profile(x: FloatArray, y: FloatArray, workers: int) -> Fit:
    """Minimise the profile likelihood over scale and matching."""
    if x.shape[0] > y.shape[0]:
        return _fit_exchanged(x, y, workers)
    search = _Search(x, y, workers)
    search.visit(1.0)
    for factor, bound in search.propose():
        if bound < search.least():
            search.visit(factor)
    return search.finish()


class _Search:
    """The search for the best factor by which to multiply the scale of the start, n <= m."""

    def __init__(self, x: FloatArray, y: FloatArray, workers: int) -> None:
        self.x, self.y, self.workers = x, y, workers
        self.start = _start(x, y)
        geometry, exponent = common_coordinates(x, y, self.start)
        rule = log_rule(geometry, exponent)
        self.a, self.b, self.floor = geometry.a, geometry.b, rule.floor
        # Values of f are differences to the one at the start until the end.
        self.fits: list[tuple[float, Fit]] = []
        self.pairs: list[_Pairs] = []
        self.window = (1.0, 1.0)
        self.factors = np.ones(1)

    def affine(self, factor: float) -> Affine:
        """Give the alignment whose scale is `factor` times that of the start."""
        if factor == 1.0:
            return self.start
        mean = _mean(self.x)
        return Affine(factor * self.start.scale, mean - factor * (mean - self.start.shift))

    def visit(self, factor: float) -> None:
        """Match exactly at a factor, and find the factor that is best for that matching."""
        col_dual = self.fits[0][1].assignment.col_dual if self.fits else None
        fit = fit_at(self.x, self.y, self.affine(factor), self.workers, col_dual)
        self.fits.append((factor, fit))
        pairs = _Pairs.of(self.a, self.b[fit.assignment.col_ind], self.floor)
        self.pairs.append(pairs)
        if len(self.fits) == 1:
            self.window = _window(self.a, self.b, fit.assignment.col_ind)
            low, high = self.window
            self.factors = np.append(np.geomspace(low, high, _EVEN), 1.0) if high > low else np.ones(1)
        refined = min(max(pairs.refine(factor), self.window[0]), self.window[1])
        gain = pairs.value(factor) - pairs.value(refined)
        self.factors = np.append(self.factors, [factor, refined] if gain > _GAIN else factor)

    def curve(self) -> FloatArray:
        """Give at each factor the least value among the matchings that are known."""
        return np.min([pairs.values(self.factors) for pairs in self.pairs], axis=0)

    def least(self) -> float:
        """Give the least value so far."""
        return float(self.curve().min())

    def propose(self) -> list[tuple[float, float]]:
        """Return factors at which f may have a minimum, and lower bounds of f there, best first."""
        pairs, (low, high) = self.pairs[0], self.window
        reach = math.log(high) * np.sqrt(pairs.squares / pairs.residuals(1.0))
        live = np.flatnonzero(reach > _LIVE)
        if not live.size:
            return []
        chosen = live[np.argsort(-reach[live], kind="stable")[:_POINTS]]
        fit = self.fits[0][1]
        lists = _Lists.of(self.a[chosen], self.b, fit.assignment.col_dual, self.window, self.floor)
        factors = np.unique(np.concatenate([self.factors, lists.proposals(low, high)]))
        # Live points that are left out count as constant, all others with the partner that they have.
        dead = np.delete(np.arange(self.a.shape[0]), live)
        steady = _Pairs(pairs.height[dead], pairs.foot[dead], pairs.squares[dead], self.floor)
        information = float((steady.squares / steady.residuals(1.0)).sum())
        bound = lists.bounds(factors, information) - chosen.size * np.log(factors)
        if dead.size:
            even = np.geomspace(low, high, _EVEN)
            bound += np.interp(factors, even, steady.values(even))
        bound += pairs.value(1.0) - bound[np.searchsorted(factors, 1.0)]
        inner = np.concatenate([[np.inf], bound, [np.inf]])
        minima = np.flatnonzero((inner[1:-1] <= inner[:-2]) & (inner[1:-1] <= inner[2:]))
        minima = minima[np.argsort(bound[minima], kind="stable")[:_MINIMA]]
        return [(float(factors[k]), float(bound[k])) for k in minima]

    def finish(self) -> Fit:
        """Match at the best factor that is known until nothing changes; return the best exact fit."""
        while len(self.fits) < _MATCHINGS:
            best = float(self.factors[np.argmin(self.curve())])
            if any(best == factor for factor, _ in self.fits):
                break
            self.visit(best)
        guarded = [pairs.value(factor) for pairs, (factor, _) in zip(self.pairs, self.fits, strict=True)]
        at = int(np.argmin(guarded))
        factor, fit = self.fits[at]
        order = np.unique(self.factors, return_index=True)[1]
        values = self.curve()[order] + (fit.value - guarded[at])
        curve = ProfileCurve(self.start.scale * self.factors[order], values)
        return fit._replace(curve=curve)


class _Pairs(NamedTuple):
    """Matched pairs as functions of the factor t: |a - t b|^2 = height + squares (t - foot)^2."""

    height: FloatArray
    foot: FloatArray
    squares: FloatArray
    floor: float

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray, floor: float) -> _Pairs:
        """Take the rows of `a` and of `b` as partners."""
        squares = np.einsum("ij,ij->i", b, b)
        foot = np.einsum("ij,ij->i", a, b) / np.where(squares > 0.0, squares, 1.0)
        rest = a - foot[:, None] * b
        return cls(np.einsum("ij,ij->i", rest, rest), foot, squares, floor)

    def residuals(self, factor: float) -> FloatArray:
        """Give the squared residuals, not below the coincident-point floor."""
        return np.maximum(self.height + self.squares * (factor - self.foot) ** 2, self.floor)

    def values(self, factors: FloatArray) -> FloatArray:
        """Give sum log |a - t b|^2 - K log t at each factor t, and the excess of a single pair."""
        parts = np.empty((3, factors.size))
        _sum_logarithms(self.height, self.foot, self.squares, self.floor, factors, parts)
        return parts[0] - self.foot.size * np.log(factors) + _excess(parts[1], parts[2])

    def value(self, factor: float) -> float:
        """Give the same at one factor."""
        return float(self.values(np.array([factor]))[0])

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


class _Lists(NamedTuple):
    """Some points, and for each the pairs that may be its best somewhere in the window."""

    height: FloatArray  # (points, pairs) as in `_Pairs`, most promising first
    foot: FloatArray
    squares: FloatArray
    price: FloatArray  # exp(-col_dual)
    floor: float

    @classmethod
    def of(
        cls, a: FloatArray, b: FloatArray, col_dual: FloatArray, window: tuple[float, float], floor: float
    ) -> _Lists:
        """Choose for each row of `a` the pairs that are cheapest where they are closest in the window."""
        squares = np.einsum("ij,ij->i", b, b)
        foot = (a @ b.T) / np.where(squares > 0.0, squares, 1.0)
        height = np.maximum(np.einsum("ij,ij->i", a, a)[:, None] - squares * foot**2, 0.0)
        price = np.exp(col_dual.max() - col_dual)
        least = np.maximum(height + squares * (np.clip(foot, *window) - foot) ** 2, floor) * price
        size = min(_PAIRS, b.shape[0])
        cols = np.argpartition(least, size - 1, axis=1)[:, :size]
        order = np.argsort(np.take_along_axis(least, cols, axis=1), axis=1, kind="stable")
        cols = np.take_along_axis(cols, order, axis=1)
        height, foot = (np.take_along_axis(values, cols, axis=1) for values in (height, foot))
        return cls(height, foot, squares[cols], price[cols], floor)

    def proposals(self, low: float, high: float) -> FloatArray:
        """Give the factors at which a promising pair is closest."""
        foot = self.foot[:, :_PROPOSALS]
        return foot[(low < foot) & (foot < high)]

    def bounds(self, factors: FloatArray, information: float) -> FloatArray:
        """Give the sum of the points' least priced costs, and the excess, beside others' `information`."""
        parts = np.empty((3, factors.size))
        _sum_least(self.height, self.foot, self.squares, self.price, self.floor, factors, parts)
        return parts[0] + _excess(parts[1] + information, parts[2])


def _start(x: FloatArray, y: FloatArray) -> Affine:
    """Give tau-hat and beta-hat; for sets of different sizes from mean squares instead of sums."""
    affine = estimate_affine(x, y)
    if x.shape[0] == y.shape[0]:
        return affine
    factor, mean = math.sqrt(y.shape[0] / x.shape[0]), _mean(x)
    return Affine(factor * affine.scale, mean - factor * (mean - affine.shift))


def _mean(x: FloatArray) -> FloatArray:
    exponent = nonzero_exponent(least_exponent(x))
    scaled = times_power(x, -exponent)
    return times_power(scaled[0] + (scaled - scaled[0]).mean(axis=0), exponent)


def _window(a: FloatArray, b: FloatArray, cols: IntArray) -> tuple[float, float]:
    """Give the factors within reach of the error of the start, from the matching found there."""
    n, m = a.shape[0], b.shape[0]
    partner = b[cols]
    noise = np.einsum("ij,ij->i", a - partner, a - partner) / a.shape[1]
    total = np.einsum("ij,ij", a, a)
    variance = noise @ np.einsum("ij,ij->i", a + partner, a + partner) / (2 * total) ** 2
    if n < m:
        # Points without a partner took part in the start: the sampling error of a mean of n out of m squares.
        squares = np.einsum("ij,ij->i", b, b)
        variance += squares.var() / (2 * squares.mean()) ** 2 * (1 / n - 1 / m)
    reach = min(_STANDARD_ERRORS * math.sqrt(variance), math.log(_WIDEST))
    return math.exp(-reach), math.exp(reach)


def _excess(information: FloatArray, largest: FloatArray) -> FloatArray:
    """Give the logarithm of how much more one pair says about the scale than all others, if it does."""
    others = np.maximum(information - largest, 1e-300)
    return np.log(np.maximum(largest / others, 1.0))


def _fit_exchanged(x: FloatArray, y: FloatArray, workers: int) -> Fit:
    """Search with the sets exchanged, which leaves f as it is; then match as they were given."""
    other = fit_profile(y, x, workers)
    scale = 1.0 / other.affine.scale
    fit = fit_at(x, y, Affine(scale, -scale * other.affine.shift), workers)
    assert other.curve is not None
    return fit._replace(curve=ProfileCurve(1.0 / other.curve.scale[::-1], other.curve.value[::-1]))


@kernel
def _sum_logarithms(height, foot, squares, floor, factors, parts):
    """Fill for each factor: the sum of logarithms, the sum of information, and the largest of it."""
    n = height.size
    for k in range(factors.size):
        total, information, largest = 0.0, 0.0, 0.0
        for i in range(n):
            residual = height[i] + squares[i] * (factors[k] - foot[i]) ** 2
            residual = residual if residual > floor else floor
            total += log_kernel(residual)
            ratio = squares[i] / residual
            information += ratio
            largest = ratio if ratio > largest else largest
        parts[0, k], parts[1, k], parts[2, k] = total, information, largest


@kernel
def _sum_least(height, foot, squares, price, floor, factors, parts):
    """Fill the same for the least priced pair of every point."""
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
