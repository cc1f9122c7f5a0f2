"""What all turns of an arc cost at least: two assignments.

Turned by the angle phi, a pair has the squared distance, the floor added, of

    q(phi) = c - p cos(theta) - s sin(theta),    theta = phi - middle of the arc, |theta| <= h < pi / 2.

On the arc q is not below an affine function l of theta (:func:`_least_ends` says which). The logarithm of l
is concave, so are sums of such logarithms, and so is the least of these sums over all matchings: it is not
below the lesser of its two values at the ends of the arc. Each of those is an assignment. What this loses is
of the order of h**2; the least q of each pair by itself would lose h.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._jit import inline_kernel, kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.costs import log_kernel

#: A whole turn, and the arcs that a search begins with.
WHOLE, FIRST = 1 << 50, 16
#: The share of ``|a|**2 + |b|**2 + floor`` that rounding may cost q; by how much half-widths are enlarged.
#: The check of a proof derives both for its own steps; here they leave room for that.
ROUNDING, _WIDER = 2.0**-46, 2.0**-48


class Arc(NamedTuple):
    """Some angles, in parts of a whole turn; of y as it is, or of its mirror image."""

    mirrored: bool
    start: int
    width: int

    @property
    def middle(self) -> float:
        """The angle in the middle, in radians."""
        return math.tau * ((self.start + self.width / 2) / WHOLE)

    @property
    def half_width(self) -> float:
        """Half of the width in radians, rounded up."""
        return math.tau * (self.width / 2 / WHOLE) * (1.0 + _WIDER) + _WIDER

    def halves(self) -> tuple[Arc, Arc]:
        """Cut the arc in two."""
        half = self.width // 2
        return self._replace(width=half), self._replace(start=self.start + half, width=half)


class Plane(NamedTuple):
    """Both sets about the centre of the turn, in one unit: n points of x, and at least as many of y."""

    a: FloatArray  # (n, 4): coordinates, squared length, length
    b: FloatArray  # (4, m): likewise
    floor: float  # what is added to squared distances

    def turned(self, angle: float, mirrored: bool) -> FloatArray:
        """Turn the second set, mirrored first if asked."""
        up = -self.b[1] if mirrored else self.b[1]
        cosine, sine = math.cos(angle), math.sin(angle)
        return np.stack([cosine * self.b[0] - sine * up, sine * self.b[0] + cosine * up, *self.b[2:]])

    def squares(self, angle: float, mirrored: bool) -> FloatArray:
        """Give q of all pairs under one turn, (n, m)."""
        b = self.turned(angle, mirrored)
        q: FloatArray = (self.a[:, :1] - b[0]) ** 2 + (self.a[:, 1:2] - b[1]) ** 2 + self.floor
        return q

    def squares_of_pairs(self, angle: float, mirrored: bool, partner: IntArray) -> FloatArray:
        """Give q of the pairs of a matching under one turn, (n,)."""
        cosine, sine = math.cos(angle), math.sin(angle)
        x, y = self.b[0, partner], -self.b[1, partner] if mirrored else self.b[1, partner]
        q: FloatArray = (self.a[:, 0] - cosine * x + sine * y) ** 2
        q += (self.a[:, 1] - sine * x - cosine * y) ** 2
        return q + self.floor


def plane_of(a: FloatArray, b: FloatArray, floor: float) -> Plane:
    """Take two sets about their centres, of which `a` is not the larger one."""
    sets = []
    for points in (a, b):
        squares = points[:, 0] ** 2 + points[:, 1] ** 2
        sets.append(np.column_stack([points, squares, np.sqrt(squares)]))
    return Plane(sets[0], np.ascontiguousarray(sets[1].T), floor)


def end_costs(plane: Plane, arc: Arc) -> tuple[FloatArray, FloatArray]:
    """Give the values of l at both ends of an arc, as square matrices; rows without a point are 1."""
    n, m = len(plane.a), plane.b.shape[1]
    ends = np.ones((2, m, m))
    h = arc.half_width
    nodes = np.array([0.0, 0.5 * h, h])
    angles = np.array([plane.floor, math.sin(h), math.cos(h), h**3 / (9.0 * math.sqrt(3.0)) * (1.0 + _WIDER)])
    # The tangents of the cosine at the nodes, at both ends of the arc.
    tangents = np.cos(nodes) - np.sin(nodes) * (np.array([[h], [-h]]) - nodes)
    _least_ends(plane.a, plane.turned(arc.middle, arc.mirrored), angles, tangents, ends[0, :n], ends[1, :n])
    return ends[0], ends[1]


@kernel
def take_logarithms(values):
    """Replace positive numbers by their logarithms."""
    for i in range(values.shape[0]):
        row = values[i]
        for j in range(row.size):
            row[j] = log_kernel(row[j])


@kernel
def _least_ends(a, b, angles, tangents, low, high):
    """Fill in an affine lower bound of each q at both ends of the arc, the greatest product of both.

    The sine is within e = h**3 / (9 sqrt(3)) of the line through its values at the ends. If p < 0, -p cos is
    not below its value at the ends. If p >= 0, cos is not above its tangents at 0, at h / 2 and at h, on the
    side where the sine lowers q. All this fails where the tangent falls below 0: then the least q of the arc
    is the bound at both ends.
    """
    floor, sine, cosine, bend = angles[0], angles[1], angles[2], angles[3]
    for i in range(a.shape[0]):
        x, y, square, length = a[i, 0], a[i, 1], a[i, 2], a[i, 3]
        for j in range(b.shape[1]):
            p = 2.0 * (x * b[0, j] + y * b[1, j])
            s = 2.0 * (y * b[0, j] - x * b[1, j])
            lean = abs(s)
            c = square + b[2, j] + floor
            off = c * ROUNDING
            # The least q: inside the arc, or at the end where the sine lowers it.
            inside = lean * cosine <= p * sine
            least = c - 2.0 * length * b[3, j] if inside else c - p * cosine - lean * sine
            least -= off
            near = least if least > floor else floor
            far = near
            plus = p if p > 0.0 else 0.0
            flat = 0.0 if p > 0.0 else p * cosine
            rest, fall = c - lean * bend - off - flat, lean * sine
            lower, upper = rest - fall, rest + fall
            near, far = _greater(near, far, lower - plus * tangents[0, 0], upper - plus * tangents[1, 0])
            near, far = _greater(near, far, lower - plus * tangents[0, 1], upper - plus * tangents[1, 1])
            near, far = _greater(near, far, lower - plus * tangents[0, 2], upper - plus * tangents[1, 2])
            high[i, j] = near if s > 0.0 else far
            low[i, j] = far if s > 0.0 else near


@inline_kernel
def _greater(near, far, other_near, other_far):
    """Give the second pair if both are positive and their product is greater, else the first one."""
    lesser = other_near if other_near < other_far else other_far
    product = other_near * other_far if lesser > 0.0 else 0.0
    if product > near * far:
        return other_near, other_far
    return near, far
