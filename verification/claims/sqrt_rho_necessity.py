"""Section 5.2: on the adversarial family the threshold of LSL grows with the root of the noise ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

from lslmatch import theory
from lslmatch.model import adversarial_configuration
from lslmatch.results import Affine
from verification.claims.conditions import N_AT_LEAST_8
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters, keep_parameters
from verification.engine.tally import Values
from verification.scenarios.recovery import certified_match
from verification.statistics.decisions import CellCount, Decision
from verification.statistics.looks import level_of_look, open_cells
from verification.statistics.thresholds import rises_decision

_N, _D, _STRENGTH = 600, 12, 2.0
_ABOVE = 0.75  # success above the predicted curve is at least this
_KNOWN = "scale known instead of estimated"


def trial(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Say whether all is recovered, and give the obstruction that the error of the scale put up."""
    ratio, separation = parameters["noise_ratio"], parameters["separation"]
    truth = adversarial_configuration(
        _N, _D, noise_ratio=ratio, separation=separation, strength=_STRENGTH, rng=rng
    )
    x, y = truth.sample(rng)
    if parameters.get("known"):
        result = certified_match(x, y, alignment=Affine(1.0, x.mean(axis=0) - y.mean(axis=0)))
    else:
        result = certified_match(x, y)
    obstruction = theory.obstruction(truth.features, truth.noise, abs(result.scale - 1))
    recovered = np.array_equal(result.permutation, truth.permutation)
    return {"recovered": recovered, "obstruction": obstruction}


def decide(counts: Sequence[CellCount], column: str) -> Decision:
    """Ask for a rising threshold, and for success above the paper's curve nf + obstr(R, kappa)."""
    decision = rises_decision(0.02, share=0.5)(counts, column)
    floor = theory.noise_floor(_N, _D)
    above, below = [0, 0], [0, 0]
    for cell, tally, _ in counts:
        side = above if cell.parameters["separation"] > floor + tally.mean("obstruction") else below
        side[0] += round(tally.mean(column) * tally.trials)
        side[1] += tally.trials
    if not above[1] or not below[1]:
        return decision
    level = level_of_look(counts) / 2  # half for the trend, half for this
    low, high = proportion_confint(above[0], above[1], alpha=2 * level, method="beta")
    p_value = float(proportions_ztest([above[0], below[0]], [above[1], below[1]], alternative="larger")[1])
    verdict = decision.verdict
    if high < _ABOVE:
        verdict = "refuted"
    elif verdict == "supported" and not (low > _ABOVE and p_value < level):
        verdict = "inconclusive"
    detail = (
        f"{decision.detail}; success {above[0] / above[1]:.2f} above the curve nf + obstr and "
        f"{below[0] / below[1]:.2f} below it"
    )
    return replace(decision, verdict=verdict, detail=detail, undecided=open_cells(counts, verdict))


def _cell(radius: float, separation: float, known: bool = False) -> Cell:
    parameters = {"family": "adversarial", "noise_ratio": radius**2, "separation": separation}
    parameters |= {"n": _N, "d": _D, "strength": _STRENGTH}
    name = f"R={radius:g} kappa={separation:g}"
    if known:
        return Cell(f"{name} known", parameters | {"known": True}, None, (0, 150, 1000), "quick", _KNOWN)
    return Cell(name, parameters, trials=(0, 120, 1000), tier="quick")


CLAIMS = (
    Claim(
        id="sqrt-rho-necessity",
        kind="rate",
        source="section 5.2",
        statement="On the adversarial family, the separation at which LSL after standardisation "
        "recovers the permutation "
        "grows with √ρ, and recovery sets in above the curve noise floor + obstruction.",
        formula="κ*(R) rises with R = √ρ;   P(π̂ = π*) is large where κ > nf + ε_τ max‖μᵢ‖/sᵢ",
        cells=tuple(_cell(radius, k) for radius in (1, 8, 16, 24) for k in (2.5, 3.2, 4.0, 5.2, 6.8, 8.8))
        + tuple(_cell(radius, k, known=True) for radius in (1, 24) for k in (2.5, 3.2, 4.0, 5.2)),
        conditions=(
            N_AT_LEAST_8,
            Condition("1 ≤ R < √n", lambda p: 1 <= p["noise_ratio"] < p["n"]),
        ),
        setup=keep_parameters,
        trial=trial,
        column="recovered",
        decide=decide,
        controls=(Control(_KNOWN, own_cells=True),),
        picture="thresholds",
        axes=("separation kappa(Z)", "success probability"),
        batch=20,
        remark=f"n = {_N}, d = {_D}, C = {_STRENGTH:g}. R stays below √n ≈ 24.5: beyond it the noise of the "
        "mean enters s₁ and the obstruction saturates. The setting was chosen among several after looking at "
        "where the effect is visible (at n = 400, d = 8 the threshold hardly moves), so this shows that the "
        "effect exists, not how general it is. It is about LSL after standardisation only; that no estimator "
        "does better is a minimax statement, which simulation cannot show.",
    ),
)
