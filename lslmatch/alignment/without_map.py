"""Whether two sets are too far from each other without a map, as some of their nearest pairs show."""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import kernel
from lslmatch._types import FloatArray
from lslmatch.alignment.common_lines import fill_lines, is_ordinary
from lslmatch.alignment.two_nearest import FEW, find_two_nearest, make_room
from lslmatch.costs import COINCIDENT

#: So many rows are looked at, all up to the other number.
_LOOKED_AT, _FEW = 64, 128
#: Standard errors by which their mean cost must be too high.
CLEARLY = 6.0
#: What rounding may add to a distance, beside the distance from the origin.
_ROUNDING = 2.0**-48


def is_worse(x: FloatArray, y: FloatArray, limit: float, only_some: bool) -> bool:
    """Tell whether the objective of LSL without a map is surely above a limit.

    The least cost of every point says so, or before the mean of some; if `only_some`, these must do.
    """
    if len(x) > len(y):
        x, y = y, x
    n = len(x)
    for size in (_LOOKED_AT, n) if n >= _FEW else (n,):
        costs = np.empty(size)
        if not _fill_least_costs(x, y, np.zeros(x.shape[1]), costs):
            return False
        error = 0.0 if size == n else CLEARLY * float(costs.std()) / math.sqrt(size)
        if float(costs.mean()) - error > limit / n:
            return True
        if only_some:
            break
    return False


@kernel
def _fill_least_costs(x, y, shift, costs):
    """Fill lower bounds of the costs of some points' nearest pairs; return whether units are ordinary."""
    (n, d), m = x.shape, y.shape[0]
    a, b, origin = np.empty((d, n)), np.empty((d, m)), np.empty(d)
    points, room, near, squares = make_room(d, m)
    mean_square = fill_lines(x, y, 1.0, shift, a, b, origin)
    if not is_ordinary(mean_square):
        return False
    for first in range(0, costs.size, FEW):
        for p in range(FEW):
            i = min(first + p, costs.size - 1) * (n - 1) // max(costs.size - 1, 1)
            for k in range(d):
                points[p, k] = a[k, i]
        find_two_nearest(points, b, -1.0, room, near, squares)
        for p in range(min(FEW, costs.size - first)):
            size = mean_square
            for k in range(d):
                size += points[p, k] * points[p, k]
            distance = max(math.sqrt(squares[p, 0]) - _ROUNDING * math.sqrt(size), 0.0)
            costs[first + p] = math.log(max(distance * distance, COINCIDENT * mean_square))
    return True
