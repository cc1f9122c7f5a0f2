"""From a matching to a better one: learn the map and the noise, match by what was learned, and again.

The map is learned with the penalty that predicts the matching best, from pairs with weights: inverse to their
squared distance, so that pairs that are far from each other say little. The noise is isotropic, or has a
covariance that is learned as well. Known pairs have the weight that their own distance gives them, like all
others: one that does not fit is not forced on the map. Of all matchings that are optimal for the costs of the
one before, the one that predicts itself best is kept; the start itself never is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._progress import tell
from lslmatch._types import FloatArray, IntArray
from lslmatch.allowed.solving import assign_allowed
from lslmatch.assignment.orientation import partners
from lslmatch.covariance.evidence import surprises
from lslmatch.covariance.metric import Metric
from lslmatch.given import Given
from lslmatch.linear.ridge import Pairs, Ridge, fit_ridge, learn_metric, left_out_costs
from lslmatch.results import Assignment

#: Rounds from one start, at most.
_MOST_ROUNDS = 15
#: The penalties that are tried, as shares of the mean square of a column.
_SHARES = (0.01, 0.1, 1.0, 10.0)
#: The penalty under which the pairs of a start get their weights.
_FIRST_SHARE = 0.1
#: No pair has more than this many times the mean weight.
_GREATEST_WEIGHT = 10.0


class Learned(NamedTuple):
    """A map and a metric, the costs' matching, and how well that matching predicts itself."""

    ridge: Ridge
    metric: Metric | None
    assignment: Assignment
    permutation: IntArray
    surprises: FloatArray
    rounds: int

    @property
    def cross_entropy(self) -> float:
        """The mean surprise."""
        return float(self.surprises.mean())


class _Fit(NamedTuple):
    ridge: Ridge
    metric: Metric | None
    costs: FloatArray
    surprises: FloatArray


def climb(
    a: FloatArray,
    b: FloatArray,
    start: IntArray,
    given: Given | None,
    metrics: tuple[str, ...] = ("isotropic", "tyler"),
    prior: FloatArray | None = None,
    workers: int = 1,
) -> Learned | None:
    """Improve a matching until it comes back; None if there is nothing to learn from."""
    best: Learned | None = None
    behind: tuple[_Fit, Assignment] | None = None
    matching, equal = start, (start >= 0).astype(np.float64)
    first = fit_ridge(a, b, Pairs(start, equal), _FIRST_SHARE, prior)
    weight = weights_of(left_out_costs(first, None, workers), start)
    seen: set[bytes] = set()
    for done in range(_MOST_ROUNDS):
        tell("rounds of the linear map", done, _MOST_ROUNDS)
        fit = _fit(a, b, Pairs(matching, weight), metrics, prior, workers)
        if fit is None:
            break
        if behind is not None and (best is None or fit.surprises.mean() < best.cross_entropy):
            of, found = behind
            best = Learned(of.ridge, of.metric, found, matching, fit.surprises, done)
        if matching.tobytes() in seen:
            break
        seen.add(matching.tobytes())
        found = assign_allowed(fit.costs, given)
        behind = fit, found
        matching = partners(len(a), found.row_ind, found.col_ind)
        weight = weights_of(fit.costs, matching)
    return None if best is None else best._replace(rounds=len(seen))


def weights_of(costs: FloatArray, matching: IntArray) -> FloatArray:
    """Give pairs weights inverse to their squared distance, beside the middle one; none is too large."""
    rows = np.flatnonzero(matching >= 0)
    own = costs[rows, matching[rows]]
    weight = np.exp(np.clip(np.median(own) - own, -50.0, 50.0))
    found = np.zeros(len(costs))
    found[rows] = np.minimum(weight, _GREATEST_WEIGHT * weight.mean())
    return found


def _fit(
    a: FloatArray,
    b: FloatArray,
    pairs: Pairs,
    metrics: tuple[str, ...],
    prior: FloatArray | None,
    workers: int,
) -> _Fit | None:
    """Learn the map with the penalty, and then the metric, under which the pairs surprise least."""
    best: _Fit | None = None
    for share in _SHARES:
        best = _better(best, fit_ridge(a, b, pairs, share, prior), None, workers)
    assert best is not None
    ridge = best.ridge
    if "isotropic" not in metrics and a.shape[1] > 1:
        best = None
    for weighting in metrics:
        if weighting != "isotropic" and a.shape[1] > 1:
            metric = learn_metric(ridge, weighting)
            if metric is not None:
                best = _better(best, ridge, metric, workers)
    return best


def _better(best: _Fit | None, ridge: Ridge, metric: Metric | None, workers: int) -> _Fit:
    costs = left_out_costs(ridge, metric, workers)
    found = surprises(costs, ridge.pairs.partner, ridge.a.shape[1])
    if best is not None and best.surprises.mean() <= found.mean():
        return best
    return _Fit(ridge, metric, costs, found)
