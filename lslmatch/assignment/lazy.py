"""The Hungarian method on rows that are computed only as far as they are needed.

Each row has a short list of its best pairs, and a bound below which no other pair of the row has its
reduced cost. Column duals only ever fall, so the bound stays valid. A search for a shortest path treats
"all the other pairs of row i" as one arc whose length is the bound: only if the search gets there is
the row computed in full. So the duals are feasible for all pairs at every moment, though few were seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._jit import inline_kernel, kernel
from lslmatch.assignment.dense import Duals
from lslmatch.assignment.keys import (
    GREATEST_KEY,
    bound_of_key,
    column_factor,
    column_factors,
    fill_keys,
    keep_least,
    key_of_bound,
)
from lslmatch.costs import CostRule, cost_of_pair
from lslmatch.distances import Geometry, Tiles
from lslmatch.results import FloatArray, IntArray

#: Rows scanned and columns reached before a kernel returns to Python, so that Ctrl-C is heard.
_STEPS_PER_CALL = 500_000
#: Row scans of augmenting row reduction for each free row.
_SCANS_PER_ROW = 8


class Lists(NamedTuple):
    """The best pairs of each row: columns and costs, and the least reduced cost of all the others."""

    col: IntArray  # (n, size)
    cost: FloatArray  # (n, size)
    bound: FloatArray  # (n,)


class _Search(NamedTuple):
    """Workspace of one shortest-path search, allocated once and left clean by every search.

    The heap holds nodes: a column j as j, and the rest of row i as m + i.
    """

    distance: FloatArray  # (m + n,) tentative distances of the nodes, inf where not reached
    row_before: IntArray  # (m,) the row from which each column was reached
    reached: IntArray  # (m + n,) the nodes reached, in that order
    scanned: IntArray  # (n,) the rows scanned
    level: FloatArray  # (n,) the distance of each scanned row, by row
    heap: IntArray  # (m + n,) nodes
    place: IntArray  # (m + n,) where each node stands in the heap
    keys: FloatArray  # (m,) one row of keys
    col_factor: FloatArray  # (m,) what keys are made with
    sizes: IntArray  # (3,) sizes: of the heap, of `reached`, of `scanned`


def _new_search(state: Duals) -> _Search:
    n, m = state.col_of_row.size, state.row_of_col.size
    return _Search(
        np.full(m + n, np.inf),
        np.empty(m, np.intp),
        np.empty(m + n, np.intp),
        np.empty(n, np.intp),
        np.empty(n),
        np.empty(m + n, np.intp),
        np.full(m + n, -1, np.intp),
        np.empty(m),
        np.empty(m),
        np.zeros(3, np.intp),
    )


def augment_all(
    geometry: Geometry, tiles: Tiles, rule: CostRule, lists: Lists, state: Duals, free_rows: IntArray
) -> None:
    """Match all free rows by shortest paths."""
    if not free_rows.size:
        return
    search = _new_search(state)
    search.col_factor[:] = column_factors(rule, state.col_dual)
    done = 0
    while done < free_rows.size:
        done = _augment_rows(geometry, tiles, rule, lists, state, search, free_rows, done)


@kernel
def reduce_free_rows(lists, state, free_rows):
    """Augmenting row reduction on the lists, with a bounded number of scans.

    As in the dense solver: a free row takes its best column, whose dual falls until the second best
    is as good, and the row that held the column goes on; but never further than the row's bound.
    Returns how many rows are still free; they come first in `free_rows`.
    """
    budget = _SCANS_PER_ROW * free_rows.size
    left, taken = 0, 0
    i = -1
    while i >= 0 or taken < free_rows.size:
        if i < 0:
            i = free_rows[taken]
            taken += 1
        best, second = np.inf, np.inf
        j, other = -1, -1
        for k in range(lists.col.shape[1]):
            col = lists.col[i, k]
            reduced = lists.cost[i, k] - state.col_dual[col]
            if reduced < best:
                second, other = best, j
                best, j = reduced, col
            elif reduced < second:
                second, other = reduced, col
        limit = min(second, lists.bound[i])
        if best > limit:
            # The list is exhausted: a pair that is not in it may be better than all of it.
            state.row_dual[i] = limit
            free_rows[left] = i
            left += 1
            i = -1
            continue
        lowered = state.col_dual[j] - (limit - best)
        falls = lowered < state.col_dual[j] and limit < np.inf and budget > 0
        budget -= 1
        if second == best and state.row_of_col[j] >= 0 and state.row_of_col[other] < 0:
            j = other
        holder = state.row_of_col[j]
        if holder < 0:
            state.row_dual[i] = best
        elif falls:
            state.col_dual[j] = lowered
            state.row_dual[i] = limit
            state.col_of_row[holder] = -1
        else:
            state.row_dual[i] = best
            free_rows[left] = i
            left += 1
            i = -1
            continue
        state.col_of_row[i] = j
        state.row_of_col[j] = i
        i = holder
    return left


@kernel
def _augment_rows(geometry, tiles, rule, lists, state, search, free_rows, done):
    """Augment from the free rows one by one until all are done or it is time to return."""
    m = state.row_of_col.size
    budget = _STEPS_PER_CALL
    while done < free_rows.size and budget > 0:
        sink = _search_shortest_path(geometry, tiles, rule, lists, state, search, free_rows[done])
        length = search.distance[sink]
        budget -= search.sizes[1] + search.sizes[2]
        for k in range(search.sizes[2]):
            i = search.scanned[k]
            state.row_dual[i] += length - search.level[i]
        for k in range(search.sizes[1]):
            node = search.reached[k]
            if node < m and search.distance[node] < length:
                state.col_dual[node] -= length - search.distance[node]
                search.col_factor[node] = column_factor(rule, state.col_dual[node])
            search.distance[node] = np.inf
            search.place[node] = -1
        j = sink
        while j >= 0:
            i = search.row_before[j]
            state.row_of_col[j] = i
            j, state.col_of_row[i] = state.col_of_row[i], j
        done += 1
    return done


@inline_kernel
def _search_shortest_path(geometry, tiles, rule, lists, state, search, start):
    """Dijkstra's search from a free row to the nearest free column, which it returns."""
    m = state.row_of_col.size
    search.sizes[:] = 0
    sink = -1
    i = start
    level = 0.0
    while True:
        search.scanned[search.sizes[2]] = i
        search.sizes[2] += 1
        search.level[i] = level
        sink = _scan_list(lists, state, search, i, sink)
        # Take the nearest node. The rest of a row: compute the row, and go on.
        while True:
            if search.sizes[0] == 0:
                return sink
            node = search.heap[0]
            if sink >= 0 and search.distance[node] >= search.distance[sink]:
                search.sizes[0] = 0
                return sink
            _take_first(search)
            if node < m:
                break
            sink = _expand_row(geometry, tiles, rule, lists, state, search, node - m, sink)
        level = search.distance[node]
        i = state.row_of_col[node]


