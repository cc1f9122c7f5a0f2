"""How far a matching can be trusted: its noise and separation, what the theorems say, a margin a pair."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lslmatch import theory
from lslmatch._rows import count_repeated
from lslmatch._types import FloatArray
from lslmatch._validation import (
    check_count,
    check_indices,
    check_map,
    check_matching,
    check_option,
    check_point_pair,
    check_probability,
    check_result_parts,
)
from lslmatch.alignment.doubt import AlignmentWarning
from lslmatch.alignment.moments import estimate_affine
from lslmatch.certificate.left_out import whitened
from lslmatch.columns.doubt import ColumnScaleWarning
from lslmatch.diagnosis.chance import beside_chance
from lslmatch.diagnosis.columns import has_units, in_common_units, report_columns, without_matrix
from lslmatch.diagnosis.confidence import expected_right
from lslmatch.diagnosis.estimates import distortion_of, midpoints, noise_levels, separation_of
from lslmatch.diagnosis.judging import MOST_PAIRS, judge_distances, likelihood_rate
from lslmatch.diagnosis.known_again import ENOUGH_KNOWN, find_known_again
from lslmatch.diagnosis.left_out import judge_pairs, whitened_by_learned
from lslmatch.diagnosis.outcome import NO_RELATION, Diagnosis, KnownAgain, verdict_of
from lslmatch.diagnosis.second_opinion import ask_columns
from lslmatch.diagnosis.uncertainty import estimate_errors, noise_ratio_interval
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.matching import match
from lslmatch.objectives.row import Pairs
from lslmatch.results import Affine, MatchResult

#: Units of columns beside the greatest one are at least this, so that their squares are not 0.
_LEAST_UNIT = 2.0**-500


def diagnose(
    x: Any,
    y: Any,
    result: MatchResult,
    *,
    margins: str | Any = "bound",
    delta: float = 0.05,
    workers: int = 1,
) -> Diagnosis:
    """Estimate how far a matching can be trusted, as a whole and pair by pair.

    Noise levels come from the distances of the matched pairs, shrunk towards each other by as much as
    chance alone would spread them. Features are taken to be the midpoints of the pairs, and what noise adds
    to the distance of two midpoints is subtracted. With these the paper's conditions are evaluated.

    The margin of a pair is by how much the objective rises if that pair is forbidden and all else is matched
    again, at the same scale and shift, with as many pairs as before. Small margins point to doubtful pairs.

    The confidence of a pair is its approximate posterior probability: how probable it is among all matchings,
    under a noise that is learned from all candidates together with the probabilities. That noise follows
    Student's law, whose degrees of freedom say how much levels differ, with a variance for each column or
    each principal axis; features are as far spread as the points are, and a direction without features says
    nothing. (For "lsns" the noise is known.) The sum over all matchings is approximated, on the low side
    where many alternatives compete, as they do in few dimensions. Confidences trust the alignment; but where
    a scale for each column predicts its own pairs clearly better than the one scale that was used for all, it
    is asked how probable the given pairs are.

    By themselves confidences are too high where the model does not hold. So below the noise floor the same is
    done with a set that is not related: `y` reflected in its mean, matched in the same way, and judged.
    Confidences are believed as far as their mean exceeds that of the unrelated set, in full from four
    standard errors on, or as far as the pairs are nearer to each other than unrelated ones. This takes the
    time of one more matching and diagnosis.

    Known pairs say most. If the result was given 10 or more, they are left out in turn, in 10 parts, and the
    rest is matched again: the share that is found again is the expected share of right pairs, with the exact
    interval of Clopper and Pearson, and the verdict begins with it. That takes the time of 10 matchings, and
    is left out above 2**24 pairs of points (2**20 under a linear map).

    Under a covariance that was given or learned, all of this is measured in coordinates where it is the
    identity and volumes are those of `x`. Where pairs were left out of it, margins and confidences are those
    of the costs with pairs left out, at the rate at which the matching predicts itself best. Noise levels,
    separation and verdict take the covariance for known: too bright a picture if pairs are few for d.

    Parameters
    ----------
    x : array_like of shape (n, d)
        The first set that was matched.
    y : array_like of shape (m, d)
        The second set.
    result : MatchResult
        What :func:`match` returned for them.
    margins : {"bound", "exact"} or array_like of int, default "bound"
        A lower bound of every margin, from one pass over all pairs; or the exact margins, from one
        shortest-path search a pair; or the indices of the points of `x` whose margins are to be exact.
    delta : float, default 0.05
        Theorem 2 is asked for recovery with probability ``1 - 4 * delta``.
    workers : int, default 1
        Threads that compute costs. The result does not depend on it.

    Returns
    -------
    Diagnosis
        With the verdict, the estimates behind it, the margins and the confidences. The confidences are
        left out (None) above 2**24 pairs. "greedy" minimises nothing and has neither margins nor confidences.
        The threshold is infinite unless Theorem 2 applies: objective "lsl", alignment
        "standardize", sets of the same size n >= 8, n >= d, and a `delta` that it allows.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks a rule, or `result` does not fit `x` and `y`.

    Examples
    --------
    >>> from lslmatch import diagnose, match
    >>> from lslmatch.model import random_configuration
    >>> x, y = random_configuration(100, 5, separation=10.0, rng=0).sample(rng=1)
    >>> diagnosis = diagnose(x, y, match(x, y), margins="exact")
    >>> diagnosis.verdict
    'about 100 % of the pairs right (100 to 100 %); even the most similar rows can be told apart'
    >>> bool(diagnosis.margin.min() > 1), bool(diagnosis.confidence.min() > 0.99)
    (True, True)
    """
    check_result_parts(result)
    found = _diagnose(x, y, result, margins, delta, workers)
    known = None if result.given is None else find_known_again(x, y, result, workers)
    if found.confidence is None or np.isnan(found.confidence).all():
        return found if known is None else _by_known(found, known)
    x, y, result = without_matrix(*check_point_pair(x, y, result.matrix_map, result.columns), result)
    confidence = found.confidence
    by_map = (
        result.regression is None
    )  # a reflected set is no control for a linear map, and the map knows that
    if by_map and found.separation < found.noise_floor:  # otherwise no nearest candidate is there by chance
        judge = partial(_judge_unrelated, x, result, workers)
        confidence = beside_chance(confidence, _pair_costs(result), y, judge)
    every = result.permutation if result.chosen_from is None else result.chosen_from
    second = None
    if by_map and result.given is None:
        second = ask_columns(x, y, result, np.asarray(every), confidence)
    confidence = confidence if second is None else second
    expected, interval = expected_right(confidence)
    found = found._replace(
        verdict=verdict_of(found.separation, found.noise_floor, found.threshold, expected, interval),
        confidence=confidence,
        expected_right=expected,
        expected_right_interval=interval,
    )
    return found if known is None else _by_known(found, known)


def _by_known(found: Diagnosis, known: KnownAgain) -> Diagnosis:
    """Put what known pairs say first, if they are enough."""
    found = found._replace(known_again=known)
    if known.asked < ENOUGH_KNOWN:
        return found
    share, interval = known.share, known.interval
    verdict = verdict_of(found.separation, found.noise_floor, found.threshold, share, interval)
    words = f"{known}; {verdict.removeprefix(f'{NO_RELATION}; ')}"
    return found._replace(verdict=words, expected_right=share, expected_right_interval=interval)


def _diagnose(x: Any, y: Any, result: MatchResult, margins: Any, delta: float, workers: int) -> Diagnosis:
    """Diagnose a matching by itself, without a look at chance."""
    x, y = check_point_pair(x, y, result.matrix_map, result.columns)
    (n, d), m = x.shape, y.shape[0]
    delta, workers = check_probability(delta, "delta"), check_count(workers, "workers", 1)
    partly = result.price is not None or result.chosen_from is not None
    permutation = check_matching(result.permutation, "result.permutation", n, m, partly)
    if np.count_nonzero(permutation >= 0) < 2:
        raise ValueError("result must have at least 2 pairs: one alone tells nothing of the noise")
    every = permutation  # a choice of pairs is judged by the matching that they were chosen from
    if result.chosen_from is not None:
        every = check_matching(result.chosen_from, "result.chosen_from", n, m)
    chosen = _chosen_rows(margins, n)
    check_map(result.map, "result", d, y.shape[1])
    is_mixed = result.matrix_map is not None
    whole, by_matrix = (x, y, result), result.given is not None or result.regression is not None
    x, y, result = without_matrix(x, y, result)
    given, by_columns = (x, y, result.map), result.column_map is not None
    report = report_columns(x, y, result, by_columns) if has_units(result) else None
    learned, mapped = None, report is not None
    covariance = result.covariance
    if covariance is not None and not (covariance.is_isotropic or covariance.is_diagonal):
        if covariance.leave_out and covariance.reference is not None and not by_matrix:
            learned = judge_pairs(x, y, result._replace(permutation=every), chosen)
        # The rest is that of isotropic noise in coordinates where the covariance is the identity.
        whiten = whitened if covariance.reference is None else whitened_by_learned
        x, y, result = whiten(x, y, result)
        result, mapped = result._replace(covariance=None), True
    elif report is not None:
        x, y, result = in_common_units(x, y, result)
    affine = result.affine
    geometry = common_coordinates(x, y, affine)
    rows = np.flatnonzero(permutation >= 0)
    pairs = geometry.taken(rows, permutation[rows])

    levels = noise_levels(pairs)
    features = midpoints(pairs)
    separation = separation_of(features, levels, workers)
    distortion = distortion_of(features, levels)
    noise_ratio, relative_noise = theory.noise_ratio(levels), theory.relative_noise(levels)
    floor, threshold = theory.noise_floor(rows.size, d), math.inf
    if _theorem_applies(x, y, result) and delta >= theory.recovery_smallest_delta(
        d, relative_noise=relative_noise
    ):
        threshold = theory.recovery_threshold(n, d, noise_ratio=noise_ratio, delta=delta)
    noise = np.full(n, np.nan)
    with np.errstate(over="ignore"):
        noise[rows] = np.ldexp(levels, geometry.exponent)

    margin = confidence = None
    if learned is not None:
        margin, confidence = learned
    elif result.row_dual is not None:
        variance = float(np.vdot(noise[rows], noise[rows])) / rows.size
        believed = 2.0 * distortion**2 / (2.0 * distortion**2 + d)

        def rate_of(cost: float) -> float | None:
            rate = likelihood_rate(result.criterion, Pairs(d, variance, cost))
            return None if rate is None else rate * believed

        if not by_matrix:
            whole, result = (
                (*whole[:2], whole[2]._replace(permutation=every)),
                result._replace(permutation=every),
            )
            margin, confidence = judge_distances(whole, geometry, result, mapped, chosen, rate_of, workers)
        elif n * m <= MOST_PAIRS:
            x, y, result = whole
            judged = result._replace(permutation=every)
            margin, confidence = judge_pairs(x, y, judged, chosen, rate_of, workers)
    if margin is not None:
        margin = np.where(permutation >= 0, margin, np.nan)
    if confidence is not None:
        confidence = np.where(permutation >= 0, confidence, np.nan)
    if by_columns:
        assert report is not None
        errors = math.nan, report.shift_error
    elif is_mixed:  # a matrix has more that is uncertain
        errors = math.nan, np.full(d, math.nan)
    else:
        assert isinstance(given[2], Affine)
        errors = estimate_errors(
            geometry, given[0], given[1], given[2], permutation, result.profile is not None
        )
    return Diagnosis(
        verdict_of(separation, floor, threshold, math.nan, (math.nan, math.nan)),
        separation,
        floor,
        threshold,
        noise,
        noise_ratio,
        relative_noise,
        distortion,
        margin,
        confidence,
        math.nan,
        (math.nan, math.nan),
        *errors,
        noise_ratio_interval(pairs, errors[0] / given[2].scale),
        report,
        repeated=(count_repeated(given[0]), count_repeated(given[1])),
    )


def _chosen_rows(margins: Any, n: int) -> NDArray[np.bool_]:
    """Tell for which points of x the exact margin was asked for."""
    if isinstance(margins, str):
        return np.full(n, check_option(margins, "margins", ("bound", "exact")) == "exact")
    chosen = np.zeros(n, np.bool_)
    chosen[check_indices(margins, "margins", n)] = True
    return chosen


def _theorem_applies(x: FloatArray, y: FloatArray, result: MatchResult) -> bool:
    n, d = x.shape
    partly = result.price is not None or result.chosen_from is not None
    if result.criterion != "lsl" or n != y.shape[0] or n < 8 or n < d or partly:
        return False
    try:
        standard = estimate_affine(x, y)
    except ValueError:  # no spread to standardise by
        return False
    return result.scale == standard.scale and np.array_equal(result.shift, standard.shift)


def _pair_costs(result: MatchResult) -> FloatArray:
    """Give the costs of the matched pairs: the sums of their duals."""
    assert result.row_dual is not None
    assert result.col_dual is not None
    rows = np.flatnonzero(np.asarray(result.permutation) >= 0)
    costs: FloatArray = result.row_dual[rows] + result.col_dual[result.permutation[rows]]
    return costs + (result.price or 0.0)


def _judge_unrelated(
    x: FloatArray, result: MatchResult, workers: int, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Match x with another set as it was matched, and give confidences and costs of the pairs."""
    covariance: Any = "isotropic"
    alignment: Any = "identity" if result.scale == 1.0 and not result.shift.any() else "standardize"
    if result.column_map is not None:
        alignment = "columns" if result.column_map.scales.min() > 0.0 else "signed-columns"
    if result.covariance is not None and result.covariance.is_diagonal:
        units = result.covariance.units
        assert units is not None
        # Only ratios of variances count, and none is 0.
        variances = np.maximum(units / units.max(), _LEAST_UNIT) ** 2
        covariance = "diagonal" if result.covariance.rounds > 0 else variances
    elif result.covariance is not None and not result.covariance.is_isotropic:
        known = result.covariance.reference is None
        covariance = result.covariance.matrix if known else "estimate"
    given = result.given
    groups = None if given is None or given.x_group is None else (given.x_group, given.y_group)
    with warnings.catch_warnings():
        # Of sets that nobody asked about.
        warnings.simplefilter("ignore", AlignmentWarning)
        warnings.simplefilter("ignore", ColumnScaleWarning)
        other = match(
            x,
            y,
            objective=result.criterion,
            alignment=alignment,
            covariance=covariance,
            pairs="all" if result.price is None else int(np.count_nonzero(result.permutation >= 0)),
            noise=result.noise,
            groups=groups,
            forbidden=None if given is None else given.forbidden,
            workers=workers,
        )
    confidence = _diagnose(x, y, other, "bound", 0.05, workers).confidence
    assert confidence is not None
    return confidence, _pair_costs(other)
