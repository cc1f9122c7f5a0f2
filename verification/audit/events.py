"""How bounds and events are put together: places of the proofs between their displays."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from verification.audit.arithmetic import Arithmetic, at_most, equal
from verification.audit.regions import LONGEST, between, log_between
from verification.audit.search import FloatArray, Point, Problem
from verification.audit.step import Step


def _level(u: FloatArray) -> Point:
    return {"delta": log_between(u[0], 1e-12, 1)}


def _union(count: int, parts: int, total: int) -> Problem:
    """Check that `count` events of probability delta / parts make at most total * delta."""
    return Problem(1, _level, lambda m, p: at_most(count * p.delta / parts, total * p.delta))


def _remark(percent: int) -> Problem:
    """Add what Proposition 1 as stated leaves between its centre and the mean, (d/n) ||sigma||^2."""

    def domain(u: FloatArray) -> Point:
        return {"bound": log_between(u[0], 0.1, 100), "gap": log_between(u[1], 1e-3, 10)}

    return Problem(2, domain, lambda m, p: at_most(p.bound + p.gap * percent / 100, p.bound))


def _centre(copies: int) -> Problem:
    """Compare E ||Z||_F^2, from the s_i, with the centre of both bounds in the proof of Proposition 1."""

    def domain(u: FloatArray) -> Point:
        names = {"mu": 1e-2, "sigma": 1e-2, "d": 1.0}
        point = {name: log_between(u[k], low, 1e2) for k, (name, low) in enumerate(names.items())}
        return {**point, "n": np.rint(log_between(u[3], 2, 1e6))}

    def slack(m: Arithmetic, p: Any) -> Any:
        variances = (p.n - 2) / p.n * p.sigma + p.n * (p.sigma / p.n**2)  # the sum of all s_i^2
        return equal(p.mu + p.d * variances, p.mu + p.d * (p.n - copies) / p.n * p.sigma)

    return Problem(4, domain, slack)


def _some_term(shift: int) -> Problem:
    def domain(u: FloatArray) -> Point:
        n = np.rint(between(u[0], 2, LONGEST))
        raw = [np.where(k < n, np.rint((2 * u[k + 1] - 1) * 2**20) / 2**20, 0.0) for k in range(LONGEST)]
        raw[0] = raw[0] + u[-1] - np.sum(raw, axis=0)  # so that they sum to u[-1] >= 0
        return {"n": n, "terms": [np.where(k < n, raw[k], -np.inf) for k in range(LONGEST)]}

    def slack(m: Arithmetic, p: Any) -> Any:
        return reduce(m.maximum, p.terms) - shift

    return Problem(LONGEST + 2, domain, slack)


def _pair(u: FloatArray) -> Point:
    """Map 6 coordinates to a pair: distance of means, noise along it, its square, and suprema above."""
    noise, square, d = between(u[1], -5, 5), log_between(u[2], 0.1, 100), log_between(u[3], 1, 100)
    return {
        "kappa": log_between(u[0], 1e-2, 1e2),
        "noise": noise,
        "square": square,
        "d": d,
        "zeta_1": abs(noise) + 3 * u[4],
        "root_d_zeta_2": abs(square - d) + 10 * u[5],
    }


def _right_pair(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        distance = p.kappa**2 + 2 * p.kappa * p.noise + p.square
        bound = p.kappa**2 + 2 * p.zeta_1 * p.kappa * percent / 100 + p.d + p.root_d_zeta_2 * percent / 100
        return (bound - distance) / (p.kappa**2 + p.d + p.square)

    return Problem(6, _pair, slack)


def _wrong_pair(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        distance = p.kappa**2 + 2 * p.kappa * p.noise + p.square
        bound = p.kappa**2 - 2 * p.zeta_1 * p.kappa * percent / 100 + p.d - p.root_d_zeta_2 * percent / 100
        return (distance - bound) / (p.kappa**2 + p.d + p.square)

    return Problem(6, _pair, slack)


def _defined(thousandths: int) -> Problem:
    """Check ||mu_i - tau mu_i|| >= thousandths / 1000 epsilon ||mu_i||, so that zeta_1 is defined."""

    def domain(u: FloatArray) -> Point:
        epsilon = log_between(u[0], 1e-3, 0.5)
        return {"epsilon": epsilon, "tau": between(u[1], 1 - epsilon, 1 + epsilon)}

    return Problem(2, domain, lambda m, p: abs(1 - p.tau) / p.epsilon - p.tau * thousandths / (1000 * p.tau))


def _any_scale(weight: int) -> Problem:
    """Compare kappa-tilde with its bound for every tau, in units of s_i = s_j and with means on a line."""

    def domain(u: FloatArray) -> Point:
        return {
            "epsilon": between(u[0], 0, 0.5),
            "tau": log_between(u[1], 0.01, 100),
            "mu_i": log_between(u[2], 0.1, 10),
            "mu_j": log_between(u[3], 0.1, 10),
        }

    def slack(m: Arithmetic, p: Any) -> Any:
        proxy = abs(p.mu_i - p.tau * p.mu_j) / m.sqrt(1 + p.tau**2)
        bound = abs(p.mu_i - p.mu_j) / m.sqrt(2) - weight * p.epsilon * p.mu_j
        return (proxy * (1 + p.epsilon) - bound) / (p.mu_i + p.mu_j)

    return Problem(4, domain, slack)


def _lower_threshold(percent: int) -> Problem:
    def domain(u: FloatArray) -> Point:
        least = log_between(u[0], 1e-2, 1e2)
        proxy = least * log_between(u[1], 1, 1e3)
        return {"least": least, "proxy": proxy, "zeta_1": proxy / 8 * log_between(u[2], 1, 1e3)}

    return Problem(3, domain, lambda m, p: at_most(p.least * percent / 800, p.zeta_1))


def _chain(eighths: float) -> Problem:
    """Check that no wrong pair wins where zeta_1 <= eighths k/8, sqrt(d) zeta_2 <= 3/16 k^2, kappa >= k."""

    def domain(u: FloatArray) -> Point:
        least = log_between(u[0], 1e-2, 1e2)
        kappa = least * log_between(u[1], 1, 1e3)
        return {
            "least": least,
            "kappa": kappa,
            "kappa_ii": kappa * u[2] / 2,
            "zeta_1": eighths * least * u[3] / 8,
            "root_d_zeta_2": 3 * least**2 * u[4] / 16,
        }

    def slack(m: Arithmetic, p: Any) -> Any:
        reached = p.kappa_ii**2 + 2 * p.zeta_1 * (p.kappa_ii + p.kappa) + 2 * p.root_d_zeta_2
        return at_most(reached, p.kappa**2)

    return Problem(5, domain, slack)


STEPS = (
    Step(
        "prop-1-events",
        "Two events of probability delta/2 give each bound of Proposition 1 its probability",
        "2 (delta/2) <= delta",
        _union(2, 2, 1),
        {"three events": _union(3, 2, 1)},
    ),
    Step(
        "prop-1-frobenius-remark",
        "The bounds around the mean that follow Proposition 1, as a consequence of its statement",
        "r_ub + (d/n) ||sigma||^2 <= r_ub",
        _remark(100),
        {"twice the gap": _remark(200)},
        "The statement counts from ||mu||^2 + d ||sigma||^2, which is above the mean by (d/n) ||sigma||^2, "
        "so that it "
        "gives the upper bound around the mean only with that much more.",
        "Say that they follow from the proof, whose bounds are centred at the mean: see "
        "prop-1-frobenius-centre.",
    ),
    Step(
        "prop-1-frobenius-centre",
        "The centre of both bounds in the proof of Proposition 1 is the mean",
        "||mu||^2 + d sum_i s_i^2 = ||mu||^2 + d (n-1)/n ||sigma||^2",
        _centre(1),
        {"n - 2 in place of n - 1": _centre(2)},
        "So the bounds of the remark hold, the lower one even without its (d/n) ||sigma||^2.",
    ),
    Step(
        "thm-1-events",
        "Upper and lower bounds for both sets are four events of probability delta",
        "4 delta <= 4 delta",
        _union(4, 1, 4),
        {"five events": _union(5, 1, 4)},
        "The lower bound for the second set serves the denominator too, and is counted once.",
    ),
    Step(
        "thm-2-some-term",
        "A sum that is at least 0 has a term that is at least 0",
        "sum_i t_i >= 0 implies max_i t_i >= 0, t_i = log(right pair) - log(wrong pair), each over its mean",
        _some_term(0),
        {"a term of at least 1": _some_term(1)},
        "The union over all permutations becomes one over pairs.",
    ),
    Step(
        "thm-2-right-pair",
        "The upper bound for a right pair",
        "kappa_ii^2 + 2 kappa_ii v + q <= kappa_ii^2 + 2 zeta_1 kappa_ii + d + sqrt(d) zeta_2 for |v| <= "
        "zeta_1, "
        "|q - d| <= sqrt(d) zeta_2",
        _right_pair(100),
        {"99% of both suprema": _right_pair(99)},
    ),
    Step(
        "thm-2-wrong-pair",
        "The lower bound for a wrong pair",
        "kappa_ij^2 + 2 kappa_ij v + q >= kappa_ij^2 - 2 zeta_1 kappa_ij + d - sqrt(d) zeta_2 for |v| <= "
        "zeta_1, "
        "|q - d| <= sqrt(d) zeta_2",
        _wrong_pair(100),
        {"99% of both suprema": _wrong_pair(99)},
    ),
    Step(
        "thm-2-zeta-1-defined",
        "The quotient in zeta_1 is defined for all pairs and all tau, here with room of a thousandth",
        "||mu_i - tau mu_j|| >= (epsilon/1000) ||mu_i|| for all i and j and |tau - 1| <= epsilon",
        _defined(1),
        {"a hundredth": _defined(10)},
        "For i = j and tau = 1 the quotient is 0/0; so it is wherever mu_i = tau mu_j.",
        "Read 0/0 as 0: only |(mu_i - tau mu_j)^T w| <= zeta_1 ||mu_i - tau mu_j|| spread is used, which is "
        "then "
        "0 <= 0.",
    ),
    Step(
        "thm-2-random-separation",
        "The bound on zeta_1 holds with the random kappa-tilde, whatever tau-hat is",
        "kappa-tilde_ij >= (kappa_ij - epsilon ||mu_j|| / s_j) / (1 + epsilon) for every tau > 0",
        _any_scale(1),
        {"twice the subtracted term": _any_scale(2)},
        "kappa-tilde depends on tau-hat and may be 0 outside the event of Theorem 1, so that P(zeta_1 >= "
        "kappa-tilde/8) "
        "is not bounded by Lemma 3 as displayed; the third probability of the sum is intersected with that "
        "event.",
        "Intersect the first two probabilities with Omega_tau as well. There kappa-tilde is at least the "
        "fixed bound of "
        "thm-2-kappa-relation, and thm-2-lower-threshold applies; the sum does not change.",
    ),
    Step(
        "thm-2-lower-threshold",
        "On the event of Theorem 1 the random threshold may be replaced by its lower bound",
        "zeta_1 >= kappa-tilde/8 and kappa-tilde >= k imply zeta_1 >= k/8",
        _lower_threshold(100),
        {"k/7": _lower_threshold(115)},
    ),
    Step(
        "thm-2-chain",
        "All inclusions at once: where both suprema are small, no wrong pair beats a right one",
        "kappa_ii^2 + 2 zeta_1 (kappa_ii + kappa) + 2 sqrt(d) zeta_2 <= kappa^2 for kappa >= k, kappa_ii <= "
        "kappa/2, "
        "zeta_1 <= k/8, sqrt(d) zeta_2 <= 3/16 k^2",
        _chain(1),
        {"zeta_1 up to 1.1 k/8": _chain(1.1)},
        "So the permutation is wrong only if tau-hat is outside, or zeta_1 >= k/8, or sqrt(d) zeta_2 >= 3/16 "
        "k^2: three "
        "events of probability 2 delta, delta/2 and delta.",
    ),
)
