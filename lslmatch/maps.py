"""The maps that take the second set into the units of the first: one class for each family, one protocol.

Where a map is applied to points that are matched, :mod:`lslmatch.geometry` and, on its own,
:mod:`lslmatch.certificate` keep what that loses in rounding; :meth:`apply` does not.
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
        """Where the origin of y goes, of shape (d_x,)."""

    @property
    def scale(self) -> float:
        """The d-th root of the absolute value of the determinant: how much longer lengths become."""

    @property
    def matrix(self) -> FloatArray:
        """The linear part, of shape (d_x, d_y); only a :class:`LinearMap` may have d_x != d_y."""

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


@comparable
class Similarity(NamedTuple):
    """The map ``y -> scale * rotation @ y + shift``: turned, perhaps mirrored, scaled and shifted.

    Examples
    --------
    >>> from lslmatch import Similarity
    >>> quarter_turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    >>> Similarity(2.0, quarter_turn, np.array([1.0, 0.0])).apply(np.array([[3.0, 0.0]])).tolist()
    [[1.0, 6.0]]
    """

    scale: float
    """tau, a positive number."""
    rotation: FloatArray
    """Q, of shape (d, d): orthogonal. Its determinant is 1, or -1 if it mirrors."""
    shift: FloatArray
    """beta, of shape (d,)."""

    @property
    def matrix(self) -> FloatArray:
        """The linear part, of shape (d, d)."""
        return self.scale * self.rotation

    @property
    def parameters(self) -> int:
        """How many numbers there are to estimate: 1 + d + d (d - 1) / 2."""
        d = self.shift.size
        return 1 + d + d * (d - 1) // 2

    @property
    def log_volume(self) -> float:
        """The logarithm of the factor of volumes."""
        return self.shift.size * math.log(self.scale)

    @property
    def is_mirrored(self) -> bool:
        """Whether the rotation mirrors: its determinant is negative."""
        return bool(np.linalg.slogdet(self.rotation)[0] < 0.0)

    def apply(self, y: Any) -> Any:
        """Bring points of y, one a row, into the units of x; a DataFrame stays one, with its columns."""
        return _turned(y, self.matrix, self.shift)

    def inverse(self) -> Similarity:
        """Return the map from x to y."""
        back = np.ascontiguousarray(self.rotation.T)
        return Similarity(1.0 / self.scale, back, -(back @ self.shift) / self.scale)


@comparable
class LinearMap(NamedTuple):
    """The map ``y -> matrix @ y + shift`` with any matrix; both sets may have different dimensions.

    With d_x != d_y no factor of volumes is defined: `log_volume` is the sum of the logarithms of the
    min(d_x, d_y) singular values, and `scale` their geometric mean. (For a square matrix these are the
    logarithm and the d-th root of the absolute value of the determinant.) Columns are not paired by names.

    Examples
    --------
    >>> from lslmatch import LinearMap
    >>> LinearMap(np.array([[1.0, 1.0]]), np.zeros(1)).apply(np.array([[3.0, 4.0]])).tolist()
    [[7.0]]
    """

    matrix: FloatArray
    """A, of shape (d_x, d_y)."""
    shift: FloatArray
    """b, of shape (d_x,)."""

    @property
    def scale(self) -> float:
        """The geometric mean of the singular values: how much longer lengths become; 0 if one is 0."""
        return math.exp(self.log_volume / min(self.matrix.shape))

    @property
    def parameters(self) -> int:
        """How many numbers there are to estimate: d_x (d_y + 1)."""
        return self.matrix.size + self.shift.size

    @property
    def log_volume(self) -> float:
        """The sum of the logarithms of the singular values."""
        with np.errstate(divide="ignore"):
            return float(np.log(np.linalg.svd(self.matrix, compute_uv=False)).sum())

    def apply(self, y: Any) -> Any:
        """Bring points of y, one a row, into the units of x; a DataFrame stays one."""
        return _turned(y, self.matrix, self.shift)

    def inverse(self) -> LinearMap:
        """Return the map from x to y; by the pseudoinverse, if the matrix has no inverse."""
        back = np.linalg.pinv(self.matrix).astype(np.float64)
        return LinearMap(back, -(back @ self.shift))


#: The families of maps, and those of them that mix columns.
AnyMap = Affine | ColumnMap | Similarity | LinearMap
MATRIX_MAPS = (Similarity, LinearMap)


def _turned(y: Any, matrix: FloatArray, shift: FloatArray) -> Any:
    """Apply a matrix and a shift to rows; a DataFrame keeps its index, and its columns if none is lost."""
    if not hasattr(y, "iloc"):
        return y @ matrix.T + shift
    points = y.to_numpy(np.float64) @ matrix.T + shift
    columns = y.columns if len(matrix) == y.shape[1] else None
    return type(y)(points, index=y.index, columns=columns)


def as_column_map(given: AnyMap) -> ColumnMap:
    """Give a map with a scale for each column that does what a given one does."""
    assert not isinstance(given, MATRIX_MAPS), "a matrix has no scale for each column"
    if isinstance(given, ColumnMap):
        return given
    return ColumnMap(np.full(given.shift.size, given.scale), given.shift)
