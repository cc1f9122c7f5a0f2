"""The pairwise costs of two aligned sets, and the rule for coincident points.

A squared distance below ``eps**2`` times the mean squared distance of all aligned points from the mean
of x (eps = 2**-52) says no more than that two points coincide up to rounding. Before its logarithm is
taken it is raised to that floor, so that noiseless and duplicated points are ordinary input. If all
points coincide, every cost is 0.

A mean square says nothing of most points if single ones are far out, as a fill of 1e20 is. So where a point
is much nearer to the origin than that (its squared length, or that of the shift if it is greater, is below
2**-40 of the mean square), the floor is ``eps**2`` times the least such squared length other than 0: then no
two points whose coordinates differ by more than their own rounding count as coincident.
"""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

import numpy as np

from lslmatch._jit import bits_of, double_of, fused_kernel, inline_kernel, kernel
from lslmatch._threads import over_rows
from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_map, check_point_pair
from lslmatch.geometry.columns import mapped_coordinates
from lslmatch.geometry.coordinates import Geometry
from lslmatch.geometry.magnitudes import far_points
from lslmatch.geometry.panels import FEW_ROWS
from lslmatch.geometry.powers import least_exponent
from lslmatch.geometry.tiles import (
    TILE_ROWS,
    correct_cancelled,
    cut_tiles,
    exact_distance,
    expand_tile,
)
from lslmatch.maps import Affine, AnyMap

#: Points coincide up to this share of the mean square: eps**2.
COINCIDENT = 2.0**-104
#: Noise variances in units of the squared extent of the data must be above this, and below its inverse.
_LEAST_WEIGHT = 1e-250
#: Entries of the block of rows that a worker fills before it asks for more.
_BLOCK_ENTRIES = 1 << 20

_LN2_HIGH = float.fromhex("0x1.62e42fefp-1")  # 33 bits of ln 2, so that multiples by exponents are exact
_LN2_LOW = 7.440617110012397e-11  # the rest of it
_SQRT_HALF_BITS = np.int64(0x3FE6A09E667F3BCD)
_ROUNDING_BITS = np.int64(
    0x4338000000000000
)  # 1.5 * 2**52: adding an integer to its bits adds it to the double
_ROUNDING = 6755399441055744.0


def log_cost_matrix(x: Any, y: Any, affine: AnyMap | None = None) -> FloatArray:
    """Compute the matrix of logarithms of squared distances that LSL assigns.

    Parameters
    ----------
    x : array_like of shape (n, d)
        The first set, points as rows.
    y : array_like of shape (m, d)
        The second set.
    affine : Affine, ColumnMap, Similarity or LinearMap, optional
        The map applied to `y` first. The paper's matrix M has ``affine=estimate_affine(x, y)``; by
        default the points are taken as they are.

    Returns
    -------
    ndarray of shape (n, m)
        ``log(||x[i] - scale * y[j] - shift||**2)``, where a squared distance below the
        coincident-point floor counts as that floor: ``2**-104`` times the mean squared distance of
        all aligned points from the mean of `x`, or, where points are much nearer to the origin than
        that, times the least squared length of one other than 0.

    Examples
    --------
    >>> from lslmatch import log_cost_matrix
    >>> log_cost_matrix([[0.0], [3.0]], [[1.0], [2.0]]).round(4).tolist()
    [[0.0, 1.3863], [1.3863, 0.0]]
    """
    x, y = check_point_pair(x, y, affine)
    if affine is None:
        affine = Affine(1.0, np.zeros(x.shape[1]))
    geometry = mapped_coordinates(x, y, check_map(affine, "affine", x.shape[1], y.shape[1]))
    # On all processors, as NumPy's own products are.
    return cost_matrix(geometry, log_rule(geometry), os.cpu_count() or 1)


