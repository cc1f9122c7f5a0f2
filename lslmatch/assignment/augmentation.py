"""Shortest augmenting paths, with rows that are computed only as far as they are needed.

Each row has a shortlist of its best pairs, and a bound of all others. A search for a shortest path treats
"all the other pairs of row i" as one arc whose length is the bound: only if the search gets there is
the row computed in full. So the duals are feasible for all pairs at every moment, though few were seen.

Where pairs must be worth a price, a row may also stay alone for that price: that is one more arc, to a place
of its own. Row duals are at most the price then, and those of rows that stay alone are equal to it. A
search that begins at all of these rows at once finds the price of one more pair, and that pair.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._jit import inline_kernel, kernel, step_kernel
from lslmatch._progress import tell
from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.dense import DualState
from lslmatch.assignment.least_values import choose_least
from lslmatch.assignment.screening import (
    ColumnFactors,
    PairScreen,
    bound_of_value,
    column_factor,
    column_factors,
    price_row,
    screen_row,
)
from lslmatch.assignment.shortlists import Shortlists
from lslmatch.geometry.tiles import LANES, empty_in_line

#: Coordinates of a row that is computed which take as long as one step: a row scanned, a column reached.
_COORDINATES_PER_STEP = 256
#: In place of a screening value's bit pattern where a row is not computed yet: the pattern of no such value.
#: (0 is one: that of points which coincide.)
_NOT_COMPUTED = -1
#: Factor by which more columns of a row are listed each time that it is computed in one search.
_MORE = 2
#: In place of the column that a search leads to if it has to go on in the next call.
_PAUSED = -2


class _PathWorkspace(NamedTuple):
    """Workspace of one shortest-path search, allocated once and left clean by every search.

    The heap holds nodes: a column j as j, and the rest of row i as m + i. That row i stays alone is the node
    m + n + i, which only ever ends a path.
    """

    distance: FloatArray  # (m + 2 n,) tentative distances of the nodes, inf where not reached
    row_before: IntArray  # (m,) the row from which each column was reached
    reached: IntArray  # (m + 2 n,) the nodes reached, in that order
    scanned: IntArray  # (n,) the rows scanned
    level: FloatArray  # (n,) the distance of each scanned row, by row
    heap: IntArray  # (m + n,) nodes
    place: IntArray  # (m + n,) where each node stands in the heap
    values: NDArray[np.floating]  # one row of screening values, padded as tiles are
    lanes: NDArray[np.signedinteger]  # what finding the least of them needs
    passed: NDArray[np.signedinteger]  # (n,) bit pattern of the value up to which a computed row was reached
    wanted: IntArray  # (n,) how many columns beyond its list are to be seen next
    portion: IntArray  # (m,) further columns of a row, those beyond its list
    portion_cost: FloatArray  # (m,) their costs
    #: (5,) sizes of the heap, of `reached`, of `scanned` (0: no search is under way); how many rows this
    #: call has computed; and the nearest end of a path so far
    sizes: IntArray


class _Limits(NamedTuple):
    """When to return, and where searches begin and may end."""

    steps: int  # rows scanned and columns reached after which it is time to return to Python
    rows: int  # free rows to be done
    price: float  # at which a row may stay alone
    together: bool  # whether a search begins at all rows that are not done, and matches one of them


def _make_workspace(screen: PairScreen, factors: ColumnFactors, state: DualState) -> _PathWorkspace:
    n, m = state.col_of_row.size, state.row_of_col.size
    return _PathWorkspace(
        np.full(m + 2 * n, np.inf),
        np.empty(m, np.intp),
        np.empty(m + 2 * n, np.intp),
        np.empty(n, np.intp),
        np.empty(n),
        np.empty(m + n, np.intp),
        np.full(m + n, -1, np.intp),
        empty_in_line(factors.factor.shape, factors.factor.dtype),
        screen.lanes(),
        np.full(n, _NOT_COMPUTED, screen.infinity.dtype),
        np.full(n, LANES),
        np.empty(m, np.intp),
        np.empty(m),
        np.zeros(5, np.intp),
    )


def augment_all(
    screen: PairScreen,
    lists: Shortlists,
    state: DualState,
    free_rows: IntArray,
    steps_per_call: int,
    most_passes: float = math.inf,
    price: float = math.inf,
) -> bool:
    """Match all free rows by shortest paths, or give up after the work of `most_passes`.

    A pass computes all pairs once. After `steps_per_call` rows scanned and columns reached the kernel
    returns to Python, so that Ctrl-C is heard. Rows that are not worth the price stay alone. Returns whether
    all rows are done.
    """
    limits = _Limits(steps_per_call, free_rows.size, price, False)
    return _augment(screen, lists, state, free_rows, limits, most_passes)


def augment_cheapest(
    screen: PairScreen,
    lists: Shortlists,
    state: DualState,
    free_rows: IntArray,
    count: int,
    steps_per_call: int,
    most_passes: float = math.inf,
) -> bool:
    """Match `count` of the free rows, the cheapest first, or give up.

    The duals of the free rows are equal; those of the rows that stay free rise to the price of the last pair.
    """
    limits = _Limits(steps_per_call, count, math.inf, True)
    return _augment(screen, lists, state, free_rows, limits, most_passes)


def _augment(
    screen: PairScreen,
    lists: Shortlists,
    state: DualState,
    free_rows: IntArray,
    limits: _Limits,
    most_passes: float,
) -> bool:
    if not limits.rows:
        return True
    coordinates = math.prod(screen.geometry.shape) * (screen.tiles.a.shape[1] + 1)
    calls_left = most_passes * coordinates / (_COORDINATES_PER_STEP * limits.steps)
    factors = column_factors(screen, state.col_dual)
    work = _make_workspace(screen, factors, state)
    free_rows = free_rows.copy()
    done = 0
    while done < limits.rows and calls_left > 0:
        done = _augment_rows(screen, factors, lists, state, work, free_rows, done, limits)
        calls_left -= 1
        tell("rows matched", state.col_of_row.size - free_rows.size + done, state.col_of_row.size)
    return done == limits.rows


@kernel
def _augment_rows(screen, factors, lists, state, work, free_rows, done, limits):
    """Augment from the free rows, one by one or together, until enough are done or it is time to return."""
    n, m = state.col_of_row.size, state.row_of_col.size
    budget, rows, price, together = limits
    steps_per_row = 1 + m * (screen.tiles.a.shape[1] + 1) // _COORDINATES_PER_STEP
    while done < rows and budget > 0:
        starts = free_rows[done:] if together else free_rows[done : done + 1]
        most_rows = 1 + budget // steps_per_row
        sink = _search_shortest_path(screen, factors, lists, state, work, starts, most_rows, price)
        if sink == _PAUSED:
            break
        length = work.distance[sink]
        budget -= work.sizes[1] + work.sizes[2] + work.sizes[3] * steps_per_row
        for k in range(work.sizes[2]):
            i = work.scanned[k]
            state.row_dual[i] += length - work.level[i]
            work.passed[i] = _NOT_COMPUTED
            work.wanted[i] = LANES
        for k in range(work.sizes[1]):
            node = work.reached[k]
            if node < m and work.distance[node] < length:
                state.col_dual[node] -= length - work.distance[node]
                factors.factor[node] = column_factor(screen, factors.top, state.col_dual[node])
            work.distance[node] = np.inf
            if node < m + n:
                work.place[node] = -1
        j = sink
        if sink >= m + n:
            # This row stays alone, and its column goes to the row before it.
            i = sink - m - n
            state.row_dual[i] = price
            j, state.col_of_row[i] = state.col_of_row[i], -1
        while j >= 0:
            i = work.row_before[j]
            state.row_of_col[j] = i
            j, state.col_of_row[i] = state.col_of_row[i], j
        if together:
            # The row where the path began is the last one; it is done.
            k = done
            while free_rows[k] != i:
                k += 1
            free_rows[done], free_rows[k] = i, free_rows[done]
        work.sizes[2] = 0
        done += 1
    return done


@inline_kernel
def _search_shortest_path(screen, factors, lists, state, work, starts, rows, price):
    """Dijkstra's search from free rows to the nearest free column or row that stays alone, which it returns.

    After it has computed `rows` rows it pauses, and goes on when it is called again.
    """
    list_col, list_cost, list_bound = lists
    row_dual, col_dual, _, row_of_col = state
    (
        distance,
        row_before,
        reached,
        scanned,
        levels,
        heap,
        place,
        values,
        _,
        passed,
        _,
        portion,
        portion_cost,
        sizes,
    ) = work
    n, m, size = row_dual.size, row_of_col.size, list_col.shape[1]
    held, reached_count, scanned_count, begun = 0, 0, 1, 1
    sink, nearest = np.intp(-1), np.inf
    front = 0.0
    # Of row i, `count` pairs of its list, or beyond it, are to be followed, and one arc for all others.
    i, count, beyond = starts[0], size, False
    bound = list_bound[i]
    if sizes[2] == 0:
        scanned[0] = i
        levels[i] = 0.0
    else:
        # After a pause the next node is taken at once.
        held, reached_count, scanned_count, sink, count = sizes[0], sizes[1], sizes[2], sizes[4], -1
        nearest = distance[sink] if sink >= 0 else np.inf
        begun = starts.size
    sizes[3] = 0
    while True:
        # Reach the columns of the row's list and, as one node, the rest of the row.
        offset = levels[i] - row_dual[i]
        if count >= 0 and offset + price < nearest:
            sink = m + n + i
            nearest = max(offset + price, front)
            distance[sink] = nearest
            reached[reached_count] = sink
            reached_count += 1
        for k in range(count + 1):
            if k == count:
                node = m + i
                length = offset + bound
            elif beyond:
                node = portion[k]
                length = offset + (portion_cost[k] - col_dual[node])
            else:
                node = list_col[i, k]
                length = offset + (list_cost[i, k] - col_dual[node])
            # Never back before the front, where rounding may lead: what is behind it is settled.
            length = length if length > front else front
            if length >= nearest or (k < count and length >= distance[node]):
                continue
            if distance[node] == np.inf:
                reached[reached_count] = node
                reached_count += 1
            distance[node] = length
            if k < count:
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
        if begun < starts.size:
            i = starts[begun]
            bound = list_bound[i]
            begun += 1
            levels[i] = 0.0
            scanned[scanned_count] = i
            scanned_count += 1
            continue
        # Take the nearest node. The rest of a row: compute the row, and reach its columns.
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
                count, bound, beyond = size, list_bound[i], False
                break
            i = node - m
            sizes[3] += 1
            screen_row(screen, factors, i, values)
            beyond = passed[i] != _NOT_COMPUTED
            count, bound = _list_least(screen, factors.top, lists, work, i)
            break


@step_kernel
def _list_least(screen, top, lists, work, i):
    """List the best pairs of a row whose screening values are known; its next ones if that was done before.

    Returns how many these are, and a bound of all that come after them.
    """
    values, lanes = work.values, work.lanes
    bits, first = values.view(lanes.dtype), work.passed[i]
    renewed = first == _NOT_COMPUTED
    cols, costs = (lists.col[i], lists.cost[i]) if renewed else (work.portion, work.portion_cost)
    for j in range(bits.size):
        bits[j] = bits[j] if bits[j] >= first else screen.infinity
    wanted = min(cols.size, LANES) if renewed else work.wanted[i]
    count = choose_least(bits, lanes, screen.infinity, cols, wanted)
    if not renewed:
        # Rows to which a search comes back again and again have many columns that are nearly as good.
        work.wanted[i] *= _MORE
    price_row(screen.geometry, screen.rule, i, cols[:count], costs)
    work.passed[i] = lanes[0]
    bound = bound_of_value(screen, top, lanes[:1].view(values.dtype)[0])
    if renewed:
        lists.bound[i] = bound
        for k in range(count, cols.size):
            cols[k], costs[k] = 0, np.inf
    return count, bound
