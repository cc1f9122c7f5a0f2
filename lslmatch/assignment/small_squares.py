"""All squared distances between two small sets, and the nearest point of each.

Coordinates are lines, a line for each of them, as long as whole vectors. Three points are paired with all
others at a time, and five coordinates are gone through together: what is loaded is used three times, and sums
are stored once for five terms.
"""

from __future__ import annotations

import numpy as np

from lslmatch._jit import bits_of, double_of, fused_kernel

#: Points that are paired with all others at a time, and coordinates that are gone through together.
FEW, TOGETHER = 3, 5
#: Points of the other set that a vector takes.
VECTOR = 8
_GREATEST_BITS = np.int64(0x7FFFFFFFFFFFFFFF)


@fused_kernel
def square_rows(rows, others, n, m, squares, nearest, least, lengths):
    """Fill `squares` for n rows and m others, both full vectors; find the nearest, the least, and |row|^2."""
    for i in range(0, n, FEW):
        out0 = squares[i]
        out1 = squares[i + 1]
        out2 = squares[i + 2]
        l0 = l1 = l2 = 0.0
        # The least by their bit patterns, so that these are vector loops.
        m0 = m1 = m2 = _GREATEST_BITS
        for k in range(0, rows.shape[0], TOGETHER):
            line = rows[k]
            p0 = line[i]
            q0 = line[i + 1]
            r0 = line[i + 2]
            line = rows[k + 1]
            p1 = line[i]
            q1 = line[i + 1]
            r1 = line[i + 2]
            line = rows[k + 2]
            p2 = line[i]
            q2 = line[i + 1]
            r2 = line[i + 2]
            line = rows[k + 3]
            p3 = line[i]
            q3 = line[i + 1]
            r3 = line[i + 2]
            line = rows[k + 4]
            p4 = line[i]
            q4 = line[i + 1]
            r4 = line[i + 2]
            l0 += p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3 + p4 * p4
            l1 += q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3 + q4 * q4
            l2 += r0 * r0 + r1 * r1 + r2 * r2 + r3 * r3 + r4 * r4
            b0 = others[k]
            b1 = others[k + 1]
            b2 = others[k + 2]
            b3 = others[k + 3]
            b4 = others[k + 4]
            m0 = m1 = m2 = _GREATEST_BITS
            if k == 0:
                for j in range(m):
                    c0 = b0[j]
                    c1 = b1[j]
                    c2 = b2[j]
                    c3 = b3[j]
                    c4 = b4[j]
                    t0 = (p0 - c0) * (p0 - c0) + (p1 - c1) * (p1 - c1) + (p2 - c2) * (p2 - c2)
                    t0 = t0 + (p3 - c3) * (p3 - c3) + (p4 - c4) * (p4 - c4)
                    t1 = (q0 - c0) * (q0 - c0) + (q1 - c1) * (q1 - c1) + (q2 - c2) * (q2 - c2)
                    t1 = t1 + (q3 - c3) * (q3 - c3) + (q4 - c4) * (q4 - c4)
                    t2 = (r0 - c0) * (r0 - c0) + (r1 - c1) * (r1 - c1) + (r2 - c2) * (r2 - c2)
                    t2 = t2 + (r3 - c3) * (r3 - c3) + (r4 - c4) * (r4 - c4)
                    out0[j] = t0
                    out1[j] = t1
                    out2[j] = t2
                    m0 = min(m0, bits_of(t0))
                    m1 = min(m1, bits_of(t1))
                    m2 = min(m2, bits_of(t2))
            else:
                for j in range(m):
                    c0 = b0[j]
                    c1 = b1[j]
                    c2 = b2[j]
                    c3 = b3[j]
                    c4 = b4[j]
                    t0 = out0[j] + (p0 - c0) * (p0 - c0) + (p1 - c1) * (p1 - c1) + (p2 - c2) * (p2 - c2)
                    t0 = t0 + (p3 - c3) * (p3 - c3) + (p4 - c4) * (p4 - c4)
                    t1 = out1[j] + (q0 - c0) * (q0 - c0) + (q1 - c1) * (q1 - c1) + (q2 - c2) * (q2 - c2)
                    t1 = t1 + (q3 - c3) * (q3 - c3) + (q4 - c4) * (q4 - c4)
                    t2 = out2[j] + (r0 - c0) * (r0 - c0) + (r1 - c1) * (r1 - c1) + (r2 - c2) * (r2 - c2)
                    t2 = t2 + (r3 - c3) * (r3 - c3) + (r4 - c4) * (r4 - c4)
                    out0[j] = t0
                    out1[j] = t1
                    out2[j] = t2
                    m0 = min(m0, bits_of(t0))
                    m1 = min(m1, bits_of(t1))
                    m2 = min(m2, bits_of(t2))
        t0 = double_of(m0)
        t1 = double_of(m1)
        t2 = double_of(m2)
        at0 = at1 = at2 = m
        for j in range(m):
            at0 = min(at0, j if out0[j] == t0 else m)
            at1 = min(at1, j if out1[j] == t1 else m)
            at2 = min(at2, j if out2[j] == t2 else m)
        least[i], nearest[i], lengths[i] = t0, at0, l0
        least[i + 1], nearest[i + 1], lengths[i + 1] = t1, at1, l1
        least[i + 2], nearest[i + 2], lengths[i + 2] = t2, at2, l2
