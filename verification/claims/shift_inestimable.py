"""Section 3.1: the shift cannot be estimated where the features lie far from 0."""

from __future__ import annotations

import numpy as np

import lslmatch
from lslmatch.model import Configuration
from verification.claims.conditions import N_AT_LEAST_2
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_configuration
from verification.statistics.slopes import slope_decision


def setup(parameters: Parameters, rng: np.random.Generator) -> Configuration:
    """Draw features, and put their mean at a distance from 0 in both sets; the shift itself is 0."""
    truth = draw_configuration(parameters, rng)
    away = parameters["offset"] * np.eye(parameters["d"])[0]
    return truth._replace(features=truth.features + away, shift=np.zeros(parameters["d"]))


def trial(truth: Configuration, rng: np.random.Generator) -> Values:
    """Give the error of the estimated shift, and of the shift that a known scale gives."""
    x, y = truth.sample(rng)
    known = x.mean(axis=0) - truth.scale * y.mean(axis=0)
    return {
        "error": float(np.linalg.norm(lslmatch.estimate_affine(x, y).shift - truth.shift)),
        "error with the scale known": float(np.linalg.norm(known - truth.shift)),
    }


def _cell(offset: float, tier: str) -> Cell:
    parameters = {"n": 40, "d": 5, "noise": "equal", "distortion": 2.0, "scale": 3.0, "offset": offset}
    return Cell(f"mean at {offset:g}", parameters, None, (300, 2000, 10000), tier)


CLAIMS = (
    Claim(
        id="shift-inestimable",
        kind="rate",
        source="section 3.1",
        statement="The error of the estimated shift grows in proportion to the distance of the features' "
        "mean from 0: the error of the scale is carried over.",
        formula="E‖β̂ − β*‖ ∝ ‖θ̄‖   for large ‖θ̄‖",
        cells=tuple(
            _cell(offset, tier)
            for offset, tier in ((1e2, "smoke"), (1e3, "quick"), (1e4, "smoke"), (1e6, "smoke"))
        ),
        conditions=(N_AT_LEAST_2, Condition("‖θ̄‖ ≥ 100", lambda p: p["offset"] >= 100)),
        setup=setup,
        trial=trial,
        column="error",
        decide=slope_decision("offset", 1.0, 0.05),
        controls=(Control("the same with the scale known", "error with the scale known"),),
        picture="points",
        axes=("distance of the mean from 0", "mean error of the shift"),
        batch=100,
    ),
)
