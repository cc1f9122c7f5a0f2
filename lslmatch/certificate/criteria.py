"""What pairs cost by each objective, as the certificate knows it: nothing here comes from the solver's costs.

Each class says three things of costs that are made of squared distances: what they are, which squared
distances they need to be no less than sums of duals, and the same in the form of the tree of boxes. All
lengths are in the unit of the coordinates, a power of two.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.certificate.tree import Need


class Frame(NamedTuple):
    """What costs may depend on besides squared distances."""

    exponent: int  # of the unit
    floor: Callable[[], float]  # the square below which points coincide
    noise: tuple[FloatArray, FloatArray] | None  # the noise levels in the unit


class Criterion:
    """The costs of an objective."""

    needs_noise: ClassVar[bool] = False
    #: Partners coincide if they cost no more than this share of what other pairs do; None: never.
    coincident: ClassVar[float | None] = 2.0**-84
    #: No square counts as less than this.
    floor: float = 0.0

    def __init__(self, frame: Frame) -> None:
        self.exponent = frame.exponent

    def taken(self, rows: IntArray, cols: IntArray) -> Criterion:
        """Take some points of each set."""
        return self

    def costs(self, squares: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
        """Give the costs of the pairs (i[k], j[k])."""
        raise NotImplementedError

    def needed(self, block: slice, u: FloatArray, v: FloatArray) -> FloatArray | None:
        """Give the squares that some rows need from all columns; None where all costs must be computed."""
        raise NotImplementedError

    def need(self, u: FloatArray, v: FloatArray) -> Need | None:
        """Say the same of all pairs, as products; None if there is no such form."""
        raise NotImplementedError


class Logarithms(Criterion):
    """Objective "lsl": ``log(max(r^2, floor))``."""

    coincident = None

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self.floor, self.offset = frame.floor(), 2 * frame.exponent * math.log(2)

    def costs(self, squares: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
        """Give the costs of pairs; where all points coincide, 0."""
        if self.floor == 0.0:
            return squares
        logarithms: FloatArray = np.log(np.maximum(squares, self.floor))
        return logarithms + self.offset

    def needed(self, block: slice, u: FloatArray, v: FloatArray) -> FloatArray | None:
        """Give the exponentials of the sums of duals."""
        if self.floor == 0.0:
            return None
        middle = (u.max() - self.offset - v.max()) / 2.0
        row_factor = _exponentials(u[block] - self.offset - middle)
        return np.multiply.outer(row_factor, _exponentials(v + middle))

    def need(self, u: FloatArray, v: FloatArray) -> Need | None:
        """Exponentials of sums are products."""
        if self.floor == 0.0:
            return None
        u = u - self.offset
        middle = (u.max() - v.max()) / 2.0
        rows, cols = _exponentials(u - middle), _exponentials(v + middle)
        return Need(rows, np.zeros(v.size), np.zeros(u.size), cols)


class Squares(Criterion):
    """Objective "lss": ``r^2``."""

    def costs(self, squares: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
        """Give the costs of pairs."""
        return np.ldexp(squares, 2 * self.exponent)

    def needed(self, block: slice, u: FloatArray, v: FloatArray) -> FloatArray | None:
        """Give the sums of the duals, in the unit."""
        return np.ldexp(np.add.outer(u[block], v), -2 * self.exponent)

    def need(self, u: FloatArray, v: FloatArray) -> Need | None:
        """Write sums as products with 1."""
        u, v = np.ldexp(u, -2 * self.exponent), np.ldexp(v, -2 * self.exponent)
        return Need(u, v, np.ones(u.size), np.zeros(v.size))


class Normalized(Criterion):
    """Objective "lsns": ``r^2`` over the noise variance of the pair."""

    needs_noise = True

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        assert frame.noise is not None, "noise has been checked"
        self.x_variance, self.y_variance = frame.noise[0] ** 2, frame.noise[1] ** 2

    def taken(self, rows: IntArray, cols: IntArray) -> Criterion:
        """Take some points of each set."""
        some = copy.copy(self)
        some.x_variance, some.y_variance = self.x_variance[rows], self.y_variance[cols]
        return some

    def costs(self, squares: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
        """Give the costs of pairs."""
        return squares / (self.x_variance[i] + self.y_variance[j])

    def needed(self, block: slice, u: FloatArray, v: FloatArray) -> FloatArray | None:
        """Give the sums of the duals times the variances."""
        return np.add.outer(u[block], v) * (self.x_variance[block, None] + self.y_variance)

    def need(self, u: FloatArray, v: FloatArray) -> Need | None:
        """Give both factors."""
        return Need(u, v, self.x_variance, self.y_variance)


class Distances(Criterion):
    """Objective "distance": ``r``."""

    coincident = 2.0**-42

    def costs(self, squares: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
        """Give the costs of pairs."""
        return np.ldexp(np.sqrt(squares), self.exponent)

    def needed(self, block: slice, u: FloatArray, v: FloatArray) -> FloatArray | None:
        """Give the squares of the sums of the duals; where these are negative, any distance will do."""
        sums = np.ldexp(np.add.outer(u[block], v), -self.exponent)
        return sums * np.abs(sums)

    def need(self, u: FloatArray, v: FloatArray) -> Need | None:
        """Give sums whose squares are needed where they are positive, and products that are no less.

        With any c, a sum that is positive is at most ``max(u - c, 0) + max(v + c, 0)``.
        """
        u, v = np.ldexp(u, -self.exponent), np.ldexp(v, -self.exponent)
        middle = (float(np.median(u)) - float(np.median(v))) / 2.0
        return Need(u, v, np.maximum(u - middle, 0.0), np.maximum(v + middle, 0.0), True)


#: The costs by the name of the objective.
CRITERIA: dict[str, type[Criterion]] = {
    "lsl": Logarithms,
    "lss": Squares,
    "lsns": Normalized,
    "distance": Distances,
}


def _exponentials(values: FloatArray) -> FloatArray:
    """Return exponentials that are never 0, so that a product of them is not too small."""
    return np.maximum(np.exp(values), np.finfo(float).tiny)
