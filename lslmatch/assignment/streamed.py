"""Exact assignment of two sets of points without the matrix of their costs: routes that follow each other.

1. A look at a few points tells how clear the matter is (:mod:`lslmatch.assignment.probe`). One pass,
   where it suffices over a part of the coordinates or without far regions of space, finds every point's
   nearest partner (:mod:`lslmatch.assignment.nearest_partners`). If no two points share one, that is the
   optimum: route "nearest".
2. Where many do, column duals start at the columns' least costs: otherwise the few columns that are near to
   many rows would be wanted by all of them. (With weights, those among some rows serve as well, and the pass
   before is left out.) Each row gets a shortlist of its best pairs, and a bound for all others
   (:mod:`lslmatch.assignment.shortlists`). Where far more do, as in few dimensions and where sets are apart,
   an auction finds column duals and shortlists (:mod:`lslmatch.assignment.auction`): route "crowded". Of not
   too many points, the matrix is quicker then: route "clashes".
3. Augmenting row reduction matches most rows within their lists. Rows that come to the end of theirs
   get a new one under the present duals.
4. Shortest augmenting paths match the rest, computing further rows only where they must
   (:mod:`lslmatch.assignment.augmentation`): route "paths". The duals are feasible for every pair throughout.
   If that takes too long, an auction finds better duals to start from: route "auction". Of sets of different
   sizes, the matrix is the last resort: route "resort".
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.auction import bid_for_columns
from lslmatch.assignment.augmentation import augment_all
from lslmatch.assignment.dense import DualState
from lslmatch.assignment.matrix import solve_matrix
from lslmatch.assignment.nearest_partners import find_nearest_by_region, find_nearest_partners
from lslmatch.assignment.probe import Outlook, probe
from lslmatch.assignment.problem import Problem, Seen
from lslmatch.assignment.routes import COSTS, Route, Task, always, choose, has_matrix
from lslmatch.assignment.screening import PairScreen, make_screen
from lslmatch.assignment.settings import SolverSettings, or_default
from lslmatch.assignment.shortlists import Shortlists, reduce_rows, renew_shortlists
from lslmatch.assignment.warm_start import WarmStart
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry


def solve_streamed(
    geometry: Geometry,
    rule: CostRule,
    *,
    workers: int = 1,
    col_dual: FloatArray | None = None,
    warm_start: WarmStart | None = None,
    settings: SolverSettings | None = None,
) -> DualState:
    """Match every row of the geometry (n <= m) by the routes of this module.

    The parameters are those of :class:`~lslmatch.assignment.problem.Problem`.

    Returns
    -------
    DualState
        The matching, and the dual variables that prove it optimal, without the rule's offset.
    """
    problem = Problem(
        geometry, rule, workers=workers, col_dual=col_dual, warm_start=warm_start, settings=settings
    )
    state: DualState = problem.solve(choose(ROUTES, problem.task, problem.settings))
    return state


def _match_nearest(problem: Problem) -> DualState | None:
    """Match every row to its nearest column; None if two rows share one."""
    geometry, settings, workers = problem.geometry, problem.shaped, problem.workers
    seen, outlook = _look(problem)
    if outlook is None:
        return None
    n, m = geometry.shape
    found = find_nearest_by_region(seen.screen, outlook, settings, workers)
    if found is None:
        if _keeps_squares(problem, outlook):
            seen.screen = seen.screen.keeping_squares()
        found = find_nearest_partners(seen.screen.leading(outlook.dimensions), settings, workers)
    least = found.costs(seen.screen)
    seen.nearest, seen.least, seen.clashes = found, least, n - found.distinct(m)
    if seen.clashes or not (least <= found.bound).all():
        return None
    state = DualState(least, np.zeros(m), found.col, np.full(m, -1, np.intp))
    state.row_of_col[found.col] = np.arange(n)
    if problem.warm_start is not None:
        lists = Shortlists(found.col[:, None], least[:, None], found.bound)
        problem.warm_start.keep(geometry, lists, state.col_dual)
    return state


def _look(problem: Problem) -> tuple[Seen, Outlook | None]:
    """See what a similar problem has left, or how a few points look; no outlook if there is a start then."""
    geometry, rule, settings = problem.geometry, problem.rule, problem.shaped
    screen = make_screen(geometry, rule, settings)
    seen = problem.seen = Seen(screen, col_dual=problem.col_dual)
    if problem.warm_start is not None:
        seen.recalled = problem.warm_start.recall(screen, min(settings.list_size, geometry.shape[1]))
    if seen.recalled is not None or problem.col_dual is not None:
        return seen, None
    outlook = probe(geometry, rule)
    seen.few = outlook.mutual > settings.short_list_mutual
    if not (screen.x_weight.size and _is_unclear(geometry, outlook, settings)):
        return seen, outlook
    seen.col_dual, gaps = _duals_of_sample(geometry, rule, settings, problem.workers)
    if settings.double and not screen.resolves(seen.col_dual, gaps):
        seen.screen = make_screen(geometry, rule, settings, single=False)
    # Squared distances of few coordinates are computed again sooner than kept.
    if _keeps_squares(problem, outlook) and geometry.a.shape[1] > settings.pair_overhead:
        seen.screen = seen.screen.keeping_squares()
    seen.few = seen.fills_squares = True
    return seen, None


def _keeps_squares(problem: Problem, outlook: Outlook) -> bool:
    """Say whether squared distances will be needed again, and there is room for them."""
    settings = problem.settings
    return outlook.mutual < settings.kept_mutual and problem.task.pairs <= settings.kept_pairs


def _match_if_clashing(problem: Problem) -> DualState | None:
    """Solve the matrix if that is quicker, as many rows must share their nearest column."""
    seen, least = problem.seen, problem.settings.dense_conflicts * problem.task.n
    return solve_matrix(problem) if seen is not None and seen.clashes > least else None


def _match_if_crowded(problem: Problem) -> DualState | None:
    """Hold an auction at once if far too many rows must share their nearest column."""
    seen, (_, n, _, d, *_) = problem.seen, problem.task
    is_crowded = seen is not None and seen.clashes > problem.settings.crowded_share(d) * n
    return _match_by_auction(problem) if is_crowded else None


def _match_by_paths(problem: Problem) -> DualState | None:
    """Match within shortlists, and along shortest paths; None if these take too long."""
    geometry, rule, settings, workers = problem.geometry, problem.rule, problem.shaped, problem.workers
    n, m = geometry.shape
    seen = problem.seen or _look(problem)[0]
    screen, found, least = seen.screen, seen.nearest, seen.least
    state = DualState(np.zeros(n), np.zeros(m), np.full(n, -1, np.intp), np.full(m, -1, np.intp))
    lists = Shortlists.empty(n, min(settings.list_size, m))
    free_rows = exhausted = np.arange(n)
    if seen.recalled is not None:
        lists, state.col_dual[:], exhausted = seen.recalled
    elif seen.col_dual is not None:
        # Column duals only ever fall. With their greatest at 0, warm starts that follow each other do not
        # let them fall without end.
        state.col_dual[:] = seen.col_dual - seen.col_dual.max()
    elif found is not None and least is not None:
        if n == m and seen.clashes > settings.many_conflicts * n:
            state.col_dual[:] = found.col_least
            if settings.double and not screen.resolves(state.col_dual, found.bound - least):
                screen = make_screen(geometry, rule, settings, single=False)
        else:
            # The nearest partner is a list of one, and the second nearest bounds the others.
            lists.col[:], lists.cost[:, 0], lists.bound[:] = found.col[:, None], least, found.bound
            exhausted = free_rows[least > found.bound]
    size = settings.short_list_size if seen.few else settings.list_size
    block_rows = screen.block_rows(settings)
    renew_shortlists(screen, lists, state.col_dual, exhausted, size, block_rows, workers, seen.fills_squares)
    most_passes = math.inf
    if problem.has_resort:
        most_passes = settings.auction_after if n == m else settings.most_passes
    if not complete(screen, lists, state, free_rows, settings, workers, most_passes):
        return None
    if problem.warm_start is not None:
        problem.warm_start.keep(geometry, lists, state.col_dual)
    return state


def _match_by_auction(problem: Problem) -> DualState:
    """Match every row, n = m, from column duals that an auction has found, in double precision."""
    geometry, settings = problem.geometry, problem.shaped
    n, m = geometry.shape
    screen = make_screen(geometry, problem.rule, settings, single=False)
    lists = Shortlists.empty(n, min(settings.list_size, m))
    col_dual = bid_for_columns(screen, lists, settings)
    # Rows that have made no bid, as where all pairs cost the same, have no list yet.
    silent, block_rows = np.flatnonzero(lists.bound == -np.inf), screen.block_rows(settings)
    renew_shortlists(screen, lists, col_dual, silent, settings.list_size, block_rows, problem.workers)
    state = DualState(np.zeros(n), col_dual, np.full(n, -1, np.intp), np.full(m, -1, np.intp))
    # Mostly duals are so good that shortest paths are short. Beside points that are far out they may not be.
    most_passes = settings.most_passes if _has_room(problem.task, settings) else math.inf
    settings = settings._replace(few_free=settings.auction_free)
    if not complete(screen, lists, state, np.arange(n), settings, problem.workers, most_passes):
        return solve_matrix(problem)
    if problem.warm_start is not None:
        problem.warm_start.keep(geometry, lists, col_dual)
    return state


def complete(
    screen: PairScreen,
    lists: Shortlists,
    state: DualState,
    free_rows: IntArray,
    settings: SolverSettings,
    workers: int,
    most_passes: float = math.inf,
    duals_are_known: bool = False,
) -> bool:
    """Match the free rows; False if shortest paths are as much work as `most_passes` over all pairs.

    The duals of the free rows need not be feasible, unless they are known.
    """
    n, m = screen.geometry.shape
    block_rows = screen.block_rows(settings)
    # Without duals for the free rows there is no path: one sweep finds them, whatever the settings.
    for sweep in range(settings.sweeps if duals_are_known else max(settings.sweeps, 1)):
        if free_rows.size <= settings.few_free * n and (sweep or duals_are_known):
            break
        if sweep:
            exhausted = free_rows[state.row_dual[free_rows] >= lists.bound[free_rows]]
            renew_shortlists(
                screen, lists, state.col_dual, exhausted, settings.list_size, block_rows, workers
            )
        free_rows = reduce_rows(lists, state, free_rows, settings.reduced_rows)
    return augment_all(screen, lists, state, free_rows, settings.steps_per_call, most_passes)


def _has_room(task: Task, settings: SolverSettings) -> bool:
    """Say whether the matrix of the costs may be the last resort."""
    return task.has_matrix and task.pairs <= settings.last_resort * settings.dense_pairs


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


def least_costs(
    geometry: Geometry, rule: CostRule, *, workers: int = 1, settings: SolverSettings | None = None
) -> FloatArray:
    """Give a lower bound, mostly sharp, of the cost of every row's cheapest pair."""
    settings = or_default(settings)
    screen = make_screen(geometry, rule, settings)
    found = find_nearest_partners(screen, settings, workers)
    return np.minimum(found.costs(screen), found.bound) + rule.offset


