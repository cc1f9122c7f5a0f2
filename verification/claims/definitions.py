"""The paper's quantities: what the library computes is what their definitions say, by brute force.

Configurations are built with these quantities and bounds are judged by them, so that a mistake in one would
cancel. Here they are computed again, pair by pair, from the paper's words and with nothing of the library.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lslmatch import theory
from lslmatch._types import FloatArray
from lslmatch.model import Configuration, adversarial_configuration, random_configuration
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters
from verification.engine.tally import Values
from verification.scenarios import suprema
from verification.scenarios.configurations import draw_configuration
from verification.statistics.binomial import decide_events

_TOLERANCE = 1e-9

#: A quantity by the library, by brute force, and by a plausible misreading.
Reading = tuple[float, float, float]


def _variances(sigma: FloatArray) -> list[float]:
    """Var of a coordinate of Z_i: that of sigma_i xi_i minus the mean of all sigma_j xi_j."""
    n = len(sigma)
    return [
        sum((sigma[j] * ((j == i) - 1 / n)) ** 2 for j in range(n)) for i in range(n)
    ]  # coefficients of independent standard normals


def _kappa(theta: FloatArray, variance: list[float]) -> float:
    return min(
        math.dist(theta[i], theta[j]) / math.sqrt(variance[i] + variance[j])
        for i, j in itertools.combinations(range(len(theta)), 2)
    )


def _kappa_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    plain = [float(s) ** 2 for s in sigma]
    return theory.separation(theta, sigma), _kappa(theta, _variances(sigma)), _kappa(theta, plain)


def _rho_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    ratio = max(a / b for a in sigma for b in sigma)
    return theory.noise_ratio(sigma), ratio * ratio, ratio


def _alpha_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    total = math.fsum(s * s for s in sigma)
    return theory.relative_noise(sigma), max(sigma) / math.sqrt(total), max(sigma) / total


def _lambda_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    n, d = theta.shape
    mean = [math.fsum(theta[:, k]) / n for k in range(d)]
    spread = math.fsum((theta[i, k] - mean[k]) ** 2 for i in range(n) for k in range(d))
    total = math.sqrt(math.fsum(s * s for s in sigma))
    found = theory.distortion_to_noise(theta, sigma)
    return found, math.sqrt(spread) / total, 2 * math.sqrt(spread) / total


def _obstruction_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    variance, centre = _variances(sigma), theta.mean(axis=0)
    each = [math.dist(theta[i], centre) / math.sqrt(variance[i]) for i in range(len(theta))]
    return theory.obstruction(theta, sigma, 0.3), 0.3 * max(each), 0.3 * min(each)


def _spread_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    found = theory.centred_moments(theta, sigma)[1]
    return float(found[0]), math.sqrt(_variances(sigma)[0]), float(sigma[0])


def _expectation_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    n, d = theta.shape
    mu = theta - theta.mean(axis=0)
    signal, total = float((mu**2).sum()), float((sigma**2).sum())
    return (
        theory.expected_sum_of_squares(theta, sigma),
        signal + d * math.fsum(_variances(sigma)),
        signal + d * total,
    )


def _floor_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    n, d = theta.shape
    right = max((d * math.log(n)) ** 0.25, math.log(n) ** 0.5)
    return theory.noise_floor(n, d), right, (d * math.log(n)) ** 0.5


def _random_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    truth = random_configuration(
        len(theta), theta.shape[1], separation=3.0, noise_ratio=7.0, rng=_seed(theta)
    )
    return _kappa(truth.features, _variances(truth.noise)), 3.0, _kappa(truth.features, list(truth.noise**2))


def _adversarial_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    n = 2 * max(len(theta) // 2, 3)
    truth = adversarial_configuration(n, theta.shape[1], noise_ratio=7.0, separation=3.0, rng=_seed(theta))
    return _kappa(truth.features, _variances(truth.noise)), 3.0, _kappa(truth.features, list(truth.noise**2))


def _largest_ratio(truth: Configuration) -> float:
    return max(float(a) / float(b) for a in truth.noise for b in truth.noise)


def _random_ratio_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    truth = random_configuration(*theta.shape, separation=3.0, noise_ratio=7.0, rng=_seed(theta))
    return _largest_ratio(truth) ** 2, 7.0, _largest_ratio(truth)


def _adversarial_ratio_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    n = 2 * max(len(theta) // 2, 3)
    truth = adversarial_configuration(n, theta.shape[1], noise_ratio=7.0, separation=3.0, rng=_seed(theta))
    return _largest_ratio(truth) ** 2, 7.0, _largest_ratio(truth)


def _drawn_distortion_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    n, d = theta.shape
    parameters = {"n": n, "d": d, "noise": "spread", "distortion": 2.5, "shift": 4.0}
    truth = draw_configuration(parameters, np.random.default_rng(_seed(theta)))
    _, found, double = _lambda_reading(truth.features, truth.noise)
    return found, 2.5, double


def _quiet_sample(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give x and its partners from a sample of scale 3 and shift 7, with next to no noise."""
    rng = np.random.default_rng(_seed(theta))
    truth = random_configuration(*theta.shape, separation=3.0, scale=3.0, shift=7.0, rng=rng)
    x, y = truth._replace(noise=np.full(len(theta), 1e-13)).sample(rng)
    return x, y[truth.permutation]


def _scale_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    x, partner = _quiet_sample(theta)
    ratio = math.dist(x[0], x[1]) / math.dist(partner[0], partner[1])
    return ratio, 3.0, 1 / ratio


