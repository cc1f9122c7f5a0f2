"""Matching with isotropic noise, as the paper does: align the sets, price the pairs, assign."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray
from lslmatch._validation import check_point_pair
from lslmatch.alignment.fit import Alignment
from lslmatch.alignment.registry import align, direct_map, is_direct
from lslmatch.assignment.all_or_some import PricedAssignment, assign_sets
from lslmatch.assignment.from_points import match_points
from lslmatch.assignment.greedy import choose_nearest
from lslmatch.assignment.orientation import partners, sides_as_given, smaller_as_rows
from lslmatch.assignment.plan import plan_from_points
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry, common_coordinates
from lslmatch.maps import Affine
from lslmatch.objectives.table import OBJECTIVES, make_rule
from lslmatch.request import Request
from lslmatch.results import MatchResult


def match_isotropic(x: FloatArray, y: FloatArray, request: Request) -> MatchResult:
    """Match two sets under an alignment that only aligns, or under a map with one scale.

    Where a plan leads from the points to the end, that is what is tried first. (It refuses points that are
    not finite: they need not be checked before.)
    """
    objective, alignment, pairs = request.objective, request.alignment, request.pairs
    assert isinstance(alignment, (str, Affine)) or type(alignment) is tuple, "others match by themselves"
    plan = plan_from_points(x.shape, len(y), objective) if pairs is None else ()
    if plan and is_direct(alignment):
        result = match_points(x, y, objective, direct_map(alignment, x.shape[1]), plan)
        if result is not None:
            return result
        plan = ()
    x, y = check_point_pair(x, y)
    found = align(x, y, alignment, request.workers)
    if found.assignment is not None and objective == "lsl" and pairs is None:
        return _proven_result(x.shape[0], found, PricedAssignment(found.assignment, None), request)
    if plan:
        result = match_points(x, y, objective, found.affine, plan)
        if result is not None:
            return result._replace(profile=found.curve, decisions=found.decisions)
    geometry = common_coordinates(x, y, found.affine)
    rule = make_rule(objective, geometry, found.affine.scale, request.noise)
    return match_aligned(geometry, rule, found, request)


def match_aligned(geometry: Geometry, rule: CostRule, found: Alignment, request: Request) -> MatchResult:
    """Match two sets that a map brought into common coordinates."""
    if not OBJECTIVES[request.objective].is_minimised:
        return _greedy_result(geometry, rule, found, request.objective)
    priced = assign_sets(geometry, rule, request.pairs, request.workers)
    return _proven_result(geometry.shape[0], found, priced, request)


def _proven_result(n: int, found: Alignment, priced: PricedAssignment, request: Request) -> MatchResult:
    """Put an assignment and its duals into the terms of the n points of x."""
    (rows, cols, row_dual, col_dual, total), price = priced
    return MatchResult(
        partners(n, rows, cols),
        *found.affine,
        total,
        row_dual,
        col_dual,
        request.objective,
        request.noise,
        found.curve,
        price=price,
        decisions=found.decisions,
    )


def _greedy_result(geometry: Geometry, rule: CostRule, found: Alignment, objective: str) -> MatchResult:
    """Let the points of the smaller set choose in turn, as in Collier and Dalalyan (2016), section 2."""
    n, m = geometry.shape
    choice, least = choose_nearest(smaller_as_rows(geometry, rule)[0])
    permutation = partners(n, *sides_as_given(choice, n > m))
    total = float((np.log(np.maximum(least, rule.floor)) + rule.offset).sum())
    return MatchResult(
        permutation,
        *found.affine,
        total,
        None,
        None,
        objective,
        None,
        found.curve,
        decisions=found.decisions,
    )
