"""How far a matching can be trusted: its noise and separation, what the theorems say, a margin a pair."""

from __future__ import annotations

import math
import sys
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lslmatch import theory
from lslmatch._comparison import comparable
from lslmatch._optional import load
from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import (
    check_affine,
    check_count,
    check_indices,
    check_matching,
    check_noise,
    check_number,
    check_option,
    check_point_pair,
    check_probability,
    check_result_covariance,
    check_vector,
)
from lslmatch.alignment.moments import estimate_affine
from lslmatch.assignment.orientation import smaller_as_rows
from lslmatch.certificate import misfit
from lslmatch.certificate_left_out import whitened
from lslmatch.costs import cost_matrix, make_rule
from lslmatch.covariance.evidence import best_rate
from lslmatch.diagnosis.chance import beside_chance
from lslmatch.diagnosis.confidence import UNRELATED, expected_right, pair_probabilities
from lslmatch.diagnosis.estimates import distortion_of, midpoints, noise_levels, separation_of
from lslmatch.diagnosis.left_out import fixed, judge_pairs
from lslmatch.diagnosis.margins import Optimum, exact_margins, reduced_costs, shortest_arcs
from lslmatch.diagnosis.partial import judge_partial
from lslmatch.diagnosis.uncertainty import estimate_errors, noise_ratio_interval
from lslmatch.geometry.coordinates import Geometry, common_coordinates
from lslmatch.matching import match
from lslmatch.results import MatchResult
from lslmatch.summary import Facts, Summary, Table, count, number

#: What a verdict says of the separation, after the expected share of right pairs.
GUARANTEED = "guaranteed by the theorem"
ABOVE_FLOOR = "above the noise floor"
BELOW_FLOOR = "closest points below the noise floor"
#: What it says first where the sets look like unrelated ones.
NO_RELATION = "no clear sign that the sets are related"

#: Up to this number of pairs the confidences are computed: they need two matrices of that size.
_MOST_PAIRS = 1 << 24
#: A result is that of two sets if its pairs cost what their duals say, up to so much of the greatest dual.
_MISFIT = 1e-6


#: A pair with a lower confidence than this is called doubtful.
DOUBTFUL = 0.9


