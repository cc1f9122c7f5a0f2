"""How much the objective rises if a matched pair is forbidden.

Let the smaller set be the rows. Its reduced costs ``cost - row_dual - col_dual`` are not negative and 0 on
the matched pairs, so any other matching costs more by the reduced costs that it uses, and, if there are
more columns than rows, by ``-col_dual`` for each column that it leaves free.

So draw a graph: an arc from row k to row l is row k taking the column of row l, and its length the reduced
cost of that. If there are more columns than rows, one more node stands for everything that is free:
row k may take its best free column, and column l may become free. Each other matching is a set of disjoint
cycles, and the margin of row i is the length of the shortest cycle through it.

- Bound: a cycle leaves row i by one arc and comes back by another, so the two shortest of those
  are a lower bound. One pass over blocks of costs gives it for all rows.
- Exact: one shortest-path search a row, which stops once no path can close a shorter cycle. Arcs are computed
  when the search gets to their row, and kept as far as memory is set aside for them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._jit import inline_kernel, kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.costs import CostRule, cost_matrix, cost_of_pair
from lslmatch.geometry.coordinates import Geometry

#: Entries of the block of costs of the streamed pass (8 MB).
_BLOCK_ENTRIES = 1 << 20
#: Entries of the rows of arcs that the searches keep (512 MB).
_KEPT_ENTRIES = 1 << 26
#: Searches after which the kernel returns to Python, so that Ctrl-C is heard.
_SEARCHES_PER_CALL = 64


class Optimum(NamedTuple):
    """An optimal matching of every row, with the duals that prove it and what its costs are made of."""

    geometry: Geometry  # n <= m
    rule: CostRule
    row_dual: FloatArray  # (n,)
    col_dual: FloatArray  # (m,)
    col_of_row: IntArray  # (n,)


class Arcs(NamedTuple):
    """The shortest arcs at each row of an optimum."""

    leaving: FloatArray  # (n,)
    entering: FloatArray  # (n,)

    @property
    def bound(self) -> FloatArray:
        """The lower bound of every row's margin; infinite if it is out of range."""
        with np.errstate(over="ignore"):
            return self.leaving + self.entering


def reduced_costs(optimum: Optimum, rows: slice, workers: int = 1) -> FloatArray:
    """Compute the reduced costs of all pairs of some rows."""
    reduced = cost_matrix(*_part(optimum.geometry, optimum.rule, rows), workers)
    with np.errstate(over="ignore"):
        reduced -= optimum.row_dual[rows, None]
        reduced -= optimum.col_dual
    return reduced


def shortest_arcs(optimum: Optimum, workers: int = 1) -> Arcs:
    """Find the shortest arcs out of and into each row, in one pass over all pairs."""
    n, m = optimum.geometry.shape
    leaving, into_column = np.full(n, np.inf), np.full(m, np.inf)
    step = max(_BLOCK_ENTRIES // m, 1)
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        reduced = reduced_costs(optimum, rows, workers)
        reduced[np.arange(len(reduced)), optimum.col_of_row[rows]] = np.inf
        leaving[rows] = reduced.min(axis=1)
        np.minimum(into_column, reduced.min(axis=0), out=into_column)
    if n < m:
        np.minimum(into_column, -optimum.col_dual, out=into_column)
    # Reduced costs may be negative by rounding.
    return Arcs(np.maximum(leaving, 0.0), np.maximum(into_column[optimum.col_of_row], 0.0))


def exact_margins(optimum: Optimum, arcs: Arcs, rows: IntArray) -> FloatArray:
    """Find the margins of some rows, given the shortest arcs of all of them."""
    n, m = optimum.geometry.shape
    nodes = n + (n < m)
    capacity = min(nodes, max(_KEPT_ENTRIES // nodes, 1))
    kept, node_of_slot = np.empty((capacity, nodes)), np.full(capacity, -1, np.intp)
    is_free = np.ones(m, np.bool_)
    is_free[optimum.col_of_row] = False
    free_cols, margins = np.flatnonzero(is_free), np.empty(rows.size)
    for first in range(0, rows.size, _SEARCHES_PER_CALL):
        part = slice(first, first + _SEARCHES_PER_CALL)
        with np.errstate(over="ignore"):  # which plain Python would tell of
            _search_cycles(optimum, free_cols, arcs, rows[part], margins[part], kept, node_of_slot)
    return margins


def _part(geometry: Geometry, rule: CostRule, rows: slice) -> tuple[Geometry, CostRule]:
    geometry = geometry._replace(a=geometry.a[rows], a_low=geometry.a_low[rows])
    return geometry, rule if rule.logarithm else rule._replace(x_weight=rule.x_weight[rows])


@kernel
def _search_cycles(optimum, free_cols, arcs, rows, margins, kept, node_of_slot):
    """Find the shortest cycle through each of `rows`, by Dijkstra's algorithm.

    A path that has come to node k goes on by at least `leaving[k]`, unless it closes there; so nodes are
    taken in the order of their distance plus that (which is the A* search of a consistent bound).
    """
    n, nodes = optimum.col_of_row.size, kept.shape[1]
    leaving = np.zeros(nodes)
    leaving[:n] = arcs.leaving
    distance, closing = np.empty(nodes), np.empty(nodes)
    is_open = np.empty(nodes, np.bool_)
    for r in range(rows.size):
        start = rows[r]
        col = optimum.col_of_row[start]
        for k in range(n):
            closing[k] = _reduced_cost(optimum, k, col)
        if n < nodes:
            closing[n] = max(-optimum.col_dual[col], 0.0)
        distance[:] = np.inf
        is_open[:] = True
        shortest = np.inf
        node, estimate = start, 0.0
        distance[start] = 0.0
        while node >= 0 and estimate + arcs.entering[start] < shortest:
            is_open[node] = False
            slot = node % node_of_slot.size
            lengths = kept[slot]
            if node_of_slot[slot] != node:
                node_of_slot[slot] = node
                _fill_arcs(optimum, free_cols, node, lengths)
            length = distance[node]
            node, estimate = -1, np.inf
            for k in range(nodes):
                if is_open[k]:
                    if length + lengths[k] < distance[k]:
                        distance[k] = length + lengths[k]
                        shortest = min(shortest, distance[k] + closing[k])
                    if distance[k] + leaving[k] < estimate:
                        node, estimate = k, distance[k] + leaving[k]
        margins[r] = shortest


@inline_kernel
def _fill_arcs(optimum, free_cols, node, arcs):
    """Compute the lengths of the arcs from a node."""
    n = optimum.col_of_row.size
    for k in range(n):
        col = optimum.col_of_row[k]
        arcs[k] = _reduced_cost(optimum, node, col) if node < n else max(-optimum.col_dual[col], 0.0)
    if n < arcs.size:
        arcs[n] = np.inf
        if node < n:
            for j in free_cols:
                arcs[n] = min(arcs[n], _reduced_cost(optimum, node, j))
    arcs[node] = np.inf


@inline_kernel
def _reduced_cost(optimum, i, j):
    cost = cost_of_pair(optimum.geometry, optimum.rule, i, j) + optimum.rule.offset
    return max(cost - optimum.row_dual[i] - optimum.col_dual[j], 0.0)
