"""Suspicious place 5: the unit vectors of zeta_1 move with tau, those of Lemma 3 do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.audit.arithmetic import Arithmetic, at_most
from verification.audit.lemma_3 import log_over_delta, pair, sample_size
from verification.audit.regions import between, log_between
from verification.audit.search import Finding, FloatArray, Point, Problem
from verification.audit.step import Step


def _plane(u: FloatArray) -> Point:
    """Map 8 coordinates to a pair, mu_j = (1, 0, 0), a mu_i near it, and two draws in the plane of both."""
    return {
        **pair(u),
        "mu_along": between(u[2], 0.5, 1.5),
        "mu_across": log_between(u[3], 1e-3, 1),
        "g": [between(u[4], -2, 2), between(u[5], -2, 2)],
        "g_prime": [between(u[6], -2, 2), between(u[7], -2, 2)],
    }


def _dot(first: list[Any], second: list[Any]) -> Any:
    return sum(a * b for a, b in zip(first, second, strict=True))


def _moving(m: Arithmetic, p: Any) -> tuple[Any, Any, Any]:
    """Give the parts of f' from the moving direction and from the noise, and ||mu_i - a mu_j||."""
    gap = [p.mu_along - p.a, p.mu_across]
    distance = m.sqrt(_dot(gap, gap))
    unit = [entry / distance for entry in gap]
    spread = m.sqrt(1 + (p.a * p.ratio) ** 2)
    noise = [(a - p.a * p.ratio * b) / spread for a, b in zip(p.g, p.g_prime, strict=True)]
    turn = [-(entry - unit[0] * along) / distance for entry, along in zip([1, 0], unit, strict=True)]
    slope = [-(p.ratio * b + p.a * p.ratio**2 * a) / spread**3 for a, b in zip(p.g, p.g_prime, strict=True)]
    return _dot(turn, noise), _dot(unit, slope), distance


def _largest_norm(m: Arithmetic, p: Any) -> Any:
    return m.sqrt(m.maximum(_dot(p.g, p.g), _dot(p.g_prime, p.g_prime)))


def _moving_derivative(percent: int) -> Problem:
    """Compare the whole derivative with sqrt(2) M, M even the longer of the two draws in the plane."""

    def slack(m: Arithmetic, p: Any) -> Any:
        turned, slid, _ = _moving(m, p)
        return at_most(abs(turned + slid), m.sqrt(2) * _largest_norm(m, p) * percent / 100)

    return Problem(8, _plane, slack)


def _turning_bound(percent: int) -> Problem:
    """Compare the turning part with ||mu_j|| / ||mu_i - a mu_j|| sqrt(2) M."""

    def slack(m: Arithmetic, p: Any) -> Any:
        turned, _, distance = _moving(m, p)
        return at_most(abs(turned), m.sqrt(2) * _largest_norm(m, p) / distance * percent / 100)

    return Problem(8, _plane, slack)


def _explain(finding: Finding) -> str:
    distance = np.hypot(finding.witness["mu_along"] - finding.witness["a"], finding.witness["mu_across"])
    return (
        f"At the witness ||mu_j|| / ||mu_i - a mu_j|| = {1 / distance:.4g}, and the derivative is "
        f"{1 - finding.slack:.4g} times what Lemma 3 allows, even if M_g is the longer of the two "
        "projected draws. The net argument of Lemma 3 does not cover a direction that turns at that speed."
    )


def _projection(fixed: bool) -> Problem:
    """Compare |u^T w| with the norm of w's projection on the plane of mu_i and mu_j, or with |u(1)^T w|."""

    def domain(u: FloatArray) -> Point:
        vectors = {
            name: [between(u[3 * k + axis], -2, 2) for axis in range(3)]
            for k, name in enumerate(("mu_i", "mu_j", "w"))
        }
        return {"a": between(u[9], 0.5, 1.5), **vectors}

    def slack(m: Arithmetic, p: Any) -> Any:
        gap = [x - p.a * y for x, y in zip(p.mu_i, p.mu_j, strict=True)]
        left = abs(_dot(gap, p.w)) / m.sqrt(_dot(gap, gap))
        if fixed:
            start = [x - y for x, y in zip(p.mu_i, p.mu_j, strict=True)]
            return at_most(left, abs(_dot(start, p.w)) / m.sqrt(_dot(start, start)))
        return at_most(left, m.sqrt(projected(p)))

    return Problem(10, domain, slack)


