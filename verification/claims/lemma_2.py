"""Lemma 2: the Gaussian concentration inequality."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from lslmatch import theory
from lslmatch._types import FloatArray
from verification.claims.conditions import DELTA
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import noise_levels
from verification.statistics.binomial import decide_probability


class State(NamedTuple):
    """What the trials of a cell share."""

    vectors: FloatArray
    noise: FloatArray
    without_noisiest: tuple[FloatArray, FloatArray]
    delta: float
    bound: float
    """The x at which the bound on the probability is delta."""


def setup(parameters: Parameters, rng: np.random.Generator) -> State:
    """Draw the vectors a_i."""
    n, d = parameters["n"], parameters["d"]
    vectors, noise = rng.standard_normal((n, d)), noise_levels(parameters["noise"], n)
    kept = np.arange(n) != noise.argmax()
    delta, largest = parameters["delta"], float(np.linalg.norm(vectors * noise[:, None]))

    def excess(x: float) -> float:
        return math.log(max(theory.gaussian_tail(x, vectors, noise), 1e-300) / delta)

    bound = brentq(excess, 1e-9 * largest, 30 * largest)
    return State(vectors, noise, (vectors[kept], noise[kept]), delta, float(bound))


def draw(state: State, rng: np.random.Generator) -> float:
    """Draw one T."""
    vectors = state.vectors
    return float(np.einsum("ij,ij,i", vectors, rng.standard_normal(vectors.shape), state.noise))


def trial(state: State, rng: np.random.Generator) -> Values:
    """Evaluate the tail bound at one observed |T|; at most a fraction delta may fall to delta or below."""
    vectors, noise, rest, delta, bound = state
    total = abs(draw(state, rng))
    tail = theory.gaussian_tail(total, vectors, noise)
    return {
        "delta / tail": delta / tail,
        "T / bound": total / bound,
        "delta / a tenth of it": delta / (tail / 10),
        "delta / it without the noisiest": delta / max(theory.gaussian_tail(total, *rest), 1e-9),
    }


CLAIMS = (
    Claim(
        id="lemma-2",
        kind="probability",
        source="Lemma 2",
        statement="A sum of independent centred Gaussian vectors, each projected on a fixed vector, "
        "exceeds x in "
        "absolute value with at most the stated probability, for every x > 0.",
        formula="T = Σ aᵢᵀYᵢ, Yᵢ ~ N(0, σᵢ² I),   P( |T| ≥ x ) ≤ 2 exp( −x² / (2 Σ σᵢ²‖aᵢ‖²) )",
        cells=(
            Cell("n=8 d=3 delta=0.9", {"n": 8, "d": 3, "noise": "equal", "delta": 0.9}, 0.9, tier="quick"),
            Cell("n=8 d=1 delta=0.06", {"n": 8, "d": 1, "noise": "equal", "delta": 0.06}, 0.06),
            Cell("spread n=30", {"n": 30, "d": 5, "noise": "spread", "delta": 0.01}, 0.01, tier="quick"),
            Cell("dominating n=8", {"n": 8, "d": 8, "noise": "dominating", "delta": 0.06}, 0.06),
            Cell("n=8 rare", {"n": 8, "d": 2, "noise": "equal", "delta": 0.001}, 0.001, tier="full"),
        ),
        conditions=(DELTA,),
        setup=setup,
        trial=trial,
        column="delta / tail",
        decide=decide_probability,
        controls=(
            Control("a tenth of the bound", "delta / a tenth of it"),
            Control("largest noise left out of the variance", "delta / it without the noisiest"),
        ),
        picture="survival",
        axes=("delta / (tail bound at the observed |T|)", "exceedance probability"),
        batch=2000,
        remark="Tested for all x at once: the tail bound evaluated at the observed |T| must be at "
        "most δ with "
        "probability at most δ.",
    ),
)
