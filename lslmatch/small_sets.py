"""Small sets: the short way from coordinates to dual variables, for many problems at a time.

For a few dozen points, :func:`lslmatch.matching.match` would take more time between its steps than in them.
Here the same steps are taken by one kernel, which solves one problem after the other in the same memory and
takes little time to be compiled: arrays of all problems, plain loops. Where every point has a nearest partner
of its own, the logarithm of no other pair is needed. What is out of the ordinary (units beyond 2**100, points
that all coincide or are not finite) is left to the long way, which also says what is wrong with it. So are
larger sets in which many points have the same nearest partner.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import repeat
from typing import Any

import numpy as np

from lslmatch._jit import kernel, step_kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_affine
from lslmatch.assignment.settings import SolverSettings, or_default
from lslmatch.assignment.small_coordinates import CLOSE, NOT_ORDINARY, align_small, exact_residual
from lslmatch.assignment.small_dense import (
    FEW_FREE,
    FLOOR,
    FREE,
    MANY_FREE,
    SCALE,
    SHIFT,
    TOTAL,
    augment_small,
    reduce_small,
    take_logarithms,
)
from lslmatch.assignment.small_squares import FEW, TOGETHER, VECTOR, square_rows
from lslmatch.assignment.wide_sets import match_wide
from lslmatch.results import Affine, MatchResult

#: Pairs of points on a line from which on squared distances are matched quicker by sorting.
_FEW_ON_LINE = 100**2
#: One of so many rows, or fewer, may be free if they are to be matched without reductions.
_FEW = 8
#: Dimensions in which sets that are difficult are so for the long way, too.
_PLANE = 2
#: Larger sets go the long way if more than this share of the rows is free. So do smaller ones if nearly all
#: are, by logarithms or by squares: such sets are far apart, which the long way can make use of.
_MANY, _NEARLY_ALL, _NEARLY_ALL_BY_SQUARES = 0.25, 0.99, 0.85
#: Rows of larger sets that are looked at first; one of so many of them may have another's nearest column.
_LOOKED_AT, _FEW_OF_LOOKED_AT = 192, 32
#: Columns that are examined together where close points are looked for.
_BLOCK = 32
_FLOAT, _INDEX = np.dtype(np.float64), np.dtype(np.intp)


def is_short(
    shape: tuple[int, ...],
    m: int,
    objective: str = "lsl",
    alignment: str | Affine = "standardize",
    covariance: Any = "isotropic",
    pairs: Any = "all",
    noise: Any = None,
) -> bool:
    """Say whether an (n, d) set and one of m points may be small, and are matched in a way known here."""
    n, d = shape
    count, limits = n * m, or_default(None)
    if count > limits.easy_pairs or not limits.dense_pairs:
        return False
    if count * d > limits.short_coordinates and not _is_wide(count, d, limits):
        return False
    if not (isinstance(covariance, str) and covariance == "isotropic" and noise is None):
        return False
    if not (isinstance(pairs, str) and pairs == "all" and objective in ("lsl", "lss")):
        return False
    if d == 1 and objective == "lss" and count > _FEW_ON_LINE:
        return False
    return (
        alignment in ("standardize", "identity")
        if isinstance(alignment, str)
        else isinstance(alignment, tuple)
    )


def _is_wide(count: int, d: int, limits: SolverSettings) -> bool:
    """Say whether there are so many dimensions that bounds of distances are tried first."""
    if not limits.wide_dimensions <= d <= limits.single_precision_dimensions:
        return False
    return count >= limits.wide_pairs and count * d >= limits.wide_coordinates


def are_plain(x: Any, y: Any) -> bool:
    """Say whether two sets are arrays as kernels want them, of points of the same dimension."""
    return is_plain(x) and is_plain(y) and x.shape[1] == y.shape[1]


def is_plain(points: Any, ndim: int = 2) -> bool:
    """Say whether a set, or a stack of sets, is such an array."""
    if type(points) is not np.ndarray or points.dtype is not _FLOAT or points.ndim != ndim:
        return False
    shape = points.shape
    return shape[-2] >= 2 and shape[-1] >= 1 and points.flags.carray


def given_affine(alignment: str | Affine, d: int) -> Affine | None:
    """Return the map that an alignment stands for; None if it is to be estimated."""
    if not isinstance(alignment, str):
        return check_affine(alignment, "alignment", d)
    return None if alignment == "standardize" else Affine(1.0, np.zeros(d))


def match_one(x: FloatArray, y: FloatArray, objective: str, alignment: str | Affine) -> MatchResult | None:
    """Match two small sets; None: go the long way."""
    n, m = len(x), len(y)
    affine = None if alignment == "standardize" else given_affine(alignment, x.shape[1])
    numbers, duals, partners = _solve(x, y, _one_size(n, m), objective, affine)
    scale, total = numbers[0, : TOTAL + 1].tolist()
    if scale == NOT_ORDINARY:
        return None
    if n <= m:
        columns, row_dual, col_dual = partners[:n], duals[:n], duals[n:]
    else:
        columns, row_dual, col_dual = partners[m:], duals[m:], duals[:m]
    fields = columns, scale, numbers[0, SHIFT:], total, row_dual, col_dual, objective, *_REST
    return _make_result(fields)


@cache
def _one_size(n: int, m: int) -> IntArray:
    return np.array([(n, m)])


def match_small(
    x: FloatArray, y: FloatArray, sizes: IntArray, objective: str, affine: Affine | None
) -> list[MatchResult | None]:
    """Match small sets by "lsl" or "lss", standardised unless a map is given.

    The sets of all problems follow each other in `x` and in `y`; `sizes` holds the numbers of their points, a
    row (n, m) for each problem. None in place of a result: go the long way.
    """
    numbers, duals, partners = _solve(x, y, sizes, objective, affine)
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


def _solve(
    x: FloatArray, y: FloatArray, sizes: IntArray, objective: str, affine: Affine | None
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Match small sets, and return what is known of each problem, all duals, and all partners."""
    size = len(x) + len(y)
    numbers = np.zeros((len(sizes), SHIFT + x.shape[1]))
    if affine is not None:
        numbers[:, SCALE], numbers[:, SHIFT:] = affine
    duals, partners = np.empty(size), np.empty(size, _INDEX)
    limits = or_default(None)
    if len(sizes) == 1 and _is_wide(count := len(x) * len(y), x.shape[1], limits):
        wide = numbers.copy()
        match_wide(x, y, objective == "lsl", wide[0], duals, partners)
        if wide[0, SCALE] != NOT_ORDINARY or count * x.shape[1] > limits.short_coordinates:
            return wide, duals, partners
    most = limits.short_pairs if x.shape[1] > _PLANE else limits.easy_pairs
    _match_all(x, y, sizes, objective == "lsl", most, numbers, duals, partners)
    return numbers, duals, partners


