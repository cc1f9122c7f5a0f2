"""Which points are left without enough partners, where no complete matching is allowed."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from lslmatch._frames import listed
from lslmatch._types import IntArray
from lslmatch.given import Block


def say_infeasible(allowed: NDArray[np.bool_], block: Block) -> NoReturn:
    """Raise an error that names points of a block with fewer allowed partners than there are of them."""
    sides, names = (block.rows, block.cols), ("x", "y")
    if allowed.shape[0] > allowed.shape[1]:
        allowed, sides, names = allowed.T, sides[::-1], names[::-1]
    rows, cols = _too_many(allowed)
    raise infeasible(sides[0][rows], sides[1][cols], *names)


def infeasible(points: IntArray, partners: IntArray, name: str, other: str) -> ValueError:
    """Make the error: these points of a set have these allowed partners only."""
    some = np.sort(points).tolist()
    left = np.sort(partners).tolist()
    have = f"only {listed(left)} of {other}" if left else f"no partner in {other}"
    rows = "row" if len(some) == 1 else f"{len(some)} rows"
    return ValueError(
        f"forbidden must leave every point of the smaller set a partner; {rows} {listed(some)} of {name} may "
        f"have {have}"
    )


def _too_many(allowed: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Find rows with fewer allowed columns, all together, than there are rows: Hall's condition violated."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    col_of_row = maximum_bipartite_matching(csr_matrix(allowed), perm_type="column")
    free = np.flatnonzero(col_of_row < 0)
    assert free.size, "a complete matching is allowed"
    row_of_col = np.full(allowed.shape[1], -1)
    matched = np.flatnonzero(col_of_row >= 0)
    row_of_col[col_of_row[matched]] = matched
    reached = np.zeros(allowed.shape[1], np.bool_)
    rows, queue = [int(free[0])], [int(free[0])]
    while queue:
        for j in np.flatnonzero(allowed[queue.pop()] & ~reached).tolist():
            reached[j] = True  # and matched, as no augmenting path is left
            rows.append(int(row_of_col[j]))
            queue.append(int(row_of_col[j]))
    return np.array(rows, np.intp), np.flatnonzero(reached)
