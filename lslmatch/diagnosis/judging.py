"""Margins and confidences of a matching whose costs are functions of distances, in coordinates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_noise, check_number, check_option, check_vector
from lslmatch.assignment.orientation import smaller_as_rows
from lslmatch.certificate.checking import misfit
from lslmatch.costs import COINCIDENT, cost_matrix
from lslmatch.covariance.evidence import best_rate
from lslmatch.covariance.leave_out import WHITE_COINCIDENT
from lslmatch.diagnosis.confidence import pair_probabilities
from lslmatch.diagnosis.margins import Optimum, exact_margins, reduced_costs, shortest_arcs
from lslmatch.diagnosis.partial import judge_partial
from lslmatch.diagnosis.posterior import pair_posteriors
from lslmatch.geometry.coordinates import Geometry
from lslmatch.objectives.row import Pairs
from lslmatch.objectives.table import OBJECTIVES, make_rule, minimised, noisy
from lslmatch.results import MatchResult

#: Up to this number of pairs the confidences are computed: they need two matrices of that size.
MOST_PAIRS = 1 << 24
#: A result is that of two sets if its pairs cost what their duals say, up to so much of the greatest dual.
_MISFIT = 1e-6


def judge_distances(
    whole: tuple[FloatArray, FloatArray, MatchResult],
    geometry: Geometry,
    result: MatchResult,
    mapped: bool,
    chosen: NDArray[np.bool_],
    rate_of: Callable[[float], float | None],
    workers: int,
) -> tuple[FloatArray, FloatArray | None]:
    """Give margins, exact where chosen, and confidences unless there are too many pairs.

    `rate_of` gives the likelihood of a unit of cost, from the mean cost of the pairs; without one there are
    no confidences. Sets that are `mapped` were rounded before, by the map that whitens the noise; what was
    matched, and how, is the `whole`.
    """
    n, m = geometry.shape
    optimum, x_of_row = _optimum(whole, geometry, result, mapped)
    tempered = 1.0
    rows = np.flatnonzero(optimum.col_of_row >= 0)
    costs_of_pairs = optimum.row_dual[rows] + optimum.col_dual[optimum.col_of_row[rows]]
    rate = rate_of(float(costs_of_pairs.mean())) if n * m <= MOST_PAIRS else None
    if rate is not None and result.criterion == "lsl":
        # Less where features and noise have fewer dimensions than there are coordinates. The rates that are
        # tried for that differ by a factor of 2.
        costs = cost_matrix(optimum.geometry, optimum.rule, workers)
        best = 2.0 * best_rate(costs, optimum.col_of_row, geometry.a.shape[1])
        rate, tempered = min(rate, best), min(2.0 * best / geometry.a.shape[1], 1.0)
    if result.price is not None:
        if n * m > MOST_PAIRS and chosen.any():
            raise ValueError(
                f"margins must be 'bound' for a partial matching of more than {MOST_PAIRS} pairs of points; "
                f"got {n} times {m}"
            )
        assert result.row_dual is not None
        duals = np.asarray(result.row_dual, np.float64), optimum.col_dual
        return judge_partial(
            lambda some: reduced_costs(optimum, some, workers),
            duals,
            result.permutation,
            chosen,
            rate,
        )
    arcs = shortest_arcs(optimum, workers)
    margin, confidence = np.full(n, np.nan), None
    margin[x_of_row] = arcs.bound
    exact = np.flatnonzero(chosen[x_of_row])
    margin[x_of_row[exact]] = exact_margins(optimum, arcs, exact)
    if rate is not None:
        confidence = np.full(n, np.nan)
        if OBJECTIVES[result.criterion].needs_noise:  # which is known then
            confidence[x_of_row] = pair_probabilities(optimum, rate, workers)
        else:
            confidence[x_of_row] = pair_posteriors(optimum.geometry, optimum.col_of_row, tempered)
    return margin, confidence


def _optimum(
    whole: tuple[FloatArray, FloatArray, MatchResult], geometry: Geometry, result: MatchResult, mapped: bool
) -> tuple[Optimum, IntArray]:
    """Bring a result into the form of the margins, the smaller set as rows; tell the x of each row.

    A partial matching stays as it is, with its price in the duals of x.
    """
    n, m = geometry.shape
    permutation = result.permutation
    u, v = (
        check_vector(result.row_dual, "result.row_dual", n),
        check_vector(result.col_dual, "result.col_dual", m),
    )
    if result.price is not None:
        u = u + check_number(result.price, "result.price")
    criterion = check_option(result.criterion, "result.criterion", minimised())
    levels = check_noise(result.noise, criterion, noisy(), n, m)
    if not misfit(*whole, u, v) <= _MISFIT:
        raise ValueError(
            "result must be what match returned for x and y; its dual variables do not add up to its costs"
        )
    coincident = WHITE_COINCIDENT if mapped else COINCIDENT
    rule = make_rule(criterion, geometry, result.scale, levels, coincident)
    if n <= m or result.price is not None:
        return Optimum(geometry, rule, u, v, permutation), np.arange(n)
    x_of_row = np.empty(m, np.intp)
    matched = np.flatnonzero(permutation >= 0)
    x_of_row[permutation[matched]] = matched
    return Optimum(*smaller_as_rows(geometry, rule), v, u, x_of_row), x_of_row


def likelihood_rate(criterion: str, pairs: Pairs) -> float | None:
    """Give the log-likelihood of a unit of cost; None if costs of an objective have no likelihood."""
    rate = OBJECTIVES[check_option(criterion, "result.criterion", minimised())].rate
    return None if rate is None else rate(pairs)
