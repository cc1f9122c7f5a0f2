"""What was known before two sets were matched: pairs that are right, groups, and pairs that must not be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._comparison import comparable
from lslmatch._types import IntArray
from lslmatch.summary import count


class Block(NamedTuple):
    """Rows and columns that may be partners of each other, and of no others."""

    rows: IntArray
    cols: IntArray

    @property
    def pairs(self) -> int:
        """How many pairs are matched: all points of the smaller side."""
        return min(self.rows.size, self.cols.size)


@comparable
class Given(NamedTuple):
    """Which pairs were known, and which were allowed: what a matching under them is proven optimal among."""

    known: IntArray
    """(k, 2): row numbers of x and of y that are partners, ascending in x. They are taken as they are."""
    x_group: IntArray | None = None
    """(n,): the number of the group of each point of x; partners are of one group. None: all of one."""
    y_group: IntArray | None = None
    """(m,): likewise of y."""
    forbidden: IntArray = np.empty((0, 2), np.intp)
    """(f, 2): row numbers of x and of y that must not be partners, ascending."""
    alignment: str = ""
    """The alignment that was asked for, by its name; empty if a map was given."""
    covariance: str = ""
    """The covariance that was asked for, by its name; empty if it was given."""

    def blocks(self, n: int, m: int) -> list[Block]:
        """Give what is left to be matched, one block for each group with points on both sides."""
        rows, cols = np.ones(n, np.bool_), np.ones(m, np.bool_)
        rows[self.known[:, 0]] = False
        cols[self.known[:, 1]] = False
        free_rows, free_cols = np.flatnonzero(rows), np.flatnonzero(cols)
        if self.x_group is None or self.y_group is None:
            parts = [Block(free_rows, free_cols)]
        else:
            groups = int(max(self.x_group.max(), self.y_group.max())) + 1
            sides = zip(
                _by_group(free_rows, self.x_group, groups),
                _by_group(free_cols, self.y_group, groups),
                strict=True,
            )
            parts = [Block(*side) for side in sides]
        return [part for part in parts if part.pairs]

    def most_pairs(self, n: int, m: int) -> int:
        """Give how many pairs there are if all that can be matched is."""
        return len(self.known) + sum(block.pairs for block in self.blocks(n, m))

    def words(self) -> str:
        """Say what was given, in a few words."""
        said = []
        if len(self.known):
            said.append(f"{count(len(self.known), 'known pair')}, which the certificate takes as they are")
        if self.x_group is not None and self.y_group is not None:
            groups = int(max(self.x_group.max(), self.y_group.max())) + 1
            said.append(f"{count(groups, 'group')}, each matched by itself")
        if len(self.forbidden):
            said.append(count(len(self.forbidden), "forbidden pair"))
        return "; ".join(said)

    def transposed(self) -> Given:
        """Exchange the roles of the two sets."""
        known, forbidden = self.known[:, ::-1], self.forbidden[:, ::-1]
        return self._replace(
            known=in_order(known), x_group=self.y_group, y_group=self.x_group, forbidden=in_order(forbidden)
        )


def in_order(pairs: IntArray) -> IntArray:
    """Put pairs into the order of their rows, and those of one row into that of their columns."""
    return np.ascontiguousarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])


def _by_group(points: IntArray, group: IntArray, groups: int) -> list[IntArray]:
    """Give the points of each group, ascending."""
    order = points[np.argsort(group[points], kind="stable")]
    ends = np.cumsum(np.bincount(group[points], minlength=groups))
    return np.split(order, ends[:-1])
