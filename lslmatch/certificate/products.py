"""Which pairs may cost too little, by one product for each pair: for the certificate, on its own.

A pair (i, j) needs a squared distance above ``(p[i] + q[j]) * (s[i] + t[j])``. Both sides, and a bound of all
rounding errors besides, are one product of a vector of the row with a vector of the column,

    |x|^2 - p s,  1,            -p,  -s,  -2 x
    1,            |y|^2 - q t,   t,   q,   y

so products in single precision, of which a processor computes a hundred billion in a second, settle all pairs
but those that are positive by less than such errors. A distance is no less than that of the points' leading
coordinates, those along the directions in which points differ most, with the length of the rest as one more:
where the partners are much nearer than others, a few of these settle nearly all pairs.

(Let R be the orthonormal directions nearest to those that were computed, Q. The exact coordinates ``R^T p``
and ``|p - R R^T p|`` make no distance greater, and have the length of p. Those that are computed differ from
them by at most 2**-34 |p| if Q^T Q differs from 1 by at most 2**-36, with up to 2**12 coordinates and 2**10
directions: sums of d products err by d 2**-53 of their size, for each direction. A product then errs by
2**-31 of the norms besides: a hundredth of one roundoff.)

In few dimensions a tree of boxes looks at fewer pairs, and so it does wherever points crowd so much that
single precision does not tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import fused_kernel, inline_kernel, kernel
from lslmatch._threads import over_rows
from lslmatch._types import FloatArray, IntArray
from lslmatch.certificate.tree import Need, find_doubtful_in_tree, search_is_short

#: Fewest coordinates for which products are quicker than the tree.
_FEWEST_DIMENSIONS = 13
#: Of more pairs than this the tree may be quicker all the same; its work for a coordinate takes so many times
#: as long as that of products.
_MANY_PAIRS, _OF_TREE = 1 << 30, 6.0
#: Shares of the coordinates that are tried on a few rows, and how many; most coordinates and directions for
#: which leading ones are proven bounds, and how far directions may be from orthonormal.
_PARTS, _SAMPLED_ROWS = (0.05, 0.1, 0.2, 0.35, 0.5), 32
_MOST_COORDINATES, _MOST_DIRECTIONS, _NOT_ORTHONORMAL = 1 << 12, 1 << 10, 2.0**-36
#: Points that directions are looked for among, and steps towards them.
_SAMPLED_POINTS, _STEPS = 1024, 2
#: Numbers of a block of points that is measured along the directions.
_MEASURED = 1 << 20
#: Checking one doubtful pair exactly costs as much as screening 10,000 + 300 d coordinates.
_EXACTLY, _EXACTLY_PER_COORDINATE = 10_000, 300
#: If more of the pairs are doubtful, the tree is asked.
_GREATEST_SHARE = 0.002
#: Columns of a tile, and tiles in a call of the kernel; rows of which products are computed together, and
#: rows in a call.
_COLUMNS, _TILES, _ROWS_AT_ONCE, _ROWS = 512, 8, 4, 256
#: Unit roundoff of single precision; what underflow may cost and, beside a share of the norms that is left
#: over for it, that coordinates of about 1 were rounded to double precision, and centred.
_ROUNDOFF, _LOST = 2.0**-24, 2.0**-74
#: Columns that are looked through together.
_LANES = 32


class _Vectors(NamedTuple):
    """The vectors whose products are positive only for pairs that have what they need."""

    row: NDArray[np.float32]  # (n, k), k divisible by 4
    col: NDArray[np.float32]  # (tiles, k, _COLUMNS)
    cols: int  # of them that are no padding


def find_doubtful(
    x: FloatArray, y: FloatArray, need: Need, judge: Callable[[IntArray, IntArray], None], workers: int
) -> None:
    """Hand over to `judge`, some at a time, all pairs (i[k], j[k]) that may not have what they need.

    Coordinates and duals are finite, and no coordinate is above 1. With several workers, `judge` is
    called in their threads.
    """
    n, d = x.shape
    vectors = _cheapest_vectors(x, y, need) if d >= _FEWEST_DIMENSIONS else None
    if vectors is None or (n * len(y) > _MANY_PAIRS and _tree_is_quicker(x, y, need, vectors)):
        find_doubtful_in_tree(x, y, need, judge, workers)
        return

    def run(worker: int, first: int, last: int) -> None:
        judge(*_find(vectors, np.arange(first, last)))

    over_rows(run, n, _ROWS, workers)


def _tree_is_quicker(x: FloatArray, y: FloatArray, need: Need, vectors: _Vectors) -> bool:
    """Say whether the tree has done with some rows before products would have."""
    work = int(_SAMPLED_ROWS * vectors.cols * vectors.row.shape[1] / _OF_TREE)
    return search_is_short(x, y, need, _some_rows(x), work)


def _some_rows(x: FloatArray) -> IntArray:
    return np.linspace(0, len(x) - 1, min(len(x), _SAMPLED_ROWS)).astype(np.intp)


@np.errstate(all="ignore")
def _cheapest_vectors(x: FloatArray, y: FloatArray, need: Need) -> _Vectors | None:
    """Choose how many coordinates to look at, by a few rows; None if too many pairs stay doubtful."""
    d = x.shape[1]
    some = _some_rows(x)
    # In units in which variances are at most 1, and with sums of duals whose parts are about equal.
    unit = max(float(need.s.max()), float(need.t.max())) or 1.0
    p, q, s, t = need.p * unit, need.q * unit, need.s / unit, need.t / unit
    if q.any():
        middle = (float(np.median(p)) - float(np.median(q))) / 2.0
        p, q = p - middle, q + middle
    some_need = Need(p[some], q, s[some], t)
    centre = y.mean(axis=0)
    directions = _find_directions(x, y, centre)
    chosen, least = None, np.inf
    for size in sorted({max(int(part * d), 1) for part in _PARTS if directions is not None} | {d}):
        if size >= least:
            break
        matrix = None if size == d or directions is None else np.ascontiguousarray(directions[:, :size])
        cols = _measure(y, centre, matrix)
        vectors = _vectors(_measure(x[some], centre, matrix), cols, some_need)
        # (Each row has one pair that is always doubtful.)
        doubtful = _find(vectors, np.arange(some.size))[0].size
        share = max(doubtful - some.size, 0) / (some.size * len(y))
        work = size + share * (_EXACTLY + _EXACTLY_PER_COORDINATE * d)
        if work < least and share <= _GREATEST_SHARE:
            chosen, least = (matrix, vectors), work
    if chosen is None:
        return None
    matrix, vectors = chosen
    return vectors._replace(row=_rows(_measure(x, centre, matrix), Need(p, q, s, t)))


def _find_directions(x: FloatArray, y: FloatArray, centre: FloatArray) -> FloatArray | None:
    """Find orthonormal directions in which points differ most, by the power method; None: there are none."""
    d = x.shape[1]
    size = min(int(_PARTS[-1] * d), _MOST_DIRECTIONS)
    if size < 1 or d > _MOST_COORDINATES:
        return None
    sample = np.concatenate([points[:: len(points) // _SAMPLED_POINTS + 1] for points in (x, y)]) - centre
    found = np.linalg.qr(np.random.default_rng(0).normal(size=(d, size)))[0]
    for _ in range(_STEPS):
        found = np.linalg.qr(sample.T @ (sample @ found))[0]
    along = sample @ found
    order = np.linalg.eigh(along.T @ along)[1][:, ::-1]
    found = np.linalg.qr(found @ order)[0]
    defect = float(np.linalg.norm(found.T @ found - np.eye(size)))
    return found if defect < _NOT_ORTHONORMAL / 2.0 else None


def _measure(points: FloatArray, centre: FloatArray, matrix: FloatArray | None) -> FloatArray:
    """Give leading coordinates of points as seen from the centre, and the length of the rest; or all."""
    if matrix is None:
        return points - centre
    measured = np.empty((len(points), matrix.shape[1] + 1))
    step = max(_MEASURED // len(matrix), 1)
    for start in range(0, len(points), step):
        part = points[start : start + step] - centre
        along = part @ matrix
        rest = part - along @ matrix.T
        measured[start : start + step, :-1] = along
        measured[start : start + step, -1] = np.sqrt(np.einsum("ij,ij->i", rest, rest))
    return measured


def _vectors(x: FloatArray, y: FloatArray, need: Need) -> _Vectors:
    """Make the vectors of some coordinates.

    Their product has K = d + 4 terms of two rounded numbers each, so its error is less than K + 4 roundoffs
    times the sum of the terms' sizes, which is at most ``2 |x|^2 + 2 |y|^2 + (|p| + |q|) (s + t)``. Norms are
    lowered and needs are raised by twice that.
    """
    return _Vectors(_rows(x, need), _cols(y, need), len(y))


def _rows(x: FloatArray, need: Need) -> NDArray[np.float32]:
    n, d = x.shape
    error = 2.0 * (d + 8) * _ROUNDOFF
    p = need.p + error * np.abs(need.p)
    row = np.zeros((n, (d + 7) // 4 * 4), np.float32)
    row[:, 0] = (1.0 - 2.0 * error) * np.einsum("ij,ij->i", x, x) - p * need.s - _LOST
    row[:, 1], row[:, 2], row[:, 3] = 1.0, -p, -need.s
    np.multiply(x, -2.0, out=row[:, 4 : d + 4], casting="same_kind")
    return row


def _cols(y: FloatArray, need: Need) -> NDArray[np.float32]:
    m, d = y.shape
    error = 2.0 * (d + 8) * _ROUNDOFF
    q = need.q + error * np.abs(need.q)
    size, tiles = (d + 7) // 4 * 4, -(-m // _COLUMNS)
    flat = np.zeros((tiles * _COLUMNS, size), np.float32)
    flat[:m, 0] = 1.0
    flat[:m, 1] = (1.0 - 2.0 * error) * np.einsum("ij,ij->i", y, y) - q * need.t
    flat[m:, 1] = np.inf
    flat[:m, 2], flat[:m, 3], flat[:m, 4 : d + 4] = need.t, q, y
    col = np.empty((tiles, size, _COLUMNS), np.float32)
    col[:] = flat.reshape(tiles, _COLUMNS, size).transpose(0, 2, 1)
    return col


def _find(vectors: _Vectors, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Give all doubtful pairs of some rows."""
    some = vectors.row[rows]
    room = np.empty((2, rows.size * _TILES * _COLUMNS), np.int32)
    block = np.empty((_ROWS_AT_ONCE, _COLUMNS), np.float32)
    found = []
    for first in range(0, len(vectors.col), _TILES):
        count = _look(some, vectors.col[first : first + _TILES], block, room)
        found.append(room[:, :count] + np.array([[0], [first * _COLUMNS]]))
    i, j = np.concatenate(found, axis=1)
    # (Products with padding are no numbers if the row is too long for single precision.)
    is_pair = j < vectors.cols
    return rows[i[is_pair]], j[is_pair]


