"""The proof of Theorem 2, first part: from the estimator's failure to two suprema."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.audit.arithmetic import Arithmetic, at_most
from verification.audit.regions import (
    LONGEST,
    between,
    centred_means,
    log_between,
    noise_vector,
)
from verification.audit.search import FloatArray, Point, Problem
from verification.audit.step import Step


def _jensen(permuted: bool) -> Problem:
    def domain(u: FloatArray) -> Point:
        n = np.rint(between(u[0], 2, LONGEST))
        inside = np.arange(LONGEST)[:, None] < n
        s = np.where(inside, log_between(u[1 : LONGEST + 1], 1e-2, 1e2), 1.0)  # log 1 adds nothing
        keys = np.where(inside, u[LONGEST + 1 : 2 * LONGEST + 1], 2.0)
        order = np.argsort(keys, axis=0, kind="stable") if permuted else np.zeros_like(keys, dtype=np.intp)
        moved = np.where(inside, np.take_along_axis(s, order, axis=0), 1.0)
        return {"n": n, "t": log_between(u[-1], 0.1, 10), "s": list(s), "s_pi": list(moved)}

    def slack(m: Arithmetic, p: Any) -> Any:
        square = p.t**2
        pairs = zip(p.s, p.s_pi, strict=True)
        return -sum(m.log((1 + square) * a**2 / (a**2 + square * b**2)) for a, b in pairs)

    return Problem(2 * LONGEST + 2, domain, slack)


def _scale_passage(percent: int) -> Problem:
    def domain(u: FloatArray) -> Point:
        return {"tau": log_between(u[0], 1e-6, 1e3)}

    return Problem(
        1, domain, lambda m, p: (abs(p.tau**2 - 1) * percent / 100 - abs(p.tau - 1)) / (1 + p.tau**2)
    )


def _two_features(u: FloatArray) -> Point:
    """Map 6 coordinates to epsilon, tau within it, s_j / s_i and two means in the plane, mu_j = (x, 0)."""
    epsilon, mu_j = between(u[0], 0, 0.5), log_between(u[3], 1e-3, 1e3)
    return {
        "epsilon": epsilon,
        "tau": between(u[1], 1 - epsilon, 1 + epsilon),
        "s_j": log_between(u[2], 1e-3, 1e3),
        "mu_j": mu_j,
        "mu_i": [mu_j * between(u[4], -2, 2), mu_j * between(u[5], 0, 2)],
    }


def _spread(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        left = 1 + (p.tau * p.s_j) ** 2
        return at_most(left, (1 + p.epsilon * percent / 100) ** 2 * (1 + p.s_j**2))

    return Problem(6, _two_features, slack)


def _kappa_relation(weight: int) -> Problem:
    """Compare kappa-tilde_ij (1 + epsilon) with kappa_ij - weight * epsilon ||mu_j|| / s_j."""

    def slack(m: Arithmetic, p: Any) -> Any:
        near = m.sqrt((p.mu_i[0] - p.mu_j) ** 2 + p.mu_i[1] ** 2) / m.sqrt(1 + p.s_j**2)
        proxy = m.sqrt((p.mu_i[0] - p.tau * p.mu_j) ** 2 + p.mu_i[1] ** 2) / m.sqrt(1 + (p.tau * p.s_j) ** 2)
        bound = near - weight * p.epsilon * p.mu_j / p.s_j
        return (proxy * (1 + p.epsilon) - bound) / (proxy + near)

    return Problem(6, _two_features, slack)


def _kappa_condition(twice: int) -> Problem:
    """Check ((3 + twice epsilon) - 1) epsilon M / (1 + epsilon) >= 2 epsilon M."""

    def domain(u: FloatArray) -> Point:
        return {"epsilon": between(u[0], 0, 1)}

    return Problem(1, domain, lambda m, p: (2 + twice * p.epsilon) / (1 + p.epsilon) - 2)


def _kappa_diagonal(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        left = abs(1 - p.tau) / m.sqrt(1 + p.tau**2)
        return (p.epsilon * percent / 100 - left) / (1 + left)

    return Problem(6, _two_features, slack)


def _event(u: FloatArray, diagonal: float = 0.5) -> Point:
    """Map 3 coordinates to kappa-tilde_ij, kappa-tilde_ii at most half of it, and zeta_1."""
    kappa = log_between(u[0], 1e-2, 1e2)
    return {"kappa": kappa, "kappa_ii": kappa * diagonal * u[1], "zeta_1": log_between(u[2], 1e-3, 1e3)}


def _quadratic(diagonal: float) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        asked = p.kappa**2 - p.kappa_ii**2 - 2 * p.zeta_1 * (p.kappa_ii + p.kappa)
        kept = 3 * p.kappa**2 / 4 - 3 * p.zeta_1 * p.kappa
        return (asked - kept) / (p.kappa**2 + p.zeta_1 * p.kappa)

    return Problem(3, lambda u: _event(u, diagonal), slack)


def _monotone(percent: int) -> Problem:
    """Check that 3/4 k^2 - 3 zeta_1 k has slope at least 0 for k >= percent / 100 * zeta_1."""

    def domain(u: FloatArray) -> Point:
        zeta_1 = log_between(u[0], 1e-2, 1e2)
        return {"zeta_1": zeta_1, "kappa": zeta_1 * log_between(u[1], percent / 100, 1e3)}

    return Problem(2, domain, lambda m, p: (3 * p.kappa / 2 - 3 * p.zeta_1) / (p.kappa + p.zeta_1))


def _split(percent: int) -> Problem:
    """Check that the event implies zeta_1 >= kappa/8 or sqrt(d) zeta_2 >= 3/16 kappa^2."""

    def domain(u: FloatArray) -> Point:
        kappa, share, excess = log_between(u[0], 1e-2, 1e2), u[1], log_between(u[2], 1, 1e3)
        zeta_1 = excess * share * kappa / 4  # the event's left side, split by the share
        return {"kappa": kappa, "zeta_1": zeta_1, "root_d_zeta_2": excess * (1 - share) * 3 * kappa**2 / 8}

    def slack(m: Arithmetic, p: Any) -> Any:
        first = 8 * p.zeta_1 / p.kappa
        second = 16 * p.root_d_zeta_2 / (3 * p.kappa**2)
        return m.maximum(first, second) * percent / 100 - 1

    return Problem(3, domain, slack)


def _mean_norm(percent: int) -> Problem:
    def domain(u: FloatArray) -> Point:
        n = np.rint(between(u[0], 2, LONGEST))
        return {"n": n, "mu": centred_means(u[1:], n)}

    def slack(m: Arithmetic, p: Any) -> Any:
        return at_most(p.mu[0] ** 2, sum(value**2 for value in p.mu) * percent / 100)

    return Problem(1 + LONGEST, domain, slack)


def _smallest_variance(copies: int) -> Problem:
    """Compare s_1^2 with (1 - copies/n) sigma_min^2."""

    def domain(u: FloatArray) -> Point:
        point = noise_vector(u)
        inside = [np.where(s > 0, s, np.inf) for s in point["sigma"]]
        return {**point, "smallest": np.min(inside, axis=0)}

    def slack(m: Arithmetic, p: Any) -> Any:
        variance = (p.n - 2) / p.n * p.sigma[0] ** 2 + sum(s**2 for s in p.sigma) / p.n**2
        return at_most((1 - copies / p.n) * p.smallest**2, variance)

    return Problem(1 + LONGEST, domain, slack)


def _forced_distortion(power: int) -> Problem:
    """Check lambda >= (1 - 1/n) kappa(Z) for means in the plane."""

    def domain(u: FloatArray) -> Point:
        point = noise_vector(u)
        along, across = u[LONGEST + 1 : 2 * LONGEST + 1], u[2 * LONGEST + 1 :]
        return {
            **point,
            "mu": centred_means(along, point["n"]),
            "mu_across": centred_means(across, point["n"]),
        }

    def slack(m: Arithmetic, p: Any) -> Any:
        total = sum(s**2 for s in p.sigma)
        variance = [(p.n - 2) / p.n * s**2 + total / p.n**2 for s in p.sigma]
        huge = 10**15 * (10**15 * total)
        smallest = huge
        for j in range(1, LONGEST):
            for i in range(j):
                square = (p.mu[i] - p.mu[j]) ** 2 + (p.mu_across[i] - p.mu_across[j]) ** 2
                skipped = (p.sigma[j] == 0) * huge  # the padding
                smallest = m.minimum(smallest, square / (variance[i] + variance[j]) + skipped)
        spread = sum(value**2 for axis in (p.mu, p.mu_across) for value in axis)
        return at_most(smallest * (1 - 1 / p.n) ** power * total, spread)

    return Problem(3 * LONGEST + 1, domain, slack)


STEPS = (
    Step(
        "thm-2-jensen",
        "The Jensen step, for every permutation and t > 0",
        "sum_i log((1 + t^2) s_i^2 / (s_i^2 + t^2 s_{pi(i)}^2)) <= 0",
        _jensen(permuted=True),
        {"a map that is no permutation": _jensen(permuted=False)},
    ),
    Step(
        "thm-2-scale-passage",
        "epsilon_tau bounds tau-hat^2 - 1 and is used for tau-hat - 1",
        "|tau - 1| <= |tau^2 - 1|",
        _scale_passage(100),
        {"half of the right-hand side": _scale_passage(50)},
        "The passage is valid for every tau >= 0, and near tau = 1 it gives away a factor 2.",
    ),
    Step(
        "thm-2-spread",
        "The noise of the proxy separation",
        "sqrt(s_i^2 + tau^2 s_j^2) <= (1 + epsilon) sqrt(s_i^2 + s_j^2)",
        _spread(100),
        {"1 + 0.9 epsilon": _spread(90)},
    ),
    Step(
        "thm-2-kappa-relation",
        "Proxy separation against separation",
        "kappa-tilde_ij >= (kappa_ij - epsilon ||mu_j|| / s_j) / (1 + epsilon)",
        _kappa_relation(1),
        {"without the subtracted term": _kappa_relation(0)},
    ),
    Step(
        "thm-2-kappa-condition",
        "What kappa(Z) >= (3 + 2 epsilon) epsilon M gives",
        "((3 + 2 epsilon) epsilon M - epsilon M) / (1 + epsilon) >= 2 epsilon M",
        _kappa_condition(2),
        {"3 + epsilon in place of 3 + 2 epsilon": _kappa_condition(1)},
        "An equality: the condition is exactly what is needed.",
    ),
    Step(
        "thm-2-kappa-diagonal",
        "The proxy separation of the correct pair",
        "|1 - tau| / sqrt(1 + tau^2) <= epsilon",
        _kappa_diagonal(100),
        {"0.7 epsilon": _kappa_diagonal(70)},
    ),
    Step(
        "thm-2-quadratic",
        "Inserting kappa-tilde_ii <= kappa-tilde_ij / 2",
        "kappa^2 - kappa_ii^2 - 2 zeta_1 (kappa_ii + kappa) >= 3/4 kappa^2 - 3 zeta_1 kappa",
        _quadratic(0.5),
        {"kappa_ii up to 0.6 kappa": _quadratic(0.6)},
    ),
    Step(
        "thm-2-monotone",
        "Passing from kappa-tilde_ij to the least of them",
        "3/4 k^2 - 3 zeta_1 k increases for k >= 2 zeta_1",
        _monotone(200),
        {"for k >= 1.9 zeta_1": _monotone(190)},
    ),
    Step(
        "thm-2-split",
        "Splitting the event",
        "3 zeta_1 k + 2 sqrt(d) zeta_2 >= 3/4 k^2 implies zeta_1 >= k/8 or sqrt(d) zeta_2 >= 3/16 k^2",
        _split(100),
        {"both thresholds 1% higher": _split(99)},
        "Since {zeta_1 >= k/2} lies in {zeta_1 >= k/8}, the factor 2 before P(zeta_1 >= k/8) is not needed.",
    ),
    Step(
        "thm-2-mean-norm",
        "The largest mean",
        "max_i ||mu_i|| <= ||mu|| = lambda ||sigma||",
        _mean_norm(100),
        {"0.8 under the root": _mean_norm(80)},
        "As the mu_i sum to zero, the factor sqrt(1 - 1/n) may be added; it cancels the one of s_i.",
    ),
    Step(
        "thm-2-smallest-variance",
        "The smallest s_i",
        "s_i^2 >= sigma_min^2 (1 - 1/n)",
        _smallest_variance(1),
        {"without the 1/n": _smallest_variance(0)},
    ),
    Step(
        "thm-2-forced-distortion",
        "A separation forces the distortion to be at least as large",
        "lambda >= (1 - 1/n) kappa(Z)",
        _forced_distortion(2),
        {"without the factor 1 - 1/n": _forced_distortion(0)},
        "Not a step of the paper: sum the squared distances over all pairs. It is what lets the condition on "
        "kappa control epsilon_tau, see thm-2-half-by-kappa.",
    ),
)