@kernel
def _match_all(x, y, sizes, logarithm, most_pairs, numbers, duals, partners):
    """Solve all problems. The smaller set is that of the rows; duals and partners are rows and then columns.

    Rows are matched to their nearest columns; where several have the same one, the first gets it. If many are
    free then, they are reduced first, unless there are too many pairs; each that is left is matched along a
    shortest path.
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
    work, indices = np.empty((4, d)), np.empty(2 * room, np.int64)
    least, lengths, reach, nearest = np.empty(room), np.empty(room), np.empty(room), np.empty(room, np.int64)
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
        apart = align_small(x_part, y_part, numbers[p], work, a, b)
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
        if n * m > most_pairs and n > 4 * _LOOKED_AT:
            # A look at some rows tells whether many will have the same nearest column. How many rows, is a
            # variable: for a constant, which has a type of its own, the step would be compiled once more.
            free, looked_at = 0, min(n, _LOOKED_AT)
            square_rows(b if turned else a, fill, looked_at, width, cost, nearest, least, lengths)
            for i in range(looked_at):
                free += partners[middle + nearest[i]] >= 0
                partners[middle + nearest[i]] = i
            for i in range(looked_at):
                partners[middle + nearest[i]] = -1
            if _FEW_OF_LOOKED_AT * free > looked_at:
                numbers[p, SCALE] = NOT_ORDINARY
                continue
        square_rows(b if turned else a, fill, n, width, cost, nearest, least, lengths)
        for i in range(n):
            limit = CLOSE * (lengths[i] + apart)
            if least[i] < limit:
                nearest[i] = _restore(x_part, y_part, turned, i, m, numbers[p], limit, cost[i])
                least[i] = cost[i, nearest[i]]
        floor, row_dual = numbers[p, FLOOR], duals[start:middle]
        if logarithm:
            take_logarithms(least, n, floor)
        total, free = 0.0, 0
        for i in range(n):
            j = nearest[i]
            row_dual[i] = least[i]
            if partners[middle + j] < 0:
                partners[middle + j] = i
                partners[start + i] = j
                total += least[i]
            else:
                free += 1
        if free:
            numbers[p, FREE] = FEW_FREE if _FEW * free <= n else MANY_FREE
            nearly_all = _NEARLY_ALL if logarithm else _NEARLY_ALL_BY_SQUARES
            if free > (_MANY if n * m > most_pairs else nearly_all) * n and 4 * n * m > most_pairs:
                numbers[p, SCALE] = NOT_ORDINARY
                continue
            col_dual, col_of_row, row_of_col = duals[middle:out], partners[start:middle], partners[middle:out]
            if numbers[p, FREE] == MANY_FREE:
                free = reduce_small(
                    cost, logarithm, floor, row_dual, col_dual, col_of_row, row_of_col, nearest
                )
            if free:
                lazy = logarithm and numbers[p, FREE] == FEW_FREE
                # What is not needed any more serves again, coordinates included.
                spare = (least, lengths, a[0], b[0], reach, nearest, indices)
                augment_small(cost, lazy, floor, row_dual, col_dual, col_of_row, row_of_col, spare, None)
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
                    total = 0.0
                    for k in range(x.shape[1]):
                        rest = exact_residual(x[i, k], y[other, k], numbers[SCALE], numbers[SHIFT + k])
                        total += rest * rest
                    part[j] = total
                    if part[j] < best:
                        best, at = part[j], block + j
    if at < 0:
        # Only rounding errors were below the limit.
        at = 0
        for j in range(1, m):
            at = j if squares[j] < squares[at] else at
    return at
