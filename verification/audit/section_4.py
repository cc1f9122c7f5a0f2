"""The derivations of section 4: profile likelihood and the homogeneous case."""

from __future__ import annotations

import math
from typing import Any

from scipy.optimize import minimize_scalar

from verification.audit.arithmetic import Arithmetic, at_most
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


def _profile_minimiser(percent: int) -> Problem:
    """Compare sum ||Z - tau Z#||^2 / tau at tau-hat_n, or near it, with any other tau."""

    def domain(u: FloatArray) -> Point:
        return {**_centred_pairs(u), "tau": log_between(u[4], 0.01, 100)}

    def slack(m: Arithmetic, p: Any) -> Any:
        first, cross, second = _sums(p)

        def objective(tau: Any) -> Any:
            return first / tau - 2 * cross + tau * second

        claimed = m.sqrt(first / second * percent / 100)
        return (objective(p.tau) - objective(claimed)) / (first + second)

    return Problem(5, domain, slack)


def _log_tangent(percent: int) -> Problem:
    def domain(u: FloatArray) -> Point:
        return {"w": log_between(u[0], 1e-3, 1e3)}

    return Problem(1, domain, lambda m, p: (p.w - 1 - m.log(p.w) * percent / 100) / (1 + p.w))


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
    """Compare the displayed function of sigma#^2 with twice the negative log-likelihood, at three variances.

    Two functions are equal up to additive and multiplicative constants if their differences between any three
    points are in proportion.
    """

    def domain(u: FloatArray) -> Point:
        names = ("first", "second", "tau")
        point = {name: log_between(u[k], 0.1, 10) for k, name in enumerate(names)}
        return {**point, "d": log_between(u[3], 1, 100), "v": [log_between(u[k], 0.1, 10) for k in (4, 5, 6)]}

    def slack(m: Arithmetic, p: Any) -> Any:
        def squares(v: Any) -> Any:
            return p.first / (p.tau**2 * v) + p.second / v

        def displayed(v: Any) -> Any:
            return squares(v) + coefficient * p.d * m.log(p.tau * v)

        def exact(v: Any) -> Any:  # the densities of X and X#, with variances tau^2 v and v
            return squares(v) + p.d * m.log(p.tau**2 * v) + p.d * m.log(v)

        base, *others = p.v
        shown, true = ([f(base) - f(v) for v in others] for f in (displayed, exact))
        scale = 1 + sum(abs(x) for x in shown) * sum(abs(x) for x in true)
        return -abs(shown[0] * true[1] - shown[1] * true[0]) / scale

    return Problem(7, domain, slack)


def _cross_expectation(power: int) -> Problem:
    """Compare sum_i E[Z_i]^T E[Z#_pi*(i)] with sum_i ||E Z_i||^2 / tau*^power, for three points."""

    def domain(u: FloatArray) -> Point:
        theta = [between(u[k], -1, 1) for k in range(3)]
        return {"theta": theta, "scale": log_between(u[3], 0.1, 10), "shift": between(u[4], -5, 5)}

    def slack(m: Arithmetic, p: Any) -> Any:
        sharp = [(value - p.shift) / p.scale for value in p.theta]
        mean, mean_sharp = sum(p.theta) / 3, sum(sharp) / 3
        left = sum((a - mean) * (b - mean_sharp) for a, b in zip(p.theta, sharp, strict=True))
        right = sum((a - mean) ** 2 for a in p.theta) / p.scale**power
        return -abs(left - right) / (abs(left) + abs(right))

    return Problem(5, domain, slack)


def _second_moment(percent: int) -> Problem:
    def domain(u: FloatArray) -> Point:
        return {"square": 10 * u[0], "d": log_between(u[1], 1, 100), "variance": log_between(u[2], 0.1, 10)}

    def slack(m: Arithmetic, p: Any) -> Any:
        moment = p.square + p.d * p.variance * percent / 100
        return at_most(moment, p.square + p.d * p.variance / 1000)

    return Problem(3, domain, slack)


def _conditional(percent: int) -> Problem:
    """Compare E[Z^T Z# | the permutation is right] with its claimed value, for n = 2, d = 1 and mu = 0.

    Centred, the two sets are (z, -z) and (w, -w), and the permutation is right where zw > 0. There the
    expectation of zw is E|z| E|w| = 2/pi times the variance, more than half of it; the claim is mu^2 = 0.
    """

    def domain(u: FloatArray) -> Point:
        return {"variance": log_between(u[0], 0.1, 10), "square": u[0] * 0}

    def slack(m: Arithmetic, p: Any) -> Any:
        return (p.square - p.variance / 2 * percent / 100) / p.variance

    return Problem(1, domain, slack)


