"""Lemma 4: the supremum of normalised squared differences over all pairs and all scales near 1."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch import theory
from lslmatch._types import FloatArray
from verification.claims.conditions import DELTA, EPSILON
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import centred_noise, noise_levels
from verification.scenarios.suprema import quadratic_supremum
from verification.statistics.binomial import decide_probability


class State(NamedTuple):
    """What the trials of a cell share."""

    noise: FloatArray
    spread: FloatArray
    """omega_i, the standard deviation of eta_i."""
    d: int
    epsilon: float
    bound: float
    without_linear: float
    """The bound without 2 log(12 n^3 / delta), the sub-exponential part."""


def setup(parameters: Parameters, rng: np.random.Generator) -> State:
    """Evaluate the bound; eta is the centred noise, whose rows are correlated, as the lemma allows."""
    n, d, epsilon, delta = (parameters[key] for key in ("n", "d", "epsilon", "delta"))
    noise = noise_levels(parameters["noise"], n)
    spread = theory.centred_moments(np.zeros((n, d)), noise)[1]
    bound = theory.quadratic_supremum_bound(n, d, epsilon, delta)
    return State(noise, spread, d, epsilon, bound, 2 * math.sqrt(d * math.log(12 * n**3 / delta)))


def draw(state: State, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw eta and eta'."""
    return centred_noise(state.noise, state.d, rng), centred_noise(state.noise, state.d, rng)


def supremum(state: State, eta: FloatArray, other: FloatArray) -> float:
    """Give Phi_2, exactly."""
    return float(quadratic_supremum(eta, other, state.spread, state.epsilon))


def trial(state: State, rng: np.random.Generator) -> Values:
    """Compare one Phi_2 with its bound."""
    value = supremum(state, *draw(state, rng))
    return {
        "Phi_2 / bound": value / state.bound,
        "Phi_2 / three tenths of it": value / (0.3 * state.bound),
        "Phi_2 / it without 2 log": value / state.without_linear,
    }


def _cell(n: int, d: int, noise: str, epsilon: float, delta: float, tier: str = "quick") -> Cell:
    parameters = {"n": n, "d": d, "noise": noise, "epsilon": epsilon, "delta": delta}
    return Cell(f"{noise} n={n} d={d} eps={epsilon:g} delta={delta:g}", parameters, delta, tier=tier)


CLAIMS = (
    Claim(
        id="lemma-4",
        kind="probability",
        source="Lemma 4",
        statement="The largest deviation of the normalised ‖ηᵢ − aη′ⱼ‖² from d over all n² pairs "
        "and all a within ε of 1 "
        "stays below its bound with probability at least 1 − δ.",
        formula="Φ₂ = sup_{|a−1|≤ε} max_{i,j} | ‖ηᵢ − aη′ⱼ‖² / (ωᵢ² + a²ωⱼ²) − d |  ≤  2√(dL) + 2L "
        "+ (4ε/n)(d + 2√(dℓ) + 2ℓ),   L = log(12n³/δ), ℓ = log(4n/δ)",
        cells=(
            _cell(8, 1, "equal", 0.49, 0.1, "smoke"),
            _cell(16, 16, "equal", 0.3, 0.1, "smoke"),
            _cell(8, 8, "dominating", 0.49, 0.9),
            _cell(8, 100, "spread", 0.01, 0.02),
            _cell(30, 30, "spread", 0.49, 0.02),
            _cell(20, 5, "noisy-3", 0.25, 0.05),
            _cell(100, 10, "equal", 0.49, 0.05, "full"),
        ),
        conditions=(
            DELTA,
            EPSILON,
        ),
        setup=setup,
        trial=trial,
        column="Phi_2 / bound",
        decide=decide_probability,
        controls=(
            Control("bound scaled to three tenths", "Phi_2 / three tenths of it"),
            Control("sub-exponential term dropped", "Phi_2 / it without 2 log"),
        ),
        picture="survival",
        axes=("Phi_2 / bound", "exceedance probability"),
        batch=500,
        remark="The supremum over a is exact (two closed-form stationary points of each pair).",
    ),
)