class CostRule(NamedTuple):
    """How a squared distance D of the geometry becomes a cost.

    ``log(max(D, floor)) + offset`` if `logarithm`; else ``D / (x_weight[i] + y_weight[j])``, or if `root`
    ``sqrt(D) / (x_weight[i] + y_weight[j])``, with the same weights for all pairs. If there are factors, it
    is ``log(1 + D * x_factor[i] * y_factor[j])``, which is never less than that with the weights.
    """

    logarithm: bool
    root: bool
    floor: float
    offset: float
    x_weight: FloatArray
    y_weight: FloatArray
    x_factor: FloatArray = np.empty(0)
    y_factor: FloatArray = np.empty(0)

    def weights(self, rows: Any, cols: Any) -> FloatArray | float:
        """Give what squared distances of pairs are divided by; rows and columns index arrays."""
        return 1.0 if self.logarithm or self.root else self.x_weight[rows] + self.y_weight[cols]

    def of(self, squares: FloatArray, rows: Any, cols: Any) -> FloatArray:
        """Give the costs of pairs from their squared distances; rows and columns index arrays."""
        if self.logarithm:
            return np.log(np.maximum(squares, self.floor)) + self.offset
        return (np.sqrt(squares) if self.root else squares) / (self.x_weight[rows] + self.y_weight[cols])

    def transposed(self) -> CostRule:
        """Exchange the roles of the two sets."""
        x_weight, y_weight, x_factor, y_factor = self[-4:]
        return CostRule(*self[:4], y_weight, x_weight, y_factor, x_factor)

    def taken(self, rows: IntArray, cols: IntArray) -> CostRule:
        """Take some rows and columns."""
        taken = [
            part[at] if part.size else part for part, at in zip(self[-4:], (rows, cols) * 2, strict=True)
        ]
        return CostRule(*self[:4], *taken)


def check_in_range(geometry: Geometry) -> None:
    """Raise if single points are so far out that distances between all others get lost beside them."""
    if not geometry.is_in_range:
        far = far_points((geometry.a, geometry.b))
        reason = (
            f"{far} are so large that distances between all others get lost beside them; remove such rows"
            if far
            else "distances get lost beside what all points have in common; remove such columns"
        )
        raise ValueError(
            f"x and y must be in the range of float64: {reason}, or replace fills for missing values"
        )


def log_rule(geometry: Geometry, coincident: float = COINCIDENT) -> CostRule:
    """LSL: logarithms, in the units of x, with the coincident-point floor."""
    floor = geometry.mean_square() * geometry.ordinary_share() * coincident
    offset = 2.0 * geometry.exponent * math.log(2.0)
    if floor == 0.0:
        floor, offset = 1.0, 0.0
    return CostRule(True, False, floor, offset, np.empty(0), np.empty(0))


def square_rule(geometry: Geometry) -> CostRule:
    """LSS: squared distances in the units of x."""
    exponent = geometry.exponent
    # The unit is that of most points: single ones may be much larger.
    greatest = exponent + max(least_exponent(geometry.a), least_exponent(geometry.b))
    if not (2 * exponent > -1000 and 2 * max(exponent, greatest) < 1000):
        raise ValueError(
            "x and y must have moderate units for a sum of squares: their squared distances exceed the range "
            "of float64; multiply both sets by a constant first"
        )
    n, m = geometry.shape
    unit = math.ldexp(1.0, -2 * exponent)
    return CostRule(False, False, 0.0, 0.0, np.full(n, unit), np.zeros(m))


def normalized_rule(geometry: Geometry, levels: tuple[FloatArray, FloatArray], scale: float) -> CostRule:
    """LSNS: squared distances divided by the noise variance of the pair."""
    exponent = geometry.exponent
    with np.errstate(over="ignore", under="ignore"):
        # In the unit first: denormal levels times a scale would lose their digits.
        fraction, power = math.frexp(scale)
        x_level, y_level = np.ldexp(levels[0], -exponent), fraction * np.ldexp(levels[1], power - exponent)
        x_weight, y_weight = x_level**2, y_level**2
    least, greatest = x_weight.min() + y_weight.min(), x_weight.max() + y_weight.max()
    if not (least > _LEAST_WEIGHT and greatest < 1.0 / _LEAST_WEIGHT):
        raise ValueError(
            "noise must be comparable with x and y: squared distances divided by the noise variances exceed "
            "the range of float64"
        )
    return CostRule(False, False, 0.0, 0.0, x_weight, y_weight)