@comparable
class Diagnosis(NamedTuple):
    """What a matching tells about its own reliability, all of it estimated from the matched pairs.

    The separation is a least distance of estimates: near the noise floor and below it, it errs to the low
    side. The noise ratio is a largest ratio of estimates, and errs to the high side. Where most pairs are
    wrong, they were chosen for being close: the noise is underestimated then, and the distortion and the
    confidence are overestimated.
    """

    verdict: str
    """The expected share of right pairs, then whether the separation is guaranteed by the theorem, above the
    noise floor, or below it for the closest points."""
    separation: float
    """kappa(Z): the least distance of two features in units of their noise (Definition 1)."""
    noise_floor: float
    """The order of the separation that recovery needs even if the scale is known (section 5.2)."""
    threshold: float
    """The separation from which Theorem 2 guarantees recovery; inf where it says nothing."""
    noise: FloatArray
    """sigma of shape (n,), in the units of x; NaN for an ``x[i]`` without a partner."""
    noise_ratio: float
    """rho_sigma: the largest ratio of two noise variances."""
    relative_noise: float
    """alpha_sigma: the largest noise level over the root of the sum of their squares."""
    distortion: float
    """lambda: the spread of the features over that root."""
    margin: FloatArray | None
    """(n,): by how much the objective rises if the pair of ``x[i]`` is forbidden; None for "greedy"."""
    confidence: FloatArray | None
    """(n,): the probability that the pair of ``x[i]`` is right; None for "greedy" or too many pairs."""
    expected_right: float = math.nan
    """The share of pairs that is probably right; NaN without confidences."""
    expected_right_interval: tuple[float, float] = (math.nan, math.nan)
    """A 95 % interval for that share, as far as the model holds."""
    scale_error: float = math.nan
    """The standard error of the scale; NaN if none was estimated (scale 1, shift 0), or it is not known."""
    shift_error: FloatArray | None = None
    """(d,): the standard errors of the shift, NaN where that of the scale is."""
    noise_ratio_interval: tuple[float, float] = (1.0, math.inf)
    """A 95 % interval for the largest ratio of two noise variances; from 1 if all noise may be equal."""

    def __repr__(self) -> str:
        """Give one line; :meth:`summary` says more."""
        pairs = count(int(np.sum(~np.isnan(self.noise))), "pair")
        doubt = "" if self.confidence is None else f"; {self.doubtful().size:,} doubtful"
        return f"<Diagnosis of {pairs}: {self.verdict}{doubt}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def doubtful(self, below: float = DOUBTFUL) -> IntArray:
        """Give the points of x whose pairs have a confidence below a limit, the least confident first.

        Parameters
        ----------
        below : float, default 0.9
            The limit.

        Returns
        -------
        ndarray of int
            Indices of x.
        """
        if self.confidence is None:
            raise ValueError("there are no confidences: the pairs are greedy, or too many for them")
        order = np.argsort(self.confidence, kind="stable")
        return order[self.confidence[order] < below]

    def columns(self) -> dict[str, FloatArray]:
        """Give what is known of each point of x, by name: its noise, and its pair's margin and confidence."""
        found = {"noise": self.noise, "margin": self.margin, "confidence": self.confidence}
        return {name: values for name, values in found.items() if values is not None}

    def to_frame(self) -> Any:
        """Give :meth:`columns` as a pandas DataFrame, a row for each point of x."""
        return load("pandas", "files", "to_frame").DataFrame(self.columns())

    def summary(self) -> Summary:
        """Say in a table how far a matching can be trusted.

        Returns
        -------
        Summary
            ``print`` shows it as text, and a notebook as a table.
        """
        facts = Facts(
            [
                ("Separation", number(self.separation)),
                ("Noise floor", number(self.noise_floor)),
                ("Theorem 2 needs", number(self.threshold) if np.isfinite(self.threshold) else "-"),
            ],
            [
                ("Noise, median", number(float(np.nanmedian(self.noise)))),
                ("Spread over noise", number(self.distortion)),
                ("Doubtful pairs", "-" if self.confidence is None else f"{self.doubtful().size:,}"),
            ],
        )
        parts: list[Facts | Table | str] = [f"Verdict: {self.verdict}", facts]
        if self.confidence is not None:
            parts.append(_confidence_table(self.confidence[~np.isnan(self.confidence)]))
        return Summary("How far the matching can be trusted", parts)


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

    The confidence of a pair is its approximate posterior probability. For "lsl" a matching has a posterior
    proportional to ``exp(-d / 2 * objective)`` if nothing is known of features and noise levels. Features of
    finite spread tell less than that: the exponent is multiplied by
    ``2 distortion**2 / (2 distortion**2 + d)``. For the other objectives the noise level is that of
    all pairs ("lss") or the given one ("lsns"). The sum over all matchings is approximated, on the low side
    where many alternatives compete, as they do in few dimensions. Confidences trust the model and the
    alignment.

    By themselves they are too high where the model does not hold or most pairs are wrong: the noise is
    estimated from pairs that were chosen for being close. So below the noise floor the same is done with a
    set that is not related: `y` reflected in its mean, matched in the same way, and judged. Confidences are
    believed as far as their mean exceeds that of the unrelated set, in full from four standard errors on,
    or as far as the pairs are nearer to each other than unrelated ones. This takes the time of one more
    matching and diagnosis.

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
    'about 100 % of the pairs right (100 to 100 %); above the noise floor'
    >>> bool(diagnosis.margin.min() > 1), bool(diagnosis.confidence.min() > 0.99)
    (True, True)
    """
    found = _diagnose(x, y, result, margins, delta, workers)
    if found.confidence is None or np.isnan(found.confidence).all():
        return found
    x, y = check_point_pair(x, y)
    confidence = found.confidence
    if found.separation < found.noise_floor:  # otherwise no nearest candidate is there by chance
        judge = partial(_judge_unrelated, x, result, workers)
        confidence = beside_chance(confidence, _pair_costs(result), y, judge)
    expected, interval = expected_right(confidence)
    return found._replace(
        verdict=_verdict(found.separation, found.noise_floor, found.threshold, expected, interval),
        confidence=confidence,
        expected_right=expected,
        expected_right_interval=interval,
    )


def _diagnose(x: Any, y: Any, result: MatchResult, margins: Any, delta: float, workers: int) -> Diagnosis:
    """Diagnose a matching by itself, without a look at chance."""
    x, y = check_point_pair(x, y)
    (n, d), m = x.shape, y.shape[0]
    delta, workers = check_probability(delta, "delta"), check_count(workers, "workers", 1)
    permutation = check_matching(result.permutation, "result.permutation", n, m, result.price is not None)
    if np.count_nonzero(permutation >= 0) < 2:
        raise ValueError("result must have at least 2 pairs: one alone tells nothing of the noise")
    chosen = _chosen_rows(margins, n)
    affine = check_affine((result.scale, result.shift), "result", d)
    given = x, y, affine
    learned = None
    if check_result_covariance(result.covariance) is not None:
        assert result.covariance is not None
        if result.covariance.leave_out and result.covariance.reference is not None:
            learned = judge_pairs(x, y, result._replace(permutation=permutation), chosen)
        # The rest is that of isotropic noise in coordinates where the covariance is the identity.
        x, y, result = whitened(x, y, result._replace(covariance=fixed(result.covariance)))
        result = result._replace(covariance=None)
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
        rate = _rate(result.criterion, d, float(np.vdot(noise[rows], noise[rows])) / rows.size)
        rate *= 2.0 * distortion**2 / (2.0 * distortion**2 + d)
        result = result._replace(permutation=permutation)
        margin, confidence = _judge(x, y, geometry, result, chosen, rate, workers)
    errors = estimate_errors(geometry, *given, permutation, result.profile is not None)
    return Diagnosis(
        _verdict(separation, floor, threshold, math.nan, (math.nan, math.nan)),
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
    )


def _confidence_table(confidence: FloatArray) -> Table:
    limits = (0.0, 0.5, DOUBTFUL, 0.99, math.inf)
    names = (f"below {limits[1]}", f"to {DOUBTFUL}", f"to {limits[3]}", f"{limits[3]} and more")
    numbers, _ = np.histogram(confidence, limits)
    rows = [
        (name, f"{k:,}", f"{k / confidence.size:.1%}")
        for name, k in zip(names, numbers.tolist(), strict=True)
    ]
    return Table("Confidences of the pairs", ("confidence", "pairs", "share"), rows)


def _chosen_rows(margins: Any, n: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Tell for which points of x the exact margin was asked for."""
    if isinstance(margins, str):
        return np.full(n, check_option(margins, "margins", ("bound", "exact")) == "exact")
    chosen = np.zeros(n, np.bool_)
    chosen[check_indices(margins, "margins", n)] = True
    return chosen


