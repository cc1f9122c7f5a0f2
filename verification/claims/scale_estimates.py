"""What the estimates of the scale are on average: the profile's, and that of sets of different sizes."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import minimize_scalar

import lslmatch
from lslmatch._types import FloatArray
from lslmatch.model import Configuration
from verification.claims.conditions import at_least
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters, keep_parameters
from verification.engine.tally import Values
from verification.scenarios.configurations import draw_permutation
from verification.statistics.slopes import closeness_decision

_PROFILE_MARGIN, _SIZES_MARGIN = 0.01, 0.02


def _draw(parameters: Parameters, rng: np.random.Generator) -> tuple[Configuration, FloatArray, FloatArray]:
    """Draw a configuration, and samples of it, of which x keeps `n` points."""
    m, d, level = parameters["m"], parameters["d"], parameters["noise"]
    noise = level * np.geomspace(1.0, parameters.get("noise_range", 1.0), m)
    features, shift = rng.standard_normal((m, d)), 5.0 * rng.standard_normal((d,))
    truth = Configuration(features, noise, parameters["scale"], shift, draw_permutation(m, rng))
    x, y = truth.sample(rng)
    kept = rng.choice(m, parameters["n"], replace=False)
    return truth._replace(permutation=truth.permutation[kept]), x[kept], y


def profile_trial(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Give the profile's scale over the true one, and that of a likelihood without the term of the scale."""
    truth, x, y = _draw(parameters, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scale = lslmatch.match(x, y, alignment="profile").scale
    a, b = x - x.mean(axis=0), y[truth.permutation] - y[truth.permutation].mean(axis=0)

    def sum_of_logarithms(log_scale: float) -> float:
        return float(np.log(((a - np.exp(log_scale) * b) ** 2).sum(axis=1)).sum())

    around = np.log(truth.scale) + np.log([0.5, 2.0])
    without = float(np.exp(minimize_scalar(sum_of_logarithms, bounds=around, method="bounded").x))
    return {"scale": scale / truth.scale, "without - n log τ": without / truth.scale}


def sizes_trial(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Give the square of the estimated scale over the true one, and the same from sums in place of means."""
    truth, x, y = _draw(parameters, rng)
    square = (lslmatch.estimate_affine(x, y).scale / truth.scale) ** 2
    return {
        "squared scale": square,
        "from sums": square * len(x) / len(y),
        "sizes exchanged": square * (len(x) / len(y)) ** 2,
    }


def _cell(
    n: int, m: int, d: int, noise: float, trials: tuple[int, int, int], tier: str, **more: float
) -> Cell:
    parameters = {"n": n, "m": m, "d": d, "noise": noise, "scale": 3.0, **more}
    return Cell(
        " ".join(f"{key}={value:g}" for key, value in parameters.items()), parameters, None, trials, tier
    )


_APART = Condition(
    "points of different objects are far apart beside the noise", lambda p: p["noise"] ** 2 * 4 < 1
)
_NOT_MORE = Condition("n ≤ m", lambda p: p["n"] <= p["m"])

CLAIMS = (
    Claim(
        id="profile-scale",
        kind="rate",
        source="beyond the paper",
        statement="The scale of the profile likelihood, with its term −n log τ, is right on average.",
        formula=f"E[ τ̂ / τ* ] = 1 ± {_PROFILE_MARGIN}",
        cells=(
            _cell(60, 60, 20, 0.4, (40, 200, 2000), "smoke"),
            _cell(60, 60, 20, 0.15, (0, 200, 2000), "quick", noise_range=3.0),
            _cell(40, 60, 20, 0.4, (0, 200, 2000), "quick"),
        ),
        conditions=(at_least("d", 3), _NOT_MORE, _APART),
        setup=keep_parameters,
        trial=profile_trial,
        column="scale",
        decide=closeness_decision(_PROFILE_MARGIN),
        controls=(Control("the same without −n log τ", "without - n log τ"),),
        picture="means",
        axes=("estimated scale / true scale", ""),
        batch=20,
        remark="Without the term the scale shrinks by about one part in 1 + σ⁻²: large scales pay for the "
        "noise of y. In two dimensions the likelihood has poles, and no mean is claimed.",
    ),
    Claim(
        id="scale-of-sizes",
        kind="rate",
        source="section 1, for sets of different sizes",
        statement="Where x is a random part of the objects of y, the ratio of mean squares estimates the "
        "squared scale without the factor n/m that a ratio of sums has.",
        formula=f"E[ τ̂² / τ*² ] = 1 ± {_SIZES_MARGIN}",
        cells=(
            _cell(200, 300, 5, 0.3, (100, 600, 5000), "smoke"),
            _cell(150, 450, 3, 0.3, (0, 600, 5000), "quick"),
        ),
        conditions=(at_least("n", 100), _NOT_MORE),
        setup=keep_parameters,
        trial=sizes_trial,
        column="squared scale",
        decide=closeness_decision(_SIZES_MARGIN),
        controls=(
            Control("sums in place of means", "from sums"),
            Control("sizes exchanged", "sizes exchanged"),
        ),
        picture="means",
        axes=("estimated squared scale / true one", ""),
        batch=50,
        remark="Sums are the paper's, whose sets have one size; for these they are the same.",
    ),
)
