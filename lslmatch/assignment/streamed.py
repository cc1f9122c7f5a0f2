"""Exact assignment of two sets of points without the matrix of their costs: the plan.

1. A look at a few points tells how clear the matter is (:mod:`lslmatch.assignment.probe`). One pass,
   where it suffices over a part of the coordinates or without far regions of space, finds every point's
   nearest partner (:mod:`lslmatch.assignment.nearest_partners`). If no two points share one, that is the
   optimum.
2. Where many do, column duals start at the columns' least costs: otherwise the few columns that are near to
   many rows would be wanted by all of them. (With weights, those among some rows serve as well, and the pass
   before is left out.) Each row gets a shortlist of its best pairs, and a bound for
   all others (:mod:`lslmatch.assignment.shortlists`). Where far more do, as in few dimensions and where sets
   are apart, an auction finds column duals and shortlists (:mod:`lslmatch.assignment.auction`).
3. Augmenting row reduction matches most rows within their lists. Rows that come to the end of theirs
   get a new one under the present duals.
4. Shortest augmenting paths match the rest, computing further rows only where they must
   (:mod:`lslmatch.assignment.augmentation`). The duals are feasible for every pair throughout. If that takes
   too long, an auction finds better duals to start from.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.auction import bid_for_columns
from lslmatch.assignment.augmentation import augment_all
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
        if _is_dense(n, m, conflicts, settings):
            return _solve_densely(geometry, rule, workers)
        if n == m and conflicts > settings.crowded_share(geometry.a.shape[1]) * n:
            return _solve_by_auction(geometry, rule, settings, workers, trail)
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
        if settings.double and not screen.resolves(state.col_dual, found.bound - least):
            screen = make_screen(geometry, rule, settings, single=False)
    else:
        # The nearest partner is a list of one, and the second nearest bounds the others.
        lists.col[:], lists.cost[:, 0], lists.bound[:] = found.col[:, None], least, found.bound
        exhausted = free_rows[least > found.bound]
    size = settings.short_list_size if few else settings.list_size
    block_rows = screen.block_rows(settings)
    renew_shortlists(screen, lists, state.col_dual, exhausted, size, block_rows, workers, first_pass)
    most_passes = settings.auction_after if n == m else _before_resort(n, m, settings)
    if not complete(screen, lists, state, free_rows, settings, workers, most_passes):
        if n < m:
            return _solve_densely(geometry, rule, workers)
        return _solve_by_auction(geometry, rule, settings, workers, trail)
    if trail is not None:
        trail.leave(geometry, lists, state.col_dual)
    return state


def _solve_by_auction(
    geometry: Geometry, rule: CostRule, settings: SolverSettings, workers: int, trail: Trail | None
) -> DualState:
    """Match every row, n = m, from column duals that an auction has found, in double precision."""
    n, m = geometry.shape
    screen = make_screen(geometry, rule, settings, single=False)
    lists = Shortlists.empty(n, min(settings.list_size, m))
    col_dual = bid_for_columns(screen, lists, settings)
    state = DualState(np.zeros(n), col_dual, np.full(n, -1, np.intp), np.full(m, -1, np.intp))
    # Mostly duals are so good that shortest paths are short. Beside points that are far out they may not be.
    settings = settings._replace(few_free=settings.auction_free)
    if not complete(screen, lists, state, np.arange(n), settings, workers, _before_resort(n, m, settings)):
        return _solve_densely(geometry, rule, workers)
    if trail is not None:
        trail.leave(geometry, lists, col_dual)
    return state


def complete(
    screen: PairScreen,
    lists: Shortlists,
    state: DualState,
    free_rows: IntArray,
    settings: SolverSettings,
    workers: int,
    most_passes: float = math.inf,
) -> bool:
    """Match the free rows; False if shortest paths are as much work as so many passes over all pairs."""
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
    return augment_all(screen, lists, state, free_rows, settings.steps_per_call, most_passes)


def _before_resort(n: int, m: int, settings: SolverSettings) -> float:
    """Say after how many passes shortest paths are given up for the dense solver, where it may follow."""
    return settings.most_passes if n * m <= settings.last_resort * settings.dense_pairs else math.inf


def _is_unclear(geometry: Geometry, outlook: Outlook, settings: SolverSettings) -> bool:
    """Say whether nearest partners will clash so often that they need not be known."""
    (n, d), m = geometry.a.shape, len(geometry.b)
    unclear = n == m and d > settings.crowded_dimensions and outlook.mutual < settings.sampled_mutual
    return unclear and n * m >= settings.sampled_pairs


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


def _is_dense(n: int, m: int, conflicts: int, settings: SolverSettings) -> bool:
    """Say whether rows that must share their nearest column are so many that the dense solver is quicker."""
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