def _shift_reading(theta: FloatArray, sigma: FloatArray) -> Reading:
    x, partner = _quiet_sample(theta)
    return float(x[0, 0] - 3 * partner[0, 0]), 7.0, float(3 * partner[0, 0] - x[0, 0])


def _seed(theta: FloatArray) -> int:
    return int(abs(theta[0, 0]) * 1e9)


def _suprema_readings(theta: FloatArray, sigma: FloatArray, which: str) -> Reading:
    """Compare an exact supremum with the largest value on a fine grid of a, and with the value at a = 1."""
    rng, n, epsilon = np.random.default_rng(_seed(theta)), len(theta), 0.49
    mu, d = theta - theta.mean(axis=0), theta.shape[1]
    spread = np.sqrt(_variances(sigma))
    eta, other = (sigma[:, None] * rng.standard_normal((n, d)) for _ in range(2))

    def value(a: float) -> float:
        gap = eta[:, None] - a * other
        scale = spread[:, None] ** 2 + a * a * spread**2
        if which == "Phi_2":
            return float(np.abs((gap**2).sum(axis=2) / scale - d).max())
        fixed = mu[:, None] - 1.3 * mu if which == "Phi_1" else mu[:, None] - a * mu
        if which == "zeta_1":
            # (1 - a) mu_i points along mu_i; of a that is 1 but for its rounding, the difference is noise.
            fixed[range(n), range(n)] = mu
        length = np.sqrt((fixed**2).sum(axis=2) * scale)
        along = np.abs((fixed * gap).sum(axis=2))
        return float((along[length > 0] / length[length > 0]).max())

    if which == "Phi_1":
        unit = mu[:, None] - 1.3 * mu
        unit /= np.sqrt((unit**2).sum(axis=2))[:, :, None]
        along, across = np.einsum("ijk,ik->ij", unit, eta), np.einsum("ijk,jk->ij", unit, other)
        found = suprema.linear_supremum(along, across, spread, epsilon)
    elif which == "Phi_2":
        found = suprema.quadratic_supremum(eta, other, spread, epsilon)
    else:
        found = suprema.moving_supremum(mu, eta, other, spread, epsilon)
    at = max((value(a), a) for a in np.linspace(1 - epsilon, 1 + epsilon, 201))[1]
    near = np.clip(at + np.linspace(-0.005, 0.005, 401), 1 - epsilon, 1 + epsilon)
    return float(found), max(value(a) for a in near), value(1.0)


_QUANTITIES: dict[str, Callable[[FloatArray, FloatArray], Reading]] = {
    "separation kappa": _kappa_reading,
    "noise ratio rho": _rho_reading,
    "relative noise alpha": _alpha_reading,
    "distortion lambda": _lambda_reading,
    "obstruction": _obstruction_reading,
    "standard deviation s": _spread_reading,
    "expected sum of squares": _expectation_reading,
    "noise floor": _floor_reading,
    "kappa of a random configuration": _random_reading,
    "kappa of an adversarial configuration": _adversarial_reading,
    "rho of a random configuration": _random_ratio_reading,
    "rho of an adversarial configuration": _adversarial_ratio_reading,
    "lambda of drawn features": _drawn_distortion_reading,
    "scale of a sample": _scale_reading,
    "shift of a sample": _shift_reading,
    **{
        f"supremum {which}": partial(_suprema_readings, which=which) for which in ("Phi_1", "Phi_2", "zeta_1")
    },
}

#: A grid falls short of a supremum by about the square of its step.
_GRID_TOLERANCE = 1e-6


def setup(parameters: Parameters, rng: np.random.Generator) -> Any:
    """Find the quantity."""
    return _QUANTITIES[parameters["quantity"]]


def trial(quantity: Any, rng: np.random.Generator) -> Values:
    """Compare library and brute force at one random point."""
    n, d = int(rng.integers(5, 12)), int(rng.integers(3, 9))
    theta = 3 * rng.standard_normal((n, d)) + 10 * rng.standard_normal()
    sigma = np.exp(rng.standard_normal(n))
    found, right, misread = quantity(theta, sigma)
    tolerance = _GRID_TOLERANCE if isinstance(quantity, partial) else _TOLERANCE
    return {
        "library differs": abs(found - right) > tolerance * abs(right),
        "misreading differs": abs(misread - right) > tolerance * abs(right),
    }


CLAIMS = (
    Claim(
        id="definitions",
        kind="audit",
        source="definitions",
        statement="The quantities of the statements (κ, ρ, α, λ, sᵢ, obstruction, noise floor, Φ₁, Φ₂, ζ₁), "
        "which both "
        "build the configurations and judge them, are those that the paper defines; and the configurations "
        "have the separation, ρ, λ, scale and shift that they were built with.",
        formula="lslmatch.theory = the definition by brute force over all pairs, to a relative 1e-9",
        cells=tuple(Cell(name, {"quantity": name}, 0.0, (12, 200, 2000)) for name in _QUANTITIES),
        conditions=(Condition("a quantity that the paper defines", lambda p: p["quantity"] in _QUANTITIES),),
        setup=setup,
        trial=trial,
        column="library differs",
        decide=decide_events,
        controls=(
            Control(
                "plausible misreadings: σ for s, ρ unsquared, λ doubled, min for max", "misreading differs"
            ),
        ),
        picture="bars",
        axes=("", "share of differences"),
        batch=200,
        remark="Brute force uses the coefficients of each centred observation and loops over pairs; it "
        "shares no code with the library.",
    ),
)
