"""The innermost loop of squared distances, against NumPy, for vectors of any length."""

import numba
import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from lslmatch.geometry import panels
from lslmatch.geometry.panels import FEW_ROWS, PANEL, expand_few_rows, expand_one_row


@numba.njit
def few_rows(a, a_squares, b, b_squares, first, last, tile, out):
    expand_few_rows(a, a_squares, b, b_squares, first, last, tile, out)


@numba.njit
def one_row(a, a_squares, b, b_squares, row, tile, out):
    expand_one_row(a, a_squares, b, b_squares, row, tile, out)


def draw(dtype, d, columns, tiles=2, n=7):
    rng = np.random.default_rng([d, columns])
    a, b = rng.normal(size=(n, d)), rng.normal(size=(tiles, columns // PANEL, d, PANEL))
    squares = rng.random(n), rng.random((tiles, columns))
    return [part.astype(dtype) for part in (a, squares[0], b, squares[1])]


def expected(a, a_squares, b, b_squares, row, tile):
    columns = b[tile].swapaxes(0, 1).reshape(a.shape[1], -1)
    return a_squares[row] + b_squares[tile] + a[row].astype(float) @ columns


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("d", "columns"), [(1, PANEL), (3, 2 * PANEL), (20, 4 * PANEL)])
def test_squares_and_products_are_added(dtype, d, columns):
    data = draw(dtype, d, columns)
    tolerance = 8 * d * np.finfo(dtype).eps
    block, line = np.empty((FEW_ROWS, columns), dtype), np.empty(columns, dtype)
    for tile in range(2):
        # At the end of the rows the last is repeated.
        for first, last in ((0, FEW_ROWS), (FEW_ROWS, 7), (6, 7)):
            few_rows(*data, first, last, tile, block)
            for r in range(FEW_ROWS):
                wanted = expected(*data, min(first + r, last - 1), tile)
                np.testing.assert_allclose(block[r], wanted, rtol=0, atol=tolerance)
        for row in range(7):
            one_row(*data, row, tile, line)
            np.testing.assert_allclose(line, expected(*data, row, tile), rtol=0, atol=tolerance)


@pytest.mark.parametrize(("size", "count"), [(16, 2), (16, 4), (32, 2), (64, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors_of_other_processors_give_the_same(size, count, dtype, monkeypatch):
    monkeypatch.setattr(panels, "_VECTOR_BYTES", size)
    monkeypatch.setattr(panels, "_VECTORS", count)
    emit = panels._emitter(FEW_ROWS)

    def few_rows(a, a_squares, b, b_squares, first, last, tile, out):
        emit(a, a_squares, b, b_squares, first, last, tile, out)

    # Compiled even where Numba is switched off, and `numba.njit` would do nothing.
    few_rows = CPUDispatcher(few_rows, targetoptions={"nopython": True})
    for columns in (PANEL, 4 * PANEL):
        data = draw(dtype, 5, columns)
        block = np.empty((FEW_ROWS, columns), dtype)
        few_rows(*data, 0, FEW_ROWS, 1, block)
        for r in range(FEW_ROWS):
            np.testing.assert_allclose(block[r], expected(*data, r, 1), rtol=0, atol=40 * np.finfo(dtype).eps)
