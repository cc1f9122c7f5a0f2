"""From a matching to everything that its pairs say: scale, shift, metric, and the costs of all pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.covariance.leave_out import WHITE_COINCIDENT, White, whiten
from lslmatch.covariance.metric import Metric, column_units, equal_metric, tyler_metric
from lslmatch.geometry.columns import mapped_coordinates
from lslmatch.geometry.coordinates import Geometry
from lslmatch.maps import Affine, AnyMap, ColumnMap
from lslmatch.results import Covariance

#: How the residuals are weighted, by name.
WEIGHTINGS: dict[str, Callable[[FloatArray, int, FloatArray | None], Metric]] = {
    "tyler": tyler_metric,
    "equal": equal_metric,
}
#: Residuals whose mean square is below this share of that of the points are rounding errors.
_NOISELESS = 2.0**-90


class MetricFit(NamedTuple):
    """What a matching says of the noise, and the coordinates in which pairs are judged by it."""

    reference: IntArray  # (n,): the matching, -1 for an x without a partner
    affine: AnyMap
    weighting: str
    metric: Metric  # in the unit 2**exponent
    white: White
    exponent: int
    units: FloatArray | None = None  # what columns of x are divided by first

    @property
    def offset(self) -> float:
        """What costs in the units of x have more than those of `white`."""
        return 2.0 * self.exponent * math.log(2.0)


def fit_matching(
    x: FloatArray,
    y: FloatArray,
    reference: IntArray,
    first: Aligned,
    refit: bool,
    weighting: str,
    by_levels: bool = False,
) -> MetricFit | None:
    """Learn the metric from a matching, and if `refit` scale and shift under it; None without any noise.

    If `by_levels`, columns are first divided by their noise levels, unless `first` has units already.
    The result depends on the matching and the first alignment only, not on matchings before it.
    """
    sets = first.by_levels(x, y, reference) if by_levels else first
    metric = sets.metric(reference, weighting)
    if metric is not None and refit:
        again = _refit_columns if isinstance(first.affine, ColumnMap) else _refit
        affine = again(x, y, reference, sets, metric)
        sets = Aligned.at(x, y, affine, first.units)
        sets = sets.by_levels(x, y, reference) if by_levels else sets
        metric = sets.metric(reference, weighting, metric.weight)
    if metric is None:
        return None
    white = sets.white(reference, metric)
    return MetricFit(reference, sets.affine, weighting, metric, white, sets.exponent, sets.units)


def white_of(x: FloatArray, y: FloatArray, affine: AnyMap, covariance: Covariance) -> tuple[White, float]:
    """Give the coordinates of a covariance that was learned before, and the offset of costs in units of x."""
    assert covariance.reference is not None
    assert covariance.weight is not None
    sets, reference = Aligned.at(x, y, affine, covariance.units), covariance.reference
    rows = np.flatnonzero(reference >= 0)
    weight, ridge = covariance.weight[rows], math.ldexp(covariance.ridge, -2 * sets.exponent)
    residuals = sets.differences(rows, reference[rows])
    weighted = residuals * np.sqrt(weight)[:, None]
    matrix = weighted.T @ weighted
    matrix[np.diag_indices(len(matrix))] += ridge
    metric = Metric.of(matrix, residuals, weight, ridge)
    white = sets.white(reference, metric, covariance.leave_out)
    return white, 2.0 * sets.exponent * math.log(2.0)


class Aligned(NamedTuple):
    """Two sets in common coordinates, rotated into the subspace that they span if that is smaller."""

    a: FloatArray
    b: FloatArray
    affine: AnyMap
    geometry: Geometry
    basis: FloatArray | None  # of the subspace
    mean_square: float
    units: FloatArray | None = None  # what columns of x are divided by first

    @property
    def exponent(self) -> int:
        """The unit is 2**exponent in units of x."""
        return self.geometry.exponent

    @property
    def dimension(self) -> int:
        """The dimension of the space, not of the subspace."""
        return self.geometry.a.shape[1]

    @classmethod
    def at(cls, x: FloatArray, y: FloatArray, affine: AnyMap, units: FloatArray | None = None) -> Aligned:
        """Map y onto x."""
        geometry = mapped_coordinates(x, y, affine, units)
        a, b, basis = geometry.a, geometry.b, None
        if a.shape[1] > len(a) + len(b):
            basis = np.linalg.qr(np.vstack([a, b]).T)[0]
            a, b = a @ basis, b @ basis
        return cls(a, b, affine, geometry, basis, geometry.mean_square(), units)

    def by_levels(self, x: FloatArray, y: FloatArray, reference: IntArray) -> Aligned:
        """Divide the columns by their noise levels, if they have no units of their own yet."""
        if self.units is not None or self.dimension == 1 or self.residuals(reference) is None:
            return self
        rows = np.flatnonzero(reference >= 0)
        units = column_units(self.geometry.taken(rows, reference[rows]).residuals())
        return Aligned.at(x, y, self.affine, units)

    def differences(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Give ``a[rows] - b[cols]`` with all its digits, even of points that nearly coincide.

        A map that is learned may lead through one pair but for a residual of 1e-11: what coordinates lost
        in rounding would count then.
        """
        exact = self.geometry.taken(rows, cols).residuals()
        return exact if self.basis is None else exact @ self.basis

    def residuals(self, reference: IntArray) -> FloatArray | None:
        """Give the residuals of a matching, or None if they are but rounding errors."""
        rows = np.flatnonzero(reference >= 0)
        residuals = self.differences(rows, reference[rows])
        noisy = np.vdot(residuals, residuals) > _NOISELESS * self.mean_square * rows.size
        return residuals if noisy else None

    def white(self, reference: IntArray, metric: Metric, leave_out: bool = True) -> White:
        """Bring both sets into the coordinates of a metric of the residuals of a matching."""
        coincident = WHITE_COINCIDENT * self.geometry.ordinary_share()
        return whiten(self.a, self.b, reference, metric, self.dimension, leave_out, coincident)

    def metric(self, reference: IntArray, weighting: str, weight: FloatArray | None = None) -> Metric | None:
        """Learn the metric from the residuals of a matching, from a first weight on; None without noise."""
        residuals = self.residuals(reference)
        return None if residuals is None else WEIGHTINGS[weighting](residuals, self.dimension, weight)


