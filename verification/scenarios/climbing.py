"""Learning a covariance from a start of which a known share is right: the judged pair left out, or not.

The second way is the control. Its metric is made from the residuals of the very pairs that it then judges, so
with as many dimensions as pairs it makes the present pairs cheap, whether they are right or wrong.
"""

from __future__ import annotations

import numpy as np

from lslmatch import estimate_affine
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.solve import assign
from lslmatch.covariance.fit import Aligned, fit_matching
from lslmatch.covariance.iteration import learn
from lslmatch.covariance.leave_out import cost_matrix

#: Rounds of in-sample whitening, at most; it settles after a few.
_MOST_ROUNDS = 30


def corrupt(truth: IntArray, right: float, rng: np.random.Generator) -> IntArray:
    """Give a matching of which about the share `right` is right, and the other pairs are all wrong.

    A single wrong pair cannot be, so where there would be one there is none.
    """
    wrong = round((1.0 - right) * len(truth))
    rows = rng.permutation(len(truth))[: wrong if wrong > 1 else 0]
    matching = truth.copy()
    matching[rows] = truth[np.roll(rows, 1)]
    return matching


def leave_pair_out(x: FloatArray, y: FloatArray, start: IntArray) -> IntArray:
    """Learn the covariance from one start, each pair judged without its own residuals; give the matching."""
    learned = learn(x, y, estimate_affine(x, y), [start], True, 1)
    if learned is None:
        return start
    matching = np.empty(len(x), np.intp)
    matching[learned.assignment.row_ind] = learned.assignment.col_ind
    return matching


def in_sample(x: FloatArray, y: FloatArray, start: IntArray) -> IntArray:
    """Do the same with nothing left out, until a matching comes back."""
    sets = Aligned.at(x, y, estimate_affine(x, y))
    matching, seen = start, set[bytes]()
    for _ in range(_MOST_ROUNDS):
        if matching.tobytes() in seen:
            break
        seen.add(matching.tobytes())
        fit = fit_matching(x, y, matching, sets, True, "equal")
        if fit is None:
            break
        nothing = {name: np.zeros_like(getattr(fit.white, name)) for name in ("a_residual", "b_residual")}
        assignment = assign(cost_matrix(fit.white._replace(**nothing)))
        matching = np.empty(len(x), np.intp)
        matching[assignment.row_ind] = assignment.col_ind
    return matching
