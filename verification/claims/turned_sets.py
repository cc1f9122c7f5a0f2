"""Beyond the paper: alignment="similarity" finds the same pairs however y is turned, or nearly those."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.results import MatchResult
from verification.claims.conditions import at_least, between
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell, Parameters, keep_parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_permutation
from verification.scenarios.recovery import certified_match
from verification.statistics.binomial import decide_events

_DIFFERENT, _REGRET = 0.1, 0.1


class Sets(NamedTuple):
    """Two sets of which the second may be turned."""

    x: FloatArray
    y: FloatArray
    partner: IntArray


def _draw(parameters: Parameters, rng: np.random.Generator) -> Sets:
    n, d, noise = parameters["n"], parameters["d"], parameters["noise"]
    features = rng.standard_normal((n, d)) * np.linspace(1.0, 2.0, d)
    partner = draw_permutation(n, rng)
    x, y = (features + noise * rng.standard_normal((n, d)) for _ in range(2))
    placed = np.empty_like(y)
    placed[partner] = y
    return Sets(x, placed, partner)


def _turn(d: int, rng: np.random.Generator) -> FloatArray:
    """Draw an orthogonal matrix, evenly from all of them, mirrors included."""
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    turn: FloatArray = q * np.sign(np.diag(r))
    return turn


def _matched(x: FloatArray, y: FloatArray, alignment: str) -> MatchResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return certified_match(x, y, alignment=alignment)


def same_trial(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Match a set and the same turned, mirrored, scaled and shifted, and say whether any pairs differ."""
    x, y, _ = _draw(parameters, rng)
    scale, shift = np.exp(rng.uniform(-3, 3)), 10.0 * rng.standard_normal(x.shape[1])
    turned = scale * y @ _turn(x.shape[1], rng).T + shift

    def differs(alignment: str) -> bool:
        plain, other = (_matched(x, second, alignment).permutation for second in (y, turned))
        return not np.array_equal(plain, other)

    return {"differs": differs("similarity"), "without a turn": differs("standardize")}


def regret_trial(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Say whether pairs of turned sets are not all right, where they are with the turn known."""
    x, y, partner = _draw(parameters, rng)
    turned = 3.0 * y @ _turn(x.shape[1], rng).T

    def fails(second: FloatArray, alignment: str) -> bool:
        return not np.array_equal(_matched(x, second, alignment).permutation, partner)

    known = fails(y, "standardize")
    return {
        "regret": fails(turned, "similarity") and not known,
        "regret without a turn": fails(turned, "standardize") and not known,
    }


def _cell(n: int, d: int, noise: float, allowed: float, trials: tuple[int, int, int], tier: str) -> Cell:
    parameters = {"n": n, "d": d, "noise": noise}
    return Cell(f"n={n} d={d} noise={noise:g}", parameters, allowed, trials, tier)


_CONDITIONS = (at_least("n", 20), between("d", 1, 6, "d"), between("noise", 0, 0.2, "σ"))

CLAIMS = (
    Claim(
        id="similarity-equivariance",
        kind="probability",
        source="beyond the paper",
        statement="However y is turned, mirrored, scaled and shifted, all pairs are nearly always the same "
        'under alignment="similarity".',
        formula=f"P( π̂(x, τ Q y + β) ≠ π̂(x, y) ) ≤ {_DIFFERENT}   for orthogonal Q",
        cells=(
            _cell(40, 2, 0.02, _DIFFERENT, (0, 250, 2000), "quick"),
            _cell(60, 5, 0.1, _DIFFERENT, (0, 250, 2000), "quick"),
        ),
        conditions=_CONDITIONS,
        setup=keep_parameters,
        trial=same_trial,
        column="differs",
        decide=decide_events,
        controls=(Control("the same after standardisation alone", "without a turn"),),
        picture="bars",
        axes=("", "share of trials in which pairs differ"),
        batch=20,
        remark="Not exact: the noise that is learned with the map has a variance for each column of x, so "
        "that maps differ a little, and doubtful pairs with them.",
    ),
    Claim(
        id="similarity-regret",
        kind="probability",
        source="beyond the paper",
        statement="In up to five dimensions, where all pairs are found with the turn known they are nearly "
        "always found without it.",
        formula=f"P( not all right, and all right with Q known ) ≤ {_REGRET}",
        cells=(
            _cell(40, 2, 0.02, _REGRET, (0, 400, 3000), "quick"),
            _cell(60, 5, 0.15, _REGRET, (0, 400, 3000), "quick"),
        ),
        conditions=_CONDITIONS,
        setup=keep_parameters,
        trial=regret_trial,
        column="regret",
        decide=decide_events,
        controls=(Control("the same after standardisation alone", "regret without a turn"),),
        picture="bars",
        axes=("", "probability of regret"),
        batch=20,
        remark="Axes have spreads from 1 to 2, so that the sets have no symmetry of their own.",
    ),
)