#: In the order in which they are tried. What makes a route refuse is seen on the way.
ROUTES = (
    Route(
        "nearest",
        COSTS,
        can=always,
        pays=lambda task, settings: not task.warm,
        solve=_match_nearest,
        why="Where no two points share their nearest partner, one pass over all pairs is enough.",
    ),
    Route(
        "clashes",
        COSTS,
        can=has_matrix,
        pays=lambda task, settings: not task.warm and task.pairs <= settings.dense_pairs,
        solve=_match_if_clashing,
        why="Where many do, the matrix of not too many points is solved sooner than lists are made.",
    ),
    Route(
        "crowded",
        COSTS,
        can=lambda task: task.n == task.m,
        pays=lambda task, settings: not task.warm,
        solve=_match_if_crowded,
        why="Where far too many do, paths would be long: an auction finds the duals.",
    ),
    Route(
        "paths",
        COSTS,
        can=always,
        pays=always,
        solve=_match_by_paths,
        why="Shortlists match most points, and shortest paths the rest, whatever the sets.",
    ),
    Route(
        "auction",
        COSTS,
        can=lambda task: task.n == task.m,
        pays=always,
        solve=_match_by_auction,
        why="Paths that took too long are short from the duals of an auction.",
    ),
    Route(
        "resort",
        COSTS,
        can=has_matrix,
        pays=lambda task, settings: task.n < task.m and _has_room(task, settings),
        solve=solve_matrix,
        why="Auctions are for sets of one size; of others, the matrix is the last resort if there is room.",
    ),
)
