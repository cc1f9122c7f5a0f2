"""Screening values: numbers that order the pairs of a row without their costs.

The *screening value* of a pair grows with its reduced cost ``cost(i, j) - col_dual[j]`` and is made of the
squared distance D without a logarithm: ``D * exp(top - col_dual[j])`` where the cost is a logarithm, else
``D / weight + (top - col_dual[j])``; `top` is the greatest column dual. The *column factors* are the
part that the duals contribute.

Distances may be computed in single precision here. A bound that is made of a screening value accounts for
that: so screening may exclude a pair, but never decides for one. Pairs that may be chosen are priced
exactly (`price_pairs`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import inline_kernel, kernel, step_kernel
from lslmatch._types import FloatArray
from lslmatch.assignment.least_values import copy_values
from lslmatch.assignment.settings import SolverSettings
from lslmatch.costs import CostRule, cost_of_pair
from lslmatch.geometry.coordinates import Geometry
from lslmatch.geometry.tiles import TILE_ROWS, Tiles, correct_cancelled, cut_tiles, expand_row

#: Column factors are cut off at the exponential of this, so that no screening value overflows in single
#: precision. A factor that is too small only lowers bounds, which stay valid.
_GREATEST_EXPONENT = 78.0


class PairScreen(NamedTuple):
    """What the screening values and the exact costs of all pairs of two sets are computed from."""

    geometry: Geometry
    tiles: Tiles
    rule: CostRule
    squares: NDArray[np.floating]  # (n, tiles * columns) the squared distances if they are kept, else (0, 0)
    infinity: np.signedinteger  # the bit pattern of an infinite screening value

    def keeping_squares(self) -> PairScreen:
        """Make room for the squared distances, which the first pass over all pairs will fill."""
        shape = self.geometry.shape[0], self.tiles.b_squares.size
        return self._replace(squares=np.empty(shape, self.tiles.a.dtype))

    def leading(self, dimensions: int | None) -> PairScreen:
        """Screen by the leading dimensions only (None: by all), in which no distance is greater."""
        if dimensions is None:
            return self
        dtype, columns = self.tiles.a.dtype.type, self.tiles.b.shape[2]
        return self._replace(tiles=cut_tiles(self.geometry, dtype, dimensions, columns))

    def lanes(self) -> NDArray[np.signedinteger]:
        """Make the workspace for finding least values, whose type is that of their bit patterns."""
        return np.empty(self.tiles.b.shape[2], self.infinity.dtype)

    def block_rows(self, settings: SolverSettings) -> int:
        """Return how many rows a worker should take at a time."""
        m, d = self.geometry.b.shape
        coordinates_of_row = m * (d + settings.pair_overhead)
        return min(settings.block_rows, max(TILE_ROWS, settings.block_coordinates // coordinates_of_row))


class ColumnFactors(NamedTuple):
    """Column factors, padded as tiles are, and the greatest column dual, which they are relative to."""

    factor: NDArray[np.floating]  # (tiles * columns,)
    top: float


def make_screen(geometry: Geometry, rule: CostRule, settings: SolverSettings) -> PairScreen:
    """Prepare the screening of all pairs, in single precision where that is accurate enough."""
    single = rule.logarithm and geometry.a.shape[1] <= settings.single_precision_dimensions
    dtype = np.float32 if single else np.float64
    tiles = cut_tiles(geometry, dtype, columns=settings.tile_columns)
    infinity = bit_patterns(np.full(1, np.inf, tiles.a.dtype))[0]
    return PairScreen(geometry, tiles, rule, np.empty((0, 0), tiles.a.dtype), infinity)


def bit_patterns(values: NDArray[np.floating]) -> NDArray[np.signedinteger]:
    """See floats that are not negative as integers, which have the same order."""
    return values.view(f"i{values.itemsize}")


def column_factors(screen: PairScreen, col_dual: FloatArray) -> ColumnFactors:
    """Compute the part of the screening values that column duals contribute."""
    factor = np.ones(screen.tiles.b_squares.size, screen.tiles.a.dtype)
    top = float(col_dual.max())
    if screen.rule.logarithm:
        factor[: col_dual.size] = np.exp(np.minimum(top - col_dual, _GREATEST_EXPONENT))
    else:
        factor[: col_dual.size] = top - col_dual
    return ColumnFactors(factor, top)


@inline_kernel
def column_factor(rule, top, dual):
    """Compute one column factor."""
    return np.exp(min(top - dual, _GREATEST_EXPONENT)) if rule.logarithm else top - dual


def bounds_of_values(screen: PairScreen, top: float, values: NDArray[np.floating]) -> FloatArray:
    """Compute many bounds at once, as :func:`bound_of_value` does."""
    wide = values.astype(np.float64)
    if screen.rule.logarithm:
        wide = np.log(np.maximum(wide * screen.tiles.lowered, screen.rule.floor))
    return wide - top


@inline_kernel
def bound_of_value(rule, lowered, top, value):
    """Return a lower bound of the reduced costs of all pairs whose screening value is at least this one."""
    wide = np.float64(value)
    if rule.logarithm:
        wide = np.log(max(wide * lowered, rule.floor))
    return wide - top


@step_kernel
def screen_row(screen, factors, i, values):
    """Fill `values` with the screening values of one row, padding included."""
    geometry, tiles, rule, squares, _ = screen
    cols = tiles.b.shape[2]
    for t in range(tiles.b.shape[0]):
        row = values[t * cols : (t + 1) * cols]
        if squares.shape[0]:
            copy_values(squares[i, t * cols : (t + 1) * cols], row)
        else:
            expand_row(tiles, i, t, row)
            correct_cancelled(geometry, i, t * cols, row, tiles.a_limits[i], tiles.b_limits[t])
        turn_to_values(rule, tiles.lowered, i, t * cols, factors.factor[t * cols : (t + 1) * cols], row)


@inline_kernel
def turn_to_values(rule, lowered, i, offset, factor, squares):
    """Turn squared distances of row i, to the columns from `offset` on, into screening values, in place."""
    if rule.logarithm:
        for j in range(squares.size):
            squares[j] *= factor[j]
    else:
        x_weight, y_weight = rule.x_weight[i], rule.y_weight
        for j in range(min(squares.size, y_weight.size - offset)):
            squares[j] = squares[j] * lowered / (x_weight + y_weight[offset + j]) + factor[j]


@kernel
def price_pairs(screen, rows, cols, costs):
    """Compute the exact costs of the pairs (rows[r], cols[r, k]); infinite where a column is missing."""
    for r in range(rows.size):
        price_row(screen, rows[r], cols[r], costs[r])


@step_kernel
def price_row(screen, i, cols, costs):
    """Compute the exact costs of the pairs (i, cols[k]); infinite where a column is missing."""
    geometry, rule = screen.geometry, screen.rule
    for k in range(cols.size):
        costs[k] = cost_of_pair(geometry, rule, i, cols[k]) if cols[k] >= 0 else np.inf
