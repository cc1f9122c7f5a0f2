"""Expanded squares of a few rows and all columns of a tile, by sums that stay in registers.

A loop over columns that a compiler turns into vectors loads and stores its sums once for every few
coordinates, and memory takes longer than arithmetic. So the innermost loop is written in LLVM's own vectors
here. That is not the language of one processor: only how long vectors should be, and how many of them fit
into the registers, is looked up. Where Numba is switched off, NumPy does the same.
"""

from __future__ import annotations

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from lslmatch._jit import emitted

#: Columns whose coordinates lie together: a tile is (columns / PANEL, d, PANEL).
PANEL = 32
#: Rows that are paired with a tile together, so that what is loaded of it is used several times.
FEW_ROWS = 4


def _vector_bytes_and_count() -> tuple[int, int]:
    """Give the bytes of a vector, and how many vectors of sums a row may have: all rows' are in registers."""
    has = llvm.get_host_cpu_features().get
    if has("avx512f"):
        return 64, 4
    # 16 registers of x86, or 32 of AArch64.
    return 32 if has("avx") else 16, 4 if has("neon") else 2


_VECTOR_BYTES, _VECTORS = _vector_bytes_and_count()


def _expand_few_rows(a, a_squares, b, b_squares, first, last, tile, out):
    _expand(a, a_squares, b, b_squares, np.minimum(np.arange(first, first + FEW_ROWS), last - 1), tile, out)


def _expand_one_row(a, a_squares, b, b_squares, row, tile, out):
    _expand(a, a_squares, b, b_squares, np.array([row]), tile, out[None])


def _expand(a, a_squares, b, b_squares, rows, tile, out):
    # In double precision, so that a row's sums do not depend on how many rows there are.
    products = np.matmul(a[rows], b[tile], dtype=np.float64)
    out[:] = a_squares[rows, None] + b_squares[tile] + products.swapaxes(0, 1).reshape(out.shape)


def _few_rows_in_vectors(a, a_squares, b, b_squares, first, last, tile, out):
    def expand(a, a_squares, b, b_squares, first, last, tile, out):
        _emit_few_rows(a, a_squares, b, b_squares, first, last, tile, out)

    return expand


def _one_row_in_vectors(a, a_squares, b, b_squares, row, tile, out):
    def expand(a, a_squares, b, b_squares, row, tile, out):
        _emit_one_row(a, a_squares, b, b_squares, row, row + 1, tile, out)

    return expand


def _few_rows_in_loops(a, a_squares, b, b_squares, first, last, tile, out):
    for r in range(FEW_ROWS):
        row = min(first + r, last - 1)
        for panel in range(b.shape[1]):
            for lane in range(PANEL):
                column = panel * PANEL + lane
                out[r, column] = a_squares[row] + b_squares[tile, column]
            for k in range(b.shape[2]):
                value = a[row, k]
                for lane in range(PANEL):
                    out[r, panel * PANEL + lane] += value * b[tile, panel, k, lane]


def _one_row_in_loops(a, a_squares, b, b_squares, row, tile, out):
    for panel in range(b.shape[1]):
        for lane in range(PANEL):
            column = panel * PANEL + lane
            out[column] = a_squares[row] + b_squares[tile, column]
        for k in range(b.shape[2]):
            value = a[row, k]
            for lane in range(PANEL):
                out[panel * PANEL + lane] += value * b[tile, panel, k, lane]


#: Fill `out` (FEW_ROWS, columns) with ``a_squares[i] + b_squares[tile] + a[i] @ b[tile]``.
#: The rows i are first, ..., last - 1; if these are less than FEW_ROWS, the others repeat the last. `b` is
#: (tiles, panels, d, PANEL); all arrays are contiguous and of one floating type.
expand_few_rows = emitted(_expand_few_rows, _few_rows_in_vectors, _few_rows_in_loops)
#: Fill `out` (columns,) in the same way for one row.
expand_one_row = emitted(_expand_one_row, _one_row_in_vectors, _one_row_in_loops)


def _emitter(count):
    """Make the intrinsic function for `count` rows."""

    @intrinsic
    def emit(context, a, a_squares, b, b_squares, first, last, tile, out):
        signature = types.void(a, a_squares, b, b_squares, types.intp, types.intp, types.intp, out)
        return signature, lambda *compilation: _emit_loops(count, *compilation)

    return emit


_emit_few_rows, _emit_one_row = _emitter(FEW_ROWS), _emitter(1)


