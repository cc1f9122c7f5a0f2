"""Matching two sets of points: align them, price the pairs, assign, and return the proof."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from lslmatch._frames import column_names, in_column_order
from lslmatch._types import FloatArray
from lslmatch._validation import (
    check_count,
    check_noise,
    check_option,
    check_pairs,
    check_point_pair,
)
from lslmatch.alignment.doubt import LEAST_PAIRS, AlignmentWarning, doubt_moments
from lslmatch.alignment.fit import Alignment
from lslmatch.alignment.registry import ALIGNMENTS, align, direct_map, is_direct
from lslmatch.assignment.from_points import are_plain, match_points
from lslmatch.assignment.greedy import choose_nearest
from lslmatch.assignment.orientation import partners, sides_as_given, smaller_as_rows
from lslmatch.assignment.partial import PricedAssignment, assign_point_pairs
from lslmatch.assignment.plan import plan_from_points
from lslmatch.choice.choosing import check_choosable, choose_pairs
from lslmatch.columns.doubt import ColumnScaleWarning, doubt_one_scale
from lslmatch.columns.matching import match_columns, match_diagonal
from lslmatch.columns.selection import put_in_place, weigh_columns
from lslmatch.costs import CostRule, make_rule
from lslmatch.covariance.known import check_covariance, match_known
from lslmatch.covariance.learned import match_learned
from lslmatch.covariance.pair_costs import match_pairs
from lslmatch.geometry.coordinates import Geometry, common_coordinates
from lslmatch.maps import MATRIX_MAPS, AnyMap
from lslmatch.results import Affine, ColumnMap, FalseShare, Labels, MatchResult

_OBJECTIVES = ("lsl", "lss", "lsns", "greedy")
_WITHOUT_NOISE = ("lsl", "lss", "greedy")
#: Maps under which noise that is learned is not isotropic.
_LEARNED_WITH_NOISE = (ColumnMap, *MATRIX_MAPS)
_COVARIANCES = ("isotropic", "diagonal", "estimate", "auto")


def match(
    x: Any,
    y: Any,
    *,
    objective: str = "lsl",
    alignment: str | AnyMap = "standardize",
    covariance: Any = "isotropic",
    pairs: str | int | FalseShare = "all",
    noise: tuple[Any, Any] | None = None,
    workers: int = 1,
) -> MatchResult:
    """Match two sets of noisy points when one is a permuted, scaled and shifted copy of the other.

    Parameters
    ----------
    x : array_like of shape (n, d)
        The first set, points as rows. A frame's index names its rows (see `MatchResult.labels`).
    y : array_like of shape (m, d)
        The second set. Each point of the smaller set gets a partner of its own in the larger one.
        If both sets have names of columns (strings, as in scikit-learn), columns are paired by them.
    objective : {"lsl", "lss", "lsns", "greedy"}, default "lsl"
        What the matching minimises, with r the distance of ``x[i]`` and ``scale * y[j] + shift``:
        the sum of ``log(r**2)`` (the paper's estimator, for noise that differs from point to point);
        the sum of ``r**2`` (for equal noise); the sum of ``r**2`` divided by the noise variance of
        the pair, which `noise` must give; or nothing as a whole: "greedy" lets the points choose
        their nearest free partner one after the other, and has no certificate.
    alignment : str, Affine, ColumnMap, Similarity or LinearMap, default "standardize"
        The map from `y` to `x`.

        - "standardize": one scale and a shift, estimated by standardising both sets.
        - "identity": none at all (plain LSL).
        - "profile": the scale at which the profile likelihood of LSL is least, in a window around the
          standardised one, with a shift in which pairs with little noise count more (for noise of very
          different levels; about twice the work).
        - "robust": the map under which nearest partners stand out most from other candidates (for sets of
          which up to half of the points are wild or have no partner; the standardised one if none is better
          beyond chance).
        - "columns": a scale and a shift for each column, for tables whose columns have other units in `y`,
          or of which one would outweigh all others. Learned together with the noise.
        - "auto": whichever of these predicts the pairs best (the identity has it if the others' gain is not
          worth their parameters).
        - An `Affine`, a `ColumnMap`, a `Similarity` or a `LinearMap` is taken as it is; the last may lead
          from another number of columns, and its columns are not paired by names.

        With another objective than "lsl", those that are found by matching are still found by LSL.
    covariance : {"isotropic", "diagonal", "estimate", "auto"} or array_like, default "isotropic"
        The covariance of the noise, the same for all points up to their levels, in the coordinates of `x`: a
        multiple of the identity (the paper's model); "diagonal": variances of the columns, learned from the
        matching itself; "estimate": all of it learned, where a pair is judged by a covariance from which it
        was left out; "auto": learned, but kept only if it predicts its own pairs better than isotropic noise
        does, and surer than pairs of an unrelated set; or known, as variances of shape (d,) or as a matrix of
        shape (d, d). Only its shape is used: distances are measured in the unit in which its determinant is
        1, so that objectives can be compared.
        Where each column has a unit of its own nothing can be isotropic: with ``alignment="columns"`` the
        covariance is learned in any case, and "isotropic" and "auto" let the pairs decide between a diagonal
        and a full one.
        With another objective than "lsl" the covariance is still learned by LSL, and then taken as known.
    pairs : {"all", "auto"}, int or FalseShare, default "all"
        How many pairs are matched: all points of the smaller set; those that are more probably right than
        wrong or of points without a partner (experimental: see the limits); so many pairs, at least 1, that
        cost least together; or the surest, so many that the expected share of false ones is at most that
        given. The other points stay without a partner. The map is still found from all points, so that sets
        with strangers need ``alignment="robust"``. Pairs that are chosen are those of the matching of all
        points (`MatchResult.chosen_from`), and have a confidence (`MatchResult.confidence`); a covariance is
        learned again from them, and "auto" takes it where more pairs are probably right under it. They are
        chosen for "lsl" only. :func:`match_path` gives the cheapest pairs for all numbers at once.
    noise : tuple of two array_like, of shapes (n,) and (m,), optional
        The noise levels (standard deviations) of `x` and of `y`, each in the units of its set (with a scale
        for each column: of their geometric mean); one number stands for equal levels. Needed by "lsns" and
        refused otherwise.
    workers : int, default 1
        Threads that compute costs. The result does not depend on it.

    Returns
    -------
    MatchResult
        ``y[permutation[i]]`` is the partner of ``x[i]``; with the scale, the shift, the objective, the
        dual variables that prove it minimal at that scale and shift, and the likelihood that was
        searched for them. Of fewer pairs than all, ``price`` is what the last of them added.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks a rule; the message names the argument, the rule and what came.

    Warns
    -----
    ColumnNamesWarning
        If only one set has names of columns: they are paired by position then.
    ColumnScaleWarning
        If one scale for all columns contradicts the pairs that "standardize" led to, or if one column
        outweighs all others although these tell pairs apart.
    AlignmentWarning
        If the pairs of two sets of equal size contradict the moments by which "standardize" aligned them, as
        they do if there are wild points.

    Examples
    --------
    >>> import numpy as np
    >>> from lslmatch import match
    >>> x = np.array([[1.0, 1.0], [5.0, 0.0], [0.0, 4.0], [7.0, 7.0]])
    >>> order = np.array([2, 0, 3, 1])  # x[i] becomes y[order[i]]
    >>> y = np.empty_like(x)
    >>> y[order] = (x - 10.0) / 3.0
    >>> result = match(x, y)
    >>> result.permutation.tolist(), round(result.scale, 9)
    ([2, 0, 3, 1], 3.0)
    """
    if are_plain(x, y) and is_usual(objective, alignment, covariance, pairs, noise, workers):
        assert isinstance(alignment, (str, Affine)) or type(alignment) is tuple, "others are not usual"
        result = _match_isotropic(x, y, objective, alignment, None, None, workers)
        if not isinstance(alignment, str):
            return result
        if alignment == "standardize" and not _warn_of_one_scale(x, y, result, None):
            _warn_of_moments(x, y, result)
        if alignment != "auto":
            return result
        by_lsl = result
        if objective != "lsl":
            by_lsl = _match_isotropic(x, y, "lsl", result.affine, None, None, workers)
        chosen = weigh_columns(x, y, by_lsl, by_lsl, alignment, covariance, workers)
        if chosen is None:
            return result
        return put_in_place(x, y, result, chosen, objective, None, None, workers)
    labels = Labels.of(x, y)
    columns = column_names(x, "x")
    covariance = in_column_order(covariance, columns, "covariance")
    x, y = check_point_pair(x, y, alignment)
    check_option(objective, "objective", _OBJECTIVES)
    workers = check_count(workers, "workers", 1)
    levels = check_noise(noise, objective, x.shape[0], y.shape[0], labels)
    wanted = check_pairs(pairs, objective, x.shape[0], y.shape[0])
    count = wanted if isinstance(wanted, int) else None
    if isinstance(wanted, (str, FalseShare)):
        check_choosable(len(x), len(y))

    def solve(
        x: FloatArray,
        y: FloatArray,
        alignment: str | Affine,
        objective: str = objective,
        pairs: int | None = None,
    ) -> MatchResult:
        noise = levels if objective == "lsns" else None
        return _match_isotropic(x, y, objective, alignment, pairs, noise, workers)

    base: MatchResult | None = None
    solve_pairs = functools.partial(solve, pairs=count)
    if isinstance(alignment, _LEARNED_WITH_NOISE) or (isinstance(alignment, str) and alignment == "columns"):
        result = match_columns(x, y, objective, alignment, covariance, count, levels, workers)
    elif not isinstance(covariance, str):
        covariance = check_covariance(covariance, x.shape[1])
        result = match_known(solve_pairs, x, y, covariance, alignment, count, workers)
    elif check_option(covariance, "covariance", _COVARIANCES) == "diagonal":
        result = match_diagonal(solve, x, y, objective, alignment, count, levels, workers)
    elif covariance == "isotropic":
        result = solve_pairs(x, y, alignment)
    else:
        compare = covariance == "auto" and not isinstance(wanted, (str, FalseShare))
        base = solve(x, y, alignment, "lsl")
        result = match_learned(solve, x, y, base, objective, alignment, compare, workers)
        result = result if count is None else match_pairs(x, y, result, count, workers)
    choose_columns = isinstance(alignment, str) and alignment == "auto"
    by_one_scale = result.column_map is None and result.matrix_map is None
    if (
        by_one_scale
        and isinstance(covariance, str)
        and (covariance == "auto" or (choose_columns and covariance == "isotropic"))
    ):
        if base is None:
            base = result if objective == "lsl" and count is None else solve(x, y, result.affine, "lsl")
        chosen = weigh_columns(x, y, base, result, alignment, covariance, workers)
        if chosen is not None:
            result = put_in_place(x, y, result, chosen, objective, count, levels, workers)
            base = None
    may_warn = wanted is None and isinstance(alignment, str) and alignment == "standardize"
    if may_warn and not _warn_of_one_scale(x, y, result, columns):
        _warn_of_moments(x, y, result)
    if isinstance(wanted, (str, FalseShare)):
        target = wanted if isinstance(wanted, FalseShare) else None
        # An alignment that was given, or chosen to be none at all, is not ours to change.
        refit = (
            isinstance(alignment, str)
            and result.matrix_map is None
            and (result.scale != 1.0 or bool(result.shift.any()))
        )
        beside = base if isinstance(covariance, str) and covariance == "auto" else None
        result = choose_pairs(x, y, result, target, refit, workers, beside)
    return result._replace(labels=labels, columns=columns)


def _warn_of_one_scale(
    x: FloatArray, y: FloatArray, result: MatchResult, columns: tuple[str, ...] | None
) -> bool:
    """Warn if one scale for all columns does not suit the pairs, and say whether."""
    if result.covariance is not None or result.row_dual is None:
        return False
    doubt = doubt_one_scale(x, y, result, columns)
    if doubt:
        warnings.warn(f"{doubt}: try alignment='columns'", ColumnScaleWarning, stacklevel=3)
    return bool(doubt)


def _warn_of_moments(x: FloatArray, y: FloatArray, result: MatchResult) -> None:
    """Warn if the pairs contradict the moments; with sets of different sizes these differ in any case."""
    if len(x) == len(y) >= LEAST_PAIRS and result.covariance is None and result.row_dual is not None:
        doubt = doubt_moments(x, y, result)
        if doubt:
            warnings.warn(
                f"the pairs contradict {doubt}. Some points may be wild, or without a partner, or have very "
                "much noise: try alignment='robust' or 'auto'",
                AlignmentWarning,
                stacklevel=3,
            )


def is_usual(
    objective: Any = "lsl",
    alignment: Any = "standardize",
    covariance: Any = "isotropic",
    pairs: Any = "all",
    noise: Any = None,
    workers: Any = 1,
) -> bool:
    """Say whether no argument has to be checked or brought into form, but for the points and a given map."""
    if not (type(covariance) is str and covariance == "isotropic" and noise is None):
        return False
    if not (type(pairs) is str and pairs == "all" and type(workers) is int and workers >= 1):
        return False
    if not (type(objective) is str and objective in _WITHOUT_NOISE):
        return False
    if type(alignment) is str:
        return alignment in ALIGNMENTS
    return isinstance(alignment, tuple) and not isinstance(alignment, _LEARNED_WITH_NOISE)


def _match_isotropic(
    x: FloatArray,
    y: FloatArray,
    objective: str,
    alignment: str | Affine,
    pairs: int | None,
    levels: tuple[FloatArray, FloatArray] | None,
    workers: int,
) -> MatchResult:
    """Match two sets as the paper does: align them, price the pairs, assign.

    Where a plan leads from the points to the end, that is what is tried first. (It refuses points that are
    not finite: they need not be checked before.)
    """
    plan = plan_from_points(x.shape, len(y), objective) if pairs is None else ()
    if plan and is_direct(alignment):
        result = match_points(x, y, objective, direct_map(alignment, x.shape[1]), plan)
        if result is not None:
            return result
        plan = ()
    x, y = check_point_pair(x, y)
    found = align(x, y, alignment, workers)
    if found.assignment is not None and objective == "lsl" and pairs is None:
        return _proven_result(x.shape[0], found, PricedAssignment(found.assignment, None), objective, levels)
    if plan:
        result = match_points(x, y, objective, found.affine, plan)
        if result is not None:
            return result._replace(profile=found.curve, decisions=found.decisions)
    geometry = common_coordinates(x, y, found.affine)
    rule = make_rule(objective, geometry, found.affine.scale, levels)
    if objective == "greedy":
        return _greedy_result(geometry, rule, found)
    priced = assign_point_pairs(geometry, rule, pairs, workers)
    return _proven_result(x.shape[0], found, priced, objective, levels)


def _proven_result(
    n: int,
    found: Alignment,
    priced: PricedAssignment,
    objective: str,
    levels: tuple[FloatArray, FloatArray] | None,
) -> MatchResult:
    """Put an assignment and its duals into the terms of the n points of x."""
    (rows, cols, row_dual, col_dual, total), price = priced
    return MatchResult(
        partners(n, rows, cols),
        *found.affine,
        total,
        row_dual,
        col_dual,
        objective,
        levels,
        found.curve,
        price=price,
        decisions=found.decisions,
    )


def _greedy_result(geometry: Geometry, rule: CostRule, found: Alignment) -> MatchResult:
    """Let the points of the smaller set choose in turn, as in Collier and Dalalyan (2016), section 2."""
    n, m = geometry.shape
    choice, least = choose_nearest(smaller_as_rows(geometry, rule)[0])
    permutation = partners(n, *sides_as_given(choice, n > m))
    objective = float((np.log(np.maximum(least, rule.floor)) + rule.offset).sum())
    return MatchResult(
        permutation,
        *found.affine,
        objective,
        None,
        None,
        "greedy",
        None,
        found.curve,
        decisions=found.decisions,
    )
