"""Assignment of few points to many, without the matrix of all costs.

Of n points on the smaller side, at most n others are matched. So a point whose n + 1 cheapest partners are
kept has one among them that stays free: no other partner can be better for it. The kept ones are enough, and
with duals of 0 for all others they prove the matching optimal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lslmatch.assignment.solve import assign
from lslmatch.covariance.leave_out import White, cost_matrix, fill_rows
from lslmatch.results import Assignment

#: Entries of the block of costs of some rows (8 MB).
_BLOCK_ENTRIES = 1 << 20


def has_few_candidates(n: int, m: int) -> bool:
    """Say whether most points of the larger set are nobody's candidate."""
    few, many = min(n, m), max(n, m)
    return few * (few + 1) < many


def assign_candidates(white: White, workers: int) -> Assignment:
    """Assign by costs with the judged pair left out, where one set is much larger than the other."""
    n, m = white.shape
    if n > m:
        found = assign_candidates(white.transposed(), workers)
        order = np.argsort(found.col_ind)
        return Assignment(
            found.col_ind[order], found.row_ind[order], found.col_dual, found.row_dual, found.objective
        )
    kept = np.flatnonzero(_candidates(white))
    place = np.full(m + 1, -1)  # and of the partner -1
    place[kept] = np.arange(kept.size)
    some = white._replace(
        b=white.b[kept], b_residual=white.b_residual[kept], partner=place[white.partner].astype(np.intp)
    )
    found = assign(cost_matrix(some, workers))
    col_dual = np.zeros(m)
    col_dual[kept] = found.col_dual
    return found._replace(col_ind=kept[found.col_ind], col_dual=col_dual)


def _candidates(white: White) -> NDArray[np.bool_]:
    """Tell which columns are among the n + 1 cheapest of a row."""
    n, m = white.shape
    chosen = np.zeros(m, np.bool_)
    step = max(_BLOCK_ENTRIES // m, 1)
    for first in range(0, n, step):
        part = white.rows(np.arange(first, min(first + step, n)))
        costs = np.empty(part.shape)
        fill_rows(part, 0, len(costs), costs)
        chosen[np.argpartition(costs, n, axis=1)[:, : n + 1]] = True
    return chosen
