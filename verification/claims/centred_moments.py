"""Section 3.1: the variance s_i^2 of a centred observation, and the expected sum of squares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch import theory
from lslmatch._types import FloatArray
from lslmatch.model import Configuration
from verification.claims.conditions import N_AT_LEAST_2
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_configuration
from verification.statistics.slopes import equality_decision


class State(NamedTuple):
    """What the trials of a cell share."""

    truth: Configuration
    mu: FloatArray
    spread: FloatArray
    expected: float


def setup(parameters: Parameters, rng: np.random.Generator) -> State:
    """Draw the configuration and evaluate its closed forms."""
    truth = draw_configuration(parameters, rng)
    mu, spread = theory.centred_moments(truth.features, truth.noise)
    return State(truth, mu, spread, theory.expected_sum_of_squares(truth.features, truth.noise))


def variance_trial(state: State, rng: np.random.Generator) -> Values:
    """Give ||Z_i - mu_i||^2 / (d s_i^2) of the noisiest or the quietest point, for right and wrong s_i."""
    noise, d = state.truth.noise, state.mu.shape[1]
    residual = _centred(state, rng) - state.mu
    squares = (residual**2).sum(axis=1) / d
    i = int(rng.integers(2))
    point = (int(noise.argmin()), int(noise.argmax()))[i]
    plain, without_sum = noise[point] ** 2, (len(noise) - 2) / len(noise) * noise[point] ** 2
    return {
        "over the variance": squares[point] / state.spread[point] ** 2,
        "over sigma_i^2": squares[point] / plain,
        "over the variance without the sum": squares[point] / without_sum,
    }


def sum_trial(state: State, rng: np.random.Generator) -> Values:
    """Give ||Z||^2 over its expectation, and over the expectation that forgets the centring."""
    d, noise = state.mu.shape[1], state.truth.noise
    total = float((_centred(state, rng) ** 2).sum())
    forgets = float((state.mu**2).sum() + d * (noise**2).sum())
    return {"over the expectation": total / state.expected, "over it without centring": total / forgets}


def _centred(state: State, rng: np.random.Generator) -> FloatArray:
    features, noise = state.truth.features, state.truth.noise
    points: FloatArray = features + noise[:, None] * rng.standard_normal(features.shape)
    points -= points.mean(axis=0)
    return points


def _cells(trials: tuple[int, int, int]) -> tuple[Cell, ...]:
    grid = [
        (8, 8, "equal", 0.0, "smoke"),
        (8, 4, "spread", 1.0, "smoke"),
        (20, 20, "dominating", 0.0, "quick"),
        (12, 30, "noisy-3", 0.5, "quick"),
    ]
    return tuple(
        Cell(
            f"{noise} n={n} d={d} lambda={distortion:g}",
            {"n": n, "d": d, "noise": noise, "distortion": distortion},
            trials=trials,
            tier=tier,
        )
        for n, d, noise, distortion, tier in grid
    )


CLAIMS = (
    Claim(
        id="s_i",
        kind="rate",
        source="section 3.1",
        statement="The variance of each coordinate of a centred observation has the stated closed form.",
        formula="Var(Zᵢ) = sᵢ² I,   sᵢ² = (n−2)/n σᵢ² + ‖σ‖²/n²",
        cells=_cells((4000, 20000, 100000)),
        conditions=(N_AT_LEAST_2,),
        setup=setup,
        trial=variance_trial,
        column="over the variance",
        decide=equality_decision(0.1),
        controls=(
            Control("variance sigma_i^2, as if nothing had been centred", "over sigma_i^2"),
            Control("term with the sum of the variances dropped", "over the variance without the sum"),
        ),
        picture="means",
        axes=("", "observed / closed form"),
        batch=2000,
        remark="Tested on the noisiest and the quietest point of each configuration.",
    ),
    Claim(
        id="E|Z|^2",
        kind="rate",
        source="after Proposition 1",
        statement="The expected sum of squared norms of the centred observations has the stated closed form.",
        formula="E‖Z‖²_Fr = ‖μ‖² + d (n−1)/n ‖σ‖²",
        cells=_cells((3000, 10000, 100000)),
        conditions=(N_AT_LEAST_2,),
        setup=setup,
        trial=sum_trial,
        column="over the expectation",
        decide=equality_decision(0.1),
        controls=(Control("factor (n-1)/n dropped", "over it without centring"),),
        picture="means",
        axes=("", "observed / closed form"),
        batch=2000,
    ),
)
