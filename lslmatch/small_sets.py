"""Small sets: the short way from coordinates to dual variables, for many problems at a time.

For a few dozen points, :func:`lslmatch.matching.match` would take more time between its steps than in them.
Here the same steps are taken by kernels that solve one problem after the other and take little time to be
compiled: arrays of all problems, plain loops. One kernel goes from coordinates to nearest partners; where
every point has one of its own, those of :mod:`lslmatch.assignment.small_dense` are not needed, nor the
logarithm of any other pair. What is out of the ordinary (units beyond 2**100, points that all coincide or
are not finite) is left to the long way, which also says what is wrong with it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from lslmatch._jit import fused_kernel, kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_affine
from lslmatch.alignment.small import NOT_ORDINARY, align_small
from lslmatch.assignment.settings import or_default
from lslmatch.assignment.small_dense import (
    FEW_FREE,
    FLOOR,
    FREE,
    MANY_FREE,
    NONE_FREE,
    SCALE,
    SHIFT,
    TOTAL,
    solve_conflicts,
)
from lslmatch.costs import log_kernel
from lslmatch.results import Affine, MatchResult

#: Squared distance, beside the squared distance from the origin, below which rounding errors of coordinates
#: count: two points that are farther from each other are not much farther from the origin.
_CLOSE = 2.0**-6
#: Pairs of points on a line from which on squared distances are matched quicker by sorting.
_FEW_ON_LINE = 100**2
#: One of so many rows, or fewer, may be free if they are to be matched without reductions.
_FEW = 8
#: Columns that are examined together where close points, or the nearest, are looked for.
_BLOCK = 32
_FLOAT = np.dtype(np.float64)
_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


def is_short(
    shape: tuple[int, ...],
    m: int,
    objective: str = "lsl",
    alignment: str | Affine = "standardize",
    covariance: Any = "isotropic",
    pairs: Any = "all",
    noise: Any = None,
) -> bool:
    """Say whether an (n, d) set and one of m points are small, and matched in a way that is known here."""
    count, limits = shape[0] * m, or_default(None)
    if count > limits.short_pairs or count * shape[1] > limits.short_coordinates or not limits.dense_pairs:
        return False
    if shape[1] == 1 and objective == "lss" and count > _FEW_ON_LINE:
        return False
    if not (isinstance(covariance, str) and covariance == "isotropic" and noise is None):
        return False
    if not (isinstance(pairs, str) and pairs == "all" and objective in ("lsl", "lss")):
        return False
    return (
        alignment in ("standardize", "identity")
        if isinstance(alignment, str)
        else isinstance(alignment, tuple)
    )


def are_plain(x: Any, y: Any) -> bool:
    """Say whether two sets are arrays as kernels want them, of points of the same dimension."""
    return is_plain(x) and is_plain(y) and x.shape[-1] == y.shape[-1]


def is_plain(points: Any, ndim: int = 2) -> bool:
    """Say whether a set, or a stack of sets, is such an array."""
    if type(points) is not np.ndarray or points.dtype != _FLOAT or points.ndim != ndim:
        return False
    return points.flags.carray and points.shape[-2] >= 2 and points.shape[-1] >= 1


def given_affine(alignment: str | Affine, d: int) -> Affine | None:
    """Return the map that an alignment stands for; None if it is to be estimated."""
    if not isinstance(alignment, str):
        return check_affine(alignment, "alignment", d)
    return None if alignment == "standardize" else Affine(1.0, np.zeros(d))


def match_one(x: FloatArray, y: FloatArray, objective: str, alignment: str | Affine) -> MatchResult | None:
    """Match two small sets; None: go the long way."""
    n, m = len(x), len(y)
    affine = None if alignment == "standardize" else given_affine(alignment, x.shape[1])
    numbers, duals, partners = _solve(x, y, _one_size(n, m), n * m, objective, affine)
    scale, total = numbers[0, : TOTAL + 1].tolist()
    if scale == NOT_ORDINARY:
        return None
    if n <= m:
        columns, row_dual, col_dual = partners[:n], duals[:n], duals[n:]
    else:
        columns, row_dual, col_dual = partners[m:], duals[m:], duals[:m]
    return MatchResult(columns, scale, numbers[0, SHIFT:], total, row_dual, col_dual, objective, None)


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
    numbers, duals, partners = _solve(x, y, sizes, int((sizes[:, 0] * sizes[:, 1]).sum()), objective, affine)
    ends = np.cumsum(sizes.sum(axis=1))
    # The smaller set comes first. Views of equally large problems are made at once.
    if (sizes == sizes[0]).all():
        problems, middle = len(sizes), int(sizes[0].min())
        sides = [
            [list(part[:, :middle]), list(part[:, middle:])]
            for part in (partners.reshape(problems, -1), duals.reshape(problems, -1))
        ]
    else:
        cuts = np.stack([ends - sizes.max(axis=1), ends], axis=1).ravel()[:-1]
        pieces = [np.split(part, cuts) for part in (partners, duals)]
        sides = [[some[::2], some[1::2]] for some in pieces]
    turned = (sizes[:, 0] > sizes[:, 1]).tolist()
    columns, row_dual, col_dual = sides[0][0], *sides[1]
    for p in range(len(turned)):
        if turned[p]:
            columns[p], row_dual[p], col_dual[p] = sides[0][1][p], col_dual[p], row_dual[p]
    scales, totals = numbers[:, SCALE].tolist(), numbers[:, TOTAL].tolist()
    shifts = list(numbers[:, SHIFT:])
    rest = (objective, None, *MatchResult._field_defaults.values())
    return [
        None if fields[1] == NOT_ORDINARY else MatchResult._make(fields + rest)
        for fields in zip(columns, scales, shifts, totals, row_dual, col_dual, strict=True)
    ]


def _solve(
    x: FloatArray, y: FloatArray, sizes: IntArray, pairs: int, objective: str, affine: Affine | None
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Match small sets, and return what is known of each problem, all duals, and all partners."""
    problems, size, logarithm = len(sizes), len(x) + len(y), objective == "lsl"
    numbers = np.zeros((problems, SHIFT + x.shape[1]))
    if affine is not None:
        numbers[:, SCALE], numbers[:, SHIFT:] = affine
    duals, partners, cost = np.empty(size), np.empty(size, np.intp), np.empty(pairs)
    most_free = _match_nearest(x, y, sizes, logarithm, numbers, duals, partners, cost)
    if most_free != NONE_FREE:
        solve_conflicts(cost, sizes, logarithm, most_free == MANY_FREE, numbers, duals, partners)
    return numbers, duals, partners


