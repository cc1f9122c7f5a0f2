"""Sets in which nearly every point has a nearest partner of its own: bounds of distances instead of a matrix.

One kernel leads from coordinates to dual variables, without a matrix: the nearest column of every row, and
shortest paths for the few rows that must take another one. Other sets are recognised by a look at some
rows, and left to others, as is what is out of the ordinary.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import kernel
from lslmatch.assignment.bounded_nearest import Singles, count_mutual, find_nearest, write_singles
from lslmatch.assignment.bounded_paths import augment_few
from lslmatch.assignment.exact_squares import Pairs
from lslmatch.assignment.small_coordinates import NOT_ORDINARY, align_small, lower_floor
from lslmatch.assignment.small_dense import FLOOR, LOST, SCALE, SPREAD, TOTAL, take_logarithms
from lslmatch.geometry.expansion import underflow_error_kernel
from lslmatch.geometry.panels import FEW_ROWS, PANEL

#: Of the first PANEL rows, 85 % must be the nearest of their nearest column; asked from 4 PANEL rows on.
_MUTUAL, _MORE_ROWS = 0.85, 4
#: One row in 16, at most, may be without its nearest column.
_ROWS_PER_CLASH = 16
#: Scanning one row's bounds costs as much as pricing m (d + 10) / 1024 pairs.
_PER_COST, _OVERHEAD = 1024, 10
#: Pairs that may be priced in any case, for each row.
_FEW_COSTS = 4


@kernel
def match_bounded(x, y, logarithm, numbers, duals, partners):
    """Match two sets if few of their points clash, and say whether that was so.

    The smaller set is that of the rows; duals and partners are rows and then columns. `numbers` are those of
    :mod:`lslmatch.assignment.small_dense`.
    """
    turned, d = x.shape[0] > y.shape[0], x.shape[1]
    n, m = min(x.shape[0], y.shape[0]), max(x.shape[0], y.shape[0])
    # One large array: what is freed is not given back to the system while it is less than twice the largest,
    # and new memory would take much time.
    lines = np.empty((2 * d, m))
    align_small(x, y, numbers, np.empty((6, d)), lines[:d], lines[d:])
    if numbers[SCALE] == NOT_ORDINARY:
        return False
    # In units in which the mean square of all coordinates is one.
    unit, room = math.sqrt(1.0 / numbers[SPREAD]), m + -m % PANEL
    lost = unit * unit * numbers[LOST] + underflow_error_kernel(d)
    # Bounds say nothing if they are lowered by the mean square; beyond that they leave the range of singles.
    if not lost < 1.0:
        return False
    rows, row_squares = np.empty((n, d), np.float32), np.empty(n, np.float32)
    columns, column_squares = (
        np.empty((1, room // PANEL, d, PANEL), np.float32),
        np.empty((1, room), np.float32),
    )
    singles = Singles(rows, row_squares, columns, column_squares, unit, lost)
    pairs = Pairs(x, y, turned, numbers)
    write_singles(lines[d:] if turned else lines[:d], lines[:d] if turned else lines[d:], m, singles)
    nearest, listed, least, costs = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m), np.empty(m)
    bounds = np.empty((FEW_ROWS, room), np.float32)
    if n >= _MORE_ROWS * PANEL:
        chosen, squares = np.empty((1, 1, d, PANEL), np.float32), np.empty((1, PANEL), np.float32)
        back = np.empty((FEW_ROWS, PANEL), np.float32)
        if count_mutual(singles, bounds, nearest, least, chosen, squares, back) < _MUTUAL * PANEL:
            return False
    if not find_nearest(singles, pairs, bounds, nearest, least, listed, costs):
        return False
    if logarithm:
        coincide = False
        for i in range(n):
            coincide |= least[i] < numbers[FLOOR]
        if coincide and not lower_floor(x, y, numbers):
            return False
        take_logarithms(least, n, numbers[FLOOR])
    for k in range(n + m):
        duals[k] = 0.0
        partners[k] = -1
    row_dual, col_dual, col_of_row, row_of_col = duals[:n], duals[n:], partners[:n], partners[n:]
    free = 0
    for i in range(n):
        j = nearest[i]
        row_dual[i] = least[i]
        if row_of_col[j] < 0:
            row_of_col[j] = i
            col_of_row[i] = j
        else:
            free += 1
    if _ROWS_PER_CLASH * free > n:
        return False
    if free:
        # About as much work as there was so far, at most.
        work = m * (d + _OVERHEAD) // _PER_COST
        budget, solution = n * (work // 2 + _FEW_COSTS), (row_dual, col_dual, col_of_row, row_of_col)
        spare = (least, costs, nearest, listed, np.empty(m, np.int64))
        if not augment_few(singles, pairs, logarithm, solution, bounds[0], spare, work, budget):
            return False
    total = 0.0
    for k in range(n + m):
        total += duals[k]
    numbers[TOTAL] = total
    return True