def cost_matrix(geometry: Geometry, rule: CostRule, workers: int = 1) -> FloatArray:
    """Compute all costs. Each worker takes blocks of rows; the result does not depend on their number."""
    n, m = geometry.shape
    costs = np.empty((n, m))
    tiles = cut_tiles(geometry, np.float64)

    def fill(worker: int, first: int, last: int) -> None:
        _fill_rows(geometry, tiles, rule, first, costs[first:last])

    over_rows(fill, n, max(_BLOCK_ENTRIES // m, 1), workers)
    return costs


@kernel
def _fill_rows(geometry, tiles, rule, start, costs):
    """Fill `costs` with the costs of the rows from `start` on, tile by tile."""
    n, m = costs.shape
    cols = tiles.b_squares.shape[1]
    squares = np.empty((FEW_ROWS, cols))
    for first in range(0, n, TILE_ROWS):
        last = min(first + TILE_ROWS, n)
        for t in range(tiles.b.shape[0]):
            width = min(cols, m - t * cols)
            for few in range(first, last, FEW_ROWS):
                stop = min(few + FEW_ROWS, last)
                expand_tile(tiles, start + few, start + stop, t, squares)
                for i in range(few, stop):
                    row = squares[i - few]
                    correct_cancelled(
                        geometry, start + i, t * cols, row, tiles.a_limits[start + i], tiles.b_limits[t]
                    )
                    out = costs[i][t * cols : t * cols + width]
                    if rule.logarithm:
                        _take_logarithms(row, rule.floor, rule.offset, out)
                    else:
                        if rule.root:
                            take_roots(row)
                        _divide(
                            row, rule.x_weight[start + i], rule.y_weight[t * cols : t * cols + width], out
                        )


@inline_kernel
def cost_of_pair(geometry, rule, i, j):
    """Compute one cost from the exactly computed distance, without the rule's offset."""
    distance = exact_distance(geometry, i, j)
    if rule.logarithm:
        return log_kernel(distance if distance > rule.floor else rule.floor)
    if rule.x_factor.size:
        return math.log1p(distance * rule.x_factor[i] * rule.y_factor[j])
    if rule.root:
        distance = math.sqrt(distance)
    return distance / (rule.x_weight[i] + rule.y_weight[j])


@inline_kernel
def take_roots(values):
    """Replace squared distances by distances, in place; what is negative by rounding counts as 0."""
    zero = values.dtype.type(0.0)
    for j in range(values.size):
        value = values[j]
        values[j] = math.sqrt(value if value > zero else zero)


@inline_kernel
def _take_logarithms(values, floor, offset, out):
    for j in range(out.size):
        value = values[j]
        value = value if value > floor else floor
        out[j] = log_kernel(value) + offset


@inline_kernel
def _divide(values, x_weight, y_weight, out):
    for j in range(out.size):
        out[j] = values[j] / (x_weight + y_weight[j])


@fused_kernel
def log_kernel(value):
    """Natural logarithm of a positive normal double, to about one unit in the last place.

    Written out so that the loop around it vectorises: value = 2**e * f with f in
    [sqrt(1/2), sqrt(2)), and log f = 2 artanh(s), s = (f - 1) / (f + 1), by its Taylor series.
    """
    bits = bits_of(value)
    e = (bits - _SQRT_HALF_BITS) >> np.int64(52)
    f = double_of(bits - (e << np.int64(52)))
    exponent = double_of(e + _ROUNDING_BITS) - _ROUNDING
    s = (f - 1.0) / (f + 1.0)
    z = s * s
    series = 2.0 / 21.0
    series = series * z + 2.0 / 19.0
    series = series * z + 2.0 / 17.0
    series = series * z + 2.0 / 15.0
    series = series * z + 2.0 / 13.0
    series = series * z + 2.0 / 11.0
    series = series * z + 2.0 / 9.0
    series = series * z + 2.0 / 7.0
    series = series * z + 2.0 / 5.0
    series = series * z + 2.0 / 3.0
    return exponent * _LN2_HIGH + (2.0 * s + (s * z * series + exponent * _LN2_LOW))
