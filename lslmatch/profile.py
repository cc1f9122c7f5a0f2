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
from typing import Any, NamedTuple

import numpy as np

from lslmatch._jit import kernel
from lslmatch.alignment import estimate_affine
from lslmatch.assignment.solve import _assignment
from lslmatch.assignment.streamed import solve_streamed
from lslmatch.costs import log_rule
from lslmatch.distances import Geometry, common_coordinates, least_exponent, nonzero_exponent, times_power
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
#: A window below this width cannot be told from rounding.
_NARROW = 1e-12
#: A smaller fall of f than this is not worth another matching.
_GAIN = 1e-9


class Fit(NamedTuple):
    """A matching that is optimal for an alignment, with what the likelihood says of both."""

    affine: Affine
    assignment: Assignment
    value: float  # the profile likelihood f: the objective minus K log(scale)
    curve: ProfileCurve | None = None


def fit_at(x: FloatArray, y: FloatArray, affine: Affine, workers: int) -> Fit:
    """Match under a given alignment, by LSL."""
    return _solve(*common_coordinates(x, y, affine), affine, workers)


def _solve(
    geometry: Geometry, exponent: int, affine: Affine, workers: int, col_dual: FloatArray | None = None
) -> Fit:
    """Match points in common coordinates; `col_dual` is a warm start for sets of equal size."""
    rule, (n, m) = log_rule(geometry, exponent), geometry.shape
    oriented = geometry.transposed() if n > m else geometry
    solution = solve_streamed(oriented, rule, workers=workers, col_dual=col_dual)
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
    for factor, bound in search.propose():
        if bound < search.least():
            search.visit(factor)
    return search.finish()


class _Search:
    """The search for the best factor by which to multiply the scale of the start, n <= m."""

    def __init__(self, x: FloatArray, y: FloatArray, workers: int) -> None:
        """Match at the start, and take the window from there."""
        self.x, self.y, self.workers = x, y, workers
        self.start = _start(x, y)
        geometry, exponent = common_coordinates(x, y, self.start)
        self.a, self.b, self.floor = geometry.a, geometry.b, log_rule(geometry, exponent).floor
        self.first = _solve(geometry, exponent, self.start, workers)
        cols = self.first.assignment.col_ind
        self.window = _window(self.a, self.b, cols)
        self.fits: dict[float, Fit] = {}
        self.matchings: dict[bytes, _Pairs] = {}
        self.refined: dict[float, float] = {}
        self._keep(1.0, self.first)

    def visit(self, factor: float) -> None:
        """Match exactly at a factor, and find the factor that is best for that matching."""
        mean = _mean(self.x)
        affine = Affine(factor * self.start.scale, mean - factor * (mean - self.start.shift))
        # Where nearest partners hardly clash most prices are 0, and a warm start saves nothing.
        col_dual: FloatArray | None = self.first.assignment.col_dual
        if self.a.shape != self.b.shape or 2 * np.count_nonzero(col_dual) < self.b.shape[0]:
            col_dual = None
        geometry, exponent = common_coordinates(self.x, self.y, affine)
        self._keep(factor, _solve(geometry, exponent, affine, self.workers, col_dual))

    def _keep(self, factor: float, fit: Fit) -> None:
        pairs = _Pairs.of(self.a, self.b[fit.assignment.col_ind], self.floor)
        self.fits[factor] = fit
        self.matchings[fit.assignment.col_ind.tobytes()] = pairs
        value = self.refined[factor] = pairs.value(factor)
        best = self.confine(pairs.refine(factor))
        lower = pairs.value(best)
        if lower < value - _GAIN:
            self.refined[best] = lower

    def confine(self, factor: float) -> float:
        """Return the nearest factor in the window."""
        return min(max(factor, self.window[0]), self.window[1])

    def least(self) -> float:
        """Give the least value that a known matching has at its best factor."""
        return min(self.refined.values())

    def propose(self) -> list[tuple[float, float]]:
        """Return factors at which f may have a minimum, and lower bounds of f there, best first."""
        low, high = self.window
        pairs = self.matchings[self.first.assignment.col_ind.tobytes()]
        reach = math.log(high) * np.sqrt(pairs.squares / pairs.residuals(1.0))
        live = np.flatnonzero(reach > _LIVE)
        if not live.size or high - low < _NARROW:
            return []
        chosen = live[np.argsort(-reach[live], kind="stable")[:_POINTS]]
        lists = _Lists.of(self.a[chosen], self.b, self.first.assignment.col_dual, self.window, self.floor)
        factors = np.unique(np.concatenate([[1.0], _even(self.window), lists.proposals(low, high)]))
        # Live points that are left out count as constant, all others with the partner that they have.
        steady = pairs.part(np.delete(np.arange(self.a.shape[0]), live))
        information = float((steady.squares / steady.residuals(1.0)).sum())
        bound = lists.bounds(factors, information) - chosen.size * np.log(factors)
        bound += np.interp(factors, _even(self.window), steady.values(_even(self.window)))
        bound += pairs.value(1.0) - bound[np.searchsorted(factors, 1.0)]
        padded = np.concatenate([[np.inf], bound, [np.inf]])
        minima = np.flatnonzero((bound <= padded[:-2]) & (bound <= padded[2:]))
        minima = minima[np.argsort(bound[minima], kind="stable")[:_MINIMA]]
        return [
            (self.confine(steady.joined(lists.best(factors[k])).refine(float(factors[k]))), float(bound[k]))
            for k in minima
        ]

    def finish(self) -> Fit:
        """Match at the best factor that is known until nothing changes; return the best exact fit."""
        even = _even(self.window)
        while True:
            factors = np.union1d(even, list(self.refined))
            values = np.min([pairs.values(factors) for pairs in self.matchings.values()], axis=0)
            best = float(factors[np.argmin(values)])
            if best in self.fits or len(self.fits) >= _MATCHINGS:
                break
            self.visit(best)
        best = min(self.fits, key=lambda factor: values[np.searchsorted(factors, factor)])
        fit = self.fits[best]
        values += fit.value - values[np.searchsorted(factors, best)]
        return fit._replace(curve=ProfileCurve(self.start.scale * factors, values))


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

    def value(self, factor: float) -> float:
        """Give sum log |a - t b|^2 - K log t at a factor t, and the excess of a single pair."""
        residuals = self.residuals(factor)
        information = self.squares / residuals
        excess = _excess(information.sum(), information.max(initial=0.0))
        return float(np.log(residuals).sum() - residuals.size * math.log(factor) + excess)

    def values(self, factors: FloatArray) -> FloatArray:
        """Give the same at several factors."""
        return np.array([self.value(factor) for factor in factors])

    def part(self, rows: IntArray) -> _Pairs:
        """Take some of the pairs."""
        return _Pairs(self.height[rows], self.foot[rows], self.squares[rows], self.floor)

    def joined(self, other: _Pairs) -> _Pairs:
        """Take the pairs of both."""
        return _Pairs(*(np.concatenate(both) for both in zip(self[:3], other[:3], strict=True)), self.floor)

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

    def best(self, factor: float) -> _Pairs:
        """Give the pair of least price of every point."""
        residuals = np.maximum(self.height + self.squares * (factor - self.foot) ** 2, self.floor)
        at = np.argmin(residuals * self.price, axis=1)[:, None]
        columns = (np.take_along_axis(values, at, axis=1)[:, 0] for values in self[:3])
        return _Pairs(*columns, self.floor)

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


def _even(window: tuple[float, float]) -> FloatArray:
    """Give evenly spread factors of a window."""
    return np.geomspace(*window, _EVEN)


def _excess(information: Any, largest: Any) -> Any:
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
