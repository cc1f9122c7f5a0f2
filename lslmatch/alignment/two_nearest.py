"""The two nearest of many points, for four points at a time.

The many points are lines, one for each coordinate. Four points are paired with all of them, and five
coordinates are gone through together: what is loaded is used four times, and sums are stored once for five.
"""

from __future__ import annotations

import numpy as np

from lslmatch._jit import bits_of, double_of, fused_kernel, step_kernel

#: Points that are looked at together.
FEW = 4
_TOGETHER = 5
_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


@step_kernel
def find_two_nearest(points, lines, above, room, nearest, squares):
    """Fill the nearest of the lines' points for four points, and the two least squared distances.

    Only those greater than `above` count, and none that is no number; `room` has four lines at least as long.
    """
    m = lines.shape[1]
    _square_few(points, lines, room[0, :m], room[1, :m], room[2, :m], room[3, :m])
    for p in range(FEW):
        nearest[p] = _two_least(room[p, :m], above, squares[p])


@step_kernel
def make_room(d, m):
    """Make room for four points, for their squared distances of m others, and for what is found."""
    return np.empty((FEW, d)), np.empty((FEW, m)), np.empty(FEW, np.int64), np.empty((FEW, 2))


@fused_kernel
def _square_few(points, lines, t0, t1, t2, t3):
    d = lines.shape[0]
    whole = d - d % _TOGETHER
    for j in range(t0.size):
        t0[j] = t1[j] = t2[j] = t3[j] = 0.0
    for k in range(0, whole, _TOGETHER):
        point = points[0]
        p0, p1, p2, p3, p4 = point[k], point[k + 1], point[k + 2], point[k + 3], point[k + 4]
        point = points[1]
        q0, q1, q2, q3, q4 = point[k], point[k + 1], point[k + 2], point[k + 3], point[k + 4]
        point = points[2]
        r0, r1, r2, r3, r4 = point[k], point[k + 1], point[k + 2], point[k + 3], point[k + 4]
        point = points[3]
        s0, s1, s2, s3, s4 = point[k], point[k + 1], point[k + 2], point[k + 3], point[k + 4]
        b0, b1, b2, b3, b4 = lines[k], lines[k + 1], lines[k + 2], lines[k + 3], lines[k + 4]
        for j in range(t0.size):
            c0, c1, c2, c3, c4 = b0[j], b1[j], b2[j], b3[j], b4[j]
            t = t0[j] + (p0 - c0) * (p0 - c0) + (p1 - c1) * (p1 - c1) + (p2 - c2) * (p2 - c2)
            t0[j] = t + (p3 - c3) * (p3 - c3) + (p4 - c4) * (p4 - c4)
            t = t1[j] + (q0 - c0) * (q0 - c0) + (q1 - c1) * (q1 - c1) + (q2 - c2) * (q2 - c2)
            t1[j] = t + (q3 - c3) * (q3 - c3) + (q4 - c4) * (q4 - c4)
            t = t2[j] + (r0 - c0) * (r0 - c0) + (r1 - c1) * (r1 - c1) + (r2 - c2) * (r2 - c2)
            t2[j] = t + (r3 - c3) * (r3 - c3) + (r4 - c4) * (r4 - c4)
            t = t3[j] + (s0 - c0) * (s0 - c0) + (s1 - c1) * (s1 - c1) + (s2 - c2) * (s2 - c2)
            t3[j] = t + (s3 - c3) * (s3 - c3) + (s4 - c4) * (s4 - c4)
    for k in range(whole, d):
        p0, q0, r0, s0, b0 = points[0, k], points[1, k], points[2, k], points[3, k], lines[k]
        for j in range(t0.size):
            t0[j] += (p0 - b0[j]) * (p0 - b0[j])
            t1[j] += (q0 - b0[j]) * (q0 - b0[j])
            t2[j] += (r0 - b0[j]) * (r0 - b0[j])
            t3[j] += (s0 - b0[j]) * (s0 - b0[j])


@step_kernel
def _two_least(row, above, squares):
    """Return the place of the least value above a limit, and fill it and the next one."""
    # By bit patterns, so that these are vector loops.
    least = _GREATEST_BITS
    for j in range(row.size):
        value = row[j] if row[j] > above else np.inf
        row[j] = value
        least = min(bits_of(value), least)
    second, at, equal = _GREATEST_BITS, row.size, 0
    for j in range(row.size):
        bits = bits_of(row[j])
        is_least = bits == least
        equal += is_least
        at = min(at, j if is_least else row.size)
        second = min(second, _GREATEST_BITS if is_least else bits)
    squares[0] = squares[1] = double_of(least)
    if equal == 1:
        squares[1] = double_of(second) if second < _GREATEST_BITS else np.inf
    return at
