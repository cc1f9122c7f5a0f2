"""Both sets as one, in an order that says nothing about which set a point is from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._types import FloatArray, IntArray
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry

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

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.row)

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


def pool_sets(geometry: Geometry, rule: CostRule, parameters: int) -> Pool:
    """Put two sets in common coordinates together.

    If their map was estimated, with so many `parameters`, it brought the sets nearer to each other than
    they are: by up to ``1/n + 1/m`` of a squared distance, where both sets were centred. Squared
    distances between the sets are therefore multiplied by ``1 + 2 / min(n, m)``, and by as much more as
    there are more parameters than those of one scale and a shift.
    """
    n, m = geometry.shape
    order = np.random.default_rng((_SEED, n + m)).permutation(n + m)
    points = np.vstack([geometry.a, geometry.b])[order]
    low = np.vstack([geometry.a_low, geometry.b_low])[order]
    between = 1.0 + 2.0 * parameters / ((points.shape[1] + 1) * min(n, m))
    in_y = order >= n
    return Pool(points, low, in_y, order - n * in_y, rule.floor, rule.offset, between)
