"""Passes over all pairs that never hold them: nearest partners, and the best pairs of a row.

What a pass compares is the *key* of a pair, a function of the squared distance D that grows with the
reduced cost ``cost(i, j) - col_dual[j]`` and needs no logarithm: ``D * exp(-col_dual[j])`` where the cost
is a logarithm, else ``D / weight - col_dual[j]``. The *column factors* are the part that the duals
contribute: ``exp(-col_dual)``, or ``col_dual``.
"""

from __future__ import annotations

import numpy as np

from lslmatch._jit import inline_kernel, kernel
from lslmatch.costs import CostRule, cost_of_pair
from lslmatch.distances import expand_row, expand_tile, new_tile
from lslmatch.results import FloatArray

#: A logarithmic key above exp(600) is taken for that: no bound is ever larger, so that an overflow to
#: infinity is on the safe side of it.
_GREATEST_BOUND = 600.0

_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


def column_factors(rule: CostRule, col_dual: FloatArray) -> FloatArray:
    """Compute what the keys are made with; kernels do the same for single columns."""
    if not rule.logarithm:
        return col_dual.copy()
    with np.errstate(over="ignore"):
        factors: FloatArray = np.exp(-col_dual)
    return factors


def bounds_of_keys(rule: CostRule, keys: FloatArray, col_factor: FloatArray) -> FloatArray:
    """Compute many bounds at once."""
    return np.array([bound_of_key(rule, key, col_factor) for key in keys])


@inline_kernel
def bound_of_key(rule, key, col_factor):
    """Return a reduced cost that no pair is below whose key is not below the given one."""
    if rule.logarithm:
        return min(np.log(key), _GREATEST_BOUND) - rule.key_error
    return key - rule.key_error * (abs(key) + _magnitude(col_factor))


@inline_kernel
def key_of_bound(rule, reduced, col_factor):
    """Return a key that no pair is above whose reduced cost is at most the given one."""
    if rule.logarithm:
        return np.exp(reduced + rule.key_error)
    return reduced + rule.key_error * (abs(reduced) + _magnitude(col_factor))


@inline_kernel
def _magnitude(values):
    """Return the greatest absolute value."""
    greatest = 0.0
    for j in range(values.size):
        greatest = max(greatest, abs(values[j]))
    return greatest


@kernel
def find_nearest(geometry, rule, first, last, nearest, row_keys, col_least):
    """For rows first, ..., last - 1 at zero column duals: the least key's column; the two least keys.

    Lowers `col_least`, the columns' least keys, too.
    """
    tile = new_tile(geometry)
    rows, cols = tile.shape
    columns = np.empty((2, cols))
    factors = np.ones(cols) if rule.logarithm else np.zeros(cols)
    row_keys[first:last] = np.inf
    for start in range(first, last, rows):
        stop = min(start + rows, last)
        for t in range(geometry.b_tiles.shape[0]):
            width = expand_tile(geometry, start, stop, t, tile)
            col_part = col_least[t * cols : t * cols + width]
            for j in range(width):
                columns[0, j] = col_part[j]
            now = 0
            for i in range(start, stop):
                keys = tile[i - start][:width]
                _make_keys(rule, i, t * cols, factors, keys)
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
def find_best(geometry, rule, col_factor, first, last, cols_out, bound):
    """For rows first, ..., last - 1: the columns of the least keys, and a bound for all the others."""
    tile = new_tile(geometry)
    rows, cols = tile.shape
    size = cols_out.shape[1]
    kept = np.empty((rows, size))
    for start in range(first, last, rows):
        stop = min(start + rows, last)
        kept[:] = np.inf
        for t in range(geometry.b_tiles.shape[0]):
            width = expand_tile(geometry, start, stop, t, tile)
            factor = col_factor[t * cols : t * cols + width]
            for i in range(start, stop):
                keys = tile[i - start][:width]
                _make_keys(rule, i, t * cols, factor, keys)
                keep_least(keys, t * cols, kept[i - start], cols_out[i])
        for i in range(start, stop):
            full = size == geometry.b.shape[0]
            bound[i] = np.inf if full else bound_of_key(rule, kept[i - start, size - 1], col_factor)


@inline_kernel
def fill_keys(geometry, rule, i, col_factor, keys):
    """Fill `keys` with the keys of one row."""
    cols = geometry.b_tiles.shape[2]
    for t in range(geometry.b_tiles.shape[0]):
        width = min(cols, keys.size - t * cols)
        row = keys[t * cols : t * cols + width]
        expand_row(geometry, i, t, row)
        _make_keys(rule, i, t * cols, col_factor[t * cols : t * cols + width], row)


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
def _make_keys(rule, i, offset, col_factor, keys):
    """Turn the squared distances of row i to a run of columns into keys, in place."""
    if rule.logarithm:
        floor = rule.floor
        for j in range(keys.size):
            distance = keys[j]
            distance = distance if distance > floor else floor
            keys[j] = distance * col_factor[j]
    else:
        x_weight = rule.x_weight[i]
        y_weight = rule.y_weight[offset : offset + keys.size]
        for j in range(keys.size):
            keys[j] = keys[j] / (x_weight + y_weight[j]) - col_factor[j]


@kernel
def price_pairs(geometry, rule, rows, cols, costs):
    """Compute the exact costs of the pairs (rows[r], cols[r, k])."""
    for r in range(rows.size):
        for k in range(cols.shape[1]):
            costs[r, k] = cost_of_pair(geometry, rule, rows[r], cols[r, k])
