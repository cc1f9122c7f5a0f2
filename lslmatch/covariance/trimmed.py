"""Learning the covariance from some of the pairs: those that are probably true.

Points without a partner get one all the same if all are matched, and what they add to a covariance is no
noise. Once the probably true pairs are known, the metric is learned from them alone, with scale and shift.
A pair outside has no residual in the metric, so that there is nothing to leave out of it.
"""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.orientation import partners
from lslmatch.assignment.solve import assign
from lslmatch.covariance.evidence import surprises
from lslmatch.covariance.fit import Aligned, fit_matching, isotropic_white
from lslmatch.covariance.iteration import Learned, in_units
from lslmatch.covariance.learned import describe
from lslmatch.covariance.leave_out import cost_matrix
from lslmatch.results import MatchResult


def can_be_relearned(result: MatchResult) -> bool:
    """Tell whether costs are those of a covariance that was learned with the judged pair left out."""
    covariance = result.covariance
    return covariance is not None and covariance.reference is not None and covariance.leave_out


def match_again(
    x: FloatArray, y: FloatArray, result: MatchResult, kept: IntArray, refit: bool, workers: int
) -> MatchResult | None:
    """Match all points under a covariance that is learned from the pairs in `kept`, -1 where x has none.

    None if the result has no covariance that can be learned again, or if the pairs have no residuals.
    """
    before = result.covariance
    if before is None or not can_be_relearned(result):
        return None
    fit = fit_matching(x, y, kept, Aligned.at(x, y, result.affine), refit, "tyler")
    if fit is None:
        return None
    costs = cost_matrix(fit.white, workers)
    assignment, sure = in_units(assign(costs), fit.offset), surprises(costs, kept, x.shape[1])
    learned = Learned(fit, assignment, sure, before.rounds + 1, True, 0)
    isotropic = cost_matrix(isotropic_white(x, y, kept, fit.affine), workers)
    covariance = describe(x, y, learned)._replace(
        isotropic_cross_entropy=float(surprises(isotropic, kept, x.shape[1]).mean())
    )
    return result._replace(
        permutation=partners(len(x), assignment.row_ind, assignment.col_ind),
        scale=fit.affine.scale,
        shift=np.asarray(fit.affine.shift),
        objective=assignment.objective,
        row_dual=assignment.row_dual,
        col_dual=assignment.col_dual,
        covariance=covariance,
        price=None,
    )