@kernel
def _match_nearest(x, y, sizes, logarithm, numbers, duals, partners, cost):
    """Align sets, compute squared distances, the smaller set as rows, and match rows to nearest columns.

    Where several rows have the same one, the first gets it. If many rows are free then, nothing is matched.
    The numbers say which it was; the most of all problems is returned.
    """
    d, most, most_free = x.shape[1], 0, NONE_FREE
    for p in range(sizes.shape[0]):
        most = max(most, sizes[p, 0], sizes[p, 1])
    work = np.empty((4, d))
    a, b, across, nearest = (
        np.empty((2, most, d)),
        np.empty((2, most, d)),
        np.empty((d, most)),
        np.empty(most, np.int64),
    )
    x_stop = y_stop = begin = out = 0
    for p in range(sizes.shape[0]):
        x_start, y_start, x_stop, y_stop = x_stop, y_stop, x_stop + sizes[p, 0], y_stop + sizes[p, 1]
        align_small(x, x_start, x_stop, y, y_start, y_stop, numbers[p], work, a, b)
        turned = sizes[p, 0] > sizes[p, 1]
        n, m = (sizes[p, 1], sizes[p, 0]) if turned else (sizes[p, 0], sizes[p, 1])
        for k in range(out, out + n + m):
            duals[k], partners[k] = 0.0, -1
        floor, free, total, waiting = numbers[p, FLOOR], NONE_FREE, 0.0, 0
        if numbers[p, SCALE] != NOT_ORDINARY:
            rows, others = (b, a) if turned else (a, b)
            _square_rows(rows, others, n, m, across, cost[begin : begin + n * m], nearest)
            for i in range(n):
                j = nearest[i]
                least = cost[begin + i * m + j]
                if logarithm:
                    least = log_kernel(max(least, floor))
                duals[out + i] = least
                if partners[out + n + j] < 0:
                    partners[out + n + j], partners[out + i] = i, j
                    total += least
                else:
                    waiting += 1
        if waiting:
            free = FEW_FREE if _FEW * waiting <= n else MANY_FREE
            most_free = max(most_free, free)
            if free == MANY_FREE:
                for k in range(out, out + n + m):
                    partners[k] = -1
        numbers[p, TOTAL], numbers[p, FREE] = total, free
        begin, out = begin + n * m, out + n + m
    return most_free


@fused_kernel
def _square_rows(rows, others, n, m, across, squares, nearest):
    """Fill `squares` with squared distances, those of close points with rounding errors; find the least."""
    d = across.shape[0]
    for j in range(m):
        for k in range(d):
            across[k, j] = others[0, j, k]
    for i in range(n):
        line, close = squares[i * m : (i + 1) * m], 0.0
        for k in range(d):
            close += rows[0, i, k] * rows[0, i, k]
        close *= _CLOSE
        for j in range(m):
            line[j] = 0.0
        # Four coordinates at a time, so that sums are loaded and stored less often.
        for k in range(0, d - 3, 4):
            p0, p1, p2, p3 = rows[0, i, k], rows[0, i, k + 1], rows[0, i, k + 2], rows[0, i, k + 3]
            for j in range(m):
                d0, d1 = p0 - across[k, j], p1 - across[k + 1, j]
                d2, d3 = p2 - across[k + 2, j], p3 - across[k + 3, j]
                line[j] = line[j] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        for k in range(d - d % 4, d):
            p0 = rows[0, i, k]
            for j in range(m):
                d0 = p0 - across[k, j]
                line[j] += d0 * d0
        least, where, best, at = _GREATEST_BITS, 0, close, -1
        for block in range(0, m, _BLOCK):
            part = line[block : block + _BLOCK]
            # The least by its bit pattern, so that this is a vector loop.
            bits = _GREATEST_BITS
            for j in range(part.size):
                seen = np.float64(part[j]).view(np.int64)
                bits = min(seen, bits)
            if bits < least:
                least, where = bits, block
            if np.int64(bits).view(np.float64) < close:
                for j in range(part.size):
                    if part[j] < close:
                        total = 0.0
                        for k in range(d):
                            rest = rows[0, i, k] - others[0, block + j, k]
                            rest += rows[1, i, k] - others[1, block + j, k]
                            total += rest * rest
                        part[j] = total
                        if total < best:
                            best, at = total, block + j
        if at < 0:
            # None is close, unless rounding errors decide that: then the least may be in any block.
            is_close = np.int64(least).view(np.float64) < close
            first, last = (0, m) if is_close else (where, min(where + _BLOCK, m))
            at = first
            for j in range(first + 1, last):
                at = j if line[j] < line[at] else at
        nearest[i] = at
