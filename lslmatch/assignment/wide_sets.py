"""Up to 2,000 points in many dimensions: from coordinates to dual variables in one kernel.

As in :mod:`lslmatch.assignment.small_sets`, rows are matched to their nearest columns, and those that are
left along shortest paths. But in many dimensions distances take nearly all of the time. So a product in
single precision gives lower bounds of all of them, where that suffices from a part of the coordinates, and
few are computed: those whose bounds are below the least distance that is known of the row, and more of rows
that a search comes to.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import kernel, single_bits_of, single_of, step_kernel, summing_kernel
from lslmatch.assignment.small_coordinates import (
    CLOSE,
    NOT_ORDINARY,
    exact_residual,
    lower_floor,
    settle_map,
)
from lslmatch.assignment.small_dense import (
    CLASHES,
    FEW_CLASH,
    FLOOR,
    LOST,
    SCALE,
    SHIFT,
    SPREAD,
    TOTAL,
    augment_small,
    take_logarithms,
)
from lslmatch.geometry.expansion import relative_error_kernel, underflow_error_kernel
from lslmatch.geometry.panels import FEW_ROWS, PANEL, expand_few_rows

#: Sets in which a greater share of the rows is free go another way; a look at the first rows tells.
_MANY, _LOOKED_AT = 0.25, 192
#: What is found: leading coordinates do not tell nearest columns from others, many conflicts, or neither.
_UNCLEAR, _MANY_CONFLICTS, _CLEAR = range(3)
#: Probe 4 rows; start with d / 8 coordinates, at least 8. They do not suffice if they leave more than 16
#: distances to compute for each row.
_PROBES, _LEADING, _FEWEST, _TRIES = 4, 8, 8, 16
_GREATEST_BITS = np.int32(0x7FFFFFFF)


@kernel
def match_wide(x, y, logarithm, numbers, duals, partners):
    """Solve one problem, as the kernel of small sets does, and return whether it has few conflicts."""
    a, b, work = np.empty(x.shape), np.empty(y.shape), np.empty((9, x.shape[1]))
    offset_square = _align_rows(x, y, numbers, work, a, b)
    for k in range(duals.size):
        duals[k] = 0.0
        partners[k] = -1
    if numbers[SCALE] == NOT_ORDINARY:
        return False
    turned = x.shape[0] > y.shape[0]
    rows, others = (b, a) if turned else (a, b)
    (n, d), m = rows.shape, others.shape[0]
    columns = m + -m % PANEL
    row_dual, col_dual, col_of_row, row_of_col = duals[:n], duals[n:], partners[:n], partners[n:]
    row_low, col_low = np.empty(n, np.float32), np.empty((1, columns), np.float32)
    # Room for the rows that are added to the last few.
    bounds = np.empty((n + FEW_ROWS, columns), np.float32)
    limits, least, nearest = np.empty(n), np.empty(n), np.empty(n, np.int64)
    sets = (x, y, turned, numbers, rows, others, limits)
    leading, outcome = _count_leading(rows, others), _UNCLEAR
    while outcome == _UNCLEAR:
        points = np.empty((n, leading), np.float32)
        panels = np.empty((1, columns // PANEL, leading, PANEL), np.float32)
        screen = (points, panels, row_low, col_low, bounds)
        _prepare(sets, offset_square, screen)
        outcome = _find_nearest(sets, screen, least, nearest, row_of_col)
        leading = d
    if outcome == _MANY_CONFLICTS:
        return False
    if logarithm:
        coincide = False
        for i in range(n):
            coincide |= least[i] < numbers[FLOOR]
        if coincide and not lower_floor(x, y, numbers):
            return False
    floor, total, free = numbers[FLOOR], 0.0, 0
    for i in range(n):
        row_dual[i] = least[i]
    if logarithm:
        take_logarithms(row_dual, n, floor)
    for i in range(n):
        j = nearest[i]
        if row_of_col[j] < 0:
            row_of_col[j] = i
            col_of_row[i] = j
            total += row_dual[i]
        else:
            free += 1
    if free > _MANY * n:
        return False
    if free:
        numbers[CLASHES] = FEW_CLASH
        cost, reach, indices = np.empty((n, m)), np.full(m, -np.inf), np.empty(2 * m, np.int64)
        asked = np.array([0, -1, -1, -1])
        spare = (np.empty(m), np.empty(m), np.empty(m), np.empty(m), reach, np.empty(m, np.int64), indices)
        while True:
            i = augment_small(cost, False, floor, row_dual, col_dual, col_of_row, row_of_col, spare, asked)
            if i < 0:
                break
            if asked[2] < 0:
                # Distances that are rather small than typical.
                typical = limits[i] / CLOSE + numbers[SPREAD]
                reach[i] = math.sqrt(max(least[i], floor) * typical)
                _price_row(sets, i, bounds[i], logarithm, reach, cost[i])
            elif bounds[i, asked[2]] > -np.inf:
                j = asked[2]
                bounds[i, j], cost[i, j] = -np.inf, _square(sets, i, j)
                if logarithm:
                    take_logarithms(cost[i, j:], 1, floor)
        total = 0.0
        for k in range(duals.size):
            total += duals[k]
    numbers[TOTAL] = total
    return True


@step_kernel
def _align_rows(x, y, numbers, work, a, b):
    """Do what `align_small` does, for points as rows."""
    x_total = _centre_rows(x, work[0], work[1], work[4], work[6:], a)
    y_total = _centre_rows(y, work[2], work[3], work[5], work[6:], b)
    offset_square = settle_map(x_total, y_total, x.shape[0], y.shape[0], numbers, work)
    scale, offset = numbers[SCALE], work[3]
    for j in range(b.shape[0]):
        for k in range(b.shape[1]):
            b[j, k] = scale * b[j, k] + offset[k]
    return offset_square


@step_kernel
def _centre_rows(points, centre, mean, rest, work, out):
    """Do what `_centre` does for small sets."""
    n, d = points.shape
    first, shift, errors, squares = points[0], work[0], work[1], work[2]
    for k in range(d):
        shift[k] = errors[k] = squares[k] = 0.0
    for i in range(n):
        for k in range(d):
            shift[k] += points[i, k] - first[k]
    for k in range(d):
        shift[k] /= n
        centre[k] = first[k] + shift[k]
    for i in range(n):
        for k in range(d):
            value = points[i, k]
            out[i, k] = value - centre[k]
            value = value - first[k] - shift[k]
            errors[k] += value
            squares[k] += value * value
    total = 0.0
    for k in range(d):
        mean[k] = first[k] + (shift[k] + errors[k] / n)
        rest[k] = (shift[k] - (centre[k] - first[k])) + errors[k] / n
        total += squares[k] - errors[k] * (errors[k] / n)
    return total


@step_kernel
def _count_leading(rows, others):
    """Give the number of leading coordinates that tell the nearest columns of a few rows from all others."""
    (n, d), m = rows.shape, others.shape[0]
    leading = min(max(d // _LEADING, _FEWEST), d)
    for probe in range(_PROBES):
        i, best, at = probe * (n - 1) // (_PROBES - 1), np.inf, 0
        for j in range(m):
            square = _squared_difference(rows, i, others, j, d)
            if square < best:
                best, at = square, j
        j = 0
        while leading < d and j < m:
            if j != at and _squared_difference(rows, i, others, j, leading) < best:
                # Twice as many, and from the beginning; more than half of them are not worth it.
                leading, j = 2 * leading if 4 * leading <= d else d, 0
            else:
                j += 1
    return leading


@step_kernel
def _prepare(sets, offset_square, screen):
    """Bring leading coordinates into single precision, for products that are bounds of squared distances."""
    _, _, _, numbers, rows, others, limits = sets
    points, panels, row_low, col_low, _ = screen
    (n, d), m, columns = points.shape, others.shape[0], col_low.size
    # In units in which the mean square is 1, so that nothing over- or underflows.
    square_unit = 1.0 / numbers[SPREAD]
    unit = math.sqrt(square_unit)
    # A bound is less than the distance by the greatest error.
    share = square_unit * (1.0 - relative_error_kernel(d))
    lost = square_unit * numbers[LOST] + underflow_error_kernel(d)
    for j in range(m):
        panel, place = j // PANEL, j % PANEL
        for k in range(d):
            panels[0, panel, k, place] = unit * others[j, k]
        col_low[0, j] = share * _squared_length(others, j, d)
    for j in range(m, columns):
        panel, place = j // PANEL, j % PANEL
        for k in range(d):
            panels[0, panel, k, place] = 0.0
        col_low[0, j] = np.inf
    for i in range(n):
        for k in range(d):
            points[i, k] = -2.0 * unit * rows[i, k]
        limits[i] = CLOSE * (_squared_length(rows, i, rows.shape[1]) + offset_square)
        row_low[i] = share * _squared_length(rows, i, d) - lost


@step_kernel
def _find_nearest(sets, screen, least, nearest, seen):
    """Fill bounds, and `nearest` and `least`; say whether leading coordinates do, and conflicts are few."""
    points, panels, row_low, col_low, bounds = screen
    n, m, columns = sets[4].shape[0], sets[5].shape[0], col_low.size
    square_unit = 1.0 / sets[3][SPREAD]
    looked_at, left = min(n, _LOOKED_AT), _TRIES * n if points.shape[1] < sets[4].shape[1] else n * m
    for first in range(0, n, FEW_ROWS):
        last = min(first + FEW_ROWS, n)
        expand_few_rows(points, row_low, panels, col_low, first, last, 0, bounds[first : first + FEW_ROWS])
        for i in range(first, last):
            line = bounds[i]
            at = _position_of_least(line)
            best = _square(sets, i, at)
            limit, below = np.float32(best * square_unit * (1.0 + 2.0**-20)), 0
            for j in range(columns):
                below += line[j] <= limit
            if below > 1:
                left -= below - 1
                if left < 0:
                    return _UNCLEAR
                for j in range(m):
                    if line[j] <= limit and j != at:
                        square = _square(sets, i, j)
                        if square < best:
                            best, at = square, j
            nearest[i], least[i] = at, best
        if first < looked_at <= last:
            # Of free rows, only those are seen here whose rivals are among the first, too.
            free = 0
            for i in range(looked_at):
                free += seen[nearest[i]] >= 0
                seen[nearest[i]] = i
            for i in range(looked_at):
                seen[nearest[i]] = -1
            if free * n > _MANY * looked_at * looked_at:
                return _MANY_CONFLICTS
    return _CLEAR


@step_kernel
def _position_of_least(bounds):
    """Find the first of the least bounds; all that are negative count as 0."""
    # By bit patterns, so that these are vector loops.
    least, size = _GREATEST_BITS, np.int32(bounds.size)
    for j in range(bounds.size):
        value = bounds[j]
        value = value if value > np.float32(0.0) else np.float32(0.0)
        least = min(least, single_bits_of(value))
    value, at = single_of(least), size
    for j in range(bounds.size):
        at = min(at, np.int32(j) if bounds[j] <= value else size)
    return at


@step_kernel
def _price_row(sets, i, bounds, logarithm, reach, costs):
    """Fill in the costs of squared distances that are within reach, and lower bounds of the others."""
    floor = sets[3][FLOOR]
    unit = sets[3][SPREAD]
    for j in range(costs.size):
        value = unit * bounds[j]
        costs[j] = value if value > 0.0 else 0.0
    for j in range(costs.size):
        if costs[j] < reach[i]:
            costs[j] = _square(sets, i, j)
    if logarithm:
        take_logarithms(costs, costs.size, floor)
        # A little less, because logarithms are rounded.
        reach[i] = math.log(reach[i]) - 2.0**-30


@step_kernel
def _square(sets, i, j):
    """Compute one squared distance; of close points, with the rounding errors of their coordinates."""
    x, y, turned, numbers, rows, others, limits = sets
    square = _squared_difference(rows, i, others, j, rows.shape[1])
    if square < limits[i]:
        p, q, square = j if turned else i, i if turned else j, 0.0
        for k in range(x.shape[1]):
            rest = exact_residual(x[p, k], y[q, k], numbers[SCALE], numbers[SHIFT + k])
            square += rest * rest
    return square


@summing_kernel
def _squared_difference(a, i, b, j, d):
    total = 0.0
    for k in range(d):
        total += (a[i, k] - b[j, k]) * (a[i, k] - b[j, k])
    return total


@summing_kernel
def _squared_length(a, i, d):
    total = 0.0
    for k in range(d):
        total += a[i, k] * a[i, k]
    return total
