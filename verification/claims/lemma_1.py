"""Lemma 1 (Laurent and Massart): deviations of a weighted sum of chi-squares."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch import theory
from lslmatch._types import FloatArray
from verification.claims.conditions import at_least
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.statistics.binomial import decide_probability


class State(NamedTuple):
    """What the trials of a cell share."""

    weights: FloatArray
    bounds: theory.Bounds
    without_largest: float
    """The upper bound without its second term, which carries the largest weight."""


def setup(parameters: Parameters, rng: np.random.Generator) -> State:
    """Build the weights and their bounds at exp(-x) = allowed."""
    n, kind = parameters["n"], parameters["weights"]
    weights = {
        "equal": np.ones(n),
        "one": np.eye(n)[0],
        "geometric": 0.7 ** np.arange(n),
        "random": rng.random(n),
    }[kind]
    x = parameters["x"]
    return State(
        weights, theory.chi_square_deviation_bounds(weights, x), 2 * float(np.sqrt((weights**2).sum() * x))
    )


def draw(state: State, rng: np.random.Generator) -> float:
    """Draw one T."""
    return float(state.weights @ (rng.standard_normal(len(state.weights)) ** 2 - 1))


def upper_trial(state: State, rng: np.random.Generator) -> Values:
    """Compare one T with its upper bound."""
    total = draw(state, rng)
    ratio = total / state.bounds.upper
    return {
        "T / bound": ratio,
        "T / two fifths of it": ratio / 0.4,
        "T / it without the largest": total / state.without_largest,
    }


def lower_trial(state: State, rng: np.random.Generator) -> Values:
    """Compare one T with its lower bound."""
    ratio = draw(state, rng) / state.bounds.lower
    return {"T / bound": ratio, "T / two fifths of it": ratio / 0.4}


def _cells() -> tuple[Cell, ...]:
    grid = [
        ("equal", 8, 0.9, "smoke"),
        ("equal", 200, 0.01, "smoke"),
        ("one", 8, 0.003, "smoke"),
        ("geometric", 50, 0.1, "quick"),
        ("random", 30, 0.01, "quick"),
        ("equal", 1000, 0.001, "full"),
        ("one", 1, 1e-4, "full"),
    ]
    return tuple(
        Cell(
            f"{kind} n={n} p={p:g}",
            {"weights": kind, "n": n, "x": math.log(1 / p)},
            allowed=p,
            tier=tier,
        )
        for kind, n, p, tier in grid
    )


_STATEMENT = (
    "For i.i.d. standard normal Y and non-negative weights a, the weighted sum T of Y² − 1 {side} "
    "with probability at most exp(−x), for every x > 0."
)

CLAIMS = (
    Claim(
        id="lemma-1-upper",
        kind="probability",
        source="Lemma 1",
        statement=_STATEMENT.format(side="rises above its upper bound"),
        formula="T = Σ aᵢ(Yᵢ² − 1),   P( T ≥ 2‖a‖₂√x + 2‖a‖∞ x ) ≤ e⁻ˣ",
        cells=_cells(),
        conditions=(at_least("x", 1e-12),),
        setup=setup,
        trial=upper_trial,
        column="T / bound",
        decide=decide_probability,
        controls=(
            Control("bound scaled to two fifths", "T / two fifths of it"),
            Control("term with the largest weight dropped", "T / it without the largest"),
        ),
        picture="survival",
        axes=("T / bound", "exceedance probability"),
        batch=5000,
    ),
    Claim(
        id="lemma-1-lower",
        kind="probability",
        source="Lemma 1",
        statement=_STATEMENT.format(side="falls below its lower bound"),
        formula="T = Σ aᵢ(Yᵢ² − 1),   P( T ≤ −2‖a‖₂√x ) ≤ e⁻ˣ",
        cells=_cells(),
        conditions=(at_least("x", 1e-12),),
        setup=setup,
        trial=lower_trial,
        column="T / bound",
        decide=decide_probability,
        controls=(Control("bound scaled to two fifths", "T / two fifths of it"),),
        picture="survival",
        axes=("T / bound", "exceedance probability"),
        batch=5000,
    ),
)
