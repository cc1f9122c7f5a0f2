"""Passes over all pairs that never hold them: nearest partners, and the best pairs of a row.

What a pass compares is the *key* of a pair, a function of the squared distance D that grows with the
reduced cost ``cost(i, j) - col_dual[j]`` and needs no logarithm: ``D * exp(-col_dual[j])`` where the cost
is a logarithm, else ``D / weight - col_dual[j]``. The *column factors* are the part that the duals
contribute: ``exp(-col_dual)``, or ``col_dual``.

Distances come from products in single precision and are lowered by the error that they may have: a
key is never above its true value. So keys may exclude a pair, but never decide for one.
"""

from __future__ import annotations

import numpy as np

from lslmatch._jit import inline_kernel, kernel
from lslmatch.costs import CostRule, cost_of_pair
from lslmatch.distances import TILE_ROWS, expand_squares, multiply_tile
from lslmatch.results import FloatArray

#: No bound from a logarithmic key is above this, so that a key that overflowed is on the safe side of it.
_GREATEST_BOUND = 600.0
_GREATEST_EXPONENT = 709.0

#: What a list is filled with before it has keys: finite, so that differences with it are numbers.
GREATEST_KEY = np.finfo(np.float64).max
_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


def column_factors(rule: CostRule, col_dual: FloatArray) -> FloatArray:
    """Compute what the keys are made with."""
    if not rule.logarithm:
        return col_dual.copy()
    with np.errstate(over="ignore"):
        factors: FloatArray = np.exp(-col_dual)
    return factors


def bounds_of_keys(rule: CostRule, keys: FloatArray) -> FloatArray:
    """Compute many bounds at once, as :func:`bound_of_key` does."""
    return np.minimum(np.log(keys), _GREATEST_BOUND) if rule.logarithm else keys


@inline_kernel
def column_factor(rule, dual):
    """Compute one column factor."""
    if not rule.logarithm:
        return dual
    return np.exp(-dual) if -dual < _GREATEST_EXPONENT else np.inf


@inline_kernel
def bound_of_key(rule, key):
    """Return a reduced cost that no pair is below whose key is not below the given one."""
    return min(np.log(key), _GREATEST_BOUND) if rule.logarithm else key


@inline_kernel
def key_of_bound(rule, reduced):
    """Return a key that no pair is above whose reduced cost is at most the given one."""
    if not rule.logarithm:
        return reduced
    return np.exp(reduced) if reduced < _GREATEST_EXPONENT else np.inf


@kernel
def find_nearest(geometry, tiles, rule, first, last, nearest, row_keys, col_least):
    """For rows first, ..., last - 1 at zero column duals: the least key's column; the two least keys.

    Lowers `col_least`, the columns' least keys, too. Where the cost is a logarithm, all of these are
    squared distances still, in the same order as the keys.
    """
    rows, cols = TILE_ROWS, tiles.b.shape[2]
    products = np.empty((rows, cols), tiles.a.dtype)
    row_buffer = np.empty(cols)
    columns = np.empty((2, cols))
    no_duals = np.zeros(cols)
    row_keys[first:last] = np.inf
    for start in range(first, last, rows):
        stop = min(start + rows, last)
        for t in range(tiles.b.shape[0]):
            width = multiply_tile(tiles, start, stop, t, products)
            keys = row_buffer[:width]
            col_part = col_least[t * cols : t * cols + width]
            for j in range(width):
                columns[0, j] = col_part[j]
            now = 0
            for i in range(start, stop):
                expand_squares(geometry, tiles, i, t * cols, products[i - start], keys)
                if not rule.logarithm:
                    _make_keys(tiles, rule, i, t * cols, no_duals, keys)
                least = _lower_columns(keys, columns[now], columns[1 - now])
                now = 1 - now
                if least < row_keys[i, 1]:
                    for j in range(width):
                        if keys[j] < row_keys[i, 0]:
                            row_keys[i, 1] = row_keys[i, 0]
                            row_keys[i, 0] = keys[j]
                            nearest[i] = t * cols + j
                        elif keys[j] < row_keys[i, 1]:
                            row_keys[i, 1] = keys[j]
            for j in range(width):
                col_part[j] = columns[now, j]


