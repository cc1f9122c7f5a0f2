"""Sets in which nearly every point has a nearest partner of its own: bounds of distances instead of a matrix.

One kernel leads from coordinates to dual variables, without a matrix of costs: the nearest column of every
row, and shortest paths for the few rows that must take another one. In many dimensions, bounds from a part of
the coordinates mostly suffice; where they do not, all bounds are kept for the paths. Other sets are
recognised by a look at some rows, and left to others, as is what is out of the ordinary.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import kernel
from lslmatch.assignment.bounded_nearest import (
    CLASHING,
    MANY_DIMENSIONS,
    UNCLEAR,
    Singles,
    count_leading,
    find_nearest,
    write_singles,
)
from lslmatch.assignment.bounded_paths import augment_few
from lslmatch.assignment.exact_squares import Pairs, squared_length
from lslmatch.assignment.small_coordinates import CLOSE, NOT_ORDINARY, align_rows, lower_floor
from lslmatch.assignment.small_dense import (
    FLOOR,
    LOST,
    SCALE,
    SPREAD,
    TOTAL,
    take_logarithms,
    take_nearest,
)
from lslmatch.geometry.expansion import underflow_error_kernel
from lslmatch.geometry.panels import FEW_ROWS, PANEL

#: The greatest share of the rows whose nearest column another row has: in up to 15 dimensions, and in more.
_CLASHES, _CLASHES_IN_MANY = 1.0 / 16.0, 1.0 / 8.0
#: Bounds are kept up to this number (16 MiB), if they take longer to compute than to load.
_MOST_KEPT = 1 << 22
#: Scanning one row's bounds costs as much as pricing m (d + 10) / 1024 pairs.
_PER_COST, _OVERHEAD = 1024, 10
#: Pairs that may be priced in any case, for each row; and if bounds were kept.
_FEW_COSTS, _FEW_COSTS_IF_KEPT = 4, 64


@kernel
def match_bounded(x, y, logarithm, numbers, duals, partners):
    """Match two sets if few of their points clash, and say whether that was so.

    The smaller set is that of the rows; duals and partners are rows and then columns. `numbers` are those of
    :mod:`lslmatch.assignment.small_dense`.
    """
    turned, d = x.shape[0] > y.shape[0], x.shape[1]
    # One large array: what is freed is not given back to the system while it is less than twice the largest,
    # and new memory would take much time.
    points = np.empty((x.shape[0] + y.shape[0], d))
    a, b = points[: x.shape[0]], points[x.shape[0] :]
    offset_square = align_rows(x, y, numbers, np.empty((9, d)), a, b)
    if numbers[SCALE] == NOT_ORDINARY:
        return False
    # In units in which the mean square of all coordinates is one.
    unit = math.sqrt(1.0 / numbers[SPREAD])
    lost = unit * unit * numbers[LOST] + underflow_error_kernel(d)
    # Bounds say nothing if they are lowered by the mean square; beyond that they leave the range of singles.
    if not lost < 1.0:
        return False
    rows, columns = (b, a) if turned else (a, b)
    n, m = rows.shape[0], columns.shape[0]
    limits, room = np.empty(n), m + -m % PANEL
    for i in range(n):
        limits[i] = CLOSE * (squared_length(rows, i) + offset_square)
    for k in range(n + m):
        duals[k] = 0.0
        partners[k] = -1
    row_dual, col_dual, col_of_row, row_of_col = duals[:n], duals[n:], partners[:n], partners[n:]
    pairs = Pairs(x, y, turned, numbers, rows, columns, limits)
    most_free = (_CLASHES if d < MANY_DIMENSIONS else _CLASHES_IN_MANY) * n
    nearest, listed, least, costs = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m), np.empty(m)
    leading, found = count_leading(rows, columns), UNCLEAR
    while found == UNCLEAR:
        is_kept = d >= MANY_DIMENSIONS and leading == d and n * room <= _MOST_KEPT
        # Beside all rows, room for those that are added to the last few.
        bounds = np.empty((n * is_kept + FEW_ROWS, room), np.float32)
        singles = Singles(
            np.empty((n, leading), np.float32),
            np.empty(n, np.float32),
            np.empty((1, room // PANEL, leading, PANEL), np.float32),
            np.empty((1, room), np.float32),
            unit,
            lost,
        )
        write_singles(rows, columns, singles)
        found = find_nearest(singles, pairs, most_free / n, bounds, nearest, least, listed, costs, row_of_col)
        if found == CLASHING or (found == UNCLEAR and leading == d):
            return False
        leading = d
    if logarithm:
        coincide = False
        for i in range(n):
            coincide |= least[i] < numbers[FLOOR]
        if coincide and not lower_floor(x, y, numbers):
            return False
        take_logarithms(least, n, numbers[FLOOR])
    for i in range(n):
        row_dual[i] = least[i]
    free = take_nearest(nearest, col_of_row, row_of_col)
    if free > most_free:
        return False
    if free:
        # About as much work as there was so far, at most.
        few = _FEW_COSTS_IF_KEPT if is_kept else _FEW_COSTS
        scan = m * ((0 if is_kept else d) + _OVERHEAD) // _PER_COST
        budget = n * (m * (d + _OVERHEAD) // _PER_COST // 2 + few)
        solution = (row_dual, col_dual, col_of_row, row_of_col)
        reached, place = np.empty(m, np.int64), np.empty(m, np.int64)
        spare = (least, costs, nearest, listed, reached, place, np.empty(m))
        if not augment_few(singles, pairs, logarithm, solution, bounds, spare, scan, budget):
            return False
    total = 0.0
    for k in range(n + m):
        total += duals[k]
    numbers[TOTAL] = total
    return True
