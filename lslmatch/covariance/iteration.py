"""Learning the covariance from the matching itself: match, learn the metric, match again.

Each round takes a matching, learns the metric from its residuals, and assigns by costs from which the
pair that is judged was left out. A matching decides all that follows from it, so one that was seen
before, also from another start, ends the loop. From all matchings that were seen the one that predicts
itself best is kept.

That the matching is optimal for the final costs is proven by its duals; that no other metric would be
better is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.orientation import partners
from lslmatch.assignment.solve import assign, assign_points
from lslmatch.covariance.dropped import count_undecided, streamed_problem
from lslmatch.covariance.evidence import cross_entropy, sampled_cross_entropy
from lslmatch.covariance.fit import Fit, fit_matching
from lslmatch.covariance.leave_out import cost_matrix
from lslmatch.results import Affine, Assignment

#: Rounds from one start, at most.
_MOST_ROUNDS = 30
#: With more pairs than this, and than so many times the dimension, costs are streamed with nothing left out.
_STREAMED_PAIRS, _STREAMED_RATIO = 3000, 20


class Learned(NamedTuple):
    """The fit whose costs were assigned last, and the optimal assignment for them."""

    fit: Fit
    assignment: Assignment
    evidence: float  # the cross-entropy of the assigned matching, under its own metric
    rounds: int
    leave_out: bool
    undecided: int  # for how many points leaving out, where it was not done, might matter


def learn(
    x: FloatArray,
    y: FloatArray,
    affine: Affine,
    starts: Iterable[IntArray],
    refit: bool,
    workers: int,
) -> Learned | None:
    """Iterate from each start, first with Tyler's weights and then, from the best, with equal ones.

    Returns None if a start has no residuals to learn from.
    """
    search = _Search(x, y, affine, refit, workers)
    for start in starts:
        if not search.run(start, "tyler"):
            return None
    search.run(search.best.matching, "equal")
    return search.finish()


class _Seen(NamedTuple):
    """A matching that was judged."""

    matching: IntArray
    weighting: str
    evidence: float
    before: IntArray | None  # the matching for whose costs it is optimal; None for a start


class _Search:
    def __init__(self, x: FloatArray, y: FloatArray, affine: Affine, refit: bool, workers: int) -> None:
        self.x, self.y, self.affine, self.refit, self.workers = x, y, affine, refit, workers
        pairs, d = min(len(x), len(y)), x.shape[1]
        self.leave_out = pairs <= _STREAMED_PAIRS or pairs <= _STREAMED_RATIO * d
        self.seen: dict[tuple[str, bytes], _Seen] = {}

    @property
    def best(self) -> _Seen:
        """The matching of least cross-entropy; of equal ones the first."""
        return min(self.seen.values(), key=lambda seen: seen.evidence)

    def run(self, matching: IntArray, weighting: str) -> bool:
        """Iterate until a matching comes back; tell whether there was any noise to learn from."""
        before: IntArray | None = None
        for _ in range(_MOST_ROUNDS):
            key = weighting, matching.tobytes()
            if key in self.seen:
                break
            fit = self.fit(matching, weighting)
            if fit is None:
                return False
            evidence, assignment = self.judge(fit)
            self.seen[key] = _Seen(matching, weighting, evidence, before)
            before, matching = matching, partners(len(self.x), assignment.row_ind, assignment.col_ind)
        return True

    def fit(self, matching: IntArray, weighting: str) -> Fit | None:
        return fit_matching(self.x, self.y, matching, self.affine, self.refit, weighting)

    def judge(self, fit: Fit) -> tuple[float, Assignment]:
        """Give the cross-entropy of the matching behind a fit, and the best matching for its costs."""
        if self.leave_out:
            costs = cost_matrix(fit.white, self.workers)
            return cross_entropy(costs, fit.reference, self.x.shape[1]), assign(costs)
        return sampled_cross_entropy(fit.white), self.assign(fit)

    def assign(self, fit: Fit) -> Assignment:
        """Assign by the costs of a fit."""
        if self.leave_out:
            return assign(cost_matrix(fit.white, self.workers))
        return assign_points(*streamed_problem(fit.white), self.workers)

    def finish(self) -> Learned:
        """Assign once more by the costs for which the best matching is optimal."""
        best = self.best
        reference = best.matching if best.before is None else best.before
        fit = self.fit(reference, best.weighting)
        assert fit is not None  # as it was before
        assignment = self.assign(fit)
        undecided = 0 if self.leave_out else count_undecided(fit.white, assignment, self.workers)
        return Learned(
            fit, _in_units(assignment, fit.offset), best.evidence, len(self.seen), self.leave_out, undecided
        )


def _in_units(assignment: Assignment, offset: float) -> Assignment:
    """Add a constant to all costs; the duals of the larger side stay, as they are 0 where unmatched."""
    u, v = assignment.row_dual, assignment.col_dual
    u, v = (u + offset, v) if u.size <= v.size else (u, v + offset)
    objective = assignment.objective + offset * assignment.row_ind.size
    return assignment._replace(row_dual=u, col_dual=v, objective=objective)