@inline_kernel
def _lower_columns(keys, old, new):
    """Lower the columns' least keys by one row; return the least key of the row.

    Out of place and over bit patterns for the sake of vectorisation, as in the dense solver; at zero
    duals keys are not negative.
    """
    least = _GREATEST_BITS
    for j in range(keys.size):
        key = keys[j]
        before = old[j]
        new[j] = key if key < before else before
        bits = np.float64(key).view(np.int64)
        least = bits if bits < least else least
    return np.int64(least).view(np.float64)


@kernel
def find_best(geometry, tiles, rule, col_factor, first, last, cols_out, bound):
    """For rows first, ..., last - 1: the columns of the least keys, and a bound for all the others."""
    rows, cols = TILE_ROWS, tiles.b.shape[2]
    products = np.empty((rows, cols), tiles.a.dtype)
    row_buffer = np.empty(cols)
    size = cols_out.shape[1]
    kept = np.empty((rows, size))
    for start in range(first, last, rows):
        stop = min(start + rows, last)
        kept[:] = GREATEST_KEY
        for t in range(tiles.b.shape[0]):
            width = multiply_tile(tiles, start, stop, t, products)
            keys = row_buffer[:width]
            factor = col_factor[t * cols : t * cols + width]
            for i in range(start, stop):
                expand_squares(geometry, tiles, i, t * cols, products[i - start], keys)
                _make_keys(tiles, rule, i, t * cols, factor, keys)
                keep_least(keys, t * cols, kept[i - start], cols_out[i])
        for i in range(start, stop):
            bound[i] = np.inf if size == col_factor.size else bound_of_key(rule, kept[i - start, size - 1])


@inline_kernel
def fill_keys(geometry, tiles, rule, i, col_factor, keys):
    """Fill `keys` with the keys of one row."""
    cols = tiles.b.shape[2]
    products = np.empty(cols, tiles.a.dtype)
    for t in range(tiles.b.shape[0]):
        row = keys[t * cols : min(t * cols + cols, keys.size)]
        # For a single row this is quicker than a matrix product.
        b = tiles.b[t]
        products[:] = 0.0
        for k in range(b.shape[0]):
            factor = tiles.a[i, k]
            b_row = b[k]
            for j in range(cols):
                products[j] += factor * b_row[j]
        expand_squares(geometry, tiles, i, t * cols, products, row)
        _make_keys(tiles, rule, i, t * cols, col_factor[t * cols : t * cols + row.size], row)


@inline_kernel
def keep_least(keys, offset, kept, cols):
    """Insert those of the keys that are among the least into the ascending `kept`, with their columns."""
    size = kept.size
    # Sign bits are collected first: that is a vector loop, and mostly nothing is to be inserted.
    signs = np.int64(0)
    greatest = kept[size - 1]
    for j in range(keys.size):
        signs |= np.float64(keys[j] - greatest).view(np.int64)
    if signs >= 0:
        return
    for j in range(keys.size):
        key = keys[j]
        if key < kept[size - 1]:
            at = size - 1
            while at > 0 and kept[at - 1] > key:
                kept[at] = kept[at - 1]
                cols[at] = cols[at - 1]
                at -= 1
            kept[at] = key
            cols[at] = offset + j


@inline_kernel
def _make_keys(tiles, rule, i, offset, col_factor, keys):
    """Turn the squared distances of row i to a run of columns into keys, in place."""
    lowered = tiles.lowered
    if rule.logarithm:
        floor = rule.floor
        for j in range(keys.size):
            distance = keys[j] * lowered
            distance = distance if distance > floor else floor
            keys[j] = distance * col_factor[j]
    else:
        x_weight = rule.x_weight[i]
        y_weight = rule.y_weight[offset : offset + keys.size]
        for j in range(keys.size):
            keys[j] = keys[j] * lowered / (x_weight + y_weight[j]) - col_factor[j]


@kernel
def price_pairs(geometry, rule, rows, cols, costs):
    """Compute the exact costs of the pairs (rows[r], cols[r, k])."""
    for r in range(rows.size):
        for k in range(cols.shape[1]):
            costs[r, k] = cost_of_pair(geometry, rule, rows[r], cols[r, k])
