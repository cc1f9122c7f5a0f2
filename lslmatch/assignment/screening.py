"""Passes over all pairs that never hold their costs: nearest partners, and the best pairs of a row.

What a pass compares is the *key* of a pair, a function of the squared distance D that grows with the
reduced cost ``cost(i, j) - col_dual[j]`` and needs no logarithm: ``D * exp(top - col_dual[j])`` where the
cost is a logarithm, else ``D / weight + (top - col_dual[j])``; `top` is the greatest column dual. The
*column factors* are the part that the duals contribute.

Keys are computed from products that may have single precision. A bound that is made of a key accounts
for that. So keys may exclude a pair, but never decide for one. They are not negative, and are often
handled as bit patterns: the integer order of non-negative floats is their order, and least values of
integers are found by vector loops, which those of floats are not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import inline_kernel, kernel, step_kernel
from lslmatch._types import FloatArray
from lslmatch.costs import CostRule, cost_of_pair
from lslmatch.geometry.boxes import CLEARLY, squared_gap
from lslmatch.geometry.coordinates import Geometry
from lslmatch.geometry.tiles import (
    FEW_ROWS,
    LANES,
    TILE_ROWS,
    Tiles,
    correct_cancelled,
    expand_row,
    expand_tile,
)

#: Rows whose keys are computed before the least of each are chosen.
_GROUP_ROWS = 16
#: Column factors are cut off at the exponential of this, so that no key overflows in single precision;
#: bounds stay valid.
_GREATEST_EXPONENT = 78.0


class Pairs(NamedTuple):
    """All pairs of two sets: what their squared distances and costs are computed from."""

    geometry: Geometry
    tiles: Tiles
    rule: CostRule
    squares: NDArray[np.floating]  # (n, tiles * columns) the squared distances if they are kept, else (0, 0)
    infinity: np.signedinteger  # the bit pattern of an infinite key


class Factors(NamedTuple):
    """Column factors, padded as tiles are, and the greatest column dual, which they are relative to."""

    factor: NDArray[np.floating]  # (tiles * columns,)
    top: float


def column_factors(pairs: Pairs, col_dual: FloatArray) -> Factors:
    """Compute what the keys are made with."""
    factor = np.ones(pairs.tiles.b_squares.size, pairs.tiles.a.dtype)
    top = float(col_dual.max())
    if pairs.rule.logarithm:
        factor[: col_dual.size] = np.exp(np.minimum(top - col_dual, _GREATEST_EXPONENT))
    else:
        factor[: col_dual.size] = top - col_dual
    return Factors(factor, top)


def room_for_lanes(pairs: Pairs) -> NDArray[np.signedinteger]:
    """Make the workspace for finding least keys, whose type is that of their bit patterns."""
    return np.empty(pairs.tiles.b.shape[2], pairs.infinity.dtype)


def bounds_of_keys(pairs: Pairs, top: float, keys: NDArray[np.floating]) -> FloatArray:
    """Compute many bounds at once, as :func:`bound_of_key` does."""
    wide = keys.astype(np.float64)
    if pairs.rule.logarithm:
        wide = np.log(np.maximum(wide * pairs.tiles.lowered, pairs.rule.floor))
    return wide - top


@inline_kernel
def column_factor(rule, top, dual):
    """Compute one column factor."""
    return np.exp(min(top - dual, _GREATEST_EXPONENT)) if rule.logarithm else top - dual


@inline_kernel
def bound_of_key(rule, lowered, top, key):
    """Return a reduced cost that no pair is below whose key is not below the given one."""
    wide = np.float64(key)
    if rule.logarithm:
        wide = np.log(max(wide * lowered, rule.floor))
    return wide - top


@kernel
def find_nearest(pairs, route, first, last, nearest, row_keys, col_keys):
    """For rows first, ..., last - 1 at zero column duals: the column of the least key; the two least keys.

    Lowers `col_keys`, the columns' least keys, too; the latter two are bit patterns. Keeps the squared
    distances if they are to be kept. Tiles that the route (:mod:`lslmatch.assignment.tile_order`) shows to be
    too far are left out: then the second least key is a lower bound only, and those of the columns are of
    no use.
    """
    geometry, tiles, rule, squares, _ = pairs
    order, far, low, high = route
    gaps = np.empty(FEW_ROWS, tiles.a.dtype)
    gap_bits = gaps.view(col_keys.dtype)
    cols = tiles.b.shape[2]
    block = np.empty((FEW_ROWS, cols), tiles.a.dtype)
    no_duals = np.zeros(cols, tiles.a.dtype)
    lanes = np.empty(cols, col_keys.dtype)
    for start in range(first, last, TILE_ROWS):
        stop = min(start + TILE_ROWS, last)
        for s in range(order.size):
            t = order[s]
            reach = row_keys[start, 0]
            for i in range(start, stop):
                reach = max(reach, row_keys[i, 0])
            if far[s] > reach:
                # So are all that come after it.
                for i in range(start, stop):
                    row_keys[i, 1] = min(row_keys[i, 1], far[s])
                break
            col_part = col_keys[t * cols : (t + 1) * cols]
            for few in range(start, stop, FEW_ROWS):
                few_stop = min(few + FEW_ROWS, stop)
                if low.shape[0]:
                    all_far = True
                    for i in range(few, few_stop):
                        gaps[i - few] = CLEARLY * squared_gap(geometry.a[i], low[t], high[t])
                        all_far &= gap_bits[i - few] > row_keys[i, 0]
                    if all_far:
                        for i in range(few, few_stop):
                            row_keys[i, 1] = min(row_keys[i, 1], gap_bits[i - few])
                        continue
                expand_tile(tiles, few, few_stop, t, block)
                for i in range(few, few_stop):
                    keys = block[i - few]
                    correct_cancelled(geometry, i, t * cols, keys, tiles.a_limits[i], tiles.b_limits[t])
                    if squares.shape[0]:
                        _copy(keys, squares[i, t * cols : (t + 1) * cols])
                    if not rule.logarithm:
                        _make_keys(rule, tiles.lowered, i, t * cols, no_duals, keys)
                    bits = keys.view(col_keys.dtype)
                    _lower(bits, col_part)
                    _fold(bits, lanes)
                    _note_two_least(bits, lanes, t * cols, row_keys[i], nearest, i)


@inline_kernel
def _copy(values, out):
    for j in range(values.size):
        out[j] = values[j]


@inline_kernel
def _lower(bits, least):
    for j in range(bits.size):
        least[j] = min(bits[j], least[j])


@inline_kernel
def _fold(bits, lanes):
    """Fill the first LANES entries of `lanes` with the least of every LANES-th entry, by halving."""
    width = lanes.size
    _copy(bits[:width], lanes)
    for start in range(width, bits.size, width):
        _lower(bits[start : start + width], lanes)
    while width > LANES:
        width //= 2
        _lower(lanes[width : 2 * width], lanes[:width])


@inline_kernel
def _note_two_least(bits, lanes, offset, least, nearest, i):
    """Bring the two least keys of row i up to date, and the column of the first."""
    for lane in range(LANES):
        if lanes[lane] < least[1]:
            for j in range(lane, bits.size, LANES):
                if bits[j] < least[0]:
                    least[1] = least[0]
                    least[0] = bits[j]
                    nearest[i] = offset + j
                elif bits[j] < least[1]:
                    least[1] = bits[j]


@kernel
def find_best(pairs, factors, rows, lanes, cols_out, bound):
    """For the given rows: the columns of the least keys (-1: no more), and a bound for all the others."""
    geometry, tiles, rule, squares, infinity = pairs
    cols = tiles.b.shape[2]
    block = np.empty((FEW_ROWS, cols), tiles.a.dtype)
    keys = np.empty((_GROUP_ROWS, tiles.b_squares.size), tiles.a.dtype)
    part = tiles if squares.shape[0] else _rows_of(tiles, rows)
    for start in range(0, rows.size, _GROUP_ROWS):
        stop = min(start + _GROUP_ROWS, rows.size)
        if not squares.shape[0]:
            for t in range(tiles.b.shape[0]):
                for few in range(start, stop, FEW_ROWS):
                    few_stop = min(few + FEW_ROWS, stop)
                    expand_tile(part, few, few_stop, t, block)
                    for r in range(few, few_stop):
                        row = keys[r - start][t * cols : (t + 1) * cols]
                        _copy(block[r - few], row)
                        correct_cancelled(
                            geometry, rows[r], t * cols, row, part.a_limits[r], tiles.b_limits[t]
                        )
        for r in range(start, stop):
            row = keys[r - start]
            if squares.shape[0]:
                _copy(squares[rows[r]], row)
            _make_keys(rule, tiles.lowered, rows[r], 0, factors.factor, row)
            choose_least(row.view(lanes.dtype), lanes, infinity, cols_out[r])
            bound[r] = bound_of_key(rule, tiles.lowered, factors.top, lanes[:1].view(tiles.a.dtype)[0])


@step_kernel
def choose_least(bits, lanes, infinity, cols):
    """Fill `cols` with the columns of the least keys, then with -1; `lanes[0]` with the rest's least key.

    All keys up to the least of a certain lane are taken: that fills most of the room. If there are
    more, the greatest make room.
    """
    size = cols.size
    _fold(bits, lanes)
    limit = _limit_of_rank(lanes, int(LANES * (1.0 - np.exp(-0.8 * size / LANES))), infinity)
    kept = np.empty(size, bits.dtype)
    left_out = limit
    count = 0
    for lane in range(LANES):
        if lanes[lane] < limit:
            for j in range(lane, bits.size, LANES):
                key = bits[j]
                if key < limit:
                    if count < size:
                        kept[count] = key
                        cols[count] = j
                        count += 1
                    else:
                        at = kept.argmax()
                        left_out = min(left_out, max(key, kept[at]))
                        if key < kept[at]:
                            kept[at] = key
                            cols[at] = j
    for k in range(count, size):
        cols[k] = -1
    lanes[0] = left_out


@inline_kernel
def next_limit(bits, lanes, passed, infinity):
    """Return a greater key than `passed` that a few of the keys which are not less than that are below."""
    least = np.full(lanes.size, infinity, lanes.dtype)
    for start in range(0, bits.size, lanes.size):
        for j in range(lanes.size):
            key = bits[start + j]
            least[j] = min(least[j], key if key >= passed else infinity)
    _fold(least, lanes)
    return _limit_of_rank(lanes, LANES // 2, infinity)


@inline_kernel
def _limit_of_rank(lanes, rank, infinity):
    """Return the least value above the one that `rank` of the lanes are below, at most infinity."""
    limit = infinity
    for lane in range(LANES):
        value = lanes[lane]
        below = 0
        for other in range(LANES):
            below += lanes[other] < value
        if below >= rank and value < limit:
            limit = value + 1
    return limit


@inline_kernel
def _rows_of(tiles, rows):
    """Return the tiles of some rows only."""
    return Tiles(
        tiles.a[rows],
        tiles.b,
        tiles.a_squares[rows],
        tiles.b_squares,
        tiles.a_limits[rows],
        tiles.b_limits,
        tiles.lowered,
    )


@step_kernel
def fill_keys(pairs, factors, i, keys):
    """Fill `keys` with the keys of one row, padding included."""
    geometry, tiles, rule, squares, _ = pairs
    cols = tiles.b.shape[2]
    for t in range(tiles.b.shape[0]):
        row = keys[t * cols : (t + 1) * cols]
        if squares.shape[0]:
            _copy(squares[i, t * cols : (t + 1) * cols], row)
        else:
            expand_row(tiles, i, t, row)
            correct_cancelled(geometry, i, t * cols, row, tiles.a_limits[i], tiles.b_limits[t])
        _make_keys(rule, tiles.lowered, i, t * cols, factors.factor[t * cols : (t + 1) * cols], row)


@inline_kernel
def _make_keys(rule, lowered, i, offset, factor, keys):
    """Turn the squared distances of row i to the columns of a tile into keys, in place."""
    if rule.logarithm:
        for j in range(keys.size):
            keys[j] *= factor[j]
    else:
        x_weight, y_weight = rule.x_weight[i], rule.y_weight
        for j in range(min(keys.size, y_weight.size - offset)):
            keys[j] = keys[j] * lowered / (x_weight + y_weight[offset + j]) + factor[j]


@kernel
def price_pairs(pairs, rows, cols, costs):
    """Compute the exact costs of the pairs (rows[r], cols[r, k]); infinite where a column is missing."""
    for r in range(rows.size):
        price_row(pairs, rows[r], cols[r], costs[r])


@step_kernel
def price_row(pairs, i, cols, costs):
    """Compute the exact costs of the pairs (i, cols[k]); infinite where a column is missing."""
    geometry, rule = pairs.geometry, pairs.rule
    for k in range(cols.size):
        costs[k] = cost_of_pair(geometry, rule, i, cols[k]) if cols[k] >= 0 else np.inf
