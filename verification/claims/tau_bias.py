"""The squared scale estimate is positively biased, and the bias vanishes as n grows (after Theorem 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

import lslmatch
from lslmatch.model import Configuration
from verification.claims.conditions import N_AT_LEAST_2
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_configuration
from verification.statistics.decisions import CellCount, Decision
from verification.statistics.looks import level_of_look, open_cells
from verification.statistics.slopes import decide_equivalence, fit_slope, mean_row

_SLOPE, _MARGIN = -1.0, 0.3


def trial(truth: Configuration, rng: np.random.Generator) -> Values:
    """Give one error with its sign, and the mean of the two directions, which has the same expectation.

    tau-hat^2 / tau^2 is a ratio S / S' of two independent sums with the same law, so S' / S has the same
    expectation; their mean has a far smaller variance. The sign is tested on the plain error alone.
    """
    x, y = truth.sample(rng)
    ratio = (lslmatch.estimate_affine(x, y).scale / truth.scale) ** 2
    symmetric = (ratio + 1 / ratio) / 2 - 1
    return {
        "error": ratio - 1,
        "error, symmetric": symmetric,
        "error of opposite sign": 1 - ratio,
        "error of opposite sign, symmetric": symmetric,
        "error plus a tenth": ratio - 1 + 0.1,
        "error plus a tenth, symmetric": symmetric + 0.1,
    }


def decide(counts: Sequence[CellCount], column: str) -> Decision:
    """Test the sign of the bias where it is largest, and the power of n with which it falls.

    `column` has the plain error; beside it there is its symmetric form.
    """
    symmetric = f"{column}, symmetric"
    smallest = min(counts, key=lambda item: item.cell.parameters["n"])
    z = smallest.tally.mean(column) / max(smallest.tally.standard_error(column), 1e-300)
    level = level_of_look(counts) / 2  # half for the sign, half for the trend
    needed = float(norm.isf(level))
    n = [float(item.cell.parameters["n"]) for item in counts]
    mean = [max(item.tally.mean(symmetric), 1e-12) for item in counts]
    error = [max(item.tally.standard_error(symmetric), 1e-12) for item in counts]
    slope = fit_slope(n, mean, error)
    trend, low, high = decide_equivalence(slope.value, slope.error, _SLOPE, _MARGIN, level)
    if z < -needed or trend == "refuted":
        verdict = "refuted"
    else:
        verdict = "supported" if z > needed and trend == "supported" else "inconclusive"
    return Decision(
        verdict,
        f"bias at n = {min(n):g} is {smallest.tally.mean(column):+.4f}, {z:+.1f} standard errors; "
        f"it falls like n to "
        f"the power {slope.value:.2f}, interval [{low:.2f}, {high:.2f}]",
        trials=sum(item.tally.trials for item in counts),
        upper_limit=high,
        cells=tuple(mean_row(item, symmetric) for item in counts),
        curve={"x": n, "y": mean, "error": error, "slope": slope.value, "intercept": slope.intercept},
        undecided=open_cells(counts, verdict),
    )


def _cell(n: int, trials: tuple[int, int, int], tier: str) -> Cell:
    parameters = {"n": n, "d": 2, "distortion": 0.5, "scale": 3.0, "noise": "equal"}
    return Cell(f"n={n}", parameters, trials=trials, tier=tier)


CLAIMS = (
    Claim(
        id="tau-bias",
        kind="rate",
        source="after Theorem 1",
        statement="The estimate τ̂² is positively biased, and the bias vanishes as n grows.",
        formula="E[τ̂²/τ*²] > 1   and   E[τ̂²/τ*²] − 1 = O(1/n)",
        cells=(
            _cell(8, (3000, 6000, 40000), "smoke"),
            _cell(32, (500, 4000, 10000), "smoke"),
            _cell(128, (500, 4000, 10000), "smoke"),
            _cell(16, (500, 4000, 10000), "quick"),
            _cell(64, (500, 4000, 10000), "quick"),
            _cell(512, (500, 2000, 10000), "quick"),
        ),
        conditions=(N_AT_LEAST_2,),
        setup=draw_configuration,
        trial=trial,
        column="error",
        decide=decide,
        controls=(
            Control("bias of the opposite sign", "error of opposite sign"),
            Control("bias that does not vanish", "error plus a tenth"),
        ),
        picture="points",
        axes=("n", "bias of tau-hat^2 / tau^2"),
        batch=500,
        remark="The sign is tested on the plain error at n = 8; the trend on the mean of τ̂² and "
        "1/τ̂², which has the same "
        "expectation and a smaller variance.",
    ),
)
