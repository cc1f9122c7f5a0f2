"""The innermost loop of squared distances, against NumPy, for vectors of any length."""

import numba
import numpy as np
import pytest
from llvmlite import ir
from numba.core.registry import CPUDispatcher

from lslmatch.geometry import panels
from lslmatch.geometry.panels import FEW_ROWS, PANEL, expand_few_rows, expand_one_row
from tests.support.reference import SMALL


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


def compiled(function):
    """Compile even where Numba is switched off, and `numba.njit` would do nothing."""
    return CPUDispatcher(function, targetoptions={"nopython": True})


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

    few_rows = compiled(few_rows)
    for columns in (PANEL, 4 * PANEL):
        data = draw(dtype, 5, columns)
        block = np.empty((FEW_ROWS, columns), dtype)
        few_rows(*data, 0, FEW_ROWS, 1, block)
        for r in range(FEW_ROWS):
            np.testing.assert_allclose(block[r], expected(*data, r, 1), rtol=0, atol=40 * np.finfo(dtype).eps)


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ({"avx512f", "avx"}, (64, 4)),
        ({"avx"}, (32, 2)),
        (set(), (16, 2)),
        ({"neon"}, (16, 4)),
    ],
)
def test_vectors_are_those_of_the_processor(features, expected, monkeypatch):
    known = dict.fromkeys(["avx512f", "avx", "neon"], False) | dict.fromkeys(features, True)
    monkeypatch.setattr(panels.llvm, "get_host_cpu_features", lambda: known)
    assert panels._vector_bytes_and_count() == expected


@pytest.mark.parametrize(("scalar", "size"), [(ir.FloatType(), 4), (ir.DoubleType(), 8)])
def test_a_vector_is_as_long_as_a_register_and_aligned_as_its_numbers_are(scalar, size):
    vectors = panels._Vectors(None, scalar, 8 * size)
    assert vectors.bytes == size
    assert vectors.lanes * size == panels._VECTOR_BYTES
    assert vectors.vector == ir.VectorType(scalar, vectors.lanes)


@pytest.mark.skipif(SMALL, reason="nothing takes their place without compilation")
def test_one_row_is_compiled_as_a_few_rows_are():
    # What takes the place of the two functions in compiled code.
    few_rows = compiled(panels._few_rows_in_vectors(*[None] * 8))
    one_row = compiled(panels._one_row_in_vectors(*[None] * 7))
    columns = 2 * PANEL
    data = draw(np.float32, 3, columns)
    block, line = np.empty((FEW_ROWS, columns), np.float32), np.empty(columns, np.float32)
    for row in (0, 6):
        few_rows(*data, row, row + 1, 1, block)
        one_row(*data, row, 1, line)
        for found in (*block, line):
            np.testing.assert_allclose(found, expected(*data, row, 1), rtol=0, atol=1e-5)
