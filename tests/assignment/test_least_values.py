"""Least values by lanes, against sorting."""

import numpy as np
import pytest

from lslmatch.assignment.least_values import choose_least, fold_to_lanes, note_two_least
from lslmatch.assignment.screening import bit_patterns
from lslmatch.geometry.tiles import LANES

kinds = pytest.mark.parametrize("kind", ["distinct", "ties", "mostly infinite", "equal"])
sizes = pytest.mark.parametrize("columns", [LANES, 4 * LANES, 16 * LANES])
precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def draw(kind, columns, dtype):
    rng = np.random.default_rng([columns, len(kind)])
    values = rng.exponential(size=columns)
    if kind == "ties":
        values = np.floor(8.0 * values)
    elif kind == "mostly infinite":
        values[rng.random(columns) < 0.8] = np.inf
    elif kind == "equal":
        values[:] = 3.0
    return values.astype(dtype)


def workspace(values, width=LANES):
    bits = bit_patterns(values)
    return bits, np.empty(width, bits.dtype), bit_patterns(np.full(1, np.inf, values.dtype))[0]


@kinds
@sizes
@precisions
@pytest.mark.parametrize("width", [LANES, 2 * LANES])
def test_lanes_hold_the_least_of_their_columns(kind, columns, dtype, width):
    values = draw(kind, columns, dtype)
    bits, lanes, _ = workspace(values, min(width, columns))
    least = fold_to_lanes(bits, lanes)
    assert np.array(least, bits.dtype).view(dtype) == values.min()
    np.testing.assert_array_equal(lanes[:LANES].view(dtype), values.reshape(-1, LANES).min(axis=0))


@kinds
@sizes
@precisions
@pytest.mark.parametrize("size", [1, 2, 5, 32])
def test_no_value_that_is_left_out_is_less_than_one_that_is_chosen(kind, columns, dtype, size):
    values = draw(kind, columns, dtype)
    bits, lanes, infinity = workspace(values)
    cols = np.empty(size, np.intp)
    chosen = cols[: choose_least(bits, lanes, infinity, cols, cols.size)]
    assert chosen.size >= 1
    assert np.unique(chosen).size == chosen.size
    next_value = lanes[:1].view(dtype)[0]
    assert (values[chosen] <= next_value).all()
    left_out = np.delete(values, chosen)
    assert (left_out >= next_value).all()


@kinds
@sizes
@precisions
def test_portions_of_a_row_hold_each_finite_value_once(kind, columns, dtype):
    values = draw(kind, columns, dtype)
    all_values = values.copy()
    bits, lanes, infinity = workspace(values)
    seen, portions, cols = [], 0, np.empty(columns, np.intp)
    while count := choose_least(bits, lanes, infinity, cols, LANES):
        seen.extend(cols[:count])
        bits[bits < lanes[0]] = infinity
        portions += 1
    np.testing.assert_array_equal(np.sort(seen), np.flatnonzero(np.isfinite(all_values)))
    if kind == "distinct":
        assert portions > 1, "all at once"
    values = all_values.copy()
    bits, lanes, infinity = workspace(values)
    chosen = cols[: choose_least(bits, lanes, infinity, cols, 100 * LANES)]
    np.testing.assert_array_equal(np.sort(chosen), np.flatnonzero(np.isfinite(all_values)))


@kinds
@precisions
def test_two_least_values_are_noted_over_several_tiles(kind, dtype):
    values = draw(kind, 8 * LANES, dtype)
    least, nearest = np.full(2, np.inf, dtype), np.zeros(1, np.intp)
    for offset in range(0, values.size, 2 * LANES):
        bits, lanes, _ = workspace(values[offset : offset + 2 * LANES])
        fold_to_lanes(bits, lanes)
        note_two_least(bits, lanes, offset, bit_patterns(least), nearest, 0)
    np.testing.assert_array_equal(least, np.sort(values)[:2])
    assert values[nearest[0]] == values.min()
