"""Whether the moments are sound: pairs stand out under them, and no more under a map that is fitted to pairs.

That is the first step of the robust search (:mod:`lslmatch.alignment.robust`), and mostly the last one, so
one kernel takes it. Prominences do not depend on units, so that coordinates under the map of the moments
serve as well as robust ones, if units are ordinary. Where the moments are not sound the search begins anew.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import kernel, step_kernel
from lslmatch._types import FloatArray
from lslmatch.alignment.common_lines import fill_lines, is_ordinary
from lslmatch.alignment.prominence import FLOOR, asked_rows, fill_prominences, mean_by_chance
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
#: Points that are asked whether most of them coincide, at most.
ASKED = 512


def seen_if_sound(x: FloatArray, y: FloatArray, moments: Affine) -> tuple[float, float, float] | None:
    """Give the mean prominence after refits, with the moments, and by chance; None if these are not sound.

    There are at most as many points in x as in y.
    """
    seen = np.empty(3)
    sound = _are_sound(x, y, asked_rows(len(x), len(y)), moments.scale, moments.shift, seen)
    return (float(seen[0]), float(seen[1]), float(seen[2])) if sound else None


@kernel
def _are_sound(x, y, rows, scale, shift, seen):
    (n, d), m, asked = x.shape, y.shape[0], rows.size
    a, b, offset = np.empty((d, n)), np.empty((d, m)), np.empty(d)
    mean_square = fill_lines(x, y, scale, shift, a, b, offset)
    if not is_ordinary(mean_square) or _mostly_coincide(a) or _mostly_coincide(b):
        return False
    floor = FLOOR * mean_square
    before, now = np.empty(asked), np.empty(asked)
    cols, cols_before = np.empty(asked, np.int64), np.empty(asked, np.int64)
    for k in range(d):
        offset[k] = 0.0
    fill_prominences(rows, 1.0, offset, a, b, floor, cols, before)
    for i in range(asked):
        now[i] = before[i]
    mean_before, _ = _mean_and_error(before, np.zeros(asked))
    best, better = mean_before, False
    for _ in range(REFITS):
        factor = _refit(rows, cols, now, a, b, offset)
        if not 0.0 < factor < np.inf:
            break
        for i in range(asked):
            cols_before[i] = cols[i]
        fill_prominences(rows, factor, offset, a, b, floor, cols, now)
        gain, error = _mean_and_error(now, before)
        if mean_before + gain > best:
            best, better = mean_before + gain, gain > BEYOND_CHANCE * error
        same = True
        for i in range(asked):
            same &= cols[i] == cols_before[i]
        if same:
            break
    chance = mean_by_chance(rows, a, floor)
    seen[0], seen[1], seen[2] = best, mean_before, chance
    return best > CONVINCING * chance and not better


@step_kernel
def _refit(rows, cols, prominence, a, b, shift):
    """Standardise the more prominent half of the pairs that stand out; return the scale, and fill the shift.

    The scale is 0 if these are too few.
    """
    asked, count = rows.size, 0
    chosen = np.empty(asked, np.int64)
    for i in range(asked):
        count += prominence[i] > 0.0
    if count < LEAST_PAIRS:
        return 0.0
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
    return scale


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
