"""The nearest column of every row of two large sets, with a bound for all other columns.

Leading coordinates bound the squared distances of all pairs. The column with the least bound is priced
exactly; if it costs no more than the second least bound, it is the nearest one. Rows for which that does not
hold are looked at once more, by more coordinates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.nearest_partners import NearestPartners, find_nearest_partners
from lslmatch.assignment.screening import PairScreen, bit_patterns, price_pairs
from lslmatch.assignment.settings import SolverSettings
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry
from lslmatch.large.frame import LargeSets
from lslmatch.large.leading import EVERY, Lead, lead_cols, lead_rows, tiles_of
from lslmatch.large.outlook import LargeOutlook
from lslmatch.large.points import blocks

#: Finds nearest partners by leading coordinates of rows and columns.
Find = Callable[[Lead, Lead, CostRule], NearestPartners]
#: A stage that settles fewer of its rows is the last one.
_SETTLED = 0.5


def find_nearest(
    sets: LargeSets, rule: CostRule, outlook: LargeOutlook, find: Find
) -> tuple[NearestPartners, FloatArray]:
    """Find nearest columns and their exact costs. A row whose cost is above its bound is not settled."""
    n, m = sets.shape
    nearest, cost, bound = np.zeros(n, np.intp), np.full(n, np.inf), np.full(n, -np.inf)
    left: IntArray | None = None
    for size in outlook.sizes:
        directions = outlook.directions.leading(size) if size else EVERY
        rows, cols = lead_rows(sets, directions, left), lead_cols(sets, directions)
        some = np.arange(n) if left is None else left
        found = find(rows, cols, rule.taken(some, np.arange(m)))
        nearest[some], bound[some] = found.col, found.bound
        cost[some] = price(sets, rule, some, found.col)
        unsettled = some[cost[some] > bound[some]]
        if not unsettled.size or unsettled.size > (1.0 - _SETTLED) * some.size:
            break
        left = unsettled
    return NearestPartners(nearest, bound, np.empty(0)), cost


def price(sets: LargeSets, rule: CostRule, rows: IntArray, cols: IntArray) -> FloatArray:
    """Compute the exact costs of some pairs, as all routes do."""
    costs = np.empty((rows.size, 1))
    for some in blocks(rows.size, 4 * sets.x.shape[1]):
        i, j = rows[some], cols[some]
        own = np.arange(i.size)
        price_pairs(sets.taken(i, j), rule.taken(i, j), own, own[:, None], costs[some])
    return costs[:, 0]


def find_among(
    rows: Lead, cols: Lead, rule: CostRule, columns: int, settings: SolverSettings, workers: int
) -> NearestPartners:
    """Find nearest partners, by their bounds, of rows among so many columns."""
    return find_nearest_partners(make_lead_screen(rows, cols, rule, columns), settings, workers)


def make_lead_screen(rows: Lead, cols: Lead, rule: CostRule, columns: int) -> PairScreen:
    """Make the screen of leading coordinates. It has no geometry but its shape, and needs none."""
    a, b = np.empty((len(rows.points), 0)), np.empty((columns, 0))
    geometry = Geometry(a, b, a, b, 0)
    infinity = bit_patterns(np.full(1, np.inf, np.float32))[0]
    none = np.empty(0, np.float32)
    unit = 1.0 if rule.logarithm else float(rule.x_weight.min() + rule.y_weight.min())
    squares = np.empty((0, 0), np.float32)
    return PairScreen(geometry, tiles_of(rows, cols), rule, squares, infinity, none, none, unit)