STEPS = (
    Step(
        "section-4-scale-minimiser",
        "Suspicious place 1: tau-hat_0 of section 4 minimises the sum of squares",
        "argmin_tau sum_i ||Z_i - tau Z#_i||^2 = (sum_i Z_i^T Z#_i / sum_i ||Z#_i||^2)^(1/2)",
        _scale_minimiser(root=True),
        {"the root of 1.1 times the ratio": _scale_minimiser(root=True, percent=110)},
        _explain_scale,
        "Delete the exponent 1/2: the minimiser of the quadratic is the ratio itself (see "
        "section-4-scale-minimiser-repaired). Or profile out an unknown common noise level too: then "
        "tau-hat_n itself, "
        "root included, is the minimiser for every permutation (see section-4-profile-minimiser).",
    ),
    Step(
        "section-4-scale-minimiser-repaired",
        "The ratio without the root minimises the sum of squares",
        "argmin_tau sum_i ||Z_i - tau Z#_i||^2 = sum_i Z_i^T Z#_i / sum_i ||Z#_i||^2",
        _scale_minimiser(root=False),
        {"1.1 times the ratio": _scale_minimiser(root=False, percent=110)},
    ),
    Step(
        "section-4-profile-minimiser",
        "With an unknown common noise level, tau-hat_n minimises the profile likelihood for every "
        "permutation",
        "argmin_tau 2nd log(sum_i ||Z_i - tau Z#_pi(i)||^2 / tau) = (sum_i ||Z_i||^2 / sum_i "
        "||Z#_i||^2)^(1/2)",
        _profile_minimiser(100),
        {"1.1 under the root": _profile_minimiser(110)},
        "Not a step of the paper but the better reading of its sentence that the two estimators coincide: if "
        "the "
        "common noise level is unknown and is profiled out too, the minimiser is tau-hat_n itself, root "
        "included.",
    ),
    Step(
        "section-4-likelihood",
        "The displayed negative log-likelihood equals the exact one up to constants",
        "squares / sigma#^2 + d log(tau sigma#^2) = -2 log-likelihood, up to constants",
        _likelihood(1),
        {"3d in place of d": _likelihood(3)},
        "Twice the negative log-likelihood of a pair carries d log(tau^2 sigma#^2) + d log(sigma#^2) = "
        "2 d log(tau sigma#^2). Profiling removes the coefficient, so the estimator does not change.",
        "Write 2 d log(tau sigma#^2) in the display of the full likelihood: see "
        "section-4-likelihood-repaired.",
    ),
    Step(
        "section-4-likelihood-repaired",
        "The negative log-likelihood with 2d",
        "squares / sigma#^2 + 2d log(tau sigma#^2) = -2 log-likelihood, up to constants",
        _likelihood(2),
        {"3d in place of 2d": _likelihood(3)},
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
        "log-tangent",
        "The logarithm lies below its tangent at 1",
        "log(w) <= w - 1 for w > 0",
        _log_tangent(100),
        {"1.1 times the logarithm": _log_tangent(110)},
        "Not a step of the paper: the one fact about the logarithm on which several steps rest.",
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
    Step(
        "section-4-cross-expectation-repaired",
        "The same with the factor restored",
        "sum_i E[Z_i^T Z#_{pi*(i)}] = sum_i ||E Z_i||^2 / tau*",
        _cross_expectation(1),
        {"divided by tau*^2": _cross_expectation(2)},
    ),
    Step(
        "section-4-second-moment",
        "What is compared with the denominator of tau-hat_0: the mean of the squared norms is that of the "
        "means",
        "sum_i E ||Z_i||^2 <= sum_i ||E Z_i||^2 + d s^2 / 1000",
        _second_moment(100),
        {"twice the variance": _second_moment(200)},
        "The display has ||E Z_i||^2 and the estimator that it motivates sum ||Z_i||^2, whose mean is larger "
        "by "
        "d s_i^2 for each point; in both sums of tau-hat_n the excess has the same share, which is why the "
        "ratio works.",
        "Say that numerator and denominator of tau-hat_n^2 have means in the ratio tau*^2, noise included.",
    ),
    Step(
        "section-4-conditional",
        "An expectation given that the permutation is right is taken as one without that condition",
        "E[Z^T Z#_{pi-hat} | pi-hat = pi*] = ||E Z||^2, here for two points with mu = 0",
        _conditional(100),
        {"with the whole variance": _conditional(200)},
        "LSS makes the sum as large as it can, so that the condition favours large values; with mu = 0 the "
        "left side "
        "is 2/pi times the variance.",
        "Take the expectation at the fixed permutation pi*, without the condition; the display is a "
        "motivation only.",
    ),
)