@inline_kernel
def _scan_list(lists, state, search, i, sink):
    """Reach the columns of a row's list, and the rest of the row, from its level."""
    level = search.level[i]
    offset = level - state.row_dual[i]
    for k in range(lists.col.shape[1]):
        j = lists.col[i, k]
        sink = _reach(state, search, i, j, offset + (lists.cost[i, k] - state.col_dual[j]), sink)
    rest = offset + lists.bound[i]
    rest = rest if rest > level else level
    if rest < np.inf and (sink < 0 or rest < search.distance[sink]):
        _lower(search, state.row_of_col.size + i, rest)
    return sink


@inline_kernel
def _reach(state, search, i, j, length, sink):
    """Note that column j can be reached by way of row i at this length; return the nearest free column."""
    level = search.level[i]
    length = length if length > level else level
    if length >= search.distance[j] or (sink >= 0 and length >= search.distance[sink]):
        return sink
    search.row_before[j] = i
    if state.row_of_col[j] < 0:
        if search.distance[j] == np.inf:
            search.reached[search.sizes[1]] = j
            search.sizes[1] += 1
        search.distance[j] = length
        return j
    _lower(search, j, length)
    return sink


@inline_kernel
def _expand_row(geometry, tiles, rule, lists, state, search, i, sink):
    """Compute a row in full: renew its list or, if that was not enough, reach all its columns."""
    m = state.row_of_col.size
    fill_keys(geometry, tiles, rule, i, search.col_factor, search.keys)
    old_bound = lists.bound[i]
    size = lists.col.shape[1]
    kept = np.empty(size)
    kept[:] = GREATEST_KEY
    keep_least(search.keys, 0, kept, lists.col[i])
    for k in range(size):
        lists.cost[i, k] = cost_of_pair(geometry, rule, i, lists.col[i, k])
    lists.bound[i] = bound_of_key(rule, kept[size - 1])
    if lists.bound[i] > old_bound:
        return _scan_list(lists, state, search, i, sink)
    # So many pairs are as good as the best that no list holds them. Free columns first: the nearest
    # one limits what else is of interest.
    offset = search.level[i] - state.row_dual[i]
    nearest = -1
    for j in range(m):
        if state.row_of_col[j] < 0 and (nearest < 0 or search.keys[j] < search.keys[nearest]):
            nearest = j
    reduced = cost_of_pair(geometry, rule, i, nearest) - state.col_dual[nearest]
    sink = _reach(state, search, i, nearest, offset + reduced, sink)
    limit = key_of_bound(rule, search.distance[sink] - offset)
    for j in range(m):
        if search.keys[j] <= limit:
            reduced = cost_of_pair(geometry, rule, i, j) - state.col_dual[j]
            sink = _reach(state, search, i, j, offset + reduced, sink)
    return sink


@inline_kernel
def _lower(search, node, distance):
    """Put a node on the heap, or bring it forward, at a smaller distance."""
    if search.distance[node] == np.inf:
        search.reached[search.sizes[1]] = node
        search.sizes[1] += 1
    at = search.place[node]
    if at < 0:
        at = search.sizes[0]
        search.sizes[0] += 1
    search.distance[node] = distance
    while at > 0:
        above = (at - 1) >> 1
        other = search.heap[above]
        if search.distance[other] <= distance:
            break
        search.heap[at] = other
        search.place[other] = at
        at = above
    search.heap[at] = node
    search.place[node] = at


@inline_kernel
def _take_first(search):
    """Remove the nearest node from the heap."""
    search.sizes[0] -= 1
    size = search.sizes[0]
    search.place[search.heap[0]] = -1
    if size == 0:
        return
    node = search.heap[size]
    distance = search.distance[node]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = search.heap[below]
        if below + 1 < size and search.distance[search.heap[below + 1]] < search.distance[other]:
            below += 1
            other = search.heap[below]
        if search.distance[other] >= distance:
            break
        search.heap[at] = other
        search.place[other] = at
        at = below
    search.heap[at] = node
    search.place[node] = at
