"""Both sets as one, in an order that says nothing about which set a point is from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry
from lslmatch.given import Given

#: The order of the pool, which breaks ties, follows from the number of its points alone.
_SEED = 29


class Pool(NamedTuple):
    """The points of both sets, shuffled."""

    points: FloatArray  # (N, d)
    low: FloatArray  # (N, d): their rounding errors
    in_y: NDArray[np.bool_]  # (N,): which set a point is from; pairing and ranking must not look at it
    row: IntArray  # (N,): its row there
    floor: float  # squared distances below this are raised to it
    offset: float  # what is added to a cost, which is then in units of x
    between: float  # what squared distances between the sets are multiplied by
    group: IntArray | None = None  # (N,): only points of one group are paired; None: all are of one

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.row)

    def may_be_paired(self, first: IntArray, second: IntArray) -> NDArray[np.bool_]:
        """Say which pairs of points are of one group."""
        if self.group is None:
            return np.ones(np.broadcast(first, second).shape, np.bool_)
        same: NDArray[np.bool_] = self.group[first] == self.group[second]
        return same

    def mean_squares(self) -> FloatArray:
        """Give the mean squares of the columns about their means, of shape (d,)."""
        squares: FloatArray = self.points.var(axis=0)
        return squares

    def differences(self, first: IntArray, second: IntArray) -> FloatArray:
        """Give the differences of some pairs of points, with all their digits."""
        exact: FloatArray = self.points[first] - self.points[second] + (self.low[first] - self.low[second])
        return exact

    def log_squares(self, first: IntArray, second: IntArray) -> FloatArray:
        """Give the logarithms of squared distances of some pairs, from differences of coordinates."""
        apart = self.differences(first, second)
        squares = np.einsum("...k,...k->...", apart, apart)
        if self.between != 1.0:
            squares = np.where(self.in_y[first] != self.in_y[second], self.between * squares, squares)
        return np.log(np.maximum(squares, self.floor))


def pool_sets(geometry: Geometry, rule: CostRule, parameters: int, given: Given | None = None) -> Pool:
    """Put two sets in common coordinates together, but for the points of known pairs.

    If their map was estimated, with so many `parameters`, it brought the sets nearer to each other than
    they are: by up to ``1/n + 1/m`` of a squared distance, where both sets were centred. Squared
    distances between the sets are therefore multiplied by ``1 + 2 / min(n, m)``, and by as much more as
    there are more parameters than those of one scale and a shift.
    """
    rows, cols = (np.arange(size) for size in geometry.shape)
    if given is not None:
        rows, cols = np.delete(rows, given.known[:, 0]), np.delete(cols, given.known[:, 1])
        geometry = geometry.taken(rows, cols)
    n, m = geometry.shape
    order = np.random.default_rng((_SEED, n + m)).permutation(n + m)
    points = np.vstack([geometry.a, geometry.b])[order]
    low = np.vstack([geometry.a_low, geometry.b_low])[order]
    between = 1.0 + 2.0 * parameters / ((points.shape[1] + 1) * min(n, m)) if n and m else 1.0
    pool = Pool(
        points, low, order >= n, np.concatenate([rows, cols])[order], rule.floor, rule.offset, between
    )
    if given is None or given.x_group is None or given.y_group is None:
        return pool
    return pool._replace(group=np.concatenate([given.x_group[rows], given.y_group[cols]])[order])
