"""All squared distances between two small sets, and the nearest point of each.

Coordinates are lines, a line for each of them, as long as whole vectors. Four points are paired with all
others at a time, and five coordinates are gone through together, so that what is loaded is used more often.
"""

from __future__ import annotations

import numpy as np

from lslmatch._jit import fused_kernel

#: Points that are paired with all others at a time, and coordinates that are gone through together.
FEW, TOGETHER = 4, 5
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
        out3 = squares[i + 3]
        l0 = l1 = l2 = l3 = 0.0
        for j in range(m):
            out0[j] = 0.0
            out1[j] = 0.0
            out2[j] = 0.0
            out3[j] = 0.0
        # The least by their bit patterns, so that these are vector loops.
        m0 = m1 = m2 = m3 = _GREATEST_BITS
        for k in range(0, rows.shape[0], TOGETHER):
            line = rows[k]
            p0, q0, r0, s0 = line[i], line[i + 1], line[i + 2], line[i + 3]
            line = rows[k + 1]
            p1, q1, r1, s1 = line[i], line[i + 1], line[i + 2], line[i + 3]
            line = rows[k + 2]
            p2, q2, r2, s2 = line[i], line[i + 1], line[i + 2], line[i + 3]
            line = rows[k + 3]
            p3, q3, r3, s3 = line[i], line[i + 1], line[i + 2], line[i + 3]
            line = rows[k + 4]
            p4, q4, r4, s4 = line[i], line[i + 1], line[i + 2], line[i + 3]
            l0 += p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3 + p4 * p4
            l1 += q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3 + q4 * q4
            l2 += r0 * r0 + r1 * r1 + r2 * r2 + r3 * r3 + r4 * r4
            l3 += s0 * s0 + s1 * s1 + s2 * s2 + s3 * s3 + s4 * s4
            b0 = others[k]
            b1 = others[k + 1]
            b2 = others[k + 2]
            b3 = others[k + 3]
            b4 = others[k + 4]
            m0 = m1 = m2 = m3 = _GREATEST_BITS
            for j in range(m):
                c0 = b0[j]
                c1 = b1[j]
                c2 = b2[j]
                c3 = b3[j]
                c4 = b4[j]
                t0 = out0[j] + (p0 - c0) * (p0 - c0)
                t0 += (p1 - c1) * (p1 - c1)
                t0 += (p2 - c2) * (p2 - c2)
                t0 += (p3 - c3) * (p3 - c3)
                t0 += (p4 - c4) * (p4 - c4)
                t1 = out1[j] + (q0 - c0) * (q0 - c0)
                t1 += (q1 - c1) * (q1 - c1)
                t1 += (q2 - c2) * (q2 - c2)
                t1 += (q3 - c3) * (q3 - c3)
                t1 += (q4 - c4) * (q4 - c4)
                t2 = out2[j] + (r0 - c0) * (r0 - c0)
                t2 += (r1 - c1) * (r1 - c1)
                t2 += (r2 - c2) * (r2 - c2)
                t2 += (r3 - c3) * (r3 - c3)
                t2 += (r4 - c4) * (r4 - c4)
                t3 = out3[j] + (s0 - c0) * (s0 - c0)
                t3 += (s1 - c1) * (s1 - c1)
                t3 += (s2 - c2) * (s2 - c2)
                t3 += (s3 - c3) * (s3 - c3)
                t3 += (s4 - c4) * (s4 - c4)
                out0[j] = t0
                out1[j] = t1
                out2[j] = t2
                out3[j] = t3
                m0 = min(m0, np.float64(t0).view(np.int64))
                m1 = min(m1, np.float64(t1).view(np.int64))
                m2 = min(m2, np.float64(t2).view(np.int64))
                m3 = min(m3, np.float64(t3).view(np.int64))
        t0 = np.int64(m0).view(np.float64)
        t1 = np.int64(m1).view(np.float64)
        t2 = np.int64(m2).view(np.float64)
        t3 = np.int64(m3).view(np.float64)
        at0 = at1 = at2 = at3 = m
        for j in range(m):
            at0 = min(at0, j if out0[j] == t0 else m)
            at1 = min(at1, j if out1[j] == t1 else m)
            at2 = min(at2, j if out2[j] == t2 else m)
            at3 = min(at3, j if out3[j] == t3 else m)
        least[i], nearest[i], lengths[i] = t0, at0, l0
        least[i + 1], nearest[i + 1], lengths[i + 1] = t1, at1, l1
        least[i + 2], nearest[i + 2], lengths[i + 2] = t2, at2, l2
        least[i + 3], nearest[i + 3], lengths[i + 3] = t3, at3, l3
