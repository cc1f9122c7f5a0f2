"""The first step of the robust search, which is mostly the last one: whether the moments are sound.

They are if pairs stand out under them, and no more under maps that are fitted to pairs. One kernel sees that.
Prominences do not depend on units, so that coordinates under the map of the moments serve as well as robust
ones, if units are ordinary. Where the moments are not convincing, the search begins anew in robust units.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._jit import kernel, step_kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.alignment.common_lines import fill_lines, is_ordinary
from lslmatch.alignment.prominence import FLOOR, JudgedMap, Map, asked_rows, fill_prominences, mean_by_chance
from lslmatch.results import Affine

#: A map is convincing if the mean prominence is above this multiple of that of chance. Wrong maps had up to
#: 1.05 of it with 120 points in two dimensions, right ones of hard sets 1 to 2, of easy ones more.
CONVINCING = 1.25
#: Refits from one start, at most.
REFITS = 8
#: Pairs that a refit needs.
LEAST_PAIRS = 3
#: Standard errors by which the mean prominence must exceed that of the moments.
BEYOND_CHANCE = 2.0
#: The mean square of points in the middle, beside that of all, below which too many digits are lost.
_FEWEST_DIGITS = 2.0**-30
_NOT_CONVINCING, _SOUND, _BETTER = range(3)
#: Points that are asked whether most of them coincide, at most.
ASKED = 512


class Beginning(NamedTuple):
    """Two sets in common coordinates under the moments, as lines, and what these and their refits come to."""

    a: FloatArray  # (d, n)
    b: FloatArray  # (d, m)
    origin: FloatArray  # (d,): of both, in the units of x
    shift: FloatArray  # (d,): of the best map, from b to a
    cols: IntArray  # (asked,): nearest partners with the moments
    best_cols: IntArray  # the same with the best map
    prominence: FloatArray  # (2, asked): with the moments, and with the best map
    numbers: FloatArray  # (5,): what is `seen`, the scale of the best map, and the unit
    better: bool  # whether the best map is better than the moments beyond chance

    @property
    def seen(self) -> tuple[float, float, float]:
        """The mean prominence with the best map, with the moments, and by chance."""
        best, before, chance = self.numbers[:3].tolist()
        return best, before, chance

    def judged(self, d: int) -> tuple[JudgedMap, JudgedMap]:
        """Give the moments and the best map as a judge saw them."""
        before = JudgedMap(Map(1.0, np.zeros(d)), self.cols, self.prominence[0])
        return before, JudgedMap(Map(float(self.numbers[3]), self.shift), self.best_cols, self.prominence[1])


def begin_with_moments(x: FloatArray, y: FloatArray, moments: Affine) -> Beginning | None:
    """Judge and refit the moments, in whose units prominences are seen as well as in robust ones.

    There are at most as many points in x as in y. None if the moments are not convincing, units are out of
    the ordinary, most points coincide, or wild points are so wild that the others would lose their digits.
    """
    (n, d), m, rows = x.shape, len(y), asked_rows(len(x), len(y))
    a, b, vectors, numbers = np.empty((d, n)), np.empty((d, m)), np.empty((2, d)), np.empty(5)
    cols, prominence = np.empty((2, len(rows)), np.intp), np.empty((2, len(rows)))
    state = _begin(x, y, rows, moments.scale, moments.shift, a, b, vectors, cols, prominence, numbers)
    if state == _NOT_CONVINCING:
        return None
    return Beginning(a, b, vectors[0], vectors[1], cols[0], cols[1], prominence, numbers, state == _BETTER)


@kernel
def _begin(x, y, rows, scale, shift, a, b, vectors, cols, prominence, numbers):
    d, asked, best_shift = x.shape[1], rows.size, vectors[1]
    mean_square = fill_lines(x, y, scale, shift, a, b, vectors[0])
    if not is_ordinary(mean_square) or _mostly_coincide(a) or _mostly_coincide(b):
        return _NOT_CONVINCING
    unit = math.sqrt(mean_square)
    for lines in (a, b):
        for k in range(d):
            line = lines[k]
            for i in range(line.size):
                line[i] /= unit
    before, best, now = prominence[0], prominence[1], np.empty(asked)
    now_cols, old_cols, offset = np.empty(asked, np.int64), np.empty(asked, np.int64), np.zeros(d)
    fill_prominences(rows, 1.0, offset, a, b, FLOOR, cols[0], before)
    for k in range(d):
        best_shift[k] = 0.0
    for i in range(asked):
        now[i] = best[i] = before[i]
        now_cols[i] = cols[1, i] = cols[0, i]
    mean_before, _ = _mean_and_error(before, np.zeros(asked))
    mean_best, best_factor, better, spread = mean_before, 1.0, False, 1.0
    for _ in range(REFITS):
        factor, spread = _refit(rows, now_cols, now, a, b, offset)
        if not (0.0 < factor < np.inf and spread > _FEWEST_DIGITS):
            break
        for i in range(asked):
            old_cols[i] = now_cols[i]
        fill_prominences(rows, factor, offset, a, b, FLOOR, now_cols, now)
        gain, error = _mean_and_error(now, before)
        if mean_before + gain > mean_best:
            mean_best, best_factor, better = mean_before + gain, factor, gain > BEYOND_CHANCE * error
            for k in range(d):
                best_shift[k] = offset[k]
            for i in range(asked):
                best[i], cols[1, i] = now[i], now_cols[i]
        same = True
        for i in range(asked):
            same &= now_cols[i] == old_cols[i]
        if same:
            break
    chance = mean_by_chance(rows, a, FLOOR)
    numbers[0], numbers[1], numbers[2], numbers[3], numbers[4] = (
        mean_best,
        mean_before,
        chance,
        best_factor,
        unit,
    )
    if not (mean_best > CONVINCING * chance and spread > _FEWEST_DIGITS):
        return _NOT_CONVINCING
    return _BETTER if better else _SOUND


@step_kernel
def _refit(rows, cols, prominence, a, b, shift):
    """Standardise the more prominent half of the pairs that stand out; fill the shift.

    Returns the scale, which is 0 if these are too few, and the mean square of their points of `a`.
    """
    asked, count = rows.size, 0
    chosen = np.empty(asked, np.int64)
    for i in range(asked):
        count += prominence[i] > 0.0
    if count < LEAST_PAIRS:
        return 0.0, 1.0
    half, taken = max((count + 1) // 2, LEAST_PAIRS), 0
    for i in range(asked):
        # A vector loop that counts those before it in a stable order.
        rank, value = 0, prominence[i]
        for j in range(asked):
            rank += (prominence[j] > value) | ((prominence[j] == value) & (j < i))
        if rank < half:
            chosen[taken] = i
            taken += 1
    a_total, b_total, b_mean = 0.0, 0.0, np.zeros(shift.size)
    for k in range(shift.size):
        shift[k] = 0.0
        for t in range(taken):
            shift[k] += a[k, rows[chosen[t]]] / taken
            b_mean[k] += b[k, cols[chosen[t]]] / taken
        for t in range(taken):
            a_total += (a[k, rows[chosen[t]]] - shift[k]) ** 2
            b_total += (b[k, cols[chosen[t]]] - b_mean[k]) ** 2
    scale = math.sqrt(a_total / b_total)
    for k in range(shift.size):
        shift[k] -= scale * b_mean[k]
    return scale, a_total / taken


@step_kernel
def _mean_and_error(values, others):
    """Give the mean of differences, and its standard error."""
    mean = square = 0.0
    for i in range(values.size):
        mean += (values[i] - others[i]) / values.size
    for i in range(values.size):
        square += (values[i] - others[i] - mean) ** 2 / values.size
    return mean, math.sqrt(square / values.size)


@step_kernel
def _mostly_coincide(lines):
    """Tell whether more than half of the points that are asked are equal (Boyer and Moore's vote)."""
    n = lines.shape[1]
    asked, candidate, votes, equal = min(n, ASKED), 0, 0, 0
    for look in range(2):
        for s in range(asked):
            i = s * (n - 1) // (asked - 1)
            if votes == 0 and look == 0:
                candidate = i
            same = True
            for k in range(lines.shape[0]):
                if lines[k, i] != lines[k, candidate]:
                    same = False
                    break
            votes += 1 if same else -1
            equal += same and look == 1
    return 2 * equal > asked
