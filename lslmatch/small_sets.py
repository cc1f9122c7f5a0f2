"""Small sets: the short way from coordinates to dual variables, for many problems at a time.

For a few dozen points, :func:`lslmatch.matching.match` would take more time between its steps than in them.
Here the same steps are taken by kernels that solve one problem after the other and take little time to be
compiled: arrays of all problems, plain loops. Where every point has a nearest partner of its own, those of
:mod:`lslmatch.assignment.small_dense` are not needed, nor the logarithm of any other pair. What is out of the
ordinary (units beyond 2**100, points that all coincide or are not finite) is left to the long way, which
also says what is wrong with it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lslmatch._jit import fused_kernel, kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_affine
from lslmatch.assignment.settings import or_default
from lslmatch.assignment.small_dense import solve_conflicts
from lslmatch.costs import COINCIDENT, log_kernel
from lslmatch.results import Affine, MatchResult

#: Coordinates of pairs up to which the short way is the quicker one.
_MOST_COORDINATES = 1 << 22
#: Units are ordinary powers of two up to this one, and down to its inverse.
_GREATEST_UNIT = 2.0**100
#: Mean squared difference of coordinates, beside the greatest one, below which their rounding errors count.
_CLOSE = 2.0**-6
#: In place of a scale: it is to be estimated; the problem is not ordinary.
_UNKNOWN, _NOT_ORDINARY = 0.0, -1.0
#: Columns that are examined together where close points, or the nearest, are looked for.
_BLOCK = 32
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
    if count > limits.small_pairs or count > limits.dense_pairs or count * shape[1] > _MOST_COORDINATES:
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
    if type(points) is not np.ndarray or points.dtype != np.float64 or points.ndim != ndim:
        return False
    return bool(points.flags.carray) and points.shape[-2] >= 2 and points.shape[-1] >= 1


def given_affine(alignment: str | Affine, d: int) -> Affine | None:
    """Return the map that an alignment stands for; None if it is to be estimated."""
    if not isinstance(alignment, str):
        return check_affine(alignment, "alignment", d)
    return None if alignment == "standardize" else Affine(1.0, np.zeros(d))


def match_one(x: FloatArray, y: FloatArray, objective: str, alignment: str | Affine) -> MatchResult | None:
    """Match two small sets; None: go the long way."""
    sizes = np.array([(len(x), len(y))])
    return match_small(x, y, sizes, objective, given_affine(alignment, x.shape[1]))[0]


def match_small(
    x: FloatArray, y: FloatArray, sizes: IntArray, objective: str, affine: Affine | None
) -> list[MatchResult | None]:
    """Match small sets by "lsl" or "lss", standardised unless a map is given.

    The sets of all problems follow each other in `x` and in `y`; `sizes` holds the numbers of their points, a
    row (n, m) for each problem. None in place of a result: go the long way.
    """
    shapes, d = sizes.tolist(), x.shape[1]
    numbers = np.zeros((len(shapes), d + 2))
    if affine is not None:
        numbers[:, 0], numbers[:, 2:] = affine
    a, b = np.empty((2, *x.shape)), np.empty((2, *y.shape))
    limits = np.empty((len(shapes), 2))
    _align_all(x, y, sizes, numbers, limits, a, b)
    duals, partners = np.zeros(len(x) + len(y)), np.full(len(x) + len(y), -1)
    cost, most = np.empty(sum([n * m for n, m in shapes])), max(map(max, shapes))
    logarithm = objective == "lsl"
    conflicts = _find_nearest_all(a, b, sizes, most, limits, logarithm, numbers, duals, partners, cost)
    if conflicts:
        solve_conflicts(cost, sizes, most, limits[:, 0], logarithm, duals, partners, numbers[:, 1])
    results: list[MatchResult | None] = []
    start = 0
    for (n, m), row in zip(shapes, numbers, strict=True):
        middle, end = start + min(n, m), start + n + m
        first, second = slice(start, middle), slice(middle, end)
        start = end
        if n > m:
            first, second = second, first
        scale, total = row[:2].tolist()
        if scale == _NOT_ORDINARY:
            results.append(None)
            continue
        results.append(
            MatchResult(partners[first], scale, row[2:], total, duals[first], duals[second], objective, None)
        )
    return results


@kernel
def _align_all(x, y, sizes, numbers, limits, a, b):
    """Estimate scale and shift if they are not given, and bring the sets into common coordinates.

    `numbers` has for each problem the scale, the sum of the costs, and the shift; the results are those of
    `estimate_affine` and, but for the unit, of `common_coordinates`: `a` and `b` hold coordinates and their
    rounding errors. `limits` has the floor of squared distances, and from where on they are close.
    """
    d = x.shape[1]
    mean, correction, squares = np.empty(d), np.empty(d), np.empty(d)
    x_stop = y_stop = 0
    for p in range(sizes.shape[0]):
        x_start, y_start = x_stop, y_stop
        x_stop, y_stop = x_start + sizes[p, 0], y_start + sizes[p, 1]
        scale = numbers[p, 0]
        numbers[p, 0] = _NOT_ORDINARY
        limits[p, 0] = limits[p, 1] = 0.0
        # Of bit patterns without the sign, those of what is not finite are the greatest.
        bits = np.int64(0)
        for side in range(2):
            points, start, stop = (x, x_start, x_stop) if side == 0 else (y, y_start, y_stop)
            for i in range(start, stop):
                for k in range(d):
                    seen_bits = np.float64(points[i, k]).view(np.int64) & _GREATEST_BITS
                    bits = seen_bits if seen_bits > bits else bits
        if not np.int64(bits).view(np.float64) < _GREATEST_UNIT:
            continue
        if scale == _UNKNOWN:
            x_total = total = 0.0
            for side in range(2):
                points, start, stop = (x, x_start, x_stop) if side == 0 else (y, y_start, y_stop)
                x_total = total
                for k in range(d):
                    mean[k] = correction[k] = squares[k] = 0.0
                for i in range(start, stop):
                    for k in range(d):
                        mean[k] += points[i, k] - points[start, k]
                for k in range(d):
                    mean[k] /= stop - start
                # The second pass corrects what the first rounded.
                for i in range(start, stop):
                    for k in range(d):
                        deviation = points[i, k] - points[start, k] - mean[k]
                        correction[k] += deviation
                        squares[k] += deviation * deviation
                total = 0.0
                for k in range(d):
                    total += squares[k] - correction[k] * (correction[k] / (stop - start))
                    mean[k] = points[start, k] + (mean[k] + correction[k] / (stop - start))
                    numbers[p, 2 + k] = mean[k] if side == 0 else numbers[p, 2 + k]
            if x_total > 0.0 and total > 0.0:
                scale = math.sqrt(x_total / total * (sizes[p, 1] / sizes[p, 0]))
                for k in range(d):
                    numbers[p, 2 + k] -= scale * mean[k]
        greatest = 0.0
        for k in range(d):
            greatest = max(greatest, abs(numbers[p, 2 + k]))
            mean[k] = 0.0
        for i in range(x_start, x_stop):
            for k in range(d):
                mean[k] += x[i, k] - x[x_start, k]
        for k in range(d):
            mean[k] = x[x_start, k] + mean[k] / (x_stop - x_start)
            # Knuth's sum: rounded, and the exact error of that.
            term = numbers[p, 2 + k]
            squares[k] = term - mean[k]
            seen = squares[k] - term
            correction[k] = (term - (squares[k] - seen)) + (-mean[k] - seen)
        if not (1.0 / _GREATEST_UNIT < scale < _GREATEST_UNIT and greatest < _GREATEST_UNIT):
            continue
        bits, floor = np.int64(0), 0.0
        for i in range(x_start, x_stop):
            for k in range(d):
                term = x[i, k]
                total = term - mean[k]
                seen = total - term
                a[0, i, k], a[1, i, k] = total, (term - (total - seen)) + (-mean[k] - seen)
                floor += total * total
                seen_bits = np.float64(total).view(np.int64) & _GREATEST_BITS
                bits = seen_bits if seen_bits > bits else bits
        # Veltkamp's halves of the scale, for Dekker's product.
        shifted = 134217729.0 * scale
        scale_high = shifted - (shifted - scale)
        scale_low = scale - scale_high
        for i in range(y_start, y_stop):
            for k in range(d):
                value = y[i, k]
                product = scale * value
                shifted = 134217729.0 * value
                high = shifted - (shifted - value)
                low = value - high
                error = (scale_high * high - product) + scale_high * low + scale_low * high
                error += scale_low * low
                total = product + squares[k]
                seen = total - product
                rest = (product - (total - seen)) + (squares[k] - seen) + (error + correction[k])
                value = total + rest
                seen = value - total
                b[0, i, k], b[1, i, k] = value, (total - (value - seen)) + (rest - seen)
                floor += value * value
                seen_bits = np.float64(value).view(np.int64) & _GREATEST_BITS
                bits = seen_bits if seen_bits > bits else bits
        unit = np.int64(bits).view(np.float64)
        if 1.0 / _GREATEST_UNIT < unit < _GREATEST_UNIT:
            numbers[p, 0] = scale
            limits[p, 0] = floor / (sizes[p, 0] + sizes[p, 1]) * COINCIDENT
            limits[p, 1] = _CLOSE * d * unit * unit


@kernel
def _find_nearest_all(a, b, sizes, most, limits, logarithm, numbers, duals, partners, cost):
    """Compute squared distances, the smaller set as rows, and match those whose nearest columns differ.

    Returns how many problems were not matched: their partners are -1.
    """
    d = a.shape[2]
    across = np.empty((d, most))
    a_start = b_start = np.int64(0)
    out = begin = conflicts = 0
    for p in range(sizes.shape[0]):
        turned = sizes[p, 0] > sizes[p, 1]
        n, m = (sizes[p, 1], sizes[p, 0]) if turned else (sizes[p, 0], sizes[p, 1])
        rows, others = (b, a) if turned else (a, b)
        row_start, start = (b_start, a_start) if turned else (a_start, b_start)
        row_of_col = partners[out + n : out + n + m]
        floor, close, total, alone = limits[p, 0], limits[p, 1], 0.0, numbers[p, 0] != _NOT_ORDINARY
        conflicts += alone
        for j in range(m):
            for k in range(d):
                across[k, j] = others[0, start + j, k]
        for i in range(n):
            squares = cost[begin + i * m : begin + (i + 1) * m]
            if numbers[p, 0] == _NOT_ORDINARY:
                break
            j = _square_row(rows, row_start + i, across, close, others, start, squares)
            if alone:
                least = squares[j]
                alone = row_of_col[j] < 0
                row_of_col[j], partners[out + i] = i, j
                if logarithm:
                    least = log_kernel(least if least > floor else floor)
                duals[out + i] = least
                total += least
        numbers[p, 1] = total
        if alone:
            conflicts -= 1
        else:
            for k in range(out, out + n + m):
                partners[k] = -1
        a_start, b_start = a_start + sizes[p, 0], b_start + sizes[p, 1]
        out, begin = out + n + m, begin + n * m
    return conflicts


@fused_kernel
def _square_row(rows, i, across, close, others, start, squares):
    """Fill `squares` with squared distances of a row, those of close points with rounding errors.

    Returns the column of the least of them.
    """
    d, m = across.shape[0], squares.size
    for j in range(m):
        squares[j] = 0.0
    # Four coordinates at a time, so that sums are loaded and stored less often.
    for k in range(0, d - 3, 4):
        p0, p1, p2, p3 = rows[0, i, k], rows[0, i, k + 1], rows[0, i, k + 2], rows[0, i, k + 3]
        for j in range(m):
            d0, d1 = p0 - across[k, j], p1 - across[k + 1, j]
            d2, d3 = p2 - across[k + 2, j], p3 - across[k + 3, j]
            squares[j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
    for k in range(d - d % 4, d):
        p0 = rows[0, i, k]
        for j in range(m):
            d0 = p0 - across[k, j]
            squares[j] += d0 * d0
    for _ in range(2):
        # The least by its bit pattern, so that this is a vector loop.
        bits = _GREATEST_BITS
        for j in range(m):
            seen = np.float64(squares[j]).view(np.int64)
            bits = seen if seen < bits else bits
        least = np.int64(bits).view(np.float64)
        if least >= close:
            break
        best, nearest = close, -1
        for block in range(0, m, _BLOCK):
            end = block + _BLOCK if block + _BLOCK < m else m
            hits = 0
            for j in range(block, end):
                hits += squares[j] < close
            if hits == 0:
                continue
            for j in range(block, end):
                if squares[j] < close:
                    total = 0.0
                    for k in range(d):
                        rest = rows[0, i, k] - others[0, start + j, k]
                        rest += rows[1, i, k] - others[1, start + j, k]
                        total += rest * rest
                    squares[j] = total
                    if total < best:
                        best, nearest = total, j
        if nearest >= 0:
            return nearest
    j = 0
    while squares[j] != least:
        j += 1
    return j
