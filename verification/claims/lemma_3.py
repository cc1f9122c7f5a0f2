"""Lemma 3: the supremum of projected Gaussian differences over all pairs and all scales near 1."""

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
from verification.scenarios.suprema import linear_supremum
from verification.statistics.binomial import decide_probability


class State(NamedTuple):
    """What the trials of a cell share."""

    directions: FloatArray
    """The fixed unit vectors u_ij, of shape (n, n, d)."""
    noise: FloatArray
    spread: FloatArray
    """omega_i, the standard deviation of eta_i."""
    epsilon: float
    bound: float
    single_pair_bound: float
    """The bound without the union over pairs and scales."""


def setup(parameters: Parameters, rng: np.random.Generator) -> State:
    """Draw the unit vectors; eta is the centred noise, whose rows are correlated, as the lemma allows."""
    n, d, epsilon, delta = (parameters[key] for key in ("n", "d", "epsilon", "delta"))
    directions = rng.standard_normal((n, n, d))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    noise = noise_levels(parameters["noise"], n)
    spread = theory.centred_moments(np.zeros((n, d)), noise)[1]
    bound = theory.linear_supremum_bound(n, epsilon, delta)
    return State(directions, noise, spread, epsilon, bound, math.sqrt(2 * math.log(12 / delta)))


def draw(state: State, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw eta and eta'."""
    d = state.directions.shape[2]
    return centred_noise(state.noise, d, rng), centred_noise(state.noise, d, rng)


def supremum(state: State, eta: FloatArray, other: FloatArray) -> float:
    """Give Phi_1, exactly."""
    projected = (state.directions @ eta[:, :, None])[:, :, 0]
    projected_other = np.einsum("ijk,jk->ij", state.directions, other)
    return float(linear_supremum(projected, projected_other, state.spread, state.epsilon))


def trial(state: State, rng: np.random.Generator) -> Values:
    """Compare one Phi_1 with its bound."""
    value = supremum(state, *draw(state, rng))
    return {
        "Phi_1 / bound": value / state.bound,
        "Phi_1 / half of it": value / (state.bound / 2),
        "Phi_1 / bound of one pair": value / state.single_pair_bound,
    }


def _cell(n: int, d: int, noise: str, epsilon: float, delta: float, tier: str = "quick") -> Cell:
    parameters = {"n": n, "d": d, "noise": noise, "epsilon": epsilon, "delta": delta}
    return Cell(f"{noise} n={n} d={d} eps={epsilon:g} delta={delta:g}", parameters, delta, tier=tier)


CLAIMS = (
    Claim(
        id="lemma-3",
        kind="probability",
        source="Lemma 3",
        statement="For fixed unit vectors, the largest normalised projection of ηᵢ − aη′ⱼ over all "
        "n² pairs and all a "
        "within ε of 1 stays below its bound with probability at least 1 − δ.",
        formula="Φ₁ = sup_{|a−1|≤ε} max_{i,j} |uᵢⱼᵀ(ηᵢ − aη′ⱼ)| / √(ωᵢ² + a²ωⱼ²)  ≤  √(2 "
        "log(12n³/δ)) + (2ε/n)√log(8n/δ)",
        cells=(
            _cell(8, 3, "equal", 0.49, 0.1, "smoke"),
            _cell(24, 2, "equal", 0.3, 0.1, "smoke"),
            _cell(8, 8, "dominating", 0.49, 0.9),
            _cell(8, 1, "spread", 0.01, 0.02),
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
        column="Phi_1 / bound",
        decide=decide_probability,
        controls=(
            Control("half the bound", "Phi_1 / half of it"),
            Control("union over pairs and scales dropped", "Phi_1 / bound of one pair"),
        ),
        picture="survival",
        axes=("Phi_1 / bound", "exceedance probability"),
        batch=500,
        remark="The supremum over a is exact (closed-form stationary point of each pair). The η are "
        "the centred noise "
        "vectors of the model, which are correlated.",
    ),
)
