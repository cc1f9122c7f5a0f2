"""What a matching under known pairs, groups and forbidden pairs is checked among: on its own.

Nothing here comes from `lslmatch.allowed`. The matching must keep what was given, and each group is a problem
of its own: its duals are checked over the pairs of its own points. Known pairs are left out, with all pairs
of their points: that no other matching is cheaper is proven of the others only. Forbidden pairs may cost
less than their duals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import IntArray
from lslmatch.given import Given


class Part(NamedTuple):
    """Points that are matched among each other: all, unless something was given."""

    rows: IntArray
    cols: IntArray

    @property
    def pairs(self) -> int:
        """How many pairs a complete matching has."""
        return min(self.rows.size, self.cols.size)


def parts_of(given: Given | None, permutation: IntArray, m: int) -> list[Part]:
    """Give the problems that are checked; raise if the matching does not keep what was given."""
    n = permutation.size
    if given is None:
        return [Part(np.arange(n), np.arange(m))]
    _check_shapes(given, n, m)
    fixed, of_y = np.zeros(n, np.bool_), np.zeros(m, np.bool_)
    for i, j in given.known.tolist():
        if permutation[i] != j:
            raise ValueError(f"result must have its known pairs; row {i} of x has not row {j} of y")
        fixed[i] = of_y[j] = True
    rows = np.flatnonzero(permutation >= 0)
    if is_forbidden(given, m, rows, permutation[rows]).any():
        raise ValueError("result must have none of its forbidden pairs")
    if given.x_group is None or given.y_group is None:
        return [Part(np.flatnonzero(~fixed), np.flatnonzero(~of_y))]
    if (given.x_group[rows] != given.y_group[permutation[rows]]).any():
        raise ValueError("result must have pairs within its groups only")
    # Of each group the points that are not in known pairs; also of groups with points on one side only.
    members: dict[int, tuple[list[int], list[int]]] = {}
    for side, (group, taken) in enumerate(((given.x_group, fixed), (given.y_group, of_y))):
        for point in np.flatnonzero(~taken).tolist():
            members.setdefault(int(group[point]), ([], []))[side].append(point)
    return [Part(np.array(r, np.intp), np.array(c, np.intp)) for r, c in members.values()]


def is_forbidden(given: Given | None, m: int, i: IntArray, j: IntArray) -> NDArray[np.bool_]:
    """Say which of the pairs (i[k], j[k]) are forbidden."""
    if given is None or not len(given.forbidden):
        return np.zeros(i.size, np.bool_)
    codes = np.sort(given.forbidden[:, 0] * m + given.forbidden[:, 1])
    asked = i * m + j
    place = np.minimum(np.searchsorted(codes, asked), codes.size - 1)
    found: NDArray[np.bool_] = codes[place] == asked
    return found


def _check_shapes(given: Given, n: int, m: int) -> None:
    for name in ("known", "forbidden"):
        pairs = getattr(given, name)
        is_array = isinstance(pairs, np.ndarray) and pairs.dtype.kind in "iu" and pairs.ndim == 2
        if not is_array or pairs.shape[1] != 2 or (pairs < 0).any() or (pairs >= (n, m)).any():
            raise ValueError(f"result.given.{name} must be pairs of rows of x and y, below {n} and {m}")
    for name, count in (("x_group", n), ("y_group", m)):
        group = getattr(given, name)
        if group is not None and np.shape(group) != (count,):
            raise ValueError(f"result.given.{name} must have shape ({count},); got {np.shape(group)}")
