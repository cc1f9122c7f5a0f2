"""The check of a proof for all angles: arcs leave out none, and rounding cannot raise the bound of any.

Under a turn by theta from the middle of an arc of half-width h < pi / 8, a pair at q0 in the middle is at

    q(theta) = q0 + p (1 - cos(theta)) - s sin(theta),

where p and s are twice the inner product and twice the cross product of its points (that of x, and that of y
in the middle of the arc). Four functions that are linear in theta are never above q on the arc:

- its least value there: ``floor**2 + (|a| - |b|)**2`` if q is least within the arc, else q at the end at
  which s sin(theta) is greatest;
- if p >= 0, for the nodes 0, h / 2 and h on that side, ``q0 + p t(theta) - |s| (theta sin(h) / h + e)``,
  theta counted towards that side, with the tangent t of 1 - cos, which is convex, at the node; if p < 0, the
  same with t = 1 - cos(h). The sine differs from the line through its values at both ends by at most
  ``e = h**3 / (9 sqrt(3))``: sin(z) / z falls by at most (h**2 - z**2) / 6 from z to h, and
  z (h**2 - z**2) / 6 is greatest at h / sqrt(3).

One of them, positive on the whole arc, is taken for the pair: which one is free to choose. Logarithms of
linear functions are concave, so are their sums over the pairs of a matching and the least sum of all
matchings: on the arc it is at least the lesser of its values at both ends, and these are at least what any
column duals v give: the sum of ``min_j (cost[i, j] - v[j])`` and of v, without its greatest where columns are
left over.

Rounding: with u = 2**-53 and S = |a|**2 + |b|**2 + floor**2, a and b are off by 2u and 2u of themselves, b in
the middle of the arc by 8u, p and s by 22u |a| |b| <= 11u S, q0 by 42u S, and each of the functions by
less than 100u S; so 2**-46 S is taken off. Logarithms are off by less than 2**-50 of the greatest.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._threads import over_rows
from lslmatch._types import FloatArray
from lslmatch.turn_proof import TurnProof

#: The parts of a whole turn, and the widest arc: pi / 8.
_WHOLE, _WIDEST = 1 << 50, 1 << 46
#: What rounding may cost a function, as a share of S; a logarithm or a sum; by how much arcs are widened.
_OFF, _LOG_OFF, _WIDER = 2.0**-46, 2.0**-50, 2.0**-48
#: Entries of the blocks of rows.
_BLOCK = 1 << 15


def turn_violation(x: FloatArray, y: FloatArray, proof: TurnProof, workers: int = 1) -> float:
    """Say by how much less than claimed is proven of the sums of all turns; infinite if arcs do not fit.

    `x` and `y` are checked sets in the plane.
    """
    if not (x.shape[1] == y.shape[1] == 2 and _covers_all(proof) and _fits(proof, len(x), len(y))):
        return math.inf
    with np.errstate(all="ignore"):
        planar = _Planar(x, y, proof)
        found = [planar.of_best() - proof.value, proof.bound - proof.value]

        def run(worker: int, first: int, last: int) -> None:
            for k in range(first, last):
                bound = planar.bound(k)
                found.append(proof.bound - bound)
                if _is_other(proof, k):
                    found.append(proof.other_bound - bound)

        over_rows(run, proof.start.size, 1, workers)
    # A NaN is a violation.
    worst = float(np.max(found))
    return max(worst, 0.0) if worst == worst else math.inf


def _covers_all(proof: TurnProof) -> bool:
    """Say whether arcs lie end to end, once around, and once more around for the mirror image."""
    if not (proof.start.ndim == 1 and proof.start.shape == proof.width.shape == proof.of_mirror.shape):
        return False
    if not (proof.width.size and (proof.width > 0).all() and (proof.width <= _WIDEST).all()):
        return False
    for of_mirror in (False, True) if proof.mirrors else (False,):
        some = proof.of_mirror == of_mirror
        order = np.argsort(proof.start[some])
        start, width = proof.start[some][order], proof.width[some][order]
        ends = start + width
        if not start.size or start[0] != 0 or ends[-1] != _WHOLE or not np.array_equal(ends[:-1], start[1:]):
            return False
    return True


def _fits(proof: TurnProof, n: int, m: int) -> bool:
    """Say whether the numbers of a proof are of these sizes and can be true."""
    partner = proof.permutation
    if partner.shape != (n,) or proof.duals.shape != (proof.start.size, 2, max(n, m)):
        return False
    matched = partner[partner >= 0]
    is_matching = matched.size == min(n, m) == np.unique(matched).size and matched.max() < m
    is_finite = np.isfinite(proof.duals).all() and math.isfinite(proof.value)
    is_positive = 0.0 < proof.scale < math.inf and 0.0 < proof.floor < math.inf
    is_near = 0.0 <= proof.apart <= 1.0 and (proof.mirrors or not proof.mirrored)
    return bool(is_matching and is_finite and is_positive and is_near)


def _is_other(proof: TurnProof, k: int) -> bool:
    """Say whether an arc holds an angle that is apart from the best one."""
    if bool(proof.of_mirror[k]) != proof.mirrored:
        return True
    ends = (float(proof.start[k]) / _WHOLE, float(proof.start[k] + proof.width[k]) / _WHOLE)
    away = [abs(math.remainder(math.tau * end - proof.angle, math.tau)) for end in ends]
    return max(away) >= proof.apart * (1.0 - 1e-9)


class _Planar:
    """Both sets about the centre, divided by a power of two, and the bounds of arcs."""

    def __init__(self, x: FloatArray, y: FloatArray, proof: TurnProof) -> None:
        self.proof = proof
        a, b = x - proof.x_centre, (y - proof.y_centre) * proof.scale
        exponent = math.frexp(float(np.median(np.abs(a).max(axis=1))) + proof.floor)[1]
        self.a, self.b = np.ldexp(a, -exponent), np.ldexp(b, -exponent)
        self.floor = math.ldexp(proof.floor, -exponent) ** 2
        self.a_squares, self.b_squares = (self.a**2).sum(axis=1), (self.b**2).sum(axis=1)
        # Each pair's logarithm is of a square in that unit.
        self.offset = 2.0 * exponent * math.log(2.0) * min(len(x), len(y))

    def of_best(self) -> float:
        """Give the sum of the best turn, rounded up."""
        rows = np.flatnonzero(self.proof.permutation >= 0)
        cols = self.proof.permutation[rows]
        turned = self._turned(self.proof.angle, self.proof.mirrored)
        squares = ((self.a[rows] - turned[cols]) ** 2).sum(axis=1) + self.floor
        squares += _OFF * (self.a_squares[rows] + self.b_squares[cols] + self.floor)
        logarithms = np.log(squares)
        total = math.fsum(logarithms)
        return total + self.offset + _LOG_OFF * (float(np.abs(logarithms).sum()) + abs(self.offset))

    def bound(self, k: int) -> float:
        """Give what the sums of all turns of an arc are at least, rounded down."""
        proof = self.proof
        start, width = int(proof.start[k]), int(proof.width[k])
        middle = math.tau * ((start + width / 2) / _WHOLE)
        h = math.tau * (width / 2 / _WHOLE) * (1.0 + _WIDER) + _WIDER
        turned = self._turned(middle, bool(proof.of_mirror[k]))
        sums = _Sums(proof.duals[k], len(self.a) <= len(turned))
        step = max(1, _BLOCK // max(len(self.a), len(turned)))
        for first in range(0, min(len(self.a), len(turned)), step):
            some, every = slice(first, first + step), slice(None)
            rows, cols = (some, every) if sums.rows_are_x else (every, some)
            sums.add(self._linear(rows, cols, turned, h))
        return sums.total() + self.offset - _LOG_OFF * abs(self.offset)

    def _turned(self, angle: float, mirrored: bool) -> FloatArray:
        cosine, sine = math.cos(angle), math.sin(angle)
        up = -1.0 if mirrored else 1.0
        turned: FloatArray = self.b @ np.array([[cosine, sine], [-up * sine, up * cosine]])
        return turned

    def _linear(self, rows: slice, cols: slice, turned: FloatArray, h: float) -> FloatArray:
        """Give one of the linear functions of each pair at both ends of an arc."""
        ax, ay = self.a[rows, 0][:, None], self.a[rows, 1][:, None]
        bx, by = turned[cols, 0], turned[cols, 1]
        off = _OFF * (self.a_squares[rows][:, None] + self.b_squares[cols] + self.floor)
        middle = (ax - bx) ** 2 + (ay - by) ** 2 + self.floor - off
        p = 2.0 * (ax * bx + ay * by)
        cross = 2.0 * (ay * bx - ax * by)
        s = np.abs(cross)
        bulge, sine = 2.0 * math.sin(h / 2.0) ** 2, math.sin(h)
        at_end = middle + p * bulge - s * sine
        lengths = np.sqrt(self.a_squares[rows])[:, None] - np.sqrt(self.b_squares[cols])
        within = lengths**2 + self.floor - off
        least = np.maximum(np.where(s * math.cos(h) <= p * sine, within, at_end), self.floor)
        towards, away = least, least.copy()
        rest = middle - s * (h**3 / (9.0 * math.sqrt(3.0)) * (1.0 + _WIDER))
        bent, convex = np.minimum(p, 0.0) * bulge, np.maximum(p, 0.0)
        for node in (0.0, h / 2.0, h):
            base, slope = 2.0 * math.sin(node / 2.0) ** 2, math.sin(node)
            one = rest - s * sine + bent + convex * (base + slope * (h - node))
            other = rest + s * sine + bent + convex * (base - slope * (h + node))
            better = (one > 0.0) & (other > 0.0) & (one * other > towards * away)
            towards[better], away[better] = one[better], other[better]
        # At the last end theta is h, where a positive cross lowers q.
        positive = cross > 0.0
        return np.stack([np.where(positive, away, towards), np.where(positive, towards, away)])


class _Sums:
    """The least sums at both ends of an arc, as the duals of the larger set bound them."""

    def __init__(self, duals: FloatArray, rows_are_x: bool) -> None:
        self.duals, self.rows_are_x = duals, rows_are_x
        self.least: list[FloatArray] = []
        self.greatest = 0.0

    def add(self, ends: FloatArray) -> None:
        """Take the linear functions of some points of the smaller set, at both ends."""
        costs = np.log(ends) if self.rows_are_x else np.log(ends).transpose(0, 2, 1)
        self.greatest = max(self.greatest, float(np.abs(costs).max()))
        self.least.append((costs - self.duals[:, None, :]).min(axis=2))

    def total(self) -> float:
        """Give the lesser of both sums, rounded down."""
        rows = np.concatenate(self.least, axis=1)
        return min(self._at(rows[end], self.duals[end]) for end in (0, 1))

    def _at(self, rows: FloatArray, duals: FloatArray) -> float:
        left_over = np.sort(duals)[rows.size :]
        total = math.fsum(rows) + math.fsum(duals) - math.fsum(left_over)
        off = 4.0 * rows.size * self.greatest + float(np.abs(rows).sum()) + 2.0 * float(np.abs(duals).sum())
        return total - _LOG_OFF * off
