"""Which pairs may cost too little, without a look at all of them: for the certificate, on its own.

A pair (i, j) needs a squared distance above ``(p[i] + q[j]) * (s[i] + t[j])``; the certificate says what p,
q, s and t are. The points of the second set are sorted into a tree of boxes. A point of the first set goes
down the tree and leaves out every box that is farther away than its points can need. In the leaves, squared
distances are computed in single precision as seen from a centre near by, and lowered by more than their
rounding errors. Pairs that this does not settle are handed over, to be judged exactly.

Nothing here comes from the solver: it has ideas in common with `lslmatch.geometry`, but no code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import fused_kernel, kernel
from lslmatch._threads import over_rows
from lslmatch._types import FloatArray, IntArray

#: Points in a leaf, and children of a node.
_LEAF, _CHILDREN = 128, 32
#: Coordinates after which a leaf is left if those are enough; else after three times as many, and so on.
_FIRST_STAGE = 16
#: Points of the first set that follow each other are near to each other in groups of this size.
_ROW_GROUP = 256
#: Rows that a worker takes at a time, and coordinates of pairs after which a kernel returns, for Ctrl-C.
_BLOCK_ROWS, _WORK_PER_CALL = 2048, 1 << 30
#: Pairs that a kernel hands over at a time, besides those of one row.
_PAIRS_PER_CALL = 1 << 16
#: Unit roundoff of single precision; coordinates of about 1 have rounding errors of less than `_COARSE`.
_ROUNDOFF, _COARSE = 2.0**-24, 2.0**-23
#: Share of what is needed by which it is raised, as against rounding errors of double precision.
_MARGIN = 1e-9
#: What is less than this counts as this, so that no product of positive numbers in single precision is 0.
_LEAST = 2.0**-60


class Need(NamedTuple):
    """What pairs need: their squared distance is to be above ``(p[i] + q[j]) * (s[i] + t[j])``; s, t >= 0.

    If only a square is needed, it is to be above that of ``p[i] + q[j]`` where this is positive; the products
    are no less.
    """

    p: FloatArray  # (n,)
    q: FloatArray  # (m,)
    s: FloatArray  # (n,)
    t: FloatArray  # (m,)
    is_square: bool = False


class _Tree(NamedTuple):
    """Boxes around boxes around leaves, and the leaves' points in single precision.

    The last of the inner nodes, the *families*, have leaves as children, and their points one origin.
    """

    # For each inner node, its children (those that are missing are infinitely far away).
    low: NDArray[np.float32]  # (nodes, d, _CHILDREN)
    high: NDArray[np.float32]  # (nodes, d, _CHILDREN)
    greatest_q: FloatArray  # (nodes, _CHILDREN)
    greatest_t: FloatArray  # (nodes, _CHILDREN)
    first: IntArray  # (nodes,) the first child: a node, or of a family a leaf
    # For each leaf or family.
    col: IntArray  # (leaves, _LEAF) the numbers of the points; -1 where there is none
    centre: FloatArray  # (families, d)
    radius: FloatArray  # (families,)
    points: NDArray[np.float32]  # (leaves, d, _LEAF) as seen from the centre
    squares: NDArray[np.float32]  # (leaves, stages, _LEAF) squared norms of that; infinite if not a point
    unit: FloatArray  # (leaves,) the greatest t, or 1 if all are 0
    middle: FloatArray  # (leaves,) of the least and greatest q
    q: NDArray[np.float32]  # (leaves, _LEAF) less the middle, times the unit
    t: NDArray[np.float32]  # (leaves, _LEAF) over the unit


def find_doubtful_in_tree(
    x: FloatArray, y: FloatArray, need: Need, judge: Callable[[IntArray, IntArray], None], workers: int
) -> None:
    """Hand over to `judge`, some at a time, all pairs (i[k], j[k]) that may not have what they need.

    Coordinates and duals are finite, and no coordinate is above 1. With several workers, `judge` is
    called in their threads.
    """
    s, t = need.s, need.t
    if need.is_square:
        s, t = np.zeros_like(s), np.zeros_like(t)
    tree = _plant(y, need.q, t)
    order = _sort_by_place(x, _ROW_GROUP)
    points = x, x.astype(np.float32)

    def run(worker: int, first: int, last: int) -> None:
        i, j = np.empty((2, tree.col.size + _PAIRS_PER_CALL), np.intp)
        while first < last:
            first, found = _search(
                points, need.p, s, need.is_square, tree, order[:last], first, (i, j), _WORK_PER_CALL
            )
            judge(i[:found], j[:found])

    over_rows(run, len(x), _BLOCK_ROWS, workers)


def search_is_short(x: FloatArray, y: FloatArray, need: Need, rows: IntArray, work: int) -> bool:
    """Say whether the tree is done with some rows after so much work, in coordinates of pairs."""
    s, t = (np.zeros_like(part) if need.is_square else part for part in (need.s, need.t))
    tree = _plant(y, need.q, t)
    size = tree.col.size + _PAIRS_PER_CALL
    out = np.empty(size, np.intp), np.empty(size, np.intp)
    some = x[rows]
    own = np.arange(rows.size)
    points = some, some.astype(np.float32)
    done, _ = _search(points, need.p[rows], s[rows], need.is_square, tree, own, 0, out, work)
    return bool(done == rows.size)


def _sort_by_place(points: FloatArray, size: int) -> IntArray:
    """Return an order in which each `size` points, or `size` times a power of two, are near to each other."""
    order = np.arange(len(points))
    parts = [(0, len(points))]
    while parts:
        start, stop = parts.pop()
        if stop - start <= size:
            continue
        part = order[start:stop]
        there = points[part]
        side = int(np.argmax(there.max(axis=0) - there.min(axis=0)))
        # The first part is as large as a complete tree, so that boxes of all levels are made of whole parts.
        half = size
        while 2 * half < stop - start:
            half *= 2
        order[start:stop] = part[np.argpartition(there[:, side], half)]
        parts += [(start, start + half), (start + half, stop)]
    return order


def _plant(y: FloatArray, q: FloatArray, t: FloatArray) -> _Tree:
    """Sort the points into leaves, and put boxes around them, up to one node."""
    m, d = y.shape
    leaves = -(-m // _LEAF)
    col = np.full(leaves * _LEAF, -1)
    col[:m] = _sort_by_place(y, _LEAF)
    y, q, t = y[col[:m]], q[col[:m]], t[col[:m]]
    starts, family_starts = np.arange(0, m, _LEAF), np.arange(0, m, _LEAF * _CHILDREN)
    leaf = np.arange(m) // _LEAF
    boxes = np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
    greatest_q, greatest_t = np.maximum.reduceat(q, starts), np.maximum.reduceat(t, starts)

    centre = np.add.reduceat(y, family_starts) / np.minimum(m - family_starts, _LEAF * _CHILDREN)[:, None]
    inside = np.zeros((leaves * _LEAF, d))
    inside[:m] = y - centre[leaf // _CHILDREN]
    stages = _stages(d)
    squares = np.full((leaves * _LEAF, len(stages)), np.inf)
    squares[:m] = np.add.reduceat(inside[:m] ** 2, stages, axis=1)
    unit = np.where(greatest_t > 0.0, greatest_t, 1.0)
    middle = greatest_q / 2.0 + np.minimum.reduceat(q, starts) / 2.0
    leaf_q, leaf_t = np.zeros((2, leaves * _LEAF))
    leaf_q[:m], leaf_t[:m] = (q - middle[leaf]) * unit[leaf], np.maximum(t / unit[leaf], _LEAST)

    levels: list[tuple[FloatArray, ...]] = []
    parts = *boxes, greatest_q, greatest_t
    while not levels or len(levels[-1][0]) > 1:
        levels.append(tuple(_in_families(part, empty) for part, empty in zip(parts, _NOWHERE, strict=True)))
        low, high, *greatest = levels[-1]
        parts = low.min(axis=1), high.max(axis=1), *(part.max(axis=1) for part in greatest)
    levels.reverse()
    sizes = [len(level[0]) for level in levels]
    ends = np.cumsum(sizes)
    first = [end + _CHILDREN * np.arange(size) for end, size in zip(ends, sizes, strict=True)]
    first[-1] -= ends[-1]
    low, high, greatest_q, greatest_t = (np.concatenate(parts) for parts in zip(*levels, strict=True))
    # Beyond the range of singles needs are infinite: every pair is judged exactly, or none need be.
    with np.errstate(over="ignore"):
        single_q, single_t = leaf_q.astype(np.float32), leaf_t.astype(np.float32)
    return _Tree(
        _coordinates_first(low - _COARSE),
        _coordinates_first(high + _COARSE),
        greatest_q,
        greatest_t,
        np.concatenate(first),
        col.reshape(leaves, _LEAF),
        centre,
        np.sqrt(np.maximum.reduceat(squares[:m].sum(axis=1), family_starts)),
        _coordinates_first(inside.reshape(leaves, _LEAF, d)),
        _coordinates_first(squares.reshape(leaves, _LEAF, -1)),
        unit,
        middle,
        single_q.reshape(leaves, _LEAF),
        single_t.reshape(leaves, _LEAF),
    )


def _coordinates_first(values: FloatArray) -> NDArray[np.float32]:
    """Exchange the last two axes, so that loops over points are vector loops, in single precision."""
    exchanged = np.empty((values.shape[0], values.shape[2], values.shape[1]), np.float32)
    exchanged[:] = values.transpose(0, 2, 1)
    return exchanged


def _stages(d: int) -> list[int]:
    """Return the first coordinate of each stage in which squared distances are added up."""
    starts, end = [0], _FIRST_STAGE
    while end < d:
        starts.append(end)
        end *= 3
    return starts


#: The box of no points, whose distance from all points is infinite, and what its points need at most.
_NOWHERE = (np.inf, -np.inf, -np.inf, 0.0)


def _in_families(values: FloatArray, empty: float) -> FloatArray:
    """Put each `_CHILDREN` consecutive ones together, the last filled up."""
    families = -(-len(values) // _CHILDREN)
    filled = np.full((families * _CHILDREN, *values.shape[1:]), empty)
    filled[: len(values)] = values
    return filled.reshape(families, _CHILDREN, *values.shape[1:])


@kernel
def _search(points, p, s, is_square, tree, order, start, out, work):
    """Write the doubtful pairs of rows order[start], ...; return where to go on, and how many there are.

    After some work, or if `out` might become full, it returns after a row before all are done.
    """
    gaps, values = np.empty(_CHILDREN, np.float32), np.empty(_LEAF, np.float32)
    spare = np.empty(_CHILDREN * 12, np.intp), gaps, np.empty(points[0].shape[1], np.float32), values
    return _search_rows(points, (p, s, is_square), tree, order, start, out, work, spare)


@fused_kernel
def _search_rows(points_of_rows, need, tree, order, start, out, work, spare):
    p, s, is_square = need
    low, high, greatest_q, greatest_t, first, col, centre, radius = tree[:8]
    points, squares, unit, middle, q, t = tree[8:]
    x, coarse = points_of_rows
    out_row, out_col = out
    d = x.shape[1]
    room = out_row.size - col.size
    last_nodes = first.size - centre.shape[0]
    found = 0
    stack, gaps, seen, values = spare
    shrunk = 1.0 - (d + 8) * _ROUNDOFF
    for r in range(start, order.size):
        if work < 0 or found > room:
            return r, found
        i = order[r]
        stack[0] = 0
        held = 1
        while held > 0:
            held -= 1
            node = stack[held]
            family = node - last_nodes
            _squared_gaps(coarse[i], low[node], high[node], gaps)
            work -= _CHILDREN * d
            error = -1.0
            for c in range(_CHILDREN):
                if gaps[c] == np.inf:
                    continue
                if is_square:
                    limit = max(p[i] + greatest_q[node, c], 0.0) ** 2
                else:
                    limit = (p[i] + greatest_q[node, c]) * (s[i] + greatest_t[node, c])
                # In this form what is not a number goes on to the exact judgement.
                if gaps[c] * shrunk > limit + _MARGIN * abs(limit):
                    continue
                child = first[node] + c
                if family < 0:
                    stack[held] = child
                    held += 1
                    continue
                if error < 0.0:
                    square = _look_from(centre[family], x[i], seen)
                    reach = np.sqrt(square) + radius[family]
                    error = reach * (4.0 * (d + 8) * _ROUNDOFF * reach + np.sqrt(d) * 2.0**-50)
                # What the row needs, in the leaf's units.
                row_p = p[i] + middle[child]
                row_p += 16.0 * _ROUNDOFF * (abs(row_p) + abs(greatest_q[node, c] - middle[child]))
                row_p, row_s = np.float32(row_p * unit[child]), np.float32(s[i] / unit[child])
                for j in range(_LEAF):
                    values[j] = -error
                stage, begin, end = 0, 0, min(d, _FIRST_STAGE)
                while True:
                    _add_squares(seen, begin, end, points[child], squares[child, stage], values)
                    doubtful = _any_doubtful(values, row_p, row_s, q[child], t[child], is_square)
                    work -= _LEAF * (end - begin + 8)
                    if not doubtful or end == d:
                        break
                    stage, begin, end = stage + 1, end, min(d, 3 * end)
                if not doubtful:
                    continue
                for j in range(_LEAF):
                    if is_square:
                        needed = max(row_p + q[child, j], np.float32(0.0)) ** 2
                    else:
                        needed = (row_p + q[child, j]) * (row_s + t[child, j])
                    enough = values[j] > needed
                    if not enough and col[child, j] >= 0:
                        out_row[found] = i
                        out_col[found] = col[child, j]
                        found += 1
    return order.size, found


@fused_kernel
def _squared_gaps(point, low, high, gaps):
    """Fill `gaps` with the squared distances of a point from the boxes of a node's children."""
    zero = np.float32(0.0)
    for c in range(_CHILDREN):
        gaps[c] = zero
    for k in range(point.size):
        here = point[k]
        for c in range(_CHILDREN):
            below, above = low[k, c] - here, here - high[k, c]
            gap = below if below > above else above
            gap = gap if gap > zero else zero
            gaps[c] += gap * gap


