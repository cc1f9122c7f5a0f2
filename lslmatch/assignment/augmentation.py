"""The Hungarian method on rows that are computed only as far as they are needed.

Each row has a short list of its best pairs, and a bound below which no other pair of the row has its
reduced cost. Column duals only ever fall, so the bound stays valid. A search for a shortest path treats
"all the other pairs of row i" as one arc whose length is the bound: only if the search gets there is
the row computed in full. So the duals are feasible for all pairs at every moment, though few were seen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import inline_kernel, kernel, step_kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.dense import Duals
from lslmatch.assignment.screening import (
    Factors,
    Pairs,
    bound_of_key,
    choose_least,
    column_factor,
    column_factors,
    fill_keys,
    next_limit,
    price_row,
    room_for_lanes,
)
from lslmatch.costs import cost_of_pair

#: Rows scanned and columns reached before a kernel returns to Python, so that Ctrl-C is heard; so many
#: coordinates of a row that is computed count as one.
_STEPS_PER_CALL = 500_000
_COORDINATES_PER_STEP = 256
#: Row scans of augmenting row reduction for each free row.
_SCANS_PER_ROW = 128
#: In place of a key's bit pattern where a row is not computed yet: the pattern of no number. (0 is one:
#: points that coincide have the key 0.)
_NOT_COMPUTED = -1
#: In place of the column that a search leads to if the search has to go on in the next call.
_PAUSED = -2


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
    keys: NDArray[np.floating]  # one row of keys, padded as tiles are
    lanes: NDArray[np.signedinteger]  # what finding the least of them needs
    passed: NDArray[np.signedinteger]  # (n,) bit pattern of the key up to which a computed row was reached
    #: (5,) sizes of the heap, of `reached`, of `scanned` (0: no search is under way); how many rows this
    #: call has computed; and the nearest free column so far
    sizes: IntArray


def _new_search(pairs: Pairs, factors: Factors, state: Duals) -> _Search:
    n, m = state.col_of_row.size, state.row_of_col.size
    return _Search(
        np.full(m + n, np.inf),
        np.empty(m, np.intp),
        np.empty(m + n, np.intp),
        np.empty(n, np.intp),
        np.empty(n),
        np.empty(m + n, np.intp),
        np.full(m + n, -1, np.intp),
        np.empty_like(factors.factor),
        room_for_lanes(pairs),
        np.full(n, _NOT_COMPUTED, pairs.infinity.dtype),
        np.zeros(5, np.intp),
    )


def augment_all(
    pairs: Pairs, lists: Lists, state: Duals, free_rows: IntArray, most_passes: float = math.inf
) -> bool:
    """Match all free rows by shortest paths, or give up when that is as much work as so many passes.

    A pass computes all pairs once. Returns whether all rows are matched.
    """
    if not free_rows.size:
        return True
    coordinates = math.prod(pairs.geometry.shape) * (pairs.tiles.b.shape[1] + 1)
    calls_left = most_passes * coordinates / (_COORDINATES_PER_STEP * _STEPS_PER_CALL)
    factors = column_factors(pairs, state.col_dual)
    search = _new_search(pairs, factors, state)
    done = 0
    while done < free_rows.size and calls_left > 0:
        done = _augment_rows(pairs, factors, lists, state, search, free_rows, done, _STEPS_PER_CALL)
        calls_left -= 1
    return done == free_rows.size


@kernel
def reduce_free_rows(lists, state, free_rows):
    """Augmenting row reduction on the lists, with a bounded number of scans.

    As in the dense solver: a free row takes its best column, whose dual falls until the second best
    is as good, and the row that held the column goes on; but never further than the row's bound.
    Returns how many rows are still free; they come first in `free_rows`.
    """
    list_col, list_cost, list_bound = lists
    row_dual, col_dual, col_of_row, row_of_col = state
    budget = _SCANS_PER_ROW * free_rows.size
    left, taken = 0, 0
    i = -1
    while i >= 0 or taken < free_rows.size:
        if i < 0:
            i = free_rows[taken]
            taken += 1
        best, second = np.inf, np.inf
        j, other = -1, -1
        for k in range(list_col.shape[1]):
            col = list_col[i, k]
            reduced = list_cost[i, k] - col_dual[col]
            if reduced < best:
                second, other = best, j
                best, j = reduced, col
            elif reduced < second:
                second, other = reduced, col
        limit = min(second, list_bound[i])
        if best > limit:
            # The list is exhausted: a pair that is not in it may be better than all of it.
            row_dual[i] = limit
            free_rows[left] = i
            left += 1
            i = -1
            continue
        lowered = col_dual[j] - (limit - best)
        falls = lowered < col_dual[j] and limit < np.inf and budget > 0
        budget -= 1
        if second == best and row_of_col[j] >= 0 and row_of_col[other] < 0:
            j = other
        holder = row_of_col[j]
        if holder < 0:
            row_dual[i] = best
        elif falls:
            col_dual[j] = lowered
            row_dual[i] = limit
            col_of_row[holder] = -1
        else:
            row_dual[i] = best
            free_rows[left] = i
            left += 1
            i = -1
            continue
        col_of_row[i] = j
        row_of_col[j] = i
        i = holder
    return left


@kernel
def _augment_rows(pairs, factors, lists, state, search, free_rows, done, budget):
    """Augment from the free rows one by one until all are done or it is time to return."""
    m = state.row_of_col.size
    steps_per_row = 1 + m * (pairs.tiles.b.shape[1] + 1) // _COORDINATES_PER_STEP
    while done < free_rows.size and budget > 0:
        rows = 1 + budget // steps_per_row
        sink = _search_shortest_path(pairs, factors, lists, state, search, free_rows[done], rows)
        if sink == _PAUSED:
            break
        length = search.distance[sink]
        budget -= search.sizes[1] + search.sizes[2] + search.sizes[3] * steps_per_row
        for k in range(search.sizes[2]):
            i = search.scanned[k]
            state.row_dual[i] += length - search.level[i]
            search.passed[i] = _NOT_COMPUTED
        for k in range(search.sizes[1]):
            node = search.reached[k]
            if node < m and search.distance[node] < length:
                state.col_dual[node] -= length - search.distance[node]
                factors.factor[node] = column_factor(pairs.rule, factors.top, state.col_dual[node])
            search.distance[node] = np.inf
            search.place[node] = -1
        j = sink
        while j >= 0:
            i = search.row_before[j]
            state.row_of_col[j] = i
            j, state.col_of_row[i] = state.col_of_row[i], j
        search.sizes[2] = 0
        done += 1
    return done


@inline_kernel
def _search_shortest_path(pairs, factors, lists, state, search, start, rows):
    """Dijkstra's search from a free row to the nearest free column, which it returns.

    Once it has computed so many rows it pauses, and goes on when it is called again.
    Written as one loop over bare arrays: at this point in the program, counting the references of an
    array that is handed to a function would cost more than what the function does.
    """
    list_col, list_cost, list_bound = lists
    row_dual, col_dual, _, row_of_col = state
    distance, row_before, reached, scanned, levels, heap, place, _, _, passed, sizes = search
    m, size = row_of_col.size, list_col.shape[1]
    held, reached_count, scanned_count = 0, 0, 1
    sink, nearest = np.intp(-1), np.inf
    front = 0.0
    i, arcs = start, size + 1
    if sizes[2] == 0:
        scanned[0] = i
        levels[i] = 0.0
    else:
        # After a pause the next node is taken at once.
        held, reached_count, scanned_count, sink, arcs = sizes[0], sizes[1], sizes[2], sizes[4], 0
        nearest = distance[sink] if sink >= 0 else np.inf
    sizes[3] = 0
    while True:
        # Reach the columns of the row's list and, as one node, the rest of the row.
        offset = levels[i] - row_dual[i]
        for k in range(arcs):
            if k < size:
                node = list_col[i, k]
                length = offset + (list_cost[i, k] - col_dual[node])
            else:
                node = m + i
                length = offset + list_bound[i]
            # Never back before the front, where rounding may lead: what is behind it is settled.
            length = length if length > front else front
            if length >= nearest or (k < size and length >= distance[node]):
                continue
            if distance[node] == np.inf:
                reached[reached_count] = node
                reached_count += 1
            distance[node] = length
            if k < size:
                row_before[node] = i
                if row_of_col[node] < 0:
                    sink, nearest = node, length
                    continue
            at = place[node]
            if at < 0:
                at = held
                held += 1
            while at > 0 and distance[heap[(at - 1) >> 1]] > length:
                heap[at] = heap[(at - 1) >> 1]
                place[heap[at]] = at
                at = (at - 1) >> 1
            heap[at] = node
            place[node] = at
        # Take the nearest node. The rest of a row: compute the row, and reach its columns.
        arcs = size + 1
        while True:
            found = held == 0 or distance[heap[0]] >= nearest
            if found or sizes[3] >= rows:
                sizes[0], sizes[1], sizes[2], sizes[4] = held, reached_count, scanned_count, sink
                return sink if found else np.intp(_PAUSED)
            node = heap[0]
            front = distance[node]
            held -= 1
            place[node] = -1
            last = heap[held]
            length = distance[last]
            at, below = 0, 1
            while below < held:
                if below + 1 < held and distance[heap[below + 1]] < distance[heap[below]]:
                    below += 1
                if distance[heap[below]] >= length:
                    break
                heap[at] = heap[below]
                place[heap[at]] = at
                at, below = below, 2 * below + 1
            if held > 0:
                heap[at] = last
                place[last] = at
            if node < m:
                i = row_of_col[node]
                levels[i] = front
                scanned[scanned_count] = i
                scanned_count += 1
                break
            i = node - m
            sizes[3] += 1
            if passed[i] == _NOT_COMPUTED:
                _renew_list(pairs, factors, lists, search, i)
                break
            sizes[0], sizes[1] = held, reached_count
            sink = _reach_next(pairs, factors, state, search, i, sink)
            held, reached_count = sizes[0], sizes[1]
            nearest = distance[sink] if sink >= 0 else np.inf


@step_kernel
def _renew_list(pairs, factors, lists, search, i):
    """Compute a row in full and renew its list under the present duals."""
    col, keys, lanes = lists.col[i], search.keys, search.lanes
    fill_keys(pairs, factors, i, keys)
    choose_least(keys.view(lanes.dtype), lanes, pairs.infinity, col)
    price_row(pairs, i, col, lists.cost[i])
    for k in range(col.size):
        col[k] = max(col[k], 0)
    search.passed[i] = lanes[0]
    lists.bound[i] = bound_of_key(pairs.rule, pairs.tiles.lowered, factors.top, lanes[:1].view(keys.dtype)[0])


@step_kernel
def _reach_next(pairs, factors, state, search, i, sink):
    """Reach the next few columns of a row beyond its list and, as one node, the rest of it."""
    geometry, rule = pairs.geometry, pairs.rule
    _, col_dual, _, row_of_col = state
    distance, row_before, reached, _, _, heap, place, keys, lanes, passed, sizes = search
    fill_keys(pairs, factors, i, keys)
    bits = keys.view(lanes.dtype)
    m = row_of_col.size
    rest = m + i
    front = distance[rest]
    offset = search.level[i] - state.row_dual[i]
    first = passed[i]
    limit = next_limit(bits, lanes, first, pairs.infinity)
    for j in range(m):
        if bits[j] < first or bits[j] >= limit:
            continue
        length = max(offset + (cost_of_pair(geometry, rule, i, j) - col_dual[j]), front)
        if length >= distance[j] or (sink >= 0 and length >= distance[sink]):
            continue
        if distance[j] == np.inf:
            reached[sizes[1]] = j
            sizes[1] += 1
        distance[j] = length
        row_before[j] = i
        if row_of_col[j] < 0:
            sink = j
        else:
            _bring_forward(distance, heap, place, sizes, j)
    passed[i] = limit
    if limit < pairs.infinity:
        lanes[0] = limit
        bound = bound_of_key(rule, pairs.tiles.lowered, factors.top, lanes[:1].view(keys.dtype)[0])
        distance[rest] = max(offset + bound, front)
        _bring_forward(distance, heap, place, sizes, rest)
    return sink


@inline_kernel
def _bring_forward(distance, heap, place, sizes, node):
    """Put a node on the heap, or move it up, according to its distance."""
    at = place[node]
    if at < 0:
        at = sizes[0]
        sizes[0] += 1
    while at > 0 and distance[heap[(at - 1) >> 1]] > distance[node]:
        above = heap[(at - 1) >> 1]
        heap[at] = above
        place[above] = at
        at = (at - 1) >> 1
    heap[at] = node
    place[node] = at
