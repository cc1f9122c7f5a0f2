"""Exact assignment of two sets of points without the matrix of their costs: the plan.

1. A look at a few points tells how clear the matter is (:mod:`lslmatch.assignment.probe`). One pass,
   where it suffices over a part of the coordinates or without far regions of space, finds every point's
   nearest partner (:mod:`lslmatch.assignment.nearest_partners`). If no two points share one, that is the
   optimum.
2. Where many do, column duals start at the columns' least costs: otherwise the few columns that are near to
   many rows would be wanted by all of them. (With weights, those among some rows serve as well, and the pass
   before is left out.) Each row gets a shortlist of its best pairs, and a bound for
   all others (:mod:`lslmatch.assignment.shortlists`).
3. Augmenting row reduction matches most rows within their lists. Rows that come to the end of theirs
   get a new one under the present duals.
4. Shortest augmenting paths match the rest, computing further rows only where they must
   (:mod:`lslmatch.assignment.augmentation`). The duals are feasible for every pair throughout.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.augmentation import augment_all
from lslmatch.assignment.column_parts import are_apart, column_parts
from lslmatch.assignment.dense import DualState, solve_dense
from lslmatch.assignment.line import solve_on_line
from lslmatch.assignment.nearest_partners import find_nearest_by_region, find_nearest_partners
from lslmatch.assignment.probe import Outlook, probe
from lslmatch.assignment.screening import PairScreen, make_screen
from lslmatch.assignment.settings import SolverSettings, or_default
from lslmatch.assignment.shortlists import Shortlists, reduce_rows, renew_shortlists
from lslmatch.assignment.trail import Trail
from lslmatch.costs import CostRule, cost_matrix
from lslmatch.geometry.coordinates import Geometry


def solve_streamed(
    geometry: Geometry,
    rule: CostRule,
    *,
    workers: int = 1,
    col_dual: FloatArray | None = None,
    trail: Trail | None = None,
    settings: SolverSettings | None = None,
) -> DualState:
    """Match every row of the geometry (n <= m).

    Parameters
    ----------
    geometry : Geometry
        The two sets.
    rule : CostRule
        How a squared distance becomes a cost.
    workers : int
        Threads for the passes over all pairs. The result does not depend on it.
    col_dual : ndarray of shape (m,), optional
        Column duals to start from, if n = m: those of a similar problem save most of the work.
    trail : Trail, optional
        What the solution of a similar problem has left, which is tried first; this one is left there.
    settings : SolverSettings, optional
        When to try what; the default ones unless given.

    Returns
    -------
    DualState
        The matching, and the dual variables that prove it optimal, without the rule's offset.
    """
    n, m = geometry.shape
    settings = or_default(settings).for_shape(*geometry.a.shape)
    if col_dual is None and n * m <= min(settings.small_pairs, settings.dense_pairs):
        return _solve_densely(geometry, rule, workers)
    on_line = solve_on_line(geometry, rule) if col_dual is None else None
    if on_line is not None:
        return on_line
    screen = make_screen(geometry, rule, settings)
    state = DualState(np.zeros(n), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))
    free_rows = np.arange(n)
    recalled = trail.lead(screen, min(settings.list_size, m)) if trail is not None else None
    few, first_pass = True, False
    if recalled is None and col_dual is None:
        outlook = probe(geometry, rule)
        few = outlook.mutual > settings.short_list_mutual
        keep = outlook.mutual < settings.kept_mutual and n * m <= settings.kept_pairs
        if screen.x_weight.size and _is_unclear(geometry, outlook, settings):
            col_dual, gaps = _duals_of_sample(geometry, rule, settings, workers)
            if settings.double and not screen.resolves(col_dual, gaps):
                screen = make_screen(geometry, rule, settings, single=False)
            # Squared distances of few coordinates are computed again sooner than kept.
            keep &= geometry.a.shape[1] > settings.pair_overhead
            screen = screen.keeping_squares() if keep else screen
            few = first_pass = True
    if recalled is None and col_dual is None:
        by_region = find_nearest_by_region(screen, outlook, settings, workers)
        if by_region is not None:
            found = by_region
        else:
            screen = screen.keeping_squares() if keep else screen
            found = find_nearest_partners(screen.leading(outlook.dimensions), settings, workers)
        least = found.costs(screen)
        conflicts = n - found.distinct(m)
        if not conflicts and (least <= found.bound).all():
            state.row_dual[:] = least
            state.col_of_row[:] = found.col
            state.row_of_col[found.col] = free_rows
            if trail is not None:
                lists = Shortlists(found.col[:, None], least[:, None], found.bound)
                trail.leave(geometry, lists, state.col_dual)
            return state
        if _is_dense(n, m, geometry.a.shape[1], conflicts, settings):
            return _solve_densely(geometry, rule, workers)
    lists = Shortlists.empty(n, min(settings.list_size, m))
    exhausted = free_rows
    if recalled is not None:
        lists, state.col_dual[:], exhausted = recalled
    elif col_dual is not None:
        # Column duals only ever fall. With their greatest at 0, warm starts that follow each other do not
        # let them fall without end.
        state.col_dual[:] = col_dual - col_dual.max()
    elif n == m and conflicts > settings.many_conflicts * n:
        state.col_dual[:] = found.col_least
        apart = are_apart(geometry, settings.apart)
        if apart:
            state.col_dual[:] = column_parts(geometry, rule, screen.block_rows(settings), workers)
        if apart or (settings.double and not screen.resolves(state.col_dual, found.bound - least)):
            screen = make_screen(geometry, rule, settings, single=False)
    else:
        # The nearest partner is a list of one, and the second nearest bounds the others.
        lists.col[:], lists.cost[:, 0], lists.bound[:] = found.col[:, None], least, found.bound
        exhausted = free_rows[least > found.bound]
    size = settings.short_list_size if few else settings.list_size
    block_rows = screen.block_rows(settings)
    renew_shortlists(screen, lists, state.col_dual, exhausted, size, block_rows, workers, first_pass)
    if not complete(screen, lists, state, free_rows, settings, workers):
        return _solve_densely(geometry, rule, workers)
    if trail is not None:
        trail.leave(geometry, lists, state.col_dual)
    return state


def complete(
    screen: PairScreen,
    lists: Shortlists,
    state: DualState,
    free_rows: IntArray,
    settings: SolverSettings,
    workers: int,
) -> bool:
    """Match the free rows, whose lists are not exhausted; False if that is for the dense solver to do."""
    n, m = screen.geometry.shape
    block_rows = screen.block_rows(settings)
    for sweep in range(settings.sweeps):
        if free_rows.size <= settings.few_free * n:
            break
        if sweep:
            exhausted = free_rows[state.row_dual[free_rows] >= lists.bound[free_rows]]
            renew_shortlists(
                screen, lists, state.col_dual, exhausted, settings.list_size, block_rows, workers
            )
        free_rows = reduce_rows(lists, state, free_rows, settings.reduced_rows)
    # Where sets are far apart, a cost is nearly the sum of one of its row and one of its column, and all
    # pairs would be computed again and again.
    has_resort = n * m <= settings.last_resort * settings.dense_pairs
    most_passes = settings.most_passes if has_resort else math.inf
    return augment_all(screen, lists, state, free_rows, settings.steps_per_call, most_passes)


def _is_unclear(geometry: Geometry, outlook: Outlook, settings: SolverSettings) -> bool:
    """Say whether nearest partners will clash so often that they need not be known."""
    n, m = geometry.shape
    unclear = n == m and outlook.mutual < settings.sampled_mutual
    return unclear and n * m >= settings.sampled_pairs and not are_apart(geometry, settings.apart)


def _duals_of_sample(
    geometry: Geometry, rule: CostRule, settings: SolverSettings, workers: int
) -> tuple[FloatArray, FloatArray]:
    """Give the columns' least costs among some rows, and what these rows pay beyond their nearest columns.

    Where costs are divided by weights, columns with much noise are cheap for all rows, and any few rows show
    that. With such duals the first pass over all pairs makes lists that last.
    """
    rows = np.arange(0, geometry.shape[0], settings.sampled)
    cols = np.arange(geometry.shape[1])
    screen = make_screen(geometry.taken(rows, cols), rule.taken(rows, cols), settings)
    found = find_nearest_partners(screen, settings, workers)
    return found.col_least, found.bound - found.costs(screen)


def _is_dense(n: int, m: int, d: int, conflicts: int, settings: SolverSettings) -> bool:
    """Say whether rows that must share their nearest column are so many that the dense solver is quicker."""
    if conflicts > settings.crowded_conflicts * n and d <= settings.crowded_dimensions:
        return n * m <= min(settings.crowded_pairs, settings.last_resort * settings.dense_pairs)
    return conflicts > settings.dense_conflicts * n and n * m <= settings.dense_pairs


def least_costs(
    geometry: Geometry, rule: CostRule, *, workers: int = 1, settings: SolverSettings | None = None
) -> FloatArray:
    """Give a lower bound, mostly sharp, of the cost of every row's cheapest pair."""
    settings = or_default(settings)
    screen = make_screen(geometry, rule, settings)
    found = find_nearest_partners(screen, settings, workers)
    return np.minimum(found.costs(screen), found.bound) + rule.offset


def _solve_densely(geometry: Geometry, rule: CostRule, workers: int) -> DualState:
    solution = solve_dense(cost_matrix(geometry, rule._replace(offset=0.0), workers))
    assert solution is not None, "all costs are finite"
    return solution
