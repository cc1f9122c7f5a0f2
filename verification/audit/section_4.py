"""The derivations of section 4: profile likelihood and the homogeneous case."""

from __future__ import annotations

import math
from typing import Any

from scipy.optimize import minimize_scalar

from verification.audit.arithmetic import Arithmetic, equal
from verification.audit.regions import between, log_between
from verification.audit.search import Finding, FloatArray, Point, Problem
from verification.audit.step import Step


def _centred_pairs(u: FloatArray) -> Point:
    """Map 5 coordinates to three centred, matched observations on a line in each set, and any tau."""
    first = [between(u[k], 0.5, 2) for k in (0, 1)]
    second = [between(u[k], 0.5, 2) for k in (2, 3)]  # so that the sum of products is positive
    return {
        "z": [*first, -first[0] - first[1]],
        "z_sharp": [*second, -second[0] - second[1]],
        "tau": 4 * u[4],
    }


def _sums(p: Any) -> tuple[Any, Any, Any]:
    """Give sum Z^2, sum Z Z# and sum Z#^2."""
    pairs = list(zip(p.z, p.z_sharp, strict=True))
    return sum(a * a for a, _ in pairs), sum(a * b for a, b in pairs), sum(b * b for _, b in pairs)


def _scale_minimiser(root: bool, percent: int = 100) -> Problem:
    """Compare the sum of squares at the claimed minimiser with that at any other tau."""

    def slack(m: Arithmetic, p: Any) -> Any:
        first, cross, second = _sums(p)
        claimed = cross / second * percent / 100
        claimed = m.sqrt(claimed) if root else claimed

        def objective(tau: Any) -> Any:
            return first - 2 * tau * cross + tau**2 * second

        best = m.minimum(objective(p.tau), objective(cross / second))
        return (best - objective(claimed)) / (first + second)

    return Problem(5, _centred_pairs, slack)


def _explain_scale(finding: Finding) -> str:
    z, z_sharp = finding.witness["z"], finding.witness["z_sharp"]

    def objective(tau: float) -> float:
        return math.fsum((a - tau * b) ** 2 for a, b in zip(z, z_sharp, strict=True))

    cross = math.fsum(a * b for a, b in zip(z, z_sharp, strict=True))
    ratio = cross / math.fsum(b * b for b in z_sharp)
    found = minimize_scalar(objective)
    return (
        f"There a numerical minimiser of the sum of squares stops at tau = {found.x:.6f} with the value "
        f"{found.fun:.6f}; the ratio without the root is {ratio:.6f}, with the root {math.sqrt(ratio):.6f}, "
        f"where the value is {objective(math.sqrt(ratio)):.6f}. For a negative ratio the root does not exist."
    )


def _profile(u: FloatArray) -> Point:
    """Map 6 coordinates to the scalars of one summand of the likelihood."""
    return {
        "x": between(u[0], -3, 3),
        "x_sharp": between(u[1], -3, 3),
        "beta": between(u[2], -3, 3),
        "theta": between(u[3], -3, 3),
        "tau": log_between(u[4], 0.1, 10),
        "d": log_between(u[5], 1, 100),
    }


def _feature_profile(divisor: int) -> Problem:
    """Minimise over theta#: the pair of squares leaves one square over 2 tau^2."""

    def slack(m: Arithmetic, p: Any) -> Any:
        def objective(theta: Any) -> Any:
            return (p.x - p.tau * theta - p.beta) ** 2 / p.tau**2 + (p.x_sharp - theta) ** 2

        shown = (p.x - p.tau * p.x_sharp - p.beta) ** 2 / (divisor * p.tau**2)
        reached = objective(((p.x - p.beta) / p.tau + p.x_sharp) / 2)
        return m.minimum(objective(p.theta) - shown, -abs(reached - shown)) / (1 + shown)

    return Problem(6, _profile, slack)


def _noise_profile(power: int) -> Problem:
    """Minimise q / (2 tau^2 v) + d log(tau v) over v: d log(q / tau) plus a constant in d."""

    def slack(m: Arithmetic, p: Any) -> Any:
        q = (p.x - p.tau * p.x_sharp - p.beta) ** 2 + 1

        def objective(v: Any) -> Any:
            return q / (2 * p.tau**2 * v) + p.d * m.log(p.tau * v)

        shown = p.d * (m.log(q / p.tau**power) + 1 - m.log(2 * p.d))
        reached = objective(q / (2 * p.tau**2 * p.d))
        return m.minimum(objective(p.theta**2 + p.d / 10) - shown, -abs(reached - shown)) / (p.d + abs(shown))

    return Problem(6, _profile, slack)


