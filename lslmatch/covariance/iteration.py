"""Learning the covariance from the matching itself: match, learn the metric, match again.

Each round takes a matching, learns the metric from its residuals, and assigns by costs from which the
pair that is judged was left out. A matching decides all that follows from it, so one that was seen
before, also from another start, ends the loop. From all matchings that were seen the one that predicts
itself best is kept.

That the matching is optimal for the final costs is proven by its duals; that no other metric would be
better is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from lslmatch._types import FloatArray, IntArray
from lslmatch.allowed.solving import assign_allowed, assign_allowed_points
from lslmatch.assignment.orientation import partners
from lslmatch.covariance.candidates import assign_candidates, has_few_candidates
from lslmatch.covariance.dropped import count_undecided, streamed_problem
from lslmatch.covariance.evidence import sampled_surprises, surprises
from lslmatch.covariance.fit import Aligned, MetricFit, fit_matching
from lslmatch.covariance.leave_out import cost_matrix
from lslmatch.given import Given
from lslmatch.maps import AnyMap
from lslmatch.results import Assignment

#: Rounds from one start, at most.
_MOST_ROUNDS = 30
#: The cross-entropy of a sure end, as a share of that of a guess. That of unrelated sets is .4 to .5.
SURE = 1 / 3
#: Rounds in all, at least: a start and the matching that follows from it.
_LEAST_ROUNDS = 2
#: Above 3,000 pairs and 20 d, costs are streamed with nothing left out.
_STREAMED_PAIRS, _STREAMED_RATIO = 3000, 20


class Learned(NamedTuple):
    """A matching that was judged, and the fit for whose costs it is optimal."""

    fit: MetricFit
    assignment: Assignment
    surprises: FloatArray  # of the assigned matching, under its own metric
    rounds: int
    leave_out: bool
    undecided: int  # for how many points leaving out, where it was not done, might matter

    @property
    def cross_entropy(self) -> float:
        """The mean surprise."""
        return float(self.surprises.mean())


def learn(
    x: FloatArray,
    y: FloatArray,
    affine: AnyMap,
    starts: Iterable[IntArray],
    refit: bool,
    workers: int,
    most: int | None = None,
    units: FloatArray | None = None,
    given: Given | None = None,
) -> Learned | None:
    """Iterate from each start, first with Tyler's weights and then, from the best, with equal ones.

    Two starts that lead to the same sure end are enough, and `most` rounds in all. Returns None if a start
    has no residuals to learn from.
    """
    search = _Search(x, y, Aligned.at(x, y, affine, units), refit, workers, most, given)
    for start in starts:
        end = search.run(start, "tyler")
        if end is None:
            return None
        if (end == "met" and search.is_sure) or search.is_over:
            break
    search.run(search.matching, "equal")
    return search.finish()


def leaves_out(x: FloatArray, y: FloatArray) -> bool:
    """Say whether the judged pair is left out."""
    pairs, d = min(len(x), len(y)), x.shape[1]
    return pairs <= _STREAMED_PAIRS or pairs <= _STREAMED_RATIO * d


def judges_all(x: FloatArray, y: FloatArray) -> bool:
    """Say whether all pairs of points are judged at once, with their costs in memory."""
    return leaves_out(x, y) and not has_few_candidates(len(x), len(y))


class _Search:
    def __init__(
        self,
        x: FloatArray,
        y: FloatArray,
        first: Aligned,
        refit: bool,
        workers: int,
        most: int | None,
        given: Given | None = None,
    ) -> None:
        self.x, self.y, self.first, self.refit, self.workers = x, y, first, refit, workers
        self.given = given
        self.leave_out = leaves_out(x, y)
        self.most = math.inf if most is None else max(most, _LEAST_ROUNDS)
        self.seen: dict[tuple[str, bytes], FloatArray] = {}
        self.least = math.inf

    @property
    def is_sure(self) -> bool:
        """Whether the best matching is far from a guess; what unrelated sets end with is not."""
        return self.least < SURE * math.log(len(self.x) * len(self.y))

    @property
    def is_over(self) -> bool:
        """Whether there were as many rounds as there may be."""
        return len(self.seen) >= self.most

    def run(self, matching: IntArray, weighting: str) -> str | None:
        """Iterate until a matching comes back, and tell how it ended; None if there was no noise.

        "met" is a path that came upon one of an earlier start.
        """
        behind: tuple[MetricFit, Assignment] | None = None
        own: set[bytes] = set()
        for _ in range(_MOST_ROUNDS):
            key = weighting, matching.tobytes()
            if key in self.seen:
                self.consider(matching, self.seen[key], behind)
                return "met" if own and key[1] not in own else "ended"
            if self.is_over:
                break
            own.add(key[1])
            fit = fit_matching(self.x, self.y, matching, self.first, self.refit, weighting)
            if fit is None:
                return None
            self.seen[key], assignment = self.judge(fit)
            self.consider(matching, self.seen[key], behind)
            behind = fit, assignment
            matching = partners(len(self.x), assignment.row_ind, assignment.col_ind)
        return "ended"

    def consider(
        self, matching: IntArray, found: FloatArray, behind: tuple[MetricFit, Assignment] | None
    ) -> None:
        """Keep a matching if it is the best so far and optimal for some costs, as a start need not be."""
        if behind is not None and found.mean() < self.least:
            self.least, self.surprises = float(found.mean()), found
            self.matching, self.behind = matching, behind

    def judge(self, fit: MetricFit) -> tuple[FloatArray, Assignment]:
        """Give the surprises of the matching behind a fit, and the best matching for its costs."""
        if judges_all(self.x, self.y):
            costs = cost_matrix(fit.white, self.workers)
            return surprises(costs, fit.reference, self.x.shape[1]), assign_allowed(costs, self.given)
        if self.leave_out and self.given is None:
            assignment = assign_candidates(fit.white, self.workers)
        elif self.leave_out:
            assignment = assign_allowed(cost_matrix(fit.white, self.workers), self.given)
        else:
            problem = streamed_problem(fit.white)
            assignment = assign_allowed_points(*problem, self.given, self.workers)
        return sampled_surprises(fit.white), assignment

    def finish(self) -> Learned:
        """Describe the best matching."""
        fit, assignment = self.behind
        undecided = 0 if self.leave_out else count_undecided(fit.white, assignment, self.workers)
        return Learned(
            fit, in_units(assignment, fit.offset), self.surprises, len(self.seen), self.leave_out, undecided
        )


def in_units(assignment: Assignment, offset: float) -> Assignment:
    """Add a constant to all costs; the duals of the larger side stay, as they are 0 where unmatched."""
    u, v = assignment.row_dual, assignment.col_dual
    u, v = (u + offset, v) if u.size <= v.size else (u, v + offset)
    objective = assignment.objective + offset * assignment.row_ind.size
    return assignment._replace(row_dual=u, col_dual=v, objective=objective)