@kernel
def _look(row, col, block, out):
    """Write the pairs whose product is not positive, and return how many there are."""
    found = 0
    last = row.shape[0] - 1
    for tile in range(col.shape[0]):
        for first in range(0, row.shape[0], _ROWS_AT_ONCE):
            i1, i2, i3 = min(first + 1, last), min(first + 2, last), min(first + 3, last)
            _multiply(row[first], row[i1], row[i2], row[i3], col[tile], block)
            for r in range(min(_ROWS_AT_ONCE, row.shape[0] - first)):
                if not _all_positive(block[r]):
                    for start in range(0, _COLUMNS, _LANES):
                        if not _all_positive(block[r, start : start + _LANES]):
                            for j in range(start, start + _LANES):
                                if not block[r, j] > 0.0:
                                    out[0, found] = first + r
                                    out[1, found] = tile * _COLUMNS + j
                                    found += 1
    return found


@inline_kernel
def _all_positive(values):
    # In this form what is not a number is not positive.
    positive = True
    for j in range(values.size):
        positive &= values[j] > 0.0
    return positive


@fused_kernel
def _multiply(row0, row1, row2, row3, col, block):
    """Compute the products of four rows with a tile, four terms at a time; their number is divisible by 4."""
    size, cols = col.shape
    out0, out1, out2, out3 = block[0], block[1], block[2], block[3]
    block[:] = 0.0
    for k in range(0, size, 4):
        b0, b1, b2, b3 = col[k], col[k + 1], col[k + 2], col[k + 3]
        p0, p1, p2, p3 = row0[k], row0[k + 1], row0[k + 2], row0[k + 3]
        q0, q1, q2, q3 = row1[k], row1[k + 1], row1[k + 2], row1[k + 3]
        r0, r1, r2, r3 = row2[k], row2[k + 1], row2[k + 2], row2[k + 3]
        s0, s1, s2, s3 = row3[k], row3[k + 1], row3[k + 2], row3[k + 3]
        for j in range(cols):
            c0, c1, c2, c3 = b0[j], b1[j], b2[j], b3[j]
            out0[j] = out0[j] + p0 * c0 + p1 * c1 + p2 * c2 + p3 * c3
            out1[j] = out1[j] + q0 * c0 + q1 * c1 + q2 * c2 + q3 * c3
            out2[j] = out2[j] + r0 * c0 + r1 * c1 + r2 * c2 + r3 * c3
            out3[j] = out3[j] + s0 * c0 + s1 * c1 + s2 * c2 + s3 * c3
