"""Theorem 1: the relative error of the estimated scale."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import lslmatch
from lslmatch import theory
from lslmatch.model import Configuration
from verification.claims.conditions import THEOREM_1
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_configuration, smallest_delta
from verification.statistics.binomial import decide_probability


class State(NamedTuple):
    """What the trials of a cell share."""

    truth: Configuration
    bound: float
    without_first_term: float


def setup(parameters: Parameters, rng: np.random.Generator) -> State:
    """Draw the configuration and evaluate the three terms of its bound."""
    truth, delta = draw_configuration(parameters, rng), parameters["delta"]
    n, d = truth.features.shape
    alpha = theory.relative_noise(truth.noise)
    distortion = theory.distortion_to_noise(truth.features, truth.noise)
    bound = theory.scale_error_bound(n, d, relative_noise=alpha, distortion=distortion, delta=delta)
    total = distortion**2 + d
    return State(truth, bound, 2 * alpha**2 * math.log(4 / delta) / total + 2 * d / (n * total))


def trial(state: State, rng: np.random.Generator) -> Values:
    """Compare one error of the squared scale with the bound."""
    truth = state.truth
    x, y = truth.sample(rng)
    estimate = lslmatch.estimate_affine(x, y).scale
    error = abs((estimate / truth.scale) ** 2 - 1)
    not_centred = abs(float(np.vdot(x, x) / np.vdot(y, y)) / truth.scale**2 - 1)
    wrong = abs((3 * estimate / truth.scale) ** 2 - 1)
    return {
        "error / bound": error / state.bound,
        "error / a tenth of it": error / (state.bound / 10),
        "error without centring / bound": not_centred / state.bound,
        "error of thrice the scale / bound": wrong / state.bound,
        "error / it without its first term": error / state.without_first_term,
    }


def _cell(
    n: int,
    d: int,
    noise: str,
    distortion: float,
    delta: float,
    tier: str = "quick",
    scale: float = 1.0,
    shift: float = 0.0,
) -> Cell:
    parameters = {"n": n, "d": d, "noise": noise, "distortion": distortion, "delta": delta}
    parameters |= {"scale": scale, "shift": shift}
    name = f"{noise} n={n} d={d} lambda={distortion:g} tau={scale:g} delta={delta:g}"
    return Cell(name, parameters, 4 * delta, tier=tier)


CLAIMS = (
    Claim(
        id="theorem-1",
        kind="probability",
        source="Theorem 1",
        statement="The relative error of the squared estimated scale is at most the sum of three "
        "terms, with probability "
        "at least 1 − 4δ, whatever the features, the noise levels, the scale and the shift.",
        formula="| τ̂²/τ*² − 1 |  ≤  12 √(α²L/(λ²+d)) + 2α²L/(λ²+d) + 2d/(n(λ²+d)),   L = log(4/δ),  "
        "n ≥ 8,  δ ≥ 4e^(−d/(224α²))",
        cells=(
            _cell(8, 200, "equal", 100.0, 0.01, "smoke", scale=3.0, shift=1e3),
            _cell(40, 40, "equal", 0.0, 0.01, "smoke", scale=1e-3),
            _cell(8, 8, "equal", 0.0, 0.9, "smoke"),
            _cell(8, 168, "equal", 0.0, smallest_delta(168, 8**-0.5, 224)),
            _cell(37, 37, "equal", 1.0, smallest_delta(37, 37**-0.5, 224), scale=1e3, shift=1e6),
            _cell(8, 1000, "dominating", 10.0, 0.06),
            _cell(50, 480, "noisy-3", 30.0, 0.01, scale=0.1),
            _cell(60, 60, "spread", 5.0, 0.24),
            _cell(8, 1400, "dominating", 0.0, smallest_delta(1400, 1.0, 224), "full"),
            _cell(200, 50, "equal", 10.0, 0.001, "full", scale=1e6, shift=1e9),
        ),
        conditions=(*THEOREM_1,),
        setup=setup,
        trial=trial,
        column="error / bound",
        decide=decide_probability,
        controls=(
            Control("a tenth of the bound", "error / a tenth of it"),
            Control("scale estimated without centring", "error without centring / bound"),
            Control("scale estimate three times too large", "error of thrice the scale / bound"),
            Control("leading term dropped", "error / it without its first term"),
        ),
        picture="survival",
        axes=("error / bound", "exceedance probability"),
        batch=500,
        remark="At δ ≥ 1/4 the allowed probability 4δ is at least 1 and the statement is vacuous; "
        "such cells are listed, "
        "not simulated. The smallest admissible δ is a corner of the grid.",
    ),
)
