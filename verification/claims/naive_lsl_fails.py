"""Section 1: LSL without alignment may lose the permutation at an arbitrarily large separation."""

from __future__ import annotations

import numpy as np

from lslmatch import theory
from lslmatch.model import Configuration
from verification.claims.conditions import N_AT_LEAST_2, SEPARATION
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_permutation
from verification.scenarios.recovery import certified_match
from verification.statistics.binomial import decide_events


def setup(parameters: Parameters, rng: np.random.Generator) -> Configuration:
    """Put the features on a line with equal steps, so that the transformation carries points onto others."""
    n, d = parameters["n"], parameters["d"]
    features = np.zeros((n, d))
    features[:, 0] = np.arange(1, n + 1)
    features *= parameters["separation"] / theory.separation(features, np.ones(n))
    step = features[1, 0] - features[0, 0]
    shift = np.zeros(d)
    if parameters["transformation"] == "shift":
        shift[0] = step
    scale = 2.0 if parameters["transformation"] == "scale" else 1.0
    return Configuration(features, np.ones(n), scale, shift, draw_permutation(n, rng))


def trial(truth: Configuration, rng: np.random.Generator) -> Values:
    """Say whether plain LSL succeeds, which must be rare, and whether LSL after standardisation does."""
    x, y = truth.sample(rng)
    plain = certified_match(x, y, alignment="identity")
    aligned = certified_match(x, y)
    return {
        "recovered without alignment": np.array_equal(plain.permutation, truth.permutation),
        "recovered after standardisation": np.array_equal(aligned.permutation, truth.permutation),
    }


def _cell(transformation: str, n: int, d: int, separation: float, tier: str) -> Cell:
    parameters = {"transformation": transformation, "n": n, "d": d, "separation": separation}
    return Cell(f"{transformation} n={n} d={d} kappa={separation:g}", parameters, allowed=0.1, tier=tier)


CLAIMS = (
    Claim(
        id="naive-lsl-fails",
        kind="rate",
        source="section 1",
        statement="There are configurations of arbitrarily large separation for which LSL without "
        "alignment does not "
        "recover the permutation: equal steps on a line, transformed by a shift of one step or by a "
        "factor of two.",
        formula="P(π̂_plain = π*) ≈ 0 for every κ(X)",
        cells=(
            _cell("shift", 10, 2, 20.0, "smoke"),
            _cell("scale", 12, 1, 1e4, "smoke"),
            _cell("shift", 30, 5, 1e4, "quick"),
            _cell("shift", 10, 2, 1e7, "quick"),
            _cell("scale", 30, 2, 100.0, "quick"),
            _cell("scale", 10, 3, 1e7, "quick"),
        ),
        conditions=(
            N_AT_LEAST_2,
            SEPARATION,
        ),
        setup=setup,
        trial=trial,
        column="recovered without alignment",
        decide=decide_events,
        controls=(Control("the same of LSL after standardisation", "recovered after standardisation"),),
        picture="bars",
        axes=("", "success probability of plain LSL"),
        batch=50,
        remark="The paper says that plain LSL may fail, and that is what is tested: it exists, at "
        "every separation. It "
        "does not fail always: with Gaussian features in d = 20 and a factor of 3 it recovers the "
        "permutation.",
    ),
)
