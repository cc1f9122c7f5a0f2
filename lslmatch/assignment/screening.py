"""Screening values: numbers that order the pairs of a row without their costs.

The *screening value* of a pair grows with its reduced cost ``cost(i, j) - col_dual[j]`` and is made of the
squared distance D without a logarithm: ``D * exp(top - col_dual[j])`` where the cost is a logarithm,
``sqrt(D) + unit * (top - col_dual[j])`` where it is a distance, else
``unit * (D / weight + (top - col_dual[j]))``; `top` is the greatest column dual, and the unit is the least
weight, so that values are about as large as squared distances, and equal weights are left out. The
*column factors* are the part that the duals contribute. At column duals of 0 squared distances order the
pairs as distances do: no roots are taken then.

Values may be computed in single precision here. They are made of parts that are not negative, so their error
is a small share of them, for which a bound that is made of a value accounts: screening may exclude a
pair, but never decides for one. Pairs that may be chosen are priced exactly (`price_pairs`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import inline_kernel, kernel, step_kernel
from lslmatch._types import FloatArray
from lslmatch.assignment.least_values import copy_values
from lslmatch.assignment.settings import SolverSettings
from lslmatch.costs import CostRule, cost_of_pair, take_roots
from lslmatch.geometry.coordinates import Geometry
from lslmatch.geometry.tiles import TILE_ROWS, Tiles, correct_cancelled, cut_tiles, empty_in_line, expand_row

#: Column factors are cut off at the exponential of this, so that no screening value overflows in single
#: precision. A factor that is too small only lowers bounds, which stay valid.
_GREATEST_EXPONENT = 78.0
#: So are those that are added, at this.
_GREATEST_TERM = 2.0**100
#: Weights that differ by a greater factor are screened by in double precision.
_WIDEST_WEIGHTS = 2.0**100
#: The relative error of a value in single precision does not hold below this, where digits get lost.
_UNDERFLOW = 2.0**-120
#: The same for distances.
_ROOT_UNDERFLOW = 2.0**-60
#: Single precision is accurate enough for column duals if their part of a value has an error of less than
#: this share of what most second nearest columns cost beyond the nearest.
_ACCURATE = 0.5


class PairScreen(NamedTuple):
    """What the screening values and the exact costs of all pairs of two sets are computed from."""

    geometry: Geometry
    tiles: Tiles
    rule: CostRule
    squares: NDArray[np.floating]  # (n, tiles * columns) the squared distances if they are kept, else (0, 0)
    infinity: np.signedinteger  # the bit pattern of an infinite screening value
    x_weight: NDArray[np.floating]  # (n,) in units of the least weight; (0,) if there is one weight, or none
    y_weight: NDArray[np.floating]  # (tiles * columns,), or (0,)
    unit: float  # the least weight; 1 for logarithms

    def keeping_squares(self) -> PairScreen:
        """Make room for the squared distances, which the first pass over all pairs will fill."""
        shape = self.geometry.shape[0], self.tiles.b_squares.size
        return self._replace(squares=empty_in_line(shape, self.tiles.a.dtype))

    def of_rows(self, start: int, stop: int) -> PairScreen:
        """Take the rows from start to stop, and all columns."""
        n, rows = self.geometry.shape[0], slice(start, stop)
        if (start, stop) == (0, n):
            return self
        geometry = self.geometry._replace(a=self.geometry.a[rows], a_low=self.geometry.a_low[rows])
        tiles, rule = self.tiles, self.rule
        tiles = tiles._replace(
            a=tiles.a[rows], a_squares=tiles.a_squares[rows], a_limits=tiles.a_limits[rows]
        )
        rule = rule._replace(x_weight=rule.x_weight[rows], x_factor=rule.x_factor[rows])
        return self._replace(geometry=geometry, tiles=tiles, rule=rule, x_weight=self.x_weight[rows])

    def leading(self, dimensions: int | None) -> PairScreen:
        """Screen by the leading dimensions only (None: by all), in which no distance is greater."""
        if dimensions is None:
            return self
        dtype, columns = self.tiles.a.dtype.type, self.tiles.b_squares.shape[1]
        return self._replace(tiles=cut_tiles(self.geometry, dtype, dimensions, columns))

    def resolves(self, col_dual: FloatArray, gaps: FloatArray) -> bool:
        """Tell whether screening values can tell pairs apart whose costs differ by such gaps."""
        if self.rule.logarithm:
            # Duals are factors, which keep relative errors as they are.
            return True
        spread = float(col_dual.max() - np.median(col_dual))
        return (1.0 - self.tiles.lowered) * spread <= _ACCURATE * float(np.median(gaps))

    def lanes(self) -> NDArray[np.signedinteger]:
        """Make the workspace for finding least values, whose type is that of their bit patterns."""
        return empty_in_line((self.tiles.b_squares.shape[1],), self.infinity.dtype)

    def block_rows(self, settings: SolverSettings) -> int:
        """Return how many rows a worker should take at a time."""
        m, d = self.geometry.b.shape
        coordinates_of_row = m * (d + settings.pair_overhead)
        return min(settings.block_rows, max(TILE_ROWS, settings.block_coordinates // coordinates_of_row))


class ColumnFactors(NamedTuple):
    """Column factors, padded as tiles are, and the greatest column dual, which they are relative to."""

    factor: NDArray[np.floating]  # (tiles * columns,)
    top: float


def make_screen(
    geometry: Geometry, rule: CostRule, settings: SolverSettings, *, single: bool = True
) -> PairScreen:
    """Prepare the screening of all pairs, in single precision where that is accurate enough."""
    unit, widest = 1.0, 1.0
    if not rule.logarithm:
        unit = float(rule.x_weight.min() + rule.y_weight.min())
        widest = float(rule.x_weight.max() + rule.y_weight.max()) / unit
    single &= geometry.a.shape[1] <= settings.single_precision_dimensions and widest <= _WIDEST_WEIGHTS
    dtype: type[np.floating] = np.float32 if single else np.float64
    tiles = cut_tiles(geometry, dtype, columns=settings.tile_columns)
    infinity = bit_patterns(np.full(1, np.inf, tiles.a.dtype))[0]
    x_weight, y_weight = np.empty(0, dtype), np.empty(0, dtype)
    if widest > 1.0:
        x_weight, y_weight = (rule.x_weight / unit).astype(dtype), np.ones(tiles.b_squares.size, dtype)
        y_weight[: rule.y_weight.size] = rule.y_weight / unit
    squares = np.empty((0, 0), tiles.a.dtype)
    return PairScreen(geometry, tiles, rule, squares, infinity, x_weight, y_weight, unit)


def bit_patterns(values: NDArray[np.floating]) -> NDArray[np.signedinteger]:
    """See floats that are not negative as integers, which have the same order."""
    return values.view(f"i{values.itemsize}")


def column_factors(screen: PairScreen, col_dual: FloatArray) -> ColumnFactors:
    """Compute the part of the screening values that column duals contribute."""
    factor = empty_in_line((screen.tiles.b_squares.size,), screen.tiles.a.dtype)
    factor[col_dual.size :] = 1.0
    top = float(col_dual.max())
    if screen.rule.logarithm:
        factor[: col_dual.size] = np.exp(np.minimum(top - col_dual, _GREATEST_EXPONENT))
    else:
        factor[: col_dual.size] = np.minimum((top - col_dual) * screen.unit, _GREATEST_TERM)
    return ColumnFactors(factor, top)


@inline_kernel
def column_factor(screen, top, dual):
    """Compute one column factor."""
    if screen.rule.logarithm:
        return np.exp(min(top - dual, _GREATEST_EXPONENT))
    return min((top - dual) * screen.unit, _GREATEST_TERM)


def bounds_of_values(screen: PairScreen, top: float, values: NDArray[np.floating]) -> FloatArray:
    """Compute many bounds at once, as :func:`bound_of_value` does."""
    wide = values.astype(np.float64)
    if screen.rule.logarithm:
        return np.log(np.maximum(wide * screen.tiles.lowered, screen.rule.floor)) - top
    lost = _ROOT_UNDERFLOW if screen.rule.root else _UNDERFLOW
    return np.maximum(wide * screen.tiles.lowered - lost, 0.0) / screen.unit - top


def bounds_at_no_duals(screen: PairScreen, values: NDArray[np.floating]) -> FloatArray:
    """Do so for the values of a pass at column duals of 0, where distances are still squared."""
    if not screen.rule.root:
        return bounds_of_values(screen, 0.0, values)
    squares = np.maximum(values.astype(np.float64) * screen.tiles.lowered - _UNDERFLOW, 0.0)
    return np.sqrt(squares) / screen.unit


@inline_kernel
def bound_of_value(screen, top, value):
    """Return a lower bound of the reduced costs of all pairs whose screening value is at least this one."""
    wide = np.float64(value) * screen.tiles.lowered
    if screen.rule.logarithm:
        return np.log(max(wide, screen.rule.floor)) - top
    lost = _ROOT_UNDERFLOW if screen.rule.root else _UNDERFLOW
    return max(wide - lost, 0.0) / screen.unit - top


@step_kernel
def screen_row(screen, factors, i, values):
    """Fill `values` with the screening values of one row, padding included."""
    geometry, tiles, rule, squares, _, x_weight, y_weight, _ = screen
    cols = tiles.b_squares.shape[1]
    for t in range(tiles.b.shape[0]):
        row = values[t * cols : (t + 1) * cols]
        if squares.shape[0]:
            copy_values(squares[i, t * cols : (t + 1) * cols], row)
        else:
            expand_row(tiles, i, t, row)
            correct_cancelled(geometry, i, t * cols, row, tiles.a_limits[i], tiles.b_limits[t])
        factor = factors.factor[t * cols : (t + 1) * cols]
        turn_to_values(rule, x_weight, y_weight, i, t * cols, factor, row)


@inline_kernel
def turn_to_values(rule, x_weight, y_weight, i, offset, factor, squares):
    """Turn squared distances of row i, to the columns from `offset` on, into screening values, in place."""
    if rule.logarithm:
        for j in range(squares.size):
            squares[j] *= factor[j]
    elif x_weight.size:
        divide_by_weights(x_weight, y_weight, i, offset, squares)
        for j in range(squares.size):
            squares[j] += factor[j]
    else:
        if rule.root:
            take_roots(squares)
        for j in range(squares.size):
            squares[j] += factor[j]


@inline_kernel
def divide_by_weights(x_weight, y_weight, i, offset, squares):
    """Turn squared distances of row i, to the columns from `offset` on, into values at column duals of 0."""
    weight = x_weight[i]
    for j in range(squares.size):
        squares[j] /= weight + y_weight[offset + j]


@kernel
def price_pairs(geometry, rule, rows, cols, costs):
    """Compute the exact costs of the pairs (rows[r], cols[r, k]); infinite where a column is missing."""
    for r in range(rows.size):
        price_row(geometry, rule, rows[r], cols[r], costs[r])


@step_kernel
def price_row(geometry, rule, i, cols, costs):
    """Compute the exact costs of the pairs (i, cols[k]); infinite where a column is missing."""
    for k in range(cols.size):
        costs[k] = cost_of_pair(geometry, rule, i, cols[k]) if cols[k] >= 0 else np.inf
