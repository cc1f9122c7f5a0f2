"""The sampler: both sets are drawn as the model says, by tests that know nothing of how."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import kstest, pearsonr

from lslmatch._types import FloatArray
from verification.claims.conditions import N_AT_LEAST_2
from verification.claims.definition import Claim, Control
from verification.engine.studies import Cell, Parameters, keep_parameters
from verification.engine.tally import Values
from verification.scenarios import configurations
from verification.statistics.binomial import decide_events

#: A sample looks wrong if one of its tests rejects, with this divided among them.
_LEVEL = 0.02
_ALLOWED = 0.1

Pair = tuple[FloatArray, FloatArray]


def trial(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Draw once, and say whether the two standardised noises look other than independent normals."""
    first, second = _DRAWS[parameters["draw"]](parameters["n"], parameters["d"], rng)
    student = rng.standard_t(4, first.shape) * math.sqrt(0.5)  # of variance 1
    return {
        "looks wrong": _looks_wrong(first, second),
        "noise twice as large looks wrong": _looks_wrong(first, 2 * second),
        "Student noise looks wrong": _looks_wrong(first, student),
        "the same noise twice looks wrong": _looks_wrong(first, first),
    }


def _looks_wrong(first: FloatArray, second: FloatArray) -> bool:
    p_values = [kstest(values.ravel(), "norm", method="asymp").pvalue for values in (first, second)]
    p_values.append(pearsonr(first.ravel(), second.ravel()).pvalue)
    # Tails, which Kolmogorov and Smirnov's distance hardly sees: the mean of fourth powers is 3, variance 96.
    for values in (first, second):
        score = (np.mean(values**4) - 3) / math.sqrt(96 / values.size)
        p_values.append(math.erfc(abs(score) / math.sqrt(2)))
    return bool(min(p_values) * len(p_values) < _LEVEL)


def _observations(n: int, d: int, rng: np.random.Generator) -> Pair:
    """Give the noise of both sets, recovered from a sample by the definition of the model."""
    parameters = {"n": n, "d": d, "noise": "spread", "distortion": 2.0, "scale": 3.0, "shift": 7.0}
    truth = configurations.draw_configuration(parameters, rng)
    x, y = truth.sample(rng)
    level = truth.noise[:, None]
    partner = y[truth.permutation]  # theta_i = tau theta#_pi(i) + beta, sigma_i = tau sigma#_pi(i)
    return (x - truth.features) / level, (truth.scale * partner + truth.shift - truth.features) / level


def _centred(n: int, d: int, rng: np.random.Generator) -> Pair:
    """Give two draws of the lemmas' centred noise, as contrasts that are independent standard normals."""
    drawn = [configurations.centred_noise(np.ones(n), d, rng) for _ in range(2)]
    contrasts = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:].T
    first, second = (contrasts @ noise for noise in drawn)
    if max(abs(noise.sum(axis=0)).max() for noise in drawn) > 1e-9 * n:
        second = first  # not centred: make it be found out
    return first, second


_DRAWS = {"observations": _observations, "centred noise": _centred}

CLAIMS = (
    Claim(
        id="sampler",
        kind="rate",
        source="the model, eq. 1 and 2",
        statement="The noise of both sets, and the centred noise of the lemmas, is drawn as stated: standard "
        "normal after division by its level, and independent between the sets.",
        formula="(Xᵢ − θᵢ)/σᵢ and (τX#_π(i) + β − θᵢ)/σᵢ independent, N(0, I)",
        cells=tuple(
            Cell(f"{draw} n={n} d={d}", {"draw": draw, "n": n, "d": d}, _ALLOWED)
            for draw, n, d in (("observations", 60, 20), ("centred noise", 40, 30))
        ),
        conditions=(N_AT_LEAST_2,),
        setup=keep_parameters,
        trial=trial,
        column="looks wrong",
        decide=decide_events,
        controls=(
            Control("one set with twice the noise", "noise twice as large looks wrong"),
            Control("Student noise of the same variance", "Student noise looks wrong"),
            Control("the same noise in both sets", "the same noise twice looks wrong"),
        ),
        picture="bars",
        axes=("", "share of samples that look wrong"),
        batch=200,
        remark=f"Five tests a sample (Kolmogorov–Smirnov and the fourth moment for each set, the correlation "
        f"between them) at {_LEVEL:g} together, by approximations, so a right sampler looks wrong in about "
        f"{_LEVEL:g} of the samples; {_ALLOWED:g} are allowed.",
    ),
)
