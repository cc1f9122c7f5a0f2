"""Small sets: the short way from coordinates to dual variables, for many problems at a time.

For a few dozen points, :func:`lslmatch.matching.match` would take more time between its steps than in them.
Here the same steps are taken by kernels that solve one problem after the other and take little time to be
compiled: flat arrays, plain loops, hardly a kernel that calls another. What is out of the ordinary (units
beyond 2**100, points that all coincide) is left to the long way, which also says what is wrong with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lslmatch._jit import kernel
from lslmatch._types import FloatArray
from lslmatch._validation import check_affine
from lslmatch.assignment.many_dense import augment_all, reduce_all
from lslmatch.assignment.settings import or_default
from lslmatch.costs import log_kernel
from lslmatch.results import Affine, MatchResult

#: Coordinates of pairs up to which the short way is the quicker one.
_MOST_COORDINATES = 1 << 22
#: Units are ordinary powers of two up to this one, and down to its inverse.
_GREATEST_EXPONENT = 100
#: Mean squared difference of coordinates below which the rounding errors of coordinates count.
_CLOSE = 2.0**-6


def goes_short_way(shape: tuple[int, ...], m: int, objective: str, alignment: str | Affine) -> bool:
    """Say whether an (n, d) set and one of m points are small, and matched in a way that is known here."""
    pairs, limits = shape[0] * m, or_default(None)
    small = pairs <= min(limits.small_pairs, limits.dense_pairs) and pairs * shape[1] <= _MOST_COORDINATES
    named = isinstance(alignment, str) and alignment in ("standardize", "identity")
    known = named or isinstance(alignment, tuple)
    return small and known and objective in ("lsl", "lss")


def given_affine(alignment: str | Affine, d: int) -> Affine | None:
    """Return the map that an alignment stands for; None if it is to be estimated."""
    if not isinstance(alignment, str):
        return check_affine(alignment, "alignment", d)
    return None if alignment == "standardize" else Affine(1.0, np.zeros(d))


def match_small(
    xs: Sequence[FloatArray], ys: Sequence[FloatArray], objective: str, affine: Affine | None
) -> list[MatchResult | None]:
    """Match small sets of one dimension by "lsl" or "lss", standardised unless a map is given.

    None in place of a result: go the long way.
    """
    count, d = len(xs), xs[0].shape[1]
    sizes = np.array([(len(x), len(y)) for x, y in zip(xs, ys, strict=True)])
    x, y = (xs[0], ys[0]) if count == 1 else (np.concatenate(xs), np.concatenate(ys))
    scale, shift = np.ones(count), np.zeros((count, d))
    if affine is None:
        _estimate_all(x, y, sizes, scale, shift)
    else:
        scale[:], shift[:] = affine
    a, a_low, b, b_low = (np.empty_like(points) for points in (x, x, y, y))
    exponent = np.empty(count, np.int64)
    _map_all(x, y, sizes, scale, shift, a, a_low, b, b_low, exponent)
    few, many = sizes.min(axis=1), sizes.max(axis=1)
    most = int(many.max())
    cost = np.empty(int((few * many).sum()))
    _price_all(a, a_low, b, b_low, sizes, exponent, objective == "lsl", most, cost)
    rows, cols = int(few.sum()), int(many.sum())
    duals, partners = np.zeros(rows + cols), np.full(rows + cols, -1)
    state = duals[:rows], duals[rows:], partners[:rows], partners[rows:]
    if reduce_all(cost, sizes, most, *state):
        augment_all(cost, sizes, most, *state)
    results: list[MatchResult | None] = []
    row = col = 0
    for k, (n, m) in enumerate(sizes.tolist()):
        ends = row + min(n, m), col + max(n, m)
        # Copies, so that one result does not hold the memory of all.
        u, v, col_of_row, row_of_col = (
            part[start:end].copy() for part, start, end in zip(state, (row, col) * 2, ends * 2, strict=True)
        )
        row, col = ends
        if abs(exponent[k]) > _GREATEST_EXPONENT:
            results.append(None)
            continue
        # Where unmatched, duals are 0.
        total = float(u.sum() + v.sum())
        if n > m:
            u, v, col_of_row = v, u, row_of_col
        results.append(
            MatchResult(col_of_row, float(scale[k]), shift[k].copy(), total, u, v, objective, None)
        )
    return results


@kernel
def _estimate_all(x, y, sizes, scale, shift):
    """Estimate scales and shifts as `estimate_affine` does; a scale of 0: not ordinary."""
    d = x.shape[1]
    means, deviations = np.empty((2, d)), np.empty((2, d))
    correction, squares = np.empty(d), np.empty(d)
    exponents, spreads, totals = np.empty(2, np.int64), np.empty(2, np.int64), np.empty(2)
    starts = np.zeros(2, np.int64)
    for p in range(sizes.shape[0]):
        for side in range(2):
            points = x if side == 0 else y
            first, count = starts[side], sizes[p, side]
            starts[side] += count
            greatest = spread = 0.0
            for i in range(first, first + count):
                for k in range(d):
                    greatest = max(greatest, abs(points[i, k]))
            exponents[side] = math.frexp(greatest)[1]
            factor = math.ldexp(1.0, -int(min(max(exponents[side], -1000), 1000)))
            for i in range(first, first + count):
                for k in range(d):
                    spread = max(spread, abs(points[i, k] * factor - points[first, k] * factor))
            spreads[side] = math.frexp(spread)[1]
            unit = math.ldexp(1.0, -int(min(max(spreads[side], -1000), 1000)))
            mean = deviations[side]
            for k in range(d):
                mean[k] = correction[k] = squares[k] = 0.0
            for i in range(first, first + count):
                for k in range(d):
                    mean[k] += (points[i, k] * factor - points[first, k] * factor) * unit
            for k in range(d):
                mean[k] /= count
            for i in range(first, first + count):
                for k in range(d):
                    deviation = (points[i, k] * factor - points[first, k] * factor) * unit - mean[k]
                    correction[k] += deviation
                    squares[k] += deviation * deviation
            total = 0.0
            for k in range(d):
                total += squares[k] - correction[k] * (correction[k] / count)
                mean[k] += correction[k] / count
                means[side, k] = points[first, k] * factor + mean[k] / unit
            totals[side] = total
        between = int(exponents[1] - exponents[0])
        power = int(spreads[0] - spreads[1]) - between
        most = max(
            abs(power),
            max(abs(exponents[0]), abs(exponents[1])),
            max(abs(spreads[0]), abs(spreads[1])),
        )
        scale[p] = 0.0
        if most <= _GREATEST_EXPONENT and totals[0] > 0.0 and totals[1] > 0.0:
            ratio = math.sqrt(totals[0] / totals[1] * (sizes[p, 1] / sizes[p, 0]))
            scale[p] = math.ldexp(ratio, power)
            relative, unit = math.ldexp(ratio, power + between), math.ldexp(1.0, int(exponents[0]))
            for k in range(d):
                shift[p, k] = (means[0, k] - relative * means[1, k]) * unit


@kernel
def _map_all(x, y, sizes, scale, shift, a, a_low, b, b_low, exponents):
    """Bring the sets into common coordinates as `common_coordinates` does; a great exponent: not ordinary."""
    d = x.shape[1]
    origin, offset, offset_low = np.empty(d), np.empty(d), np.empty(d)
    x_stop = y_stop = 0
    for p in range(sizes.shape[0]):
        x_start, y_start = x_stop, y_stop
        x_stop, y_stop = x_start + sizes[p, 0], y_start + sizes[p, 1]
        tau, power = math.frexp(scale[p])
        x_greatest = y_greatest = shift_greatest = 0.0
        for k in range(d):
            shift_greatest = max(shift_greatest, abs(shift[p, k]))
            for i in range(x_start, x_stop):
                x_greatest = max(x_greatest, abs(x[i, k]))
            for j in range(y_start, y_stop):
                y_greatest = max(y_greatest, abs(y[j, k]))
        exponent = math.frexp(max(x_greatest, shift_greatest))[1]
        if y_greatest > 0.0:
            exponent = max(exponent, math.frexp(y_greatest)[1] + power)
        exponent += 1
        exponents[p] = _GREATEST_EXPONENT + 1
        if not (max(abs(exponent), abs(power)) <= _GREATEST_EXPONENT and 0.0 < scale[p] < np.inf):
            continue
        factor, y_factor = math.ldexp(1.0, -exponent), math.ldexp(1.0, power - exponent)
        for k in range(d):
            total = 0.0
            for i in range(x_start, x_stop):
                total += x[i, k] * factor - x[x_start, k] * factor
            origin[k] = x[x_start, k] * factor + total / (x_stop - x_start)
            # Knuth's sum: rounded, and the exact error of that.
            term = shift[p, k] * factor
            offset[k] = term - origin[k]
            seen = offset[k] - term
            offset_low[k] = (term - (offset[k] - seen)) + (-origin[k] - seen)
        greatest = 0.0
        for i in range(x_start, x_stop):
            for k in range(d):
                term = x[i, k] * factor
                total = term - origin[k]
                seen = total - term
                a[i, k], a_low[i, k] = total, (term - (total - seen)) + (-origin[k] - seen)
                greatest = max(greatest, abs(total))
        # Veltkamp's halves of the scale, for Dekker's product.
        shifted = 134217729.0 * tau
        tau_high = shifted - (shifted - tau)
        tau_low = tau - tau_high
        for j in range(y_start, y_stop):
            for k in range(d):
                value = y[j, k] * y_factor
                product = tau * value
                shifted = 134217729.0 * value
                high = shifted - (shifted - value)
                low = value - high
                error = (tau_high * high - product) + tau_high * low + tau_low * high
                error += tau_low * low
                total = product + offset[k]
                seen = total - product
                rest = (product - (total - seen)) + (offset[k] - seen) + (error + offset_low[k])
                b[j, k] = total + rest
                seen = b[j, k] - total
                b_low[j, k] = (total - (b[j, k] - seen)) + (rest - seen)
                greatest = max(greatest, abs(b[j, k]))
        # A large common offset is gone now: what is left may be much smaller than the unit.
        extent = math.frexp(greatest)[1]
        if abs(extent) > _GREATEST_EXPONENT or abs(exponent + extent) > _GREATEST_EXPONENT:
            continue
        exponents[p] = exponent + extent
        factor = math.ldexp(1.0, -extent)
        for k in range(d):
            for i in range(x_start, x_stop):
                a[i, k] *= factor
                a_low[i, k] *= factor
            for j in range(y_start, y_stop):
                b[j, k] *= factor
                b_low[j, k] *= factor


@kernel
def _price_all(a, a_low, b, b_low, sizes, exponents, logarithm, most, cost):
    """Compute all costs from differences of coordinates, the smaller set as rows; 0 if not ordinary."""
    d = a.shape[1]
    across, squares = np.empty((d, most)), np.empty(most)
    a_start = b_start = out = 0
    for p in range(sizes.shape[0]):
        n, m = sizes[p, 0], sizes[p, 1]
        turned = n > m
        rows, rows_low, row_start, row_count = (b, b_low, b_start, m) if turned else (a, a_low, a_start, n)
        others, others_low, start, count = (a, a_low, a_start, n) if turned else (b, b_low, b_start, m)
        if abs(exponents[p]) > _GREATEST_EXPONENT:
            for k in range(out, out + n * m):
                cost[k] = 0.0
            a_start, b_start, out = a_start + n, b_start + m, out + n * m
            continue
        # The floor is that of `log_rule`: relative to the mean squared distance from the mean of a.
        total = 0.0
        for k in range(d):
            mean = 0.0
            for i in range(a_start, a_start + n):
                mean += a[i, k]
            mean /= n
            for i in range(a_start, a_start + n):
                total += (a[i, k] - mean) * (a[i, k] - mean)
            for j in range(b_start, b_start + m):
                total += (b[j, k] - mean) * (b[j, k] - mean)
            for j in range(count):
                across[k, j] = others[start + j, k]
        floor, constant = total / (n + m) * 2.0**-104, 2.0 * exponents[p] * math.log(2.0)
        if floor == 0.0:
            floor, constant = 1.0, 0.0
        unit = math.ldexp(1.0, 2 * int(exponents[p]))
        for i in range(row_start, row_start + row_count):
            for j in range(count):
                squares[j] = 0.0
            # Four coordinates at a time, so that sums are loaded and stored less often.
            for k in range(0, d - 3, 4):
                h0, h1, h2, h3 = rows[i, k], rows[i, k + 1], rows[i, k + 2], rows[i, k + 3]
                for j in range(count):
                    d0, d1 = h0 - across[k, j], h1 - across[k + 1, j]
                    d2, d3 = h2 - across[k + 2, j], h3 - across[k + 3, j]
                    squares[j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
            for k in range(d - d % 4, d):
                h0 = rows[i, k]
                for j in range(count):
                    d0 = h0 - across[k, j]
                    squares[j] += d0 * d0
            for j in range(count):
                if squares[j] < _CLOSE * d:
                    square = 0.0
                    for k in range(d):
                        difference = rows[i, k] - others[start + j, k]
                        difference += rows_low[i, k] - others_low[start + j, k]
                        square += difference * difference
                    squares[j] = square
            if logarithm:
                for j in range(count):
                    square = squares[j] if squares[j] > floor else floor
                    cost[out + j] = log_kernel(square) + constant
            else:
                for j in range(count):
                    cost[out + j] = squares[j] * unit
            out += count
        a_start, b_start = a_start + n, b_start + m
