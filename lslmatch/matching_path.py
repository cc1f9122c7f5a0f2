"""The best matchings of every number of pairs, for a look at where the pairs cease to be good."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lslmatch._comparison import comparable
from lslmatch._types import FloatArray
from lslmatch._validation import check_count, check_option, check_point_pair
from lslmatch.assignment.all_or_some import PricedAssignment, with_price_in_duals
from lslmatch.assignment.path import Path, solve_path
from lslmatch.covariance.known import with_pairs
from lslmatch.known.costs import all_costs
from lslmatch.maps import AnyMap
from lslmatch.matching import match
from lslmatch.objectives.table import minimised
from lslmatch.results import Assignment, MatchResult
from lslmatch.summary import count, number

#: Number of pairs n * m up to which the matrix of costs is made (2 GiB).
_MOST_ENTRIES = 1 << 28


@comparable
class MatchPath(NamedTuple):
    """The least-cost matchings of k = 1, ..., K pairs, K = min(n, m), each with its certificate."""

    objective: FloatArray
    """(K + 1,): ``objective[k]`` is the least cost of k pairs, and 0 of none."""
    increments: FloatArray
    """(K,): what each pair adds; they never fall. ``increments[k - 1]`` is the price of k pairs."""
    first: MatchResult
    """The matching of one pair, with the alignment and the covariance that all of them have."""
    steps: Path
    """What changes from each matching to the next."""
    chosen: int | None = None
    """The number of pairs that was chosen, if one was."""

    def __repr__(self) -> str:
        """Give one line."""
        low, high = number(self.increments[0]), number(self.increments[-1])
        chosen = "" if self.chosen is None else f", {self.chosen:,} chosen"
        return (
            f"<MatchPath: 1 to {count(self.increments.size, 'pair')}, "
            f"each adds from {low} to {high} ({self.first.criterion}){chosen}>"
        )

    def matching(self, k: int) -> MatchResult:
        """Give the best matching of k pairs, 1 <= k <= K, as ``match(..., pairs=k)`` would.

        Parameters
        ----------
        k : int
            The number of pairs.

        Returns
        -------
        MatchResult
            With ``price = increments[k - 1]``; for ``k = K`` without a price, as all are matched.
        """
        most = self.increments.size
        if check_count(k, "k", 1) > most:
            raise ValueError(f"k must be at most {most}, the number of points of the smaller set; got {k}")
        solution = self.steps.solution(k)
        rows = np.flatnonzero(solution.col_of_row >= 0)
        duals = solution.row_dual, solution.col_dual
        assignment = Assignment(rows, solution.col_of_row[rows], *duals, float(self.objective[k]))
        if k < most:
            return with_pairs(self.first, PricedAssignment(assignment, solution.price))
        return with_pairs(self.first, PricedAssignment(with_price_in_duals(assignment, solution.price), None))


def match_path(
    x: Any,
    y: Any,
    *,
    objective: str = "lsl",
    alignment: str | AnyMap = "standardize",
    covariance: Any = "isotropic",
    noise: tuple[Any, Any] | None = None,
    workers: int = 1,
) -> MatchPath:
    """Find the least-cost matchings of 1, 2, 3, ... pairs of two sets of points, all at once.

    They come out of one run of successive shortest paths. Where the sets have points without a partner, the
    increments rise where the pairs cease to be true ones.

    Parameters
    ----------
    x : array_like of shape (n, d)
        The first set, points as rows.
    y : array_like of shape (m, d)
        The second set.
    objective : {"lsl", "lss", "lsns", "distance"}, default "lsl"
        What is summed, as for :func:`match`.
    alignment : str or map, default "standardize"
        The map from `y` to `x`, as for :func:`match`; the same for all numbers of pairs.
    covariance : str or array_like, default "isotropic"
        The covariance of the noise, as for :func:`match`; the same for all numbers of pairs.
    noise : tuple of two array_like, optional
        The noise levels that "lsns" needs.
    workers : int, default 1
        Threads that compute costs. The result does not depend on it.

    Returns
    -------
    MatchPath
        The objectives and their increments; ``path.matching(k)`` is the matching of k pairs, with its
        certificate.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks a rule, or if the matrix of the costs would have more than 2**28 entries
        (2 GiB; n = m = 16,384): ``match(x, y, pairs=k)`` works without it.

    Examples
    --------
    >>> import numpy as np
    >>> from lslmatch import match_path
    >>> x = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 5.0], [9.0, 9.0]])
    >>> y = np.array([[4.0, 1.1], [0.0, 0.1], [-7.0, 2.0], [1.0, 5.1]])
    >>> path = match_path(x, y, alignment="identity", objective="lss")
    >>> path.increments.round(2).tolist()
    [0.01, 0.01, 0.01, 152.2]
    >>> path.matching(3).permutation.tolist()
    [1, 0, 3, -1]
    """
    given = x, y  # with the names that came with them
    x, y = check_point_pair(x, y, alignment)
    check_option(objective, "objective", minimised())
    if len(x) * len(y) > _MOST_ENTRIES:
        raise ValueError(
            f"x and y must have at most {_MOST_ENTRIES} pairs of points for the whole path; got {len(x)} "
            f"times {len(y)}. match(x, y, pairs=k) needs no matrix of them"
        )
    first = match(
        *given,
        objective=objective,
        alignment=alignment,
        covariance=covariance,
        pairs=1,
        noise=noise,
        workers=workers,
    )
    steps = solve_path(all_costs(x, y, first, workers), min(len(x), len(y)))
    return MatchPath(np.concatenate([[0.0], steps.totals]), steps.increments, first, steps)
