"""Proposition 1: the sum of squared norms of the centred observations, also around its expectation."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch import theory
from lslmatch._types import FloatArray
from verification.claims.conditions import DELTA
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_configuration
from verification.statistics.binomial import decide_probability


class State(NamedTuple):
    """What the trials of a cell share."""

    features: FloatArray
    noise: FloatArray
    centre: float
    """||mu||^2 + d ||sigma||^2, from which the proposition counts."""
    bounds: theory.Bounds
    expected: float
    around_mean: theory.Bounds
    cross_term: float
    """2 sigma_max ||mu|| sqrt(2 log(2 / delta)), in both bounds."""
    quadratic_term: float
    """2 ||sigma||_4^2 sqrt(d log(2 / delta)), in both bounds."""


def setup(parameters: Parameters, rng: np.random.Generator) -> State:
    """Draw the configuration and evaluate its bounds."""
    truth, delta = draw_configuration(parameters, rng), parameters["delta"]
    features, noise = truth.features, truth.noise
    mu, _ = theory.centred_moments(features, noise)
    log, d = math.log(2 / delta), features.shape[1]
    return State(
        features,
        noise,
        float((mu**2).sum() + d * (noise**2).sum()),
        theory.sum_of_squares_bounds(features, noise, delta),
        theory.expected_sum_of_squares(features, noise),
        theory.frobenius_bounds(features, noise, delta),
        2 * float(noise.max() * np.linalg.norm(mu)) * math.sqrt(2 * log),
        2 * float(np.sqrt((noise**4).sum())) * math.sqrt(d * log),
    )


def upper_trial(state: State, rng: np.random.Generator) -> Values:
    """Compare one sum with the upper bound."""
    return _ratios(draw_sum(state, rng) - state.centre, state.bounds.upper - state.centre, state)


def lower_trial(state: State, rng: np.random.Generator) -> Values:
    """Compare one sum with the lower bound."""
    return _ratios(state.centre - draw_sum(state, rng), state.centre - state.bounds.lower, state)


def frobenius_trial(state: State, rng: np.random.Generator) -> Values:
    """Compare one sum with both bounds around its expectation."""
    deviation = draw_sum(state, rng) - state.expected
    upper = _ratios(deviation, state.around_mean.upper - state.expected, state)
    lower = _ratios(-deviation, state.expected - state.around_mean.lower, state)
    return {name: max(upper[name], lower[name]) for name in upper}


def draw_sum(state: State, rng: np.random.Generator) -> float:
    """Draw one sum of squared norms of the centred observations."""
    points = state.features + state.noise[:, None] * rng.standard_normal(state.features.shape)
    points -= points.mean(axis=0)
    return float(np.vdot(points, points))


def _ratios(deviation: float, bound: float, state: State) -> dict[str, float]:
    bounds = {
        "deviation / bound": bound,
        "deviation / half of it": 0.5 * bound,
        "deviation / it without the cross term": bound - state.cross_term,
        "deviation / it without the fourth powers": bound - state.quadratic_term,
    }
    return {name: _ratio(deviation, each) for name, each in bounds.items()}


def _ratio(deviation: float, bound: float) -> float:
    """Give the ratio, or for a bound that is not positive its limit on the right side of 1."""
    if bound > 0:
        return deviation / bound
    return math.inf if deviation > bound else 0.0


def _cell(
    n: int, d: int, noise: str, distortion: float, delta: float, tier: str = "quick", **more: float | str
) -> Cell:
    parameters = {"n": n, "d": d, "noise": noise, "distortion": distortion, "delta": delta, **more}
    name = f"{noise} n={n} d={d} lambda={distortion:g} delta={delta:g}"
    return Cell(f"{more['features']} {name}" if "features" in more else name, parameters, delta, tier=tier)


_CELLS = (
    _cell(8, 40, "equal", 0.0, 0.01, "smoke"),
    _cell(20, 3, "dominating", 100.0, 0.01, "smoke", features="aligned"),
    _cell(8, 8, "equal", 1.0, 0.9),
    _cell(20, 20, "spread", 1.0, 0.05, shift=1e6),
    _cell(8, 3, "dominating", 100.0, 0.01),
    _cell(100, 5, "equal", 50.0, 0.01),
    _cell(30, 30, "spread", 0.0, 0.001, "full"),
)

_CONTROLS = (
    Control("half the bound", "deviation / half of it"),
    Control("cross term with the features dropped", "deviation / it without the cross term"),
    Control("term with the fourth powers of the noise dropped", "deviation / it without the fourth powers"),
)

CLAIMS = (
    Claim(
        id="proposition-1-upper",
        kind="probability",
        source="Proposition 1",
        statement="The sum of squared norms of the centred observations exceeds ‖μ‖² + d‖σ‖² by no "
        "more than its upper "
        "bound, with probability at least 1 − δ.",
        formula="Σ‖Zᵢ‖² − ‖μ‖² − d‖σ‖²  ≤  2σ_max‖μ‖√(2 log(2/δ)) + 2‖σ‖₄²√(d log(2/δ)) + 2σ_max² log(2/δ)",
        cells=_CELLS,
        conditions=(DELTA,),
        setup=setup,
        trial=upper_trial,
        column="deviation / bound",
        decide=decide_probability,
        controls=_CONTROLS,
        picture="survival",
        axes=("deviation / bound", "exceedance probability"),
        batch=2000,
    ),
    Claim(
        id="proposition-1-lower",
        kind="probability",
        source="Proposition 1",
        statement="The sum of squared norms of the centred observations falls short of ‖μ‖² + d‖σ‖² "
        "by no more than its "
        "lower bound, with probability at least 1 − δ.",
        formula="Σ‖Zᵢ‖² − ‖μ‖² − d‖σ‖²  ≥  −2σ_max‖μ‖√(2 log(2/δ)) − 2‖σ‖₄²√(d log(2/δ)) − (d/n)‖σ‖²",
        cells=_CELLS,
        conditions=(DELTA,),
        setup=setup,
        trial=lower_trial,
        column="deviation / bound",
        decide=decide_probability,
        controls=_CONTROLS,
        picture="survival",
        axes=("deviation / bound", "exceedance probability"),
        batch=2000,
    ),
    Claim(
        id="proposition-1-frobenius",
        kind="probability",
        source="after Proposition 1",
        statement="The squared Frobenius norm of the centred observations stays within the same "
        "bounds of its expectation.",
        formula="r_lb ≤ ‖Z‖²_Fr − E‖Z‖²_Fr ≤ r_ub,   E‖Z‖²_Fr = ‖μ‖² + d (n−1)/n ‖σ‖²",
        cells=_CELLS,
        conditions=(DELTA,),
        setup=setup,
        trial=frobenius_trial,
        column="deviation / bound",
        decide=decide_probability,
        controls=_CONTROLS,
        picture="survival",
        axes=("deviation / bound, the worse of the two sides", "exceedance probability"),
        batch=2000,
        remark="The paper allows δ for each side; here both sides together are held to δ, which is "
        "more than it claims.",
    ),
)
