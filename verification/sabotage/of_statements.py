"""Mutations of the statements: the paper would be wrong, and the library with it.

The claim that compares the library with the printed formulas knows nothing of these, so it is not asked.
Those that no claim can see are true, or lie inside the slack of a bound; each says which.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lslmatch import theory
from verification.sabotage.mutation import Mutation
from verification.sabotage.of_library import Change, _at_net, _error, _threshold, after, instead, times


def _deviation(spread: float, largest: float) -> Change:
    """Lemma 1 with other constants for its two terms."""

    def bounds(weights: Any, x: float) -> theory.Bounds:
        norm = spread * float(np.linalg.norm(weights)) * math.sqrt(x)
        return theory.Bounds(-norm, norm + largest * float(np.max(weights)) * x)

    return instead(bounds)


def _tail(factor: float, exponent: float) -> Change:
    """Lemma 2 with another factor, and another power of its exponential."""
    return after(lambda value, *a: factor * (value / 2) ** exponent)


def _sums(cross: float, fourth: float, square: float, inside: float = 2.0) -> Change:
    """Proposition 1 with other constants."""

    def bounds(features: Any, noise: Any, delta: float) -> theory.Bounds:
        mu, noise = np.asarray(features) - np.mean(features, axis=0), np.asarray(noise)
        d, log, most = mu.shape[1], math.log(inside / delta), float(noise.max())
        spread = cross * most * float(np.linalg.norm(mu)) * math.sqrt(2 * log)
        spread += fourth * float(np.sqrt((noise**4).sum())) * math.sqrt(d * log)
        centre = float((mu**2).sum() + d * (noise**2).sum())
        low = -spread - d / len(mu) * float((noise**2).sum())
        return theory.Bounds(centre + low, centre + spread + square * most**2 * log)

    return instead(bounds)


def _statement(id: str, what: str, name: str, change: Change, *claims: str, unseen: str = "") -> Mutation:
    return Mutation(id, what, f"lslmatch.theory:{name}", change, claims, unseen)


_LEMMA_1 = ("chi_square_deviation_bounds", "exact-tails", "lemma-1-upper", "lemma-1-lower")
_PROPOSITION = ("sum_of_squares_bounds", "exact-tails", "proposition-1-upper", "proposition-1-lower")

MUTATIONS = (
    _statement(
        "lemma-1-root",
        "Lemma 1 with √2 for 2 before ‖a‖₂",
        _LEMMA_1[0],
        _deviation(math.sqrt(2), 2),
        *_LEMMA_1[1:],
    ),
    _statement("lemma-1-largest", "Lemma 1 without ‖a‖∞", _LEMMA_1[0], _deviation(2, 0), *_LEMMA_1[1:]),
    _statement(
        "lemma-1-half-largest",
        "Lemma 1 with 1 for 2 before ‖a‖∞",
        _LEMMA_1[0],
        _deviation(2, 1),
        *_LEMMA_1[1:],
    ),
    _statement("lemma-1-tenth", "Lemma 1 a fifth smaller", _LEMMA_1[0], times(0.8), *_LEMMA_1[1:]),
    _statement(
        "lemma-2-factor",
        "Lemma 2 without its factor 2",
        "gaussian_tail",
        times(0.5),
        "exact-tails",
        "lemma-2",
        unseen="it is true: P(|N| ≥ x) ≤ exp(−x²/2) for every x; a factor of 0.1 is false at δ = 1e-6",
    ),
    _statement(
        "lemma-2-exponent",
        "Lemma 2 with −x²/Σ in the exponent",
        "gaussian_tail",
        _tail(2.0, 2.0),
        "exact-tails",
        "lemma-2",
    ),
    _statement(
        "lemma-2-tenth",
        "Lemma 2 with an exponent a fifth larger",
        "gaussian_tail",
        _tail(2.0, 1.25),
        "exact-tails",
        "lemma-2",
    ),
    _statement(
        "lemma-3-epsilon",
        "Lemma 3 without its term in ε",
        "linear_supremum_bound",
        instead(lambda n, epsilon, delta: math.sqrt(2 * math.log(12 * n**3 / delta))),
        "lemma-3",
        "zeta-1",
        unseen="inside the slack: the term is a fiftieth of the bound, which is a fifth too large",
    ),
    _statement(
        "lemma-3-n2",
        "Lemma 3 with n² for n³",
        "linear_supremum_bound",
        instead(lambda n, epsilon, delta: math.sqrt(2 * math.log(12 * n**2 / delta))),
        "lemma-3",
        "zeta-1",
        unseen="inside the slack: with n² pairs the union over the net is what costs n³, and it is not sharp",
    ),
    _statement(
        "lemma-3-n",
        "Lemma 3 with n for n³, without ε",
        "linear_supremum_bound",
        instead(lambda n, epsilon, delta: math.sqrt(math.log(12 * n / delta))),
        "lemma-3",
        "zeta-1",
    ),
    _statement("lemma-3-half", "Lemma 3 halved", "linear_supremum_bound", times(0.5), "lemma-3", "zeta-1"),
    _statement(
        "lemma-4-epsilon",
        "Lemma 4 without its terms in ε",
        "quadratic_supremum_bound",
        instead(lambda n, d, epsilon, delta: _at_net(n, d, delta)),
        "lemma-4",
        unseen="inside the slack: the terms are a twentieth of the bound, of which half would do",
    ),
    _statement(
        "lemma-4-linear",
        "Lemma 4 without 2L",
        "quadratic_supremum_bound",
        instead(lambda n, d, epsilon, delta: 2 * math.sqrt(d * math.log(12 * n**3 / delta))),
        "lemma-4",
    ),
    _statement("lemma-4-third", "three tenths of Lemma 4", "quadratic_supremum_bound", times(0.3), "lemma-4"),
    _statement(
        "proposition-1-cross",
        "Proposition 1 with √2 for 2 before the cross term",
        _PROPOSITION[0],
        _sums(math.sqrt(2), 2, 2),
        *_PROPOSITION[1:],
    ),
    _statement(
        "proposition-1-fourth",
        "Proposition 1 without the fourth powers",
        _PROPOSITION[0],
        _sums(2, 0, 2),
        *_PROPOSITION[1:],
    ),
    _statement(
        "proposition-1-log",
        "Proposition 1 with log(1/δ) for log(2/δ)",
        _PROPOSITION[0],
        _sums(2, 2, 2, 1.0),
        *_PROPOSITION[1:],
        unseen="it is true where the bound is sharpest: a one-sided normal tail is half of exp(−x²/2)",
    ),
    _statement(
        "theorem-1-half",
        "Theorem 1 with 6 for 12",
        "scale_error_bound",
        _error(6, 2, 2),
        "exact-tails",
        "theorem-1",
        unseen="inside the slack: 3.5 for 12 is exactly right at δ = 1e-12, on the worst found",
    ),
    _statement(
        "theorem-1-quarter",
        "Theorem 1 with 3 for 12",
        "scale_error_bound",
        _error(3, 2, 2),
        "exact-tails",
        "theorem-1",
    ),
    _statement(
        "theorem-1-leading",
        "Theorem 1 without its first term",
        "scale_error_bound",
        _error(0, 2, 2),
        "exact-tails",
        "theorem-1",
    ),
    _statement(
        "theorem-1-delta",
        "Theorem 1 with log(4) for log(4/δ)",
        "scale_error_bound",
        instead(
            lambda n, d, *, relative_noise, distortion, delta: theory_error(n, d, relative_noise, distortion)
        ),
        "exact-tails",
        "theorem-1",
    ),
    _statement(
        "theorem-2-half",
        "Theorem 2's threshold halved",
        "recovery_threshold",
        times(0.5),
        "theorem-2",
        unseen="inside the slack: a thirtieth of the threshold is enough (figure empirical-threshold)",
    ),
    _statement(
        "theorem-2-tenth",
        "a tenth of Theorem 2's threshold",
        "recovery_threshold",
        times(0.1),
        "theorem-2",
        unseen="inside the slack: a thirtieth of the threshold is enough",
    ),
    _statement(
        "theorem-2-no-rho",
        "Theorem 2's threshold without its term in ρ",
        "recovery_threshold",
        _threshold(5, 17, 0),
        "theorem-2",
        unseen="inside the slack: the other two terms are ten times what suffices; the figures show √ρ",
    ),
    _statement(
        "theorem-2-hundredth",
        "a hundredth of Theorem 2's threshold",
        "recovery_threshold",
        times(0.01),
        "theorem-2",
    ),
    Mutation(
        "share-of-pairs",
        "recovery as nine tenths of the pairs in mild-heteroscedasticity",
        "verification.claims.mild_heteroscedasticity:np.array_equal",
        instead(lambda a, b: bool(np.mean(np.asarray(a) == np.asarray(b)) >= 0.9)),
        ("mild-heteroscedasticity",),
        unseen="the claim compares thresholds with each other, and all of them move alike",
    ),
)


def theory_error(n: int, d: int, relative_noise: float, distortion: float) -> float:
    """Theorem 1's bound with log 4 in place of log(4/delta)."""
    total = distortion**2 + d
    part = relative_noise**2 * math.log(4) / total
    return 12 * math.sqrt(part) + 2 * part + 2 * d / (n * total)
