"""Learning the covariance from some of the pairs: those that are probably true.

Points without a partner get one all the same if all are matched, and what they add to a covariance is no
noise. So the metric is learned from pairs that can be trusted alone: the most prominent of those that are
nearest to each other. They need not be many, but nearly all must be right. A pair outside has no residual
in the metric, so that there is nothing to leave out of it. Columns may be divided by their noise levels
first, of which few pairs say more than of correlations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.orientation import partners
from lslmatch.assignment.solve import assign
from lslmatch.covariance.evidence import surprises
from lslmatch.covariance.fit import Aligned, fit_matching, isotropic_white
from lslmatch.covariance.iteration import Learned, in_units
from lslmatch.covariance.learned import describe
from lslmatch.covariance.leave_out import cost_matrix
from lslmatch.results import Affine, MatchResult

#: Rounds in which the trusted pairs and the metric are learned from each other, at most.
_ROUNDS = 12
#: The share of the pairs nearest to each other that is trusted, and the least number.
_TRUSTED, _LEAST_TRUSTED = 0.5, 10
#: The shares in the first rounds from costs that know little of the noise.
GROWING = (0.25, 0.35)


class Relearned(NamedTuple):
    """All points matched under a covariance that was learned from some pairs, and all costs."""

    result: MatchResult
    costs: FloatArray


def can_be_relearned(result: MatchResult) -> bool:
    """Tell whether costs are those of a covariance that was learned with the judged pair left out."""
    covariance = result.covariance
    return covariance is not None and covariance.reference is not None and covariance.leave_out


def trust_pairs(
    x: FloatArray,
    y: FloatArray,
    start: Relearned,
    refit: bool,
    workers: int,
    growing: tuple[float, ...] = (),
    by_levels: bool = False,
) -> IntArray:
    """Give pairs that can be trusted, -1 where an x has none.

    From the trusted pairs under the costs of the start a metric is learned, under that others are trusted,
    and so on until they come back. The first rounds trust the shares in `growing` only.
    """
    result, costs = start
    first = Aligned.at(x, y, result.map, _units(result))
    seen: set[bytes] = set()
    shares = [*growing, *[_TRUSTED] * _ROUNDS][: _ROUNDS + 1]
    kept = _prominent(costs, shares[0])
    for share in shares[1:]:
        if kept.tobytes() in seen:
            break
        seen.add(kept.tobytes())
        fit = fit_matching(x, y, kept, first, refit, "tyler", by_levels)
        if fit is None:
            break
        kept = _prominent(cost_matrix(fit.white, workers), share)
    return kept


def _units(result: MatchResult) -> FloatArray | None:
    """Give the units that the columns have besides their noise: with one scale for all they have none."""
    return None if result.covariance is None or isinstance(result.map, Affine) else result.covariance.units


def match_again(
    x: FloatArray,
    y: FloatArray,
    result: MatchResult,
    kept: IntArray,
    refit: bool,
    workers: int,
    by_levels: bool = False,
) -> Relearned | None:
    """Match all points under a covariance that is learned from the pairs in `kept`, -1 where x has none.

    None if the pairs have no residuals.
    """
    before = result.covariance
    assert before is not None
    first = Aligned.at(x, y, result.map, _units(result))
    fit = fit_matching(x, y, kept, first, refit, "tyler", by_levels)
    if fit is None:
        return None
    costs = cost_matrix(fit.white, workers)
    assignment, sure = in_units(assign(costs), fit.offset), surprises(costs, kept, x.shape[1])
    again = result._replace(
        permutation=partners(len(x), assignment.row_ind, assignment.col_ind),
        objective=assignment.objective,
        row_dual=assignment.row_dual,
        col_dual=assignment.col_dual,
        covariance=describe(x, y, Learned(fit, assignment, sure, before.rounds + 1, True, 0)),
        price=None,
    ).with_map(fit.affine)
    return Relearned(again, costs + fit.offset)


def beside_isotropic(x: FloatArray, y: FloatArray, result: MatchResult, workers: int) -> MatchResult:
    """Note how well isotropic noise predicts the pairs from which the covariance was learned."""
    covariance = result.covariance
    assert covariance is not None
    assert covariance.reference is not None
    white = isotropic_white(x, y, covariance.reference, result.map, _units(result))
    surprise = surprises(cost_matrix(white, workers), covariance.reference, x.shape[1])
    return result._replace(covariance=covariance._replace(isotropic_cross_entropy=float(surprise.mean())))


def _prominent(costs: FloatArray, share: float) -> IntArray:
    """Give the most prominent share of the pairs that are nearest to each other, -1 for other rows.

    The mean cost of a point is taken off, as in many dimensions some points are near to all others.
    """
    centred = costs - costs.mean(axis=1, keepdims=True)
    centred -= costs.mean(axis=0)
    nearest = centred.argmin(axis=1)
    rows = np.flatnonzero(centred.argmin(axis=0)[nearest] == np.arange(len(costs)))
    cols = nearest[rows]
    own = centred[rows, cols]
    centred[rows, cols] = np.inf
    prominence = np.minimum(centred[rows].min(axis=1), centred[:, cols].min(axis=0)) - own
    count = max(int(share * rows.size), _LEAST_TRUSTED)
    best = np.argsort(-prominence, kind="stable")[:count]
    kept = np.full(len(costs), -1, np.intp)
    kept[rows[best]] = cols[best]
    return kept