def _theorem_applies(x: FloatArray, y: FloatArray, result: MatchResult) -> bool:
    n, d = x.shape
    if result.criterion != "lsl" or n != y.shape[0] or n < 8 or n < d or result.price is not None:
        return False
    try:
        standard = estimate_affine(x, y)
    except ValueError:  # no spread to standardise by
        return False
    return result.scale == standard.scale and np.array_equal(result.shift, standard.shift)


def _verdict(
    separation: float, floor: float, threshold: float, expected: float, interval: tuple[float, float]
) -> str:
    place = ABOVE_FLOOR if separation >= floor else BELOW_FLOOR
    if separation >= threshold:
        place = GUARANTEED
    if math.isnan(expected):
        return place
    low, high = (100.0 * end for end in interval)
    share = f"about {100.0 * expected:.0f} % of the pairs right ({low:.0f} to {high:.0f} %); {place}"
    return share if expected >= UNRELATED else f"{NO_RELATION}; {share}"


def _judge(
    x: FloatArray,
    y: FloatArray,
    geometry: Geometry,
    result: MatchResult,
    chosen: np.ndarray[Any, np.dtype[np.bool_]],
    rate: float,
    workers: int,
) -> tuple[FloatArray, FloatArray | None]:
    """Give margins, exact where chosen, and confidences unless there are too many pairs."""
    n, m = geometry.shape
    optimum, x_of_row = _optimum(x, y, geometry, result)
    if result.criterion == "lsl" and n * m <= _MOST_PAIRS:
        # Less where features and noise have fewer dimensions than there are coordinates. The rates that are
        # tried for that differ by a factor of 2.
        costs = cost_matrix(optimum.geometry, optimum.rule, workers)
        rate = min(rate, 2.0 * best_rate(costs, optimum.col_of_row, x.shape[1])[0])
    if result.price is not None:
        if n * m > _MOST_PAIRS and chosen.any():
            raise ValueError(
                f"margins must be 'bound' for a partial matching of more than {_MOST_PAIRS} pairs of points; "
                f"got {n} times {m}"
            )
        assert result.row_dual is not None
        duals = np.asarray(result.row_dual, np.float64), optimum.col_dual
        return judge_partial(
            lambda some: reduced_costs(optimum, some, workers),
            duals,
            result.permutation,
            chosen,
            rate if n * m <= _MOST_PAIRS else None,
        )
    arcs = shortest_arcs(optimum, workers)
    margin, confidence = np.full(n, np.nan), None
    margin[x_of_row] = arcs.bound
    exact = np.flatnonzero(chosen[x_of_row])
    margin[x_of_row[exact]] = exact_margins(optimum, arcs, exact)
    if n * m <= _MOST_PAIRS:
        confidence = np.full(n, np.nan)
        confidence[x_of_row] = pair_probabilities(optimum, rate, workers)
    return margin, confidence


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
    if result.covariance is not None and not result.covariance.is_isotropic:
        known = result.covariance.reference is None
        covariance = result.covariance.matrix if known else "estimate"
    other = match(
        x,
        y,
        objective=result.criterion,
        alignment="identity" if result.scale == 1.0 and not result.shift.any() else "standardize",
        covariance=covariance,
        pairs="all" if result.price is None else int(np.count_nonzero(result.permutation >= 0)),
        noise=result.noise,
        workers=workers,
    )
    confidence = _diagnose(x, y, other, "bound", 0.05, workers).confidence
    assert confidence is not None
    return confidence, _pair_costs(other)


