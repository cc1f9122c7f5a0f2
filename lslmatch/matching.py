"""Matching two sets of points: align them, price the pairs, assign, and return the proof."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

from lslmatch._shared_columns import take_shared_columns
from lslmatch._types import FloatArray
from lslmatch._validation import check_option
from lslmatch.alignment.doubt import LEAST_PAIRS, AlignmentWarning, doubt_moments
from lslmatch.alignment.registry import ALIGNERS, is_direct
from lslmatch.allowed.checking import check_given
from lslmatch.assignment.from_points import are_plain
from lslmatch.choice.blind.choosing import choose_blindly
from lslmatch.choice.choosing import check_choosable, choose_pairs
from lslmatch.columns.doubt import ColumnScaleWarning, doubt_one_scale
from lslmatch.covariance.isotropic import match_isotropic
from lslmatch.covariance.known import match_known
from lslmatch.covariance.row import Matched
from lslmatch.given import Given
from lslmatch.known.matching import match_given, warn_of_misfits
from lslmatch.known.regression import is_regression
from lslmatch.large.matching import are_large, match_large, sample_pairs
from lslmatch.maps import AnyMap
from lslmatch.request import Request, take_request
from lslmatch.results import FalseShare, MatchResult
from lslmatch.tables import ALIGNMENTS, COVARIANCES, NAMES, OBJECTIVES, OF_MAPS

#: The options of `match`, in their order.
OPTIONS = (
    "objective",
    "alignment",
    "covariance",
    "pairs",
    "noise",
    "known",
    "groups",
    "forbidden",
    "columns",
    "workers",
)


def match(
    x: Any,
    y: Any,
    *,
    objective: str = "lsl",
    alignment: str | AnyMap = "standardize",
    covariance: Any = "isotropic",
    pairs: str | int | FalseShare = "all",
    noise: tuple[Any, Any] | None = None,
    known: Any = None,
    groups: tuple[Any, Any] | None = None,
    forbidden: Any = None,
    columns: str = "same",
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
    objective : {"lsl", "lss", "lsns", "distance", "greedy"}, default "lsl"
        What the matching minimises, with r the distance of ``x[i]`` and ``scale * y[j] + shift``:
        the sum of ``log(r**2)`` (the paper's estimator, for noise that differs from point to point);
        the sum of ``r**2`` (for equal noise); the sum of ``r**2`` divided by the noise variance of
        the pair, which `noise` must give; the sum of r itself, the "distance"; or nothing as a whole:
        "greedy" lets the points choose their nearest free partner one after the other, and has no
        certificate.
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
          or of which one would outweigh all others. Learned together with the noise. Scales are positive;
          "signed-columns" also tries columns that run the other way, as depths do beside heights.
        - "similarity": a rotation or reflection, one scale and a shift, for sets that are turned in any way.
          "rotation" does not mirror, and "rigid" neither mirrors nor scales. Whether the map is confirmed,
          ambiguous or unknown is in `MatchResult.decisions`.
        - "linear": any linear map and a shift, for sets whose coordinates are other ones, such as those of
          another sensor or encoder; `x` and `y` may differ in dimension, and columns are not paired by names.
          Learned by ridge, each pair judged by the map of the others; from `known` pairs, of which 20 mostly
          suffice, from columns that correspond, or from nothing where that works (an `AlignmentWarning` says
          if the map is no surer than that of an unrelated set).
        - "auto": whichever of the others but these four predicts the pairs best (the identity has it if the
          others' gain is not worth their parameters).
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
        wrong or of points without a partner (experimental: see the limits); a number k: the k pairs that cost
        least together; or, by a `FalseShare`, as many of the surest as keep the expected share of false ones
        below it. The other points stay without a partner. The map is still found from all points: sets with
        strangers need ``alignment="robust"``. Pairs that are chosen are those of the matching of all
        points (`MatchResult.chosen_from`), and have a confidence (`MatchResult.confidence`); a covariance is
        learned again from them, and "auto" takes it where more pairs are probably right under it. They are
        chosen for "lsl" only. :func:`match_path` gives the cheapest pairs for all numbers at once.
    noise : tuple of two array_like, of shapes (n,) and (m,), optional
        The noise levels (standard deviations) of `x` and of `y`, each in the units of its set (with a scale
        for each column: of their geometric mean); one number stands for equal levels. Needed by "lsns" and
        refused otherwise.
    known : array_like of shape (k, 2), or dict, optional
        Pairs that are right for certain: a row of `x` and one of `y` each, by number, or by label if the rows
        have labels. They are in the answer as they are, teach the map and the noise (each as far as it fits
        the others), and are excluded from what is proven: the optimum is that of all other points.
    groups : tuple of two array_like, of shapes (n,) and (m,), optional
        The group of each point, such as its site, day or sex: partners are of the same group. Each group of
        the smaller size is matched in full.
    forbidden : array_like of shape (k, 2), or boolean or sparse matrix of shape (n, m), optional
        Pairs that must not be, as row numbers or labels, or where the matrix is true.
    columns : {"same", "common"}, default "same"
        Whether sets with names of columns must have the same ones, or those that both have are taken.
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
        they do if there are wild points; or if a rotation is not confirmed, or is ambiguous, as for sets that
        are symmetric; if known pairs do not fit the others, which are named; or if a linear map is no surer
        than that of an unrelated set, or cannot be told from few points.

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
    left_out = ""
    if check_option(columns, "columns", ("same", "common")) == "common":
        x, y, left_out = take_shared_columns(x, y)
    is_free = known is None and groups is None and forbidden is None
    usual = is_free and is_usual(objective, alignment, covariance, pairs, noise, workers=workers)
    if usual and are_large(x, y):
        large = _match_large(x, y, _plain_request(objective, alignment, workers))
        if large is not None:
            return large
    if usual and are_plain(x, y):
        request = _plain_request(objective, alignment, workers)
        if is_direct(alignment):  # nothing is searched for, nor chosen
            result = match_isotropic(x, y, request)
            if type(alignment) is str and alignment == "standardize":
                _warn_of_doubts(x, y, result, None)
            return result
    else:
        x, y, request = take_request(
            x,
            y,
            NAMES,
            objective=objective,
            alignment=alignment,
            covariance=covariance,
            pairs=pairs,
            noise=noise,
            workers=workers,
        )
        if not is_free:
            given = check_given(known, groups, forbidden, len(x), len(y), request.labels)
            request = _check_allowed(request, given)
        if request.choice is not None and not _is_blind(request):
            check_choosable(len(x), len(y))
    found = find_matching(x, y, request)
    result = found.result
    by_moments = isinstance(request.alignment, str) and request.alignment == "standardize"
    if by_moments and request.given is None and request.pairs is None and request.choice is None:
        _warn_of_doubts(x, y, result, request.columns)
    if request.choice is not None:
        result = _choose(x, y, request, found)
    if left_out:
        result = result._replace(decisions=(left_out, *result.decisions))
    result = result._replace(labels=request.labels, columns=request.columns)
    return result if request.given is None else warn_of_misfits(x, y, result)


def _match_large(x: FloatArray, y: FloatArray, request: Request) -> MatchResult | None:
    """Match two large sets in little memory; None if they have to go the usual way."""
    result = match_large(x, y, request)
    if result is not None and request.alignment == "standardize":
        _warn_of_doubts(*sample_pairs(x, y, result), None, len(x) == len(y), stacklevel=4)
    return result


def find_matching(x: FloatArray, y: FloatArray, request: Request) -> Matched:
    """Match two checked sets as a request says, but for choosing pairs."""
    alignment, covariance = request.alignment, request.covariance
    if request.given is not None and not is_regression(alignment):
        return Matched(match_given(x, y, request))
    own = ALIGNMENTS[alignment].match if isinstance(alignment, str) else OF_MAPS.get(type(alignment))
    if own is not None:
        return Matched(own(x, y, request))
    if not isinstance(covariance, str):
        return Matched(match_known(x, y, request))
    return COVARIANCES[covariance].match(x, y, request)


def _choose(x: FloatArray, y: FloatArray, request: Request, found: Matched) -> MatchResult:
    """Keep the pairs that are probably right, or as many as keep the expected share of false ones low."""
    result = found.result
    target = request.choice if isinstance(request.choice, FalseShare) else None
    # An alignment that was given, or chosen to be none at all, is not ours to change.
    is_identity = result.matrix_map is None and result.scale == 1.0 and not result.shift.any()
    is_given = request.given_map is not None or is_identity
    if target is not None and target.proof:
        return choose_blindly(x, y, result, target.share, is_given, request.workers)
    refit = not is_given and result.matrix_map is None
    return choose_pairs(x, y, result, target, refit, request.workers, found.beside, found.diagonal)


def _check_allowed(request: Request, given: Given | None) -> Request:
    """Put known pairs, groups and forbidden pairs into a request; refuse what cannot be done with them."""
    if given is None:
        return request
    if not OBJECTIVES[request.objective].is_minimised:
        raise ValueError(
            f"objective {request.objective!r} takes no known pairs, groups or forbidden pairs: it minimises "
            "nothing; use 'lsl'"
        )
    if _is_blind(request) and len(given.forbidden):
        raise ValueError(
            "pairs=FalseShare(..., proof=True) takes no forbidden pairs, which say what set a point is from: "
            "pairs are made blindly; use FalseShare without proof, or groups"
        )
    named = (part if isinstance(part, str) else "" for part in (request.alignment, request.covariance))
    alignment, covariance = named
    return request._replace(given=given._replace(alignment=alignment, covariance=covariance))


def _is_blind(request: Request) -> bool:
    return isinstance(request.choice, FalseShare) and request.choice.proof


def _warn_of_doubts(
    x: FloatArray,
    y: FloatArray,
    result: MatchResult,
    columns: tuple[str, ...] | None,
    asks_moments: bool = True,
    stacklevel: int = 3,
) -> None:
    """Warn if one scale for all columns does not suit the pairs, or if they contradict the moments.

    With sets of different sizes the moments differ in any case.
    """
    if result.covariance is not None or result.row_dual is None:
        return
    doubt = doubt_one_scale(x, y, result, columns)
    if doubt:
        warnings.warn(f"{doubt}: try alignment='columns'", ColumnScaleWarning, stacklevel=stacklevel)
    elif asks_moments and len(x) == len(y) >= LEAST_PAIRS:
        doubt = doubt_moments(x, y, result)
        if doubt:
            warnings.warn(
                f"the pairs contradict {doubt}. Some points may be wild, or without a partner, or have very "
                "much noise: try alignment='robust' or 'auto'",
                AlignmentWarning,
                stacklevel=stacklevel,
            )


def _plain_request(objective: str, alignment: Any, workers: int) -> Request:
    """Give a request of which no argument has to be checked or brought into form, but for a map."""
    if type(alignment) is str:
        return _remembered(objective, alignment, workers)
    return Request(objective, alignment, workers=workers)


@lru_cache(maxsize=256)
def _remembered(objective: str, alignment: str, workers: int) -> Request:
    return Request(objective, alignment, workers=workers)


def is_usual(
    objective: Any = "lsl",
    alignment: Any = "standardize",
    covariance: Any = "isotropic",
    pairs: Any = "all",
    noise: Any = None,
    known: Any = None,
    groups: Any = None,
    forbidden: Any = None,
    columns: Any = "same",
    workers: Any = 1,
) -> bool:
    """Say whether no argument has to be checked or brought into form, but for the points and a given map."""
    if not (type(covariance) is str and covariance == "isotropic" and noise is None):
        return False
    if not (known is None and groups is None and forbidden is None and columns == "same"):
        return False
    if not (type(pairs) is str and pairs == "all" and type(workers) is int and workers >= 1):
        return False
    row = OBJECTIVES.get(objective) if type(objective) is str else None
    if row is None or row.needs_noise:
        return False
    if type(alignment) is str:
        return alignment in ALIGNERS
    return isinstance(alignment, tuple) and type(alignment) not in OF_MAPS
