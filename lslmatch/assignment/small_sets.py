"""Small sets: from coordinates to dual variables in one kernel, many problems at a time.

The kernel solves one problem after the other in the same memory and takes little time to be compiled: arrays
of all problems, plain loops. Where every point has a nearest partner of its own, the logarithm of no other
pair is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import repeat
from typing import Any

import numpy as np

from lslmatch._jit import kernel, step_kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.exact_squares import exact_square
from lslmatch.assignment.settings import or_default
from lslmatch.assignment.small_coordinates import (
    CLOSE,
    NOT_ORDINARY,
    align_small,
    lower_floor,
)
from lslmatch.assignment.small_dense import (
    CLASHES,
    FEW_CLASH,
    FLOOR,
    MANY_CLASH,
    SCALE,
    SHIFT,
    TOTAL,
    augment_small,
    reduce_small,
    take_logarithms,
    take_nearest,
)
from lslmatch.assignment.small_squares import FEW, TOGETHER, VECTOR, square_rows
from lslmatch.results import Affine, MatchResult

#: Free rows are matched without reductions if they are at most one in this many.
_FEW = 8
#: Above a quarter of `most_small_pairs`, the kernel gives up if 99 % of the rows clash, or by squares 85 %:
#: such sets are far apart, which other routes can make use of.
_NOT_SMALLEST, _NEARLY_ALL, _NEARLY_ALL_BY_SQUARES = 4, 0.99, 0.85
#: Columns that are examined together where close points are looked for.
_BLOCK = 32
_INDEX = np.dtype(np.intp)
#: What is known of each problem, all duals, and all partners, those of the smaller set first.
Rooms = tuple[FloatArray, FloatArray, IntArray]


def match_at_once(x: FloatArray, y: FloatArray, logarithm: bool, rooms: Rooms) -> bool:
    """Match one problem; False if it is not ordinary, or far sets had better be matched in another way."""
    numbers, duals, partners = rooms
    most = or_default(None).most_small_pairs // _NOT_SMALLEST
    _match_all(x, y, _one_size(len(x), len(y)), logarithm, most, numbers, duals, partners)
    return numbers.item(SCALE) != NOT_ORDINARY


def result_of(rooms: Rooms, n: int, m: int, objective: str) -> MatchResult:
    """Make the result of one problem that was solved."""
    numbers, duals, partners = rooms
    scale, total = numbers.item(SCALE), numbers.item(TOTAL)
    if n <= m:
        columns, row_dual, col_dual = partners[:n], duals[:n], duals[n:]
    else:
        columns, row_dual, col_dual = partners[m:], duals[m:], duals[:m]
    return _make_result((columns, scale, numbers[0, SHIFT:], total, row_dual, col_dual, objective, *_REST))


@cache
def _one_size(n: int, m: int) -> IntArray:
    return np.array([(n, m)])


def match_small(
    x: FloatArray, y: FloatArray, sizes: IntArray, objective: str, affine: Affine | None
) -> list[MatchResult | None]:
    """Match small sets by "lsl" or "lss", standardised unless a map is given.

    The sets of all problems follow each other in `x` and in `y`; `sizes` holds the numbers of their points, a
    row (n, m) for each problem. None in place of a result: another route is to be tried.
    """
    rooms = numbers, duals, partners = make_rooms(len(x) + len(y), len(sizes), x.shape[1], affine)
    _match_all(x, y, sizes, objective == "lsl", or_default(None).most_small_pairs // _NOT_SMALLEST, *rooms)
    n, m = sizes[0].tolist()
    if (sizes == sizes[0]).all():
        # Views of equally large problems are made at once. The smaller set comes first.
        split = (slice(n), slice(n, None)) if n <= m else (slice(m, None), slice(m))
        table = duals.reshape(-1, n + m)
        columns = list(partners.reshape(-1, n + m)[:, split[0]])
        row_dual, col_dual = list(table[:, split[0]]), list(table[:, split[1]])
    else:
        ends = np.cumsum(sizes.sum(axis=1))
        cuts = np.stack([ends - sizes.max(axis=1), ends], axis=1).ravel()[:-1]
        pieces, others = np.split(partners, cuts), np.split(duals, cuts)
        columns, row_dual, col_dual = pieces[::2], others[::2], others[1::2]
        for p in np.flatnonzero(sizes[:, 0] > sizes[:, 1]).tolist():
            columns[p], row_dual[p], col_dual[p] = pieces[2 * p + 1], col_dual[p], row_dual[p]
    scales, totals = numbers[:, SCALE].tolist(), numbers[:, TOTAL].tolist()
    constants = map(repeat, (objective, *_REST))
    fields = zip(columns, scales, numbers[:, SHIFT:], totals, row_dual, col_dual, *constants)  # noqa: B905
    results: list[MatchResult | None] = list(map(_make_result, fields))
    for p in np.flatnonzero(numbers[:, SCALE] == NOT_ORDINARY).tolist():
        results[p] = None
    return results


#: A result from all its fields: what a named tuple does itself, but quicker.
_make_result: Callable[[tuple[Any, ...]], MatchResult] = partial(tuple.__new__, MatchResult)
#: The fields after the objective.
_REST = (None, *MatchResult._field_defaults.values())


def make_rooms(points: int, problems: int, d: int, affine: Affine | None) -> Rooms:
    """Make arrays for what is known of each problem, for all duals, and for all partners."""
    numbers = np.zeros((problems, SHIFT + d))
    if affine is not None:
        numbers[:, SCALE], numbers[:, SHIFT:] = affine
    return numbers, np.empty(points), np.empty(points, _INDEX)


@kernel
def _match_all(x, y, sizes, logarithm, most_pairs, numbers, duals, partners):
    """Solve all problems. The smaller set is that of the rows; duals and partners are rows and then columns.

    Rows are matched to their nearest columns; where several have the same one, the first gets it. If many are
    free then, they are reduced first; each that is left is matched along a shortest path.
    """
    d, rows, columns = x.shape[1], 0, 0
    for p in range(sizes.shape[0]):
        rows = max(rows, min(sizes[p, 0], sizes[p, 1]))
        columns = max(columns, max(sizes[p, 0], sizes[p, 1]))
    # Whole vectors of points, and whole groups of coordinates.
    rows += -rows % FEW
    columns += -columns % VECTOR
    lines = d + -d % TOGETHER
    room = columns + VECTOR
    a, b, cost = np.empty((lines, room)), np.empty((lines, room)), np.empty((rows, columns))
    work, indices = np.empty((6, d)), np.empty(2 * room, np.int64)
    least, lengths, nearest = np.empty(room), np.empty(room), np.empty(room, np.int64)
    is_square = np.empty(room, np.bool_)
    for k in range(d, lines):
        for j in range(room):
            a[k, j] = 0.0
            b[k, j] = 0.0
    x_stop = y_stop = out = 0
    for p in range(sizes.shape[0]):
        x_start, y_start = x_stop, y_stop
        x_stop += sizes[p, 0]
        y_stop += sizes[p, 1]
        x_part, y_part = x[x_start:x_stop], y[y_start:y_stop]
        offset_square = align_small(x_part, y_part, numbers[p], work, a, b)
        turned = sizes[p, 0] > sizes[p, 1]
        n, m = min(sizes[p, 0], sizes[p, 1]), max(sizes[p, 0], sizes[p, 1])
        start, middle, out = out, out + n, out + n + m
        for k in range(start, out):
            duals[k] = 0.0
            partners[k] = -1
        if numbers[p, SCALE] == NOT_ORDINARY:
            continue
        width = m + -m % VECTOR
        fill = a if turned else b
        for j in range(m, width):
            fill[0, j] = np.inf
            for k in range(1, d):
                fill[k, j] = 0.0
        square_rows(b if turned else a, fill, n, width, cost, nearest, least, lengths)
        for i in range(n):
            limit = CLOSE * (lengths[i] + offset_square)
            if least[i] < limit:
                nearest[i] = _restore(x_part, y_part, turned, i, m, numbers[p], limit, cost[i])
                least[i] = cost[i, nearest[i]]
        row_dual = duals[start:middle]
        if logarithm:
            coincide = False
            for i in range(n):
                coincide |= least[i] < numbers[p, FLOOR]
            if coincide and not lower_floor(x_part, y_part, numbers[p]):
                numbers[p, SCALE] = NOT_ORDINARY
                continue
        floor = numbers[p, FLOOR]
        if logarithm:
            take_logarithms(least, n, floor)
        for i in range(n):
            row_dual[i] = least[i]
        col_dual, col_of_row, row_of_col = duals[middle:out], partners[start:middle], partners[middle:out]
        free = take_nearest(nearest, col_of_row, row_of_col)
        if free:
            numbers[p, CLASHES] = FEW_CLASH if _FEW * free <= n else MANY_CLASH
            nearly_all = _NEARLY_ALL if logarithm else _NEARLY_ALL_BY_SQUARES
            if free > nearly_all * n and n * m > most_pairs:
                numbers[p, SCALE] = NOT_ORDINARY
                continue
            if numbers[p, CLASHES] == MANY_CLASH:
                free = reduce_small(
                    cost, logarithm, floor, row_dual, col_dual, col_of_row, row_of_col, nearest
                )
            if free:
                are_squares = logarithm and numbers[p, CLASHES] == FEW_CLASH
                # What is not needed any more serves again, coordinates included.
                spare = (least, lengths, a[0], b[0], is_square, nearest, indices)
                augment_small(cost, are_squares, floor, row_dual, col_dual, col_of_row, row_of_col, spare)
        total = 0.0
        for k in range(start, out):
            total += duals[k]
        numbers[p, TOTAL] = total


@step_kernel
def _restore(x, y, turned, row, m, numbers, limit, squares):
    """Compute squared distances of a row below the limit anew, without rounding errors; find the nearest."""
    best, at = limit, -1
    for block in range(0, m, _BLOCK):
        # A vector loop: most blocks have none.
        part, below = squares[block : min(block + _BLOCK, m)], False
        for j in range(part.size):
            below |= part[j] < limit
        if below:
            for j in range(part.size):
                if part[j] < limit:
                    i = block + j if turned else row
                    other = row if turned else block + j
                    part[j] = exact_square(x, i, y, other, numbers)
                    if part[j] < best:
                        best, at = part[j], block + j
    if at < 0:
        # Only rounding errors were below the limit.
        at = 0
        for j in range(1, m):
            at = j if squares[j] < squares[at] else at
    return at
