"""Section 4, homogeneous setting: the least sum of squares does not depend on the assumed scale."""

from __future__ import annotations

import numpy as np

from lslmatch.model import Configuration, random_configuration
from lslmatch.results import Affine
from verification.claims.conditions import N_AT_LEAST_2, SEPARATION
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.recovery import certified_match
from verification.statistics.binomial import decide_events

_SCALES = (0.02, 1.0, 50.0)


def setup(parameters: Parameters, rng: np.random.Generator) -> Configuration:
    """Draw a configuration of equal noise, close enough for mistakes to happen."""
    n, d, separation = (parameters[key] for key in ("n", "d", "separation"))
    return random_configuration(n, d, separation=separation, scale=3.0, rng=rng)


def trial(truth: Configuration, rng: np.random.Generator) -> Values:
    """Match at three assumed scales by LSS, then by LSL, where they do matter."""
    x, y = truth.sample(rng)
    squares, logarithms = [], []
    for tau in _SCALES:
        affine = Affine(tau, x.mean(axis=0) - tau * y.mean(axis=0))
        squares.append(certified_match(x, y, objective="lss", alignment=affine).permutation)
        logarithms.append(certified_match(x, y, alignment=affine).permutation)
    return {"LSS depends on the scale": _differ(squares), "LSL depends on the scale": _differ(logarithms)}


def _differ(permutations: list[np.ndarray]) -> bool:
    return not all(np.array_equal(permutations[0], other) for other in permutations[1:])


def _cell(n: int, d: int, separation: float, tier: str) -> Cell:
    parameters = {"n": n, "d": d, "separation": separation}
    return Cell(f"n={n} d={d} kappa={separation:g}", parameters, 0.0, trials=(15, 300, 3000), tier=tier)


CLAIMS = (
    Claim(
        id="lss-scale-free",
        kind="rate",
        source="section 4",
        statement="The permutation of least sum of squares is the same for every assumed scale τ₀, "
        "so it needs no "
        "estimate of the scale.",
        formula="argmin_π Σ‖Zᵢ − τ₀Z#_π(i)‖² = argmax_π Σ ZᵢᵀZ#_π(i)   for every τ₀ > 0",
        cells=(_cell(8, 2, 0.5, "smoke"), _cell(16, 3, 0.3, "smoke"), _cell(60, 10, 2.0, "quick")),
        conditions=(
            N_AT_LEAST_2,
            SEPARATION,
        ),
        setup=setup,
        trial=trial,
        column="LSS depends on the scale",
        decide=decide_events,
        controls=(Control("the same of LSL", "LSL depends on the scale"),),
        picture="bars",
        axes=("", "share of violations"),
        batch=50,
        remark=f"Exact: the permutations at τ₀ = {', '.join(map(str, _SCALES))} must be equal in "
        f"every trial.",
    ),
)
