"""Theorem 1 for columns: a scale of its own for each, all within their bounds at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch import theory
from lslmatch._types import FloatArray, IntArray
from verification.claims.conditions import DELTA, N_AT_LEAST_2, N_AT_LEAST_8, relative_noise
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_permutation, noise_levels
from verification.statistics.binomial import decide_probability


class State(NamedTuple):
    """What the trials of a cell share."""

    features: FloatArray
    noise: FloatArray
    """(n, d): the noise levels of x."""
    scales: FloatArray
    """(d,): a, by what columns of y are multiplied."""
    shift: FloatArray
    permutation: IntArray
    bounds: FloatArray
    """(d,): of the relative errors of the squared scales."""
    sharp: FloatArray


def setup(parameters: Parameters, rng: np.random.Generator) -> State:
    """Draw correlated features, columns of very different units, and evaluate the bounds."""
    n, d, delta = (parameters[key] for key in ("n", "d", "delta"))
    units = 10.0 ** rng.uniform(-3.0, 3.0, (2, d))
    # Levels of the same points, in an order of its own for each column: alpha is that of all of them.
    levels = noise_levels(parameters["noise"], n)
    noise = np.column_stack([rng.permutation(levels) for _ in range(d)])
    features = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    features -= features.mean(axis=0)
    wanted = parameters["distortion"] * np.geomspace(1.0, parameters["spread"], d)
    norms = np.sqrt((noise**2).sum(axis=0))
    features *= wanted * norms / np.sqrt((features**2).sum(axis=0))
    given = {
        "relative_noise": [theory.relative_noise(noise[:, k]) for k in range(d)],
        "distortion": [theory.distortion_to_noise(features[:, [k]], noise[:, k]) for k in range(d)],
        "delta": delta,
    }
    return State(
        features * units[0],
        noise * units[0],
        units[0] / units[1] * np.where(np.arange(d) % 2, -1.0, 1.0),
        rng.normal(size=d) * units[0],
        draw_permutation(n, rng),
        theory.column_scale_error_bounds(n, **given),
        theory.column_scale_error_bounds(n, **given, constants="sharp"),
    )


def trial(state: State, rng: np.random.Generator) -> Values:
    """Compare the errors of all squared scales with their bounds."""
    n, d = state.features.shape
    x = state.features + state.noise * rng.standard_normal((n, d))
    own = rng.standard_normal((n, d))
    y = np.empty((n, d))
    y[state.permutation] = (state.features + state.noise * own - state.shift) / state.scales
    other = np.empty((n, d))
    louder = state.noise * np.where(
        np.arange(d) == 0, 2.0 * (1.0 + state.features.std() / state.noise.std()), 1.0
    )
    other[state.permutation] = (state.features + louder * own - state.shift) / state.scales
    error = _errors(_squares(x) / _squares(y), state)
    unequal = _errors(_squares(x) / _squares(other), state)
    scalar = np.full(d, _squares(x).sum() / _squares(y).sum())
    return {
        "error / bound": float((error / state.bounds).max()),
        "error / a twelfth of it": float((error / (state.bounds / 12)).max()),
        "error / sharp bound": float((error / state.sharp).max()),
        "error / a third of it": float((error / (state.sharp / 3)).max()),
        "error of one scale / bound": float((_errors(scalar, state) / state.bounds).max()),
        "error with more noise in y / bound": float((unequal / state.bounds).max()),
        "error of one scale / sharp bound": float((_errors(scalar, state) / state.sharp).max()),
        "error with more noise in y / sharp bound": float((unequal / state.sharp).max()),
    }


def _squares(points: FloatArray) -> FloatArray:
    squares: FloatArray = ((points - points.mean(axis=0)) ** 2).sum(axis=0)
    return squares


def _errors(squared_scales: FloatArray, state: State) -> FloatArray:
    return np.abs(squared_scales / state.scales**2 - 1.0)


def _cell(n: int, d: int, noise: str, distortion: float, spread: float, delta: float, tier: str) -> Cell:
    parameters = {"n": n, "d": d, "noise": noise, "distortion": distortion, "spread": spread, "delta": delta}
    name = f"{noise} n={n} d={d} lambda={distortion:g} to {distortion * spread:g} delta={delta:g}"
    return Cell(name, parameters, 4 * delta, tier=tier)


CLAIMS = (
    Claim(
        id="theorem-1-columns",
        kind="probability",
        source="beyond the paper, after Theorem 1",
        statement="Where each column has a scale of its own, the relative errors of all squared scales, each "
        "the ratio of mean squares of its column, are below Theorem 1's bounds for d = 1 at δ/d, all at once "
        "with probability at least 1 − 4δ, if the noise of a column scales with it.",
        formula="| âₖ²/aₖ² − 1 |  ≤  12 √(αₖ²L/(λₖ²+1)) + 2αₖ²L/(λₖ²+1) + 2/(n(λₖ²+1)) for all k,   "
        "L = log(4d/δ),  n ≥ 8,  δ ≥ 4d e^(−1/(224αₖ²))",
        cells=(
            _cell(1500, 2, "equal", 0.0, 1.0, 0.02, "smoke"),
            _cell(1000, 3, "equal", 5.0, 10.0, 0.15, "smoke"),
            _cell(2500, 6, "equal", 1.0, 100.0, 0.01, "quick"),
            _cell(2500, 20, "noisy-2000", 30.0, 1.0, 0.05, "full"),
        ),
        conditions=(
            N_AT_LEAST_8,
            Condition(
                "δ ≥ 4d e^(−1/(224α²))",
                lambda p: (
                    p["delta"]
                    >= 4
                    * p["d"]
                    * math.exp(-1 / (224 * relative_noise(noise_levels(p["noise"], p["n"])) ** 2))
                ),
            ),
            Condition("δ < 1", lambda p: p["delta"] < 1),
        ),
        setup=setup,
        trial=trial,
        column="error / bound",
        decide=decide_probability,
        controls=(
            Control("a twelfth of the bounds", "error / a twelfth of it"),
            Control("one scale for all columns", "error of one scale / bound"),
            Control("noise that does not scale with its column", "error with more noise in y / bound"),
        ),
        picture="survival",
        axes=("greatest error / bound", "exceedance probability"),
        batch=200,
        remark="A column is data of the paper's model with d = 1, so each bound is Theorem 1's, and the "
        "union bound needs no independence. With equal noise the condition asks for about a thousand points. "
        "Signs of scales do not matter to their squares.",
    ),
    Claim(
        id="theorem-1-columns-sharp",
        kind="probability",
        source="beyond the paper, after Theorem 1",
        statement="The same with the quotient from which Theorem 1's proof derives its three terms: it needs "
        "no condition, and so holds for tables of fifty rows.",
        formula="| âₖ²/aₖ² − 1 |  ≤  (2c + 2α²L) / (λ² + 1 − 1/n − c),   c = 2α(√2 λ + 1)√L,   "
        "L = log(2d/δ),   α and λ those of column k",
        cells=(
            _cell(50, 3, "equal", 10.0, 10.0, 0.02, "smoke"),
            _cell(200, 6, "spread", 20.0, 10.0, 0.05, "quick"),
            _cell(100, 20, "equal", 30.0, 1.0, 0.01, "full"),
        ),
        conditions=(
            N_AT_LEAST_2,
            DELTA,
            Condition("bounds are finite", lambda p: np.isfinite(p["state"].sharp).all(), needs_state=True),
        ),
        setup=setup,
        trial=trial,
        column="error / sharp bound",
        decide=decide_probability,
        controls=(
            Control("a third of the bounds", "error / a third of it"),
            Control("one scale for all columns", "error of one scale / sharp bound"),
            Control("noise that does not scale with its column", "error with more noise in y / sharp bound"),
        ),
        picture="survival",
        axes=("greatest error / bound", "exceedance probability"),
        batch=500,
    ),
)