def _likelihood(coefficient: int) -> Problem:
    """Put the minimiser over sigma#^2 of the displayed function into the exact likelihood equation."""

    def domain(u: FloatArray) -> Point:
        return {"squares": log_between(u[0], 0.1, 100), "d": log_between(u[1], 1, 100)}

    def slack(m: Arithmetic, p: Any) -> Any:
        minimiser = p.squares / (coefficient * p.d)
        return equal(p.squares / minimiser, 2 * p.d)  # the exact one solves squares / v = 2 d

    return Problem(2, domain, slack)


def _cross_expectation(power: int) -> Problem:
    def domain(u: FloatArray) -> Point:
        return {"mu": log_between(u[0], 0.1, 10), "scale": log_between(u[1], 0.1, 10)}

    # E Z_i = mu_i and E Z#_{pi*(i)} = mu_i / tau*, and the two are independent.
    return Problem(2, domain, lambda m, p: equal(p.mu * (p.mu / p.scale), p.mu**2 / p.scale**power))


STEPS = (
    Step(
        "section-4-scale-minimiser",
        "Suspicious place 1: tau-hat_0 of section 4 minimises the sum of squares",
        "argmin_tau sum_i ||Z_i - tau Z#_i||^2 = (sum_i Z_i^T Z#_i / sum_i ||Z#_i||^2)^(1/2)",
        _scale_minimiser(root=True),
        {"the root of 1.1 times the ratio": _scale_minimiser(root=True, percent=110)},
        _explain_scale,
        "Delete the exponent 1/2: the minimiser of the quadratic is the ratio itself (see "
        "section-4-scale-minimiser-repaired). The root belongs to tau-hat_n, a ratio of two sums of squares.",
    ),
    Step(
        "section-4-scale-minimiser-repaired",
        "The ratio without the root minimises the sum of squares",
        "argmin_tau sum_i ||Z_i - tau Z#_i||^2 = sum_i Z_i^T Z#_i / sum_i ||Z#_i||^2",
        _scale_minimiser(root=False),
        {"1.1 times the ratio": _scale_minimiser(root=False, percent=110)},
    ),
    Step(
        "section-4-likelihood",
        "The displayed negative log-likelihood equals the exact one up to constants",
        "sum of squares / sigma#^2 + d log(tau sigma#^2) has the minimiser of the likelihood",
        _likelihood(1),
        {"3d in place of d": _likelihood(3)},
        "Twice the negative log-likelihood of a pair carries d log(tau^2 sigma#^2) + d log(sigma#^2) = "
        "2 d log(tau sigma#^2). Profiling removes the coefficient, so the estimator does not change.",
        "Write 2 d log(tau sigma#^2) in the display of the full likelihood.",
    ),
    Step(
        "section-4-feature-profile",
        "Profiling out the feature",
        "min_theta (||X - tau theta - beta||^2 / tau^2 + ||X# - theta||^2) = "
        "||X - tau X# - beta||^2 / (2 tau^2)",
        _feature_profile(2),
        {"tau^2 in place of 2 tau^2": _feature_profile(1)},
    ),
    Step(
        "section-4-noise-profile",
        "Profiling out the noise magnitude",
        "min_v (q / (2 tau^2 v) + d log(tau v)) = d log(q / tau) + d (1 - log(2d))",
        _noise_profile(1),
        {"log(q / tau^2)": _noise_profile(2)},
    ),
    Step(
        "section-4-cross-expectation",
        "Expectation of the numerator of tau-hat_0 at the true permutation, for any tau*",
        "sum_i E[Z_i^T Z#_{pi*(i)}] = sum_i ||E Z_i||^2",
        _cross_expectation(0),
        {"divided by tau*^2": _cross_expectation(2)},
        "Since E Z#_{pi*(i)} = mu_i / tau*, the display holds for tau* = 1 only. The sentence before it "
        "speaks of the denominator where the numerator is meant.",
        "Divide the right-hand side by tau*; it is permutation invariant all the same.",
    ),
)
