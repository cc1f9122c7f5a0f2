"""The least of many screening values, found by vector loops.

Screening values (:mod:`lslmatch.assignment.screening`) are floats that are not negative. They are compared
by their bit patterns: read as integers, these have the same order as the floats, and a minimum of integers,
unlike one of floats, becomes a vector loop.

The columns of a row are dealt out to `LANES` *lanes*, as cards are: lane k has the columns k, k + LANES,
k + 2 * LANES and so on. One vector loop finds the least value of every lane; after that only lanes whose
least value is small enough are searched column by column.
"""

from __future__ import annotations

import numpy as np

from lslmatch._jit import inline_kernel, step_kernel
from lslmatch.geometry.tiles import LANES


@inline_kernel
def copy_values(values, out):
    """Copy a row of values, by a loop that is compiled into the caller."""
    for j in range(values.size):
        out[j] = values[j]


@inline_kernel
def lower_to(bits, least):
    """Lower each entry of `least` to that of `bits` where the latter is less."""
    for j in range(bits.size):
        least[j] = min(bits[j], least[j])


@inline_kernel
def fold_to_lanes(bits, lanes):
    """Fill the first LANES entries of `lanes` with the least value of each lane, and return the least of all.

    The size of `lanes` is a power of two that divides that of `bits`; its halves are folded onto each other
    until LANES are left.
    """
    width = lanes.size
    if bits.size == width and width > LANES:
        width //= 2
    for j in range(width):
        lanes[j] = bits[j]
    for start in range(width, bits.size, width):
        part = bits[start : start + width]
        for j in range(part.size):
            lanes[j] = min(part[j], lanes[j])
    while width > LANES:
        width //= 2
        part = lanes[width : 2 * width]
        for j in range(part.size):
            lanes[j] = min(part[j], lanes[j])
    least = lanes[0]
    for lane in range(1, LANES):
        least = min(least, lanes[lane])
    return least


@inline_kernel
def note_two_least(bits, lanes, offset, least, nearest, i):
    """Bring the two least values of row i up to date, and the column of the first.

    The second least is the least of another lane than the first is in, or is in that lane, too.
    """
    first, second, at = lanes[0], least[1], 0
    for lane in range(1, LANES):
        value = lanes[lane]
        second = min(second, max(first, value))
        at = lane if value < first else at
        first = min(first, value)
    if first < least[0]:
        second = min(second, least[0])
        col = -1
        for j in range(at, bits.size, LANES):
            if col < 0 and bits[j] == first:
                col = j
            else:
                second = min(second, bits[j])
        least[0], nearest[i] = first, offset + col
    else:
        second = min(second, first)
    least[1] = second


@step_kernel
def choose_least(bits, lanes, infinity, cols, wanted):
    """Fill `cols` with the columns of the least values and return how many; `lanes[0]` is the next value.

    The number of values that are wanted is not met exactly: the limit below which values are taken is the
    least value of a certain lane. If LANES are wanted, mostly a little fewer are below it; from some
    hundreds on, all are taken. Where more are below it than there is room for, the greatest are left out.
    """
    size = cols.size
    fold_to_lanes(bits, lanes)
    limit = _limit_above(lanes, int(LANES * (1.0 - np.exp(-0.8 * wanted / LANES))), infinity)
    left_out = limit
    count = 0
    for lane in range(LANES):
        if lanes[lane] < limit:
            for j in range(lane, bits.size, LANES):
                if bits[j] < limit:
                    if count < size:
                        cols[count] = j
                        count += 1
                    else:
                        at = 0
                        for k in range(1, size):
                            at = k if bits[cols[k]] > bits[cols[at]] else at
                        greatest = bits[cols[at]]
                        left_out = min(left_out, max(bits[j], greatest))
                        if bits[j] < greatest:
                            cols[at] = j
    lanes[0] = left_out
    return count


@inline_kernel
def _limit_above(lanes, rank, infinity):
    """Return the bit pattern after the least one among the lanes that at least `rank` lanes are below.

    So that values are below the limit up to and including that one. Infinity if there is none.
    """
    limit = infinity
    for lane in range(LANES):
        value = lanes[lane]
        below = 0
        for other in range(LANES):
            below += lanes[other] < value
        if below >= rank and value < limit:
            limit = value + 1
    return limit
