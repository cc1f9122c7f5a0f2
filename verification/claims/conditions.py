"""What the statements ask for, written once: the conditions that the cells of claims must meet."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.model import Configuration
from verification.claims.definition import Condition
from verification.engine.studies import Parameters
from verification.scenarios.configurations import noise_levels


def at_least(name: str, least: float, symbol: str = "") -> Condition:
    """Ask that a parameter is at least a number."""
    return Condition(f"{symbol or name} ≥ {least:g}", lambda p: p[name] >= least)


def between(name: str, low: float, high: float, symbol: str = "") -> Condition:
    """Ask that a parameter lies strictly between two numbers."""
    return Condition(f"{low:g} < {symbol or name} < {high:g}", lambda p: low < p[name] < high)


DELTA = between("delta", 0, 1, "δ")
EPSILON = between("epsilon", 0, 0.5, "ε")
N_AT_LEAST_2 = at_least("n", 2)
N_AT_LEAST_8 = at_least("n", 8)
N_AT_LEAST_D = Condition("n ≥ d", lambda p: p["n"] >= p["d"])
SEPARATION = Condition("κ(Z) > 0", lambda p: p["separation"] > 0)


def relative_noise(noise: FloatArray) -> float:
    """Give alpha, the largest noise over the norm of all; written anew, as conditions judge the library."""
    return float(noise.max()) / math.sqrt(float(np.square(noise).sum()))


def least_delta(d: int, alpha: float, constant: float) -> float:
    """Give the least delta that Theorem 1 (constant 224) or Theorem 2 (1024) allows."""
    return 4 * math.exp(-d / (constant * alpha**2))


def _truth_of(state: Any) -> Configuration:
    truth = state if isinstance(state, Configuration) else state.truth
    return truth if isinstance(truth, Configuration) else truth.white


def _needs_truth(words: str, holds: Callable[[Parameters, Configuration], bool]) -> Condition:
    return Condition(words, lambda p: holds(p, _truth_of(p["state"])), needs_state=True)


def _centred_separation(truth: Configuration) -> float:
    """Give kappa(Z) by its definition, over all pairs."""
    n, variance = len(truth.noise), np.square(truth.noise)
    centred = (n - 2) / n * variance + variance.sum() / n**2
    rows, cols = np.triu_indices(n, 1)
    gaps = np.linalg.norm(truth.features[rows] - truth.features[cols], axis=1)
    return float((gaps / np.sqrt(centred[rows] + centred[cols])).min())


def _threshold(p: Parameters, truth: Configuration) -> float:
    (n, d), delta = truth.features.shape, p["delta"]
    rho = float(truth.noise.max() / truth.noise.min()) ** 2
    chi = 5 * (d * math.log(12 * n**3 / delta)) ** 0.25
    return chi + 17 * math.sqrt(math.log(24 * n**3 / delta)) + 52 * math.sqrt(rho * math.log(4 / delta))


#: Theorem 1 on configurations whose noise :func:`noise_levels` gives.
THEOREM_1 = (
    N_AT_LEAST_8,
    Condition(
        "δ ≥ 4e^(−d/(224α²))",
        lambda p: p["delta"] >= least_delta(p["d"], relative_noise(noise_levels(p["noise"], p["n"])), 224),
    ),
    Condition("δ < 1", lambda p: p["delta"] < 1),
)

#: Theorem 2, but for what it asks of the separation.
THEOREM_2_BUT_SEPARATION = (
    N_AT_LEAST_8,
    N_AT_LEAST_D,
    _needs_truth(
        "δ ≥ 4e^(−d/(1024α²))",
        lambda p, truth: p["delta"] >= least_delta(p["d"], relative_noise(truth.noise), 1024),
    ),
    Condition("δ < 1", lambda p: p["delta"] < 1),
)

#: Theorem 2 whole, on the configuration that a cell's state holds; met up to rounding.
THEOREM_2 = (
    *THEOREM_2_BUT_SEPARATION,
    _needs_truth(
        "κ(Z) ≥ 5 (d log(12n³/δ))^¼ + 17 √log(24n³/δ) + 52 √(ρ log(4/δ))",
        lambda p, truth: _centred_separation(truth) >= _threshold(p, truth) * (1 - 1e-9),
    ),
)
