"""The rates that the paper reads off Theorem 1 and shows in its section 5.1."""

from __future__ import annotations

import math

import numpy as np

import lslmatch
from lslmatch.model import Configuration
from verification.claims.conditions import N_AT_LEAST_8
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_configuration
from verification.statistics.slopes import slope_decision


def trial(truth: Configuration, rng: np.random.Generator) -> Values:
    """Give one error of the squared scale, and what a constant or a root of it would be."""
    x, y = truth.sample(rng)
    error = abs((lslmatch.estimate_affine(x, y).scale / truth.scale) ** 2 - 1)
    forgets_scale = abs(lslmatch.estimate_affine(x, y).scale ** 2 - 1)
    return {"error": error, "root of the error": math.sqrt(error), "error if the scale were 1": forgets_scale}


def _alpha_cell(noisy: int, tier: str) -> Cell:
    parameters = {"n": 2000, "d": 20, "distortion": 1.0, "scale": 3.0, "noise": f"noisy-{noisy}"}
    parameters["alpha"] = noisy**-0.5
    return Cell(f"k={noisy}", parameters, trials=(250, 1000, 4000), tier=tier)


def _lambda_cell(d: int, tier: str) -> Cell:
    # lambda^2 = d: the paper raises both at once.
    parameters = {
        "n": 100,
        "d": d,
        "distortion": math.sqrt(d),
        "scale": 3.0,
        "noise": "equal",
        "total": 2 * d,
    }
    return Cell(f"d={d}", parameters, trials=(120, 1000, 10000), tier=tier)


def _size_cell(n: int, tier: str) -> Cell:
    parameters = {"n": n, "d": 5, "distortion": 2.0, "scale": 3.0, "noise": "equal"}
    return Cell(f"n={n}", parameters, trials=(120, 1500, 10000), tier=tier)


def _fast_cell(n: int, tier: str) -> Cell:
    parameters = {"n": n, "d": 5, "distortion": math.sqrt(n), "scale": 3.0, "noise": "equal"}
    return Cell(f"n={n} lambda^2=n", parameters, trials=(120, 1500, 10000), tier=tier)


_CONTROLS = (
    Control("square root of the error", "root of the error"),
    Control("true scale left out", "error if the scale were 1"),
)


def _claim(id: str, statement: str, formula: str, cells: tuple[Cell, ...], x: str, target: float) -> Claim:
    return Claim(
        id=id,
        kind="rate",
        source="section 5.1",
        statement=statement,
        formula=formula,
        cells=cells,
        conditions=(N_AT_LEAST_8,),
        setup=draw_configuration,
        trial=trial,
        column="error",
        decide=slope_decision(x, target, 0.15),
        controls=_CONTROLS,
        picture="points",
        axes=(
            {"alpha": "alpha_sigma", "total": "lambda^2 + d", "n": "n"}[x],
            "mean error of tau-hat^2 / tau^2",
        ),
        batch=100,
        remark="Log-log slope by weighted least squares, two one-sided tests for a distance of less "
        "than 0.15 "
        f"from {target:g}.",
    )


CLAIMS = (
    _claim(
        "theorem-1-rate-alpha",
        "At (n, d, λ) = (2000, 20, 1) the error of the estimated scale is linear in α, the share of "
        "the largest noise: "
        "k equally noisy points, the others negligible, τ* = 3.",
        "E|τ̂²/τ*² − 1| ∝ α,   α = k^(−1/2)",
        tuple(_alpha_cell(k, tier) for k, tier in [(2, "smoke"), (40, "smoke"), (1000, "smoke")])
        + tuple(_alpha_cell(k, "quick") for k in (8, 200, 2000)),
        "alpha",
        1.0,
    ),
    _claim(
        "theorem-1-rate-lambda-d",
        "At n = 100 with equal noise the error falls like the inverse root of λ² + d, raising λ² "
        "and d together.",
        "E|τ̂²/τ*² − 1| ∝ (λ² + d)^(−1/2)",
        tuple(_lambda_cell(d, tier) for d, tier in [(2, "smoke"), (20, "smoke"), (200, "smoke")])
        + tuple(_lambda_cell(d, "quick") for d in (6, 60)),
        "total",
        -0.5,
    ),
    _claim(
        "theorem-1-homogeneous",
        "With equal noise the error falls like the parametric rate, the inverse root of n.",
        "E|τ̂²/τ*² − 1| ∝ 1 / √(n(λ² + d))",
        tuple(_size_cell(n, tier) for n, tier in [(10, "smoke"), (100, "smoke"), (1000, "smoke")])
        + tuple(_size_cell(n, "quick") for n in (30, 300)),
        "n",
        -0.5,
    ),
    _claim(
        "theorem-1-fast-rate",
        "Where the distortion grows with n, λ² ≳ n, the error falls at the fast rate 1/n.",
        "E|τ̂²/τ*² − 1| ∝ 1/n   at   λ² = n",
        # From n = 50 on: λ² + d, by which the error falls, is in proportion to n only where n is far above d.
        tuple(_fast_cell(n, "smoke") for n in (50, 200, 1000))
        + tuple(_fast_cell(n, "quick") for n in (100, 400)),
        "n",
        -1.0,
    ),
)
