"""Scale and matching together: the profile likelihood, minimised over a window around tau-hat.

With both sets centred, and K the size of the smaller one, the profile likelihood of the scale is

    f(tau) = min over matchings of sum log ||Z_i - tau Z#_pi(i)||^2 - K log(tau).

Standardising takes tau-hat, whose error comes from the points with much noise. f is governed by the points
with little noise, since nothing lowers it as much as a scale at which their residuals become small.

1. Match at tau-hat. The pairs show how far off it may be (:mod:`lslmatch.alignment.window`): the window is
   five standard errors to either side.
2. Across the window most points move by less than their residual: their partners stay, and their part of
   f is a smooth function. The others are the *undecided* points. A pair (i, j) is closest at the scale
   tau_ij = Z_i.Z#_j / |Z#_j|^2, and f has a sharp minimum only where some pairs are close, so the
   tau_ij of undecided points are where to look; no grid has to be fine enough.
3. Prices from the duals of step 1 turn each undecided point's best pair into a lower bound of f at every
   scale, equal to f at tau-hat. At the deepest minima of the bound undecided points are matched anew, and the
   scale is improved for that matching (`MatchedResiduals.refine`).
4. The sets are centred anew, at means in which pairs with little noise count more, and all points are
   matched at the best scale of step 3, starting from the duals of step 1. That is repeated while a better
   scale for the matching changes f. The end is a matching that is exactly optimal at the scale which
   is best for it.

The poles of the likelihood are cut as :mod:`lslmatch.alignment.likelihood` says.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.alignment.centres import find_centres
from lslmatch.alignment.fit import AlignmentRow, MapFit, as_fit, fit_at, fit_geometry, fit_small
from lslmatch.alignment.likelihood import CandidateResiduals, MatchedResiduals, as_lines
from lslmatch.alignment.moments import affine_of_moments, check_range
from lslmatch.alignment.small_profile import GAIN, fit_quickly, prices_pay
from lslmatch.alignment.window import EVEN, UNDECIDED, window_reach
from lslmatch.assignment.dense import solve_dense
from lslmatch.assignment.warm_start import WarmStart
from lslmatch.costs import log_rule
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.geometry.powers import least_exponent, nonzero_exponent, times_power
from lslmatch.results import Affine, ProfileCurve

#: Undecided points that are looked at, at most: those that move most.
_MOST_UNDECIDED = 64
#: Minima of the bound that are looked at, and how often undecided points are matched anew at each.
_MINIMA, _REPEATS = 6, 2
#: Exact matchings of all points, at most.
_MATCHINGS = 8


# A scale or shift out of range is refused by check_range; only the end of the curve may be there.
@np.errstate(all="ignore")
def fit_profile(x: FloatArray, y: FloatArray, workers: int) -> MapFit:
    """Minimise the profile likelihood over scale and matching."""
    if x.shape[0] > y.shape[0]:
        return _fit_exchanged(x, y, workers)
    first, last, curve = fit_quickly(x, y)
    if first is not None and last is not None:
        return as_fit(last)._replace(curve=curve, moments=first.affine)
    moments = affine_of_moments(x, y)
    search = _ScaleSearch(x, y, moments, workers, None if first is None else as_fit(first))
    if search.window[0] < search.window[1]:
        search.visit(search.recentre(search.propose()))
    return search.finish()._replace(moments=moments)


class _Proposal(NamedTuple):
    """A factor at which f may have its minimum, and the pairs by which it was found."""

    value: float
    factor: float
    rows: IntArray
    cols: IntArray


class _ScaleSearch:
    """The search for the best factor by which to multiply the scale of the start, n <= m."""

    def __init__(
        self, x: FloatArray, y: FloatArray, start: Affine, workers: int, first: MapFit | None = None
    ) -> None:
        """Match at the start, unless that is done, and take the window from there."""
        self.x, self.y, self.start, self.workers = x, y, start, workers
        geometry = common_coordinates(x, y, self.start)
        self.exponent = geometry.exponent
        self.a, self.b, self.floor = geometry.a, geometry.b, log_rule(geometry).floor
        self.centres = np.zeros((2, x.shape[1]))
        self.warm_start = WarmStart()
        self.first = (
            fit_geometry(geometry, self.start, workers, warm_start=self.warm_start)
            if first is None
            else first
        )
        self.window = _window(self.a, self.b, self.first.assignment.col_ind)
        self.even = np.unique(np.geomspace(*self.window, EVEN))
        self.factors = self.even
        self.fits: dict[float, MapFit] = {}
        self.matchings: dict[bytes, MatchedResiduals] = {}
        self._keep(1.0, self.first)
        self.start_value = self._value(1.0)

    def propose(self) -> _Proposal:
        """Look for the minimum of f, as far as it can be seen without matching all points again."""
        assignment, (low, high) = self.first.assignment, self.window
        pairs = MatchedResiduals.of(self.a, self.b[assignment.col_ind], self.floor)
        reach = math.log(high) * np.sqrt(pairs.squares / pairs.residuals(1.0))
        undecided = np.flatnonzero(reach > UNDECIDED)
        if not undecided.size:
            return self._refined(1.0, assignment.row_ind, assignment.col_ind)
        chosen = undecided[np.argsort(-reach[undecided], kind="stable")[:_MOST_UNDECIDED]]
        decided = np.delete(assignment.row_ind, undecided)
        lists = CandidateResiduals.of(self.a[chosen], self.b, assignment.col_dual, self.window, self.floor)
        factors = np.unique(np.concatenate([self.even, lists.proposals(low, high)]))
        # Undecided points that are left out count as constant, all others with the partner that they have.
        steady = pairs.part(decided)
        information = float((steady.squares / steady.residuals(1.0)).sum())
        bound = lists.bounds(factors, information)
        if decided.size:
            bound += np.interp(factors, self.even, steady.values(self.even))
        padded = np.concatenate([[np.inf], bound, [np.inf]])
        minima = np.flatnonzero((bound <= padded[:-2]) & (bound <= padded[2:]))
        minima = minima[np.argsort(bound[minima], kind="stable")[:_MINIMA]]
        rows = np.concatenate([decided, chosen])
        proposals = [self._refined(1.0, rows, assignment.col_ind[rows])]
        for k in minima:
            factor, cols = float(factors[k]), assignment.col_ind
            for _ in range(_REPEATS):
                cols = self._match_undecided(factor, chosen, lists.best(factor), cols)
                proposal = self._refined(factor, rows, cols[rows])
                factor = proposal.factor
            proposals.append(proposal)
        return min(proposals, key=lambda proposal: proposal.value)

    def _match_undecided(self, factor: float, points: IntArray, wanted: IntArray, cols: IntArray) -> IntArray:
        """Match some points anew, together with those whose partners they want, among the partners of all."""
        owners = np.flatnonzero(np.isin(cols, wanted))
        rows = np.union1d(points, owners)
        choice = np.union1d(cols[rows], wanted)
        solution = solve_dense(
            MatchedResiduals.all_of(self.a[rows], self.b[choice], self.floor).costs(factor)
        )
        assert solution is not None, "all costs are finite"
        cols = cols.copy()
        cols[rows] = choice[solution.col_of_row]
        return cols

    def _refined(self, factor: float, rows: IntArray, cols: IntArray) -> _Proposal:
        pairs = MatchedResiduals.of(self.a[rows], self.b[cols], self.floor)
        factor = self._confine(pairs.refine(factor))
        return _Proposal(pairs.value(factor), factor, rows, cols)

    def recentre(self, proposal: _Proposal) -> float:
        """Centre both sets by the pairs of a proposal with little noise; return the best factor then."""
        a, b = self.a[proposal.rows], self.b[proposal.cols]
        centres = np.zeros((2, a.shape[1]))
        factor = find_centres(as_lines(a), as_lines(b), proposal.factor, self.floor, centres)
        self._move(centres)
        return self._refined(factor, proposal.rows, proposal.cols).factor

    def _move(self, centres: FloatArray) -> None:
        """Take other points as origins. What was known is forgotten: it held for the origins before."""
        self.a, self.b, self.centres = self.a - centres[0], self.b - centres[1], self.centres + centres
        self.factors, self.fits, self.matchings = self.even, {}, {}

    def visit(self, factor: float) -> None:
        """Match exactly at a factor, and find the factor that is best for that matching."""
        mean = _mean(self.x)
        offset = times_power(self.centres[0] - factor * self.centres[1], self.exponent)
        shift = mean - factor * (mean - self.start.shift) + offset
        affine = check_range(Affine(factor * self.start.scale, shift))
        prices = self.first.assignment.col_dual
        warm = prices_pay(len(self.a), prices)
        fit = None if warm else fit_small(self.x, self.y, affine)
        if fit is None:
            geometry = common_coordinates(self.x, self.y, affine)
            fit = fit_geometry(geometry, affine, self.workers, prices if warm else None, self.warm_start)
        self._keep(factor, fit)

    def finish(self) -> MapFit:
        """Match at the best factor that is known until nothing changes; return the best exact fit."""
        best, values = self._settle()
        if self.start_value < best - GAIN:
            # The new origins were a mistake.
            self._move(-self.centres)
            self._keep(1.0, self.first)
            best, values = self._settle()
        known = min(self.fits, key=self._value)
        fit = self.fits[known]
        return fit._replace(curve=ProfileCurve(self.start.scale * self.factors, values + (fit.value - best)))

    def _settle(self) -> tuple[float, FloatArray]:
        """Match where the best value is expected until it is the value of an exact matching.

        Returns that value, and those of all factors.
        """
        while True:
            best = min(self._value(factor) for factor in self.fits)
            values = np.min([pairs.values(self.factors) for pairs in self.matchings.values()], axis=0)
            if best - values.min() <= GAIN or len(self.fits) >= _MATCHINGS:
                return best, values
            self.visit(float(self.factors[np.argmin(values)]))

    def _value(self, factor: float) -> float:
        """Give the least value at a factor among the matchings that are known."""
        return min(pairs.value(factor) for pairs in self.matchings.values())

    def _keep(self, factor: float, fit: MapFit) -> None:
        pairs = MatchedResiduals.of(self.a, self.b[fit.assignment.col_ind], self.floor)
        self.fits[factor] = fit
        self.matchings[fit.assignment.col_ind.tobytes()] = pairs
        best = self._confine(pairs.refine(factor))
        better = pairs.value(best) < pairs.value(factor) - GAIN
        self.factors = np.union1d(self.factors, [factor, best] if better else [factor])

    def _confine(self, factor: float) -> float:
        return min(max(factor, self.window[0]), self.window[1])


def _mean(x: FloatArray) -> FloatArray:
    exponent = nonzero_exponent(least_exponent(x))
    scaled = times_power(x, -exponent)
    return times_power(scaled[0] + (scaled - scaled[0]).mean(axis=0), exponent)


def _window(a: FloatArray, b: FloatArray, cols: IntArray) -> tuple[float, float]:
    """Give the factors within reach of the error of the start, from the matching found there."""
    reach = window_reach(as_lines(a), as_lines(b[cols]), as_lines(b))
    return math.exp(-reach), math.exp(reach)


def _fit_exchanged(x: FloatArray, y: FloatArray, workers: int) -> MapFit:
    """Search with the sets exchanged, which leaves f as it is; then match as they were given."""
    other = fit_profile(y, x, workers)
    scale = 1.0 / other.affine.scale
    fit = fit_at(x, y, check_range(Affine(scale, -scale * other.affine.shift)), workers)
    assert other.curve is not None
    return fit._replace(curve=ProfileCurve(1.0 / other.curve.scale[::-1], other.curve.value[::-1]))


PROFILE = AlignmentRow(
    "profile",
    "the likelihood; for noise of very different levels",
    align=lambda x, y, workers: fit_profile(x, y, workers).alignment(),
)
