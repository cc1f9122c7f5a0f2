"""Many small groups at a time, by the kernel that solves many small problems (`match_many`).

That kernel takes plain coordinates, without what they lost in rounding, and knows when points coincide in a
group only. So its answers count where the duals show that no pair of a group is as near as that.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.assignment.plan import plan_from_points
from lslmatch.assignment.small_sets import match_small
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry
from lslmatch.given import Block
from lslmatch.results import Affine, Assignment

#: Groups from which on this is worth the kernel's compilation, and pairs of points of one group at most.
_FEWEST_GROUPS, _MOST_PAIRS = 4, 150**2
#: Groups, and coordinates, that are solved in one call.
_GROUPS_AT_ONCE, _COORDINATES_AT_ONCE = 1024, 1 << 16
#: The least squared distance, as a share of the greatest squared coordinate, that rounding does not change.
_NEAR = 2.0**-30


def assign_small(
    geometry: Geometry, rule: CostRule, blocks: list[Block], add: Callable[[Block, Assignment], None]
) -> list[Block]:
    """Match small groups, hand over what was found, and return the groups that are left."""
    unit = math.ldexp(1.0, 2 * geometry.exponent) if -500 < geometry.exponent < 500 else 0.0
    is_square = not (rule.logarithm or rule.root or rule.y_weight.any()) and unit > 0.0
    is_square = is_square and bool((rule.x_weight == 1.0 / unit).all())
    d = geometry.a.shape[1]
    small = [block for block in blocks if _is_small(block, d)]
    if len(small) < _FEWEST_GROUPS or not geometry.is_tame or not (rule.logarithm or is_square):
        return blocks
    left = [block for block in blocks if not _is_small(block, d)]
    near = _NEAR * max(float(np.abs(geometry.a).max()), float(np.abs(geometry.b).max())) ** 2
    identity, objective = Affine(1.0, np.zeros(d)), "lsl" if rule.logarithm else "lss"
    for some in _together(small, d):
        x = geometry.a[np.concatenate([block.rows for block in some])]
        y = geometry.b[np.concatenate([block.cols for block in some])]
        sizes = np.array([(block.rows.size, block.cols.size) for block in some])
        for block, result in zip(some, match_small(x, y, sizes, objective, identity), strict=True):
            if result is None:
                left.append(block)
                continue
            assert result.row_dual is not None
            assert result.col_dual is not None
            u, v = result.row_dual, result.col_dual
            if rule.logarithm and not u.min() + v.min() > math.log(max(near, rule.floor)):
                left.append(block)
                continue
            add(block, _in_units(block, result.permutation, u, v, result.objective, rule, unit))
    return left


def _in_units(
    block: Block,
    permutation: np.ndarray,
    u: FloatArray,
    v: FloatArray,
    objective: float,
    rule: CostRule,
    unit: float,
) -> Assignment:
    """Put what was found in units of the geometry into those of x."""
    rows = np.flatnonzero(permutation >= 0)
    cols = permutation[rows]
    if not rule.logarithm:
        return Assignment(rows, cols, u * unit, v * unit, objective * unit)
    # The duals of the larger side stay, as they are 0 where unmatched.
    u, v = (u + rule.offset, v) if block.rows.size <= block.cols.size else (u, v + rule.offset)
    return Assignment(rows, cols, u, v, objective + rule.offset * rows.size)


def _is_small(block: Block, d: int) -> bool:
    n, m = block.rows.size, block.cols.size
    if block.pairs < 2 or n * m > _MOST_PAIRS:
        return False
    plan = plan_from_points((n, d), m, "lsl")
    return bool(plan) and plan[0].name == "small"


def _together(blocks: list[Block], d: int) -> list[list[Block]]:
    """Put blocks together that are solved in one call."""
    groups: list[list[Block]] = []
    held = 0
    for block in blocks:
        size = (block.rows.size + block.cols.size) * d
        if not groups or held + size > _COORDINATES_AT_ONCE or len(groups[-1]) == _GROUPS_AT_ONCE:
            groups.append([])
            held = 0
        groups[-1].append(block)
        held += size
    return groups