def _optimum(
    x: FloatArray, y: FloatArray, geometry: Geometry, result: MatchResult
) -> tuple[Optimum, IntArray]:
    """Bring a result into the form of the margins, the smaller set as rows; tell the x of each row.

    A partial matching stays as it is, with its price in the duals of x.
    """
    n, m = geometry.shape
    permutation = result.permutation
    u, v = (
        check_vector(result.row_dual, "result.row_dual", n),
        check_vector(result.col_dual, "result.col_dual", m),
    )
    if result.price is not None:
        u = u + check_number(result.price, "result.price")
    criterion = check_option(result.criterion, "result.criterion", ("lsl", "lss", "lsns"))
    levels = check_noise(result.noise, criterion, n, m)
    if not misfit(x, y, result, u, v) <= _MISFIT:
        raise ValueError(
            "result must be what match returned for x and y; its dual variables do not add up to its costs"
        )
    rule = make_rule(criterion, geometry, result.scale, levels)
    if n <= m or result.price is not None:
        return Optimum(geometry, rule, u, v, permutation), np.arange(n)
    x_of_row = np.empty(m, np.intp)
    matched = np.flatnonzero(permutation >= 0)
    x_of_row[permutation[matched]] = matched
    return Optimum(*smaller_as_rows(geometry, rule), v, u, x_of_row), x_of_row


def _rate(criterion: str, d: int, variance: float) -> float:
    """Give the log-likelihood of a unit of cost, at the mean noise variance of x."""
    if criterion == "lsl":
        return d / 2
    # Squares of very small levels underflow, and so do the costs.
    return 0.5 if criterion == "lsns" else 0.25 / max(variance, sys.float_info.min)