def _emit_loops(count, context, builder, signature, arguments):
    """Emit, for each group of vectors of columns, sums that start with the squares, and what is added."""
    from lslmatch._jit import private  # which there may not be: then nothing is emitted

    parts = {
        k: private.array_parts(context, builder, signature.args[k], arguments[k]) for k in (0, 1, 2, 3, 7)
    }
    (a, (_, d)), (a_squares, _), (b, _), (b_squares, (_, columns)), (out, _) = parts.values()
    first, last, tile = arguments[4:7]
    number = first.type
    kind = signature.args[0]
    emit = _Vectors(builder, private.scalar_type(context, kind), kind.dtype.bitwidth)
    rows = [emit.lesser(builder.add(first, number(r)), builder.sub(last, number(1))) for r in range(count)]
    row_data = [builder.gep(a, [builder.mul(row, d)]) for row in rows]
    row_squares = [emit.spread(a_squares, row) for row in rows]
    tile_columns = builder.mul(tile, columns)
    tile_data = builder.gep(b, [builder.mul(tile_columns, d)])
    step = number(_VECTORS * emit.lanes)
    with private.steps(builder, number(0), columns, step) as group:
        # (Of a tile that is narrower than a group, the last columns are computed repeatedly.)
        last_place = builder.sub(columns, number(emit.lanes))
        places = [
            emit.lesser(builder.add(group, number(v * emit.lanes)), last_place) for v in range(_VECTORS)
        ]
        col_data = []
        for place in places:
            # No vector crosses the border of a panel.
            inside = builder.and_(place, number(PANEL - 1))
            start = builder.mul(builder.sub(place, inside), d)
            col_data.append(builder.gep(tile_data, [builder.add(start, inside)]))
        col_squares = [emit.load(b_squares, builder.add(tile_columns, place)) for place in places]
        sums = [builder.fadd(square, other) for square in row_squares for other in col_squares]
        sums = _emit_products(emit, row_data, col_data, d, sums)
        for r in range(count):
            line = builder.gep(out, [builder.mul(columns, number(r))])
            for v, place in enumerate(places):
                emit.store(sums[r * _VECTORS + v], line, place)
    return private.nothing(context)


def _emit_products(emit, row_data, col_data, d, sums):
    """Emit the loop over the coordinates: to each sum the product of its row and its columns is added."""
    builder, number = emit.builder, d.type
    before, loop, after = builder.block, *map(builder.append_basic_block, ("coordinates", "coordinates.end"))
    builder.branch(loop)
    builder.position_at_end(loop)
    k = builder.phi(number)
    totals = [builder.phi(emit.vector) for _ in sums]
    factors = [emit.load(data, builder.mul(k, number(PANEL))) for data in col_data]
    added = [
        emit.add_product(totals[r * len(factors) + v], value, factor)
        for r, value in enumerate([emit.spread(data, k) for data in row_data])
        for v, factor in enumerate(factors)
    ]
    following = builder.add(k, number(1))
    for variable, start, end in zip([k, *totals], [number(0), *sums], [following, *added], strict=True):
        variable.add_incoming(start, before)
        variable.add_incoming(end, loop)
    builder.cbranch(builder.icmp_signed("<", following, d), loop, after)
    builder.position_at_end(after)
    return added


class _Vectors:
    """What is done with vectors of one floating type."""

    def __init__(self, builder, scalar, bits):
        self.builder, self.bytes = builder, bits // 8
        self.lanes = _VECTOR_BYTES // self.bytes
        self.vector = ir.VectorType(scalar, self.lanes)

    def load(self, data, index):
        return self.builder.load(self._at(data, index), align=self.bytes)

    def store(self, value, data, index):
        self.builder.store(value, self._at(data, index), align=self.bytes)

    def _at(self, data, index):
        return self.builder.bitcast(self.builder.gep(data, [index]), self.vector.as_pointer())

    def spread(self, data, index):
        """Load one number into all lanes."""
        empty, number = ir.Constant(self.vector, ir.Undefined), ir.IntType(32)
        value = self.builder.load(self.builder.gep(data, [index]))
        one = self.builder.insert_element(empty, value, number(0))
        nowhere_else = ir.Constant(ir.VectorType(number, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, empty, nowhere_else)

    def add_product(self, total, value, factor):
        """Add a product, rounded once where the processor can."""
        product = self.builder.fmul(value, factor, flags=("contract",))
        return self.builder.fadd(total, product, flags=("contract",))

    def lesser(self, p, q):
        """Give the lesser of two numbers, not vectors."""
        return self.builder.select(self.builder.icmp_signed("<", p, q), p, q)
