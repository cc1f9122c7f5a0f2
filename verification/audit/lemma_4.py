"""The proof of Lemma 4: derivative and union bounds of the quadratic supremum."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.audit.arithmetic import Arithmetic, at_most
from verification.audit.lemma_3 import pair, union
from verification.audit.regions import between
from verification.audit.search import FloatArray, Point, Problem
from verification.audit.step import Step


def _norm_bound(percent: int) -> Problem:
    def slack(m: Arithmetic, p: Any) -> Any:
        return at_most(100 * (1 + p.a * p.ratio) ** 2, 2 * percent * (1 + (p.a * p.ratio) ** 2))

    return Problem(2, pair, slack)


def _draws(u: FloatArray) -> Point:
    """Map 4 coordinates to a pair and two vectors of the plane, the longer one of length 1.

    The quantity depends on the two lengths and on the angle alone, so that the plane is enough.
    """
    length, angle = between(u[2], -1, 1), between(u[3], 0, np.pi)
    first, second = np.minimum(1, 1 + length), np.minimum(1, 1 - length)
    return {**pair(u), "g": first, "g_along": second * np.cos(angle), "g_across": second * np.sin(angle)}


def _squared_norm_derivative(percent: int) -> Problem:
    """Compare |d/da ||f||^2| = 2 |f^T f'| with percent / 100 * 4 M^2, M the longer of the two draws."""

    def slack(m: Arithmetic, p: Any) -> Any:
        step = p.a * p.ratio
        cube = (1 + step**2) ** 2  # the denominators of f and f' together
        along = (p.g - step * p.g_along) * p.ratio * (p.g_along + step * p.g)
        across = step * p.g_across * p.ratio * p.g_across
        longest = m.maximum(p.g**2, p.g_along**2 + p.g_across**2)
        return at_most(2 * abs(along - across) / cube, 4 * longest * percent / 100)

    return Problem(4, _draws, slack)


STEPS = (
    Step(
        "lemma-4-norm",
        "The norm of f_ij by the longer of the two draws",
        "(w_i + a w_j) / sqrt(w_i^2 + a^2 w_j^2) <= sqrt(2)",
        _norm_bound(100),
        {"99% under the root": _norm_bound(99)},
    ),
    Step(
        "lemma-4-derivative",
        "The derivative of the squared norm",
        "|d/da ||f_ij(a)||^2| <= 4 M_g^2 for a >= 1/2",
        _squared_norm_derivative(100),
        {"0.8 in place of 4": _squared_norm_derivative(20)},
        lambda finding: (
            f"The largest factor that the search finds is {4 * (1 - finding.slack):.3f} in place of 4."
        ),
    ),
    Step(
        "lemma-4-maximum-union",
        "Union bound on M_g: here g_i does not depend on j, and 2n variables it is",
        "2n exp(-log(4n / delta)) <= delta/2",
        union(2, 1, 1, 4, 1),
        {"3n in place of 4n": union(2, 1, 1, 3, 1)},
    ),
    Step(
        "lemma-4-net-union",
        "Two-sided union bound over the pairs and the net",
        "2 * 3 n^3 exp(-log(12 n^3 / delta)) <= delta/2",
        union(3, 3, 2, 12, 3),
        {"11 n^3 in place of 12 n^3": union(3, 3, 2, 11, 3)},
    ),
)
