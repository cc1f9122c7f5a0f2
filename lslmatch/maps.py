"""The maps that take the second set into the units of the first: one class for each family, one protocol.

What is to be added later, such as a rotation, is one more class with the members of :class:`Map`. Where a map
is applied to points that are matched, :mod:`lslmatch.geometry` and, on its own, :mod:`lslmatch.certificate`
keep what that loses in rounding; :meth:`apply` does not.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from lslmatch._comparison import comparable
from lslmatch._types import FloatArray


class Map(Protocol):
    """What every map from y to x has."""

    @property
    def shift(self) -> FloatArray:
        """Where the origin of y goes, of shape (d,)."""

    @property
    def scale(self) -> float:
        """The d-th root of the absolute value of the determinant: how much longer lengths become."""

    @property
    def matrix(self) -> FloatArray:
        """The linear part, of shape (d, d)."""

    @property
    def parameters(self) -> int:
        """How many numbers there are to estimate."""

    @property
    def log_volume(self) -> float:
        """The logarithm of the factor of volumes, the absolute value of the determinant."""

    def apply(self, y: Any) -> Any:
        """Bring points of y, one a row, into the units of x; a DataFrame stays one."""

    def inverse(self) -> Map:
        """Return the map from x to y, of the same family."""


@comparable
class Affine(NamedTuple):
    """The scalar affine map ``y -> scale * y + shift`` that takes the second set onto the first.

    Examples
    --------
    >>> from lslmatch import Affine
    >>> Affine(2.0, np.array([1.0, -1.0])).apply(np.array([[3.0, 3.0]])).tolist()
    [[7.0, 5.0]]
    """

    scale: float
    """tau, a positive number."""
    shift: FloatArray
    """beta, of shape (d,)."""

    @property
    def matrix(self) -> FloatArray:
        """The linear part, of shape (d, d)."""
        return self.scale * np.eye(self.shift.size)

    @property
    def parameters(self) -> int:
        """How many numbers there are to estimate: d + 1."""
        return self.shift.size + 1

    @property
    def log_volume(self) -> float:
        """The logarithm of the factor of volumes."""
        return self.shift.size * math.log(self.scale)

    def apply(self, y: Any) -> Any:
        """Bring points of y, one a row, into the units of x; a DataFrame stays one."""
        return y * self.scale + self.shift

    def inverse(self) -> Affine:
        """Return the map from x to y."""
        return Affine(1.0 / self.scale, -self.shift / self.scale)


@comparable
class ColumnMap(NamedTuple):
    """The map ``y -> scales * y + shift`` with a scale for each column: a unit of its own for each.

    Examples
    --------
    >>> from lslmatch import ColumnMap
    >>> inches_and_pounds = ColumnMap(np.array([2.54, 0.4536]), np.zeros(2))
    >>> inches_and_pounds.apply(np.array([[70.0, 150.0]])).round(2).tolist()
    [[177.8, 68.04]]
    >>> round(inches_and_pounds.scale, 4)
    1.0734
    """

    scales: FloatArray
    """a, of shape (d,): numbers other than 0."""
    shift: FloatArray
    """b, of shape (d,)."""

    @property
    def scale(self) -> float:
        """The geometric mean of the scales, without their signs."""
        return math.exp(self.log_volume / self.scales.size)

    @property
    def matrix(self) -> FloatArray:
        """The linear part, of shape (d, d): diagonal."""
        return np.diag(self.scales)

    @property
    def parameters(self) -> int:
        """How many numbers there are to estimate: 2 d."""
        return 2 * self.scales.size

    @property
    def log_volume(self) -> float:
        """The logarithm of the factor of volumes."""
        return float(np.log(np.abs(self.scales)).sum())

    def apply(self, y: Any) -> Any:
        """Bring points of y, one a row, into the units of x; a DataFrame stays one."""
        return y * self.scales + self.shift

    def inverse(self) -> ColumnMap:
        """Return the map from x to y."""
        return ColumnMap(1.0 / self.scales, -self.shift / self.scales)

    def after(self, first: ColumnMap) -> ColumnMap:
        """Return the map that applies `first`, and then this one."""
        return ColumnMap(self.scales * first.scales, self.scales * first.shift + self.shift)


def as_column_map(given: Affine | ColumnMap) -> ColumnMap:
    """Give a map with a scale for each column that does what a given one does."""
    if isinstance(given, ColumnMap):
        return given
    return ColumnMap(np.full(given.shift.size, given.scale), given.shift)