def _refit(x: FloatArray, y: FloatArray, reference: IntArray, sets: Aligned, metric: Metric) -> Affine:
    """Standardise the matched points in the coordinates of the metric, quiet pairs counting more.

    As the paper does for all points: the ratio of root mean squares, which errors in both sets do not
    bias, and the difference of means.
    """
    rows = np.flatnonzero(reference >= 0)
    cols = reference[rows]
    total = metric.weight.sum()
    weight = metric.weight / total if total > 0.0 else np.full(rows.size, 1.0 / rows.size)
    squares, affine = [], sets.affine
    assert isinstance(affine, Affine)
    b = metric.whiten(sets.b[cols])
    for white in (b + metric.white, b):
        white -= weight @ white
        squares.append(float(weight @ np.einsum("ij,ij->i", white, white)))
    if not (squares[0] > 0.0 and squares[1] > 0.0):
        return affine
    scale = affine.scale * math.sqrt(squares[0] / squares[1])
    # About a first point, as a large common offset would cost digits.
    shift = x[rows[0]] + weight @ (x[rows] - x[rows[0]])
    shift = shift - scale * (y[cols[0]] + weight @ (y[cols] - y[cols[0]]))
    if not (0.0 < scale < math.inf and np.isfinite(shift).all()):
        return affine
    return Affine(scale, shift)


def _refit_columns(
    x: FloatArray, y: FloatArray, reference: IntArray, sets: Aligned, metric: Metric
) -> ColumnMap:
    """Do the same for each column by itself."""
    assert isinstance(sets.affine, ColumnMap)
    rows = np.flatnonzero(reference >= 0)
    total = metric.weight.sum()
    weight = metric.weight if total > 0.0 else np.ones(rows.size)
    return column_moments(x[rows], y[reference[rows]], weight, sets.affine)


def column_moments(x: FloatArray, y: FloatArray, weight: FloatArray, before: ColumnMap) -> ColumnMap:
    """Standardise each column of some pairs, which have weights; a column without spread keeps its scale."""
    weight = weight / weight.sum()
    # About a first point, as a large common offset would cost digits.
    x_mean, y_mean = (part[0] + weight @ (part - part[0]) for part in (x, y))
    x_square, y_square = weight @ (x - x_mean) ** 2, weight @ (y - y_mean) ** 2
    with np.errstate(all="ignore"):
        scales = np.sqrt(x_square / y_square) * np.sign(before.scales)
        usable = (x_square > 0.0) & (y_square > 0.0) & np.isfinite(scales) & (scales != 0.0)
        scales = np.where(usable, scales, before.scales)
        shift = x_mean - scales * y_mean
    return ColumnMap(scales, shift) if np.isfinite(shift).all() else before


def isotropic_white(
    x: FloatArray,
    y: FloatArray,
    reference: IntArray,
    affine: AnyMap,
    units: FloatArray | None = None,
) -> White:
    """Give the coordinates in which pairs are judged by isotropic noise: those of the aligned sets."""
    sets = Aligned.at(x, y, affine, units)
    rows = np.flatnonzero(reference >= 0)
    residuals = sets.differences(rows, reference[rows])
    metric = Metric(np.eye(sets.a.shape[1]), np.zeros(rows.size), 1.0, residuals)
    return sets.white(reference, metric)
