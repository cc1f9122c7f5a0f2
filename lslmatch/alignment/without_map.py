"""Whether two sets are too far from each other without a map, as some of their nearest pairs show."""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import kernel
from lslmatch._types import FloatArray
from lslmatch.alignment.common_lines import fill_lines, is_ordinary
from lslmatch.alignment.prominence import note_two_nearest
from lslmatch.costs import COINCIDENT

#: So many rows are looked at, all up to the other number.
_LOOKED_AT, _FEW = 64, 128
#: Standard errors by which their mean cost must be too high.
CLEARLY = 6.0
#: What rounding may add to a distance, beside the distance from the origin.
_ROUNDING = 2.0**-48


def is_clearly_worse(x: FloatArray, y: FloatArray, limit: float) -> bool:
    """Tell whether the objective of LSL without a map is above a limit, by a look at some of the points."""
    if len(x) > len(y):
        x, y = y, x
    n = len(x)
    costs = np.empty(n if n < _FEW else _LOOKED_AT)
    if not _fill_least_costs(x, y, np.zeros(x.shape[1]), costs):
        return False
    error = 0.0 if costs.size == n else CLEARLY * float(costs.std()) / math.sqrt(costs.size)
    return float(costs.mean()) - error > limit / n


@kernel
def _fill_least_costs(x, y, shift, costs):
    """Fill lower bounds of the costs of some points' nearest pairs; return whether units are ordinary."""
    (n, d), m = x.shape, y.shape[0]
    a, b, point, room, squares = np.empty((d, n)), np.empty((d, m)), np.empty(d), np.empty(m), np.empty(2)
    mean_square = fill_lines(x, y, 1.0, shift, a, b, point)
    for s in range(costs.size):
        i = s * (n - 1) // max(costs.size - 1, 1)
        size = mean_square
        for k in range(d):
            point[k] = a[k, i]
            size += point[k] * point[k]
        note_two_nearest(point, b, -1.0, room, squares)
        distance = max(math.sqrt(squares[0]) - _ROUNDING * math.sqrt(size), 0.0)
        costs[s] = math.log(max(distance * distance, COINCIDENT * mean_square))
    return is_ordinary(mean_square)