def projected(p: Any) -> Any:
    """Give the squared norm of the projection of w on the plane of mu_i and mu_j."""
    with_i, with_j = _dot(p.mu_i, p.w), _dot(p.mu_j, p.w)
    first, mixed, second = _dot(p.mu_i, p.mu_i), _dot(p.mu_i, p.mu_j), _dot(p.mu_j, p.mu_j)
    numerator = second * with_i**2 - 2 * mixed * with_i * with_j + first * with_j**2
    return numerator / (first * second - mixed**2)


def _plane_bound(dimension: int) -> Problem:
    """Compare the bound that a net gives for the norm in a space of this dimension with Lemma 3's bound.

    In the plane P(norm > t) = exp(-t^2/2) exactly; in higher dimension the bound of Lemma 1 takes its place.
    """

    def radius(m: Arithmetic, log: Any) -> Any:
        if dimension == 2:
            return m.sqrt(2 * log)
        return m.sqrt(dimension + 2 * m.sqrt(dimension * log) + 2 * log)

    def slack(m: Arithmetic, p: Any) -> Any:
        at_net = radius(m, log_over_delta(m, p, 6, 3))
        moved = p.epsilon / (2 * p.n) * m.sqrt(2) * radius(m, log_over_delta(m, p, 4, 2))
        stated = m.sqrt(2 * log_over_delta(m, p, 12, 3))
        stated += 2 * p.epsilon / p.n * m.sqrt(log_over_delta(m, p, 8, 1))
        return at_most(at_net + moved, stated)

    return Problem(3, sample_size, slack)


STEPS = (
    Step(
        "zeta-1-fixed-direction",
        "Suspicious place 5: Lemma 3's derivative bound, applied to zeta_1 with its moving direction",
        "|d/da u(a)^T (eta_i - a eta'_j) / sqrt(w_i^2 + a^2 w_j^2)| <= sqrt(2) M_g, "
        "u(a) = (mu_i - a mu_j) / ||mu_i - a mu_j||",
        _moving_derivative(100),
        {"half of the right-hand side": _moving_derivative(50)},
        _explain,
        "The direction never leaves the plane of mu_i and mu_j, so bound |u^T w| by the norm of w in that "
        "plane. Its tail is exp(-t^2/2), less than the 2 exp(-t^2/2) of the union bound, and Lemma 3's bound "
        "holds for zeta_1 with the same constants: see zeta-1-plane and zeta-1-plane-bound.",
    ),
    Step(
        "zeta-1-turning",
        "What the moving direction adds to the derivative",
        "|u'(a)^T f| <= (||mu_j|| / ||mu_i - a mu_j||) sqrt(2) max(||g||, ||g'||)",
        _turning_bound(100),
        {"half of the right-hand side": _turning_bound(50)},
        "Not a step of the paper. For i = j the direction is fixed up to its sign and nothing is added. For "
        "i != j the proof's condition kappa-tilde >= 2 epsilon ||mu_j|| / s_j makes the quotient at most "
        "1 / (2 epsilon a), so a step of length epsilon/n adds at most sqrt(2) max(||g||, ||g'||) / n: a "
        "second repair, which costs a term of order sqrt(d)/n where zeta-1-plane costs nothing.",
    ),
    Step(
        "zeta-1-plane",
        "The repair, first half: the moving direction stays in the plane of mu_i and mu_j",
        "|u(a)^T w| <= ||projection of w on span(mu_i, mu_j)||",
        _projection(False),
        {"the direction at a = 1 in place of the plane": _projection(True)},
        "Not a step of the paper.",
    ),
    Step(
        "zeta-1-plane-bound",
        "The repair, second half: the net bound for the norm in the plane is below Lemma 3's bound",
        "sqrt(2 log(6 n^3/delta)) + (epsilon/n) sqrt(log(4 n^2/delta)) <= "
        "sqrt(2 log(12 n^3/delta)) + (2 epsilon/n) sqrt(log(8n/delta))",
        _plane_bound(2),
        {"the whole norm in dimension 50": _plane_bound(50)},
        "Not a step of the paper: union bounds over 3 n^3 and 2 n^2 norms, each with tail exp(-t^2/2).",
    ),
)