@fused_kernel
def _look_from(centre, point, seen):
    """Fill `seen` with -2 times the point as seen from a centre; return the squared distance of the two."""
    square0 = square1 = 0.0
    for k in range(0, point.size - 1, 2):
        difference0, difference1 = point[k] - centre[k], point[k + 1] - centre[k + 1]
        square0 += difference0 * difference0
        square1 += difference1 * difference1
        seen[k] = -2.0 * difference0
        seen[k + 1] = -2.0 * difference1
    if point.size % 2:
        difference0 = point[-1] - centre[-1]
        square0 += difference0 * difference0
        seen[-1] = -2.0 * difference0
    return square0 + square1


@fused_kernel
def _add_squares(seen, begin, end, points, squares, values):
    """Add to `values` the squared distances in coordinates begin, ..., end - 1, four at a time."""
    square = np.float32(0.0)
    for k in range(begin, end):
        square += seen[k] * seen[k]
    square *= np.float32(0.25)
    for j in range(_LEAF):
        values[j] += square + squares[j]
    whole = end - (end - begin) % 4
    for k in range(begin, whole, 4):
        a0, a1, a2, a3 = seen[k], seen[k + 1], seen[k + 2], seen[k + 3]
        for j in range(_LEAF):
            value = values[j] + a0 * points[k, j] + a1 * points[k + 1, j]
            values[j] = value + a2 * points[k + 2, j] + a3 * points[k + 3, j]
    for k in range(whole, end):
        a0 = seen[k]
        for j in range(_LEAF):
            values[j] += a0 * points[k, j]


@fused_kernel
def _any_doubtful(values, p, s, q, t, is_square):
    """Say whether some column's squared distance may not be what it needs."""
    doubtful = False
    if is_square:
        zero = np.float32(0.0)
        for j in range(_LEAF):
            needed = p + q[j]
            needed = needed if needed > zero else zero
            doubtful |= not (values[j] > needed * needed)
        return doubtful
    for j in range(_LEAF):
        doubtful |= not (values[j] > (p + q[j]) * (s + t[j]))
    return doubtful
