"""The derivations of section 4, reduced to squares and to log w <= w - 1."""

from __future__ import annotations

from typing import Any

from verification.audit.arithmetic import Arithmetic
from verification.audit.proofs.kernel import Goal, Proof


def _sums(p: Any) -> tuple[Any, Any, Any]:
    pairs = list(zip(p.z, p.z_sharp, strict=True))
    return sum(a * a for a, _ in pairs), sum(a * b for a, b in pairs), sum(b * b for _, b in pairs)


def _square(m: Arithmetic, u: Any) -> Any:
    return u.square


def _repaired_minimiser() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        _, cross, second = _sums(p)
        return {"square": (p.tau * second - cross) ** 2}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        first, _, second = _sums(p)
        return m.minimum(0, g[0] / second / (first + second))

    return Proof(
        {"square": (0, None)},
        coordinates,
        (Goal(_square),),
        slack,
        "For every n and d the sum of squares is A - 2 tau C + tau^2 B with A = sum ||Z_i||^2, "
        "C = sum Z_i^T Z#_i, B = sum ||Z#_i||^2, and exceeds its value at C/B by (tau B - C)^2 / B.",
    )


def _profile_minimiser() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        first, _, second = _sums(p)
        return {"square": (m.sqrt(first) - p.tau * m.sqrt(second)) ** 2}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        first, _, second = _sums(p)
        return g[0] / p.tau / (first + second)

    return Proof(
        {"square": (0, None)},
        coordinates,
        (Goal(_square),),
        slack,
        "For every n, d and permutation the sum over tau is A/tau - 2C + tau B with A, B, C as before, and "
        "A/tau + tau B exceeds its value at sqrt(A/B) by (sqrt(A) - tau sqrt(B))^2 / tau.",
    )


def _feature_profile() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        centre = ((p.x - p.beta) / p.tau + p.x_sharp) / 2
        return {"square": (p.theta - centre) ** 2, "x": p.x - p.beta, "x_sharp": p.x_sharp, "tau": p.tau}

    def reached(m: Arithmetic, u: Any) -> Any:
        centre = (u.x / u.tau + u.x_sharp) / 2
        at_centre = (u.x - u.tau * centre) ** 2 / u.tau**2 + (u.x_sharp - centre) ** 2
        return at_centre - (u.x - u.tau * u.x_sharp) ** 2 / (2 * u.tau**2)

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        shown = (p.x - p.tau * p.x_sharp - p.beta) ** 2 / (2 * p.tau**2)
        return m.minimum(2 * g[0] + g[1], -abs(g[1])) / (1 + shown)

    free = (None, None)
    return Proof(
        {"square": (0, None), "x": free, "x_sharp": free, "tau": (0, None)},
        coordinates,
        (Goal(_square), Goal(reached, "zero")),
        slack,
        "Squared norms are sums over coordinates, so one coordinate is enough.",
    )


def _noise_profile() -> Proof:
    def share(p: Any) -> Any:
        q = (p.x - p.tau * p.x_sharp - p.beta) ** 2 + 1
        return q / (2 * p.tau**2 * p.d * (p.theta**2 + p.d / 10))

    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        w = share(p)
        return {"w": w, "value": w - 1 - m.log(w)}

    def slack(m: Arithmetic, p: Any, g: Any) -> Any:
        q = (p.x - p.tau * p.x_sharp - p.beta) ** 2 + 1
        shown = p.d * (m.log(q / p.tau) + 1 - m.log(2 * p.d))
        return m.minimum(0, p.d * g[0]) / (p.d + abs(shown))

    return Proof(
        {"w": (0, None), "value": (0, None)},
        coordinates,
        (Goal(lambda m, u: u.value),),
        slack,
        "With w = q / (2 tau^2 d v) the difference of the two sides is d (w - 1 - log w).",
        uses=("log-tangent",),
    )


def _log_tangent() -> Proof:
    return Proof(
        {"square": (0, None), "larger": (1, None)},
        lambda m, p: {"square": (p.w - 1) ** 2, "larger": m.maximum(p.w, p.w * 0 + 1)},
        (Goal(lambda m, u: u.square / (2 * u.larger)),),
        lambda m, p, g: g[0] / (1 + p.w),
        "w - 1 - log(w) is the integral of (t - 1) / t from 1 to w, and t <= max(w, 1) on the way, so that "
        "it is at "
        "least (w - 1)^2 / (2 max(w, 1)).",
        bound=True,
    )


def _likelihood() -> Proof:
    def coordinates(m: Arithmetic, p: Any) -> dict[str, Any]:
        return {"log_tau": [m.log(p.tau)] * 3, "log_v": [m.log(v) for v in p.v], "d": [p.d] * 3}

    def difference(m: Arithmetic, u: Any) -> Any:
        return 2 * u.d * (u.log_tau + u.log_v) - (u.d * (2 * u.log_tau + u.log_v) + u.d * u.log_v)

    free = (None, None)
    return Proof(
        {"log_tau": free, "log_v": free, "d": free},
        coordinates,
        (Goal(difference, "zero"),),
        lambda m, p, g: -sum(abs(value) for value in g[0]),
        "The two functions are equal at every variance; squares are the same on both sides.",
    )


def _cross_expectation() -> Proof:
    def centred(p: Any) -> list[Any]:
        return [value - sum(p.theta) / 3 for value in p.theta]

    def difference(m: Arithmetic, u: Any) -> Any:
        return u.mu * (u.mu / u.scale) - u.mu**2 / u.scale

    return Proof(
        {"mu": (None, None), "scale": (0, None)},
        lambda m, p: {"mu": centred(p), "scale": [p.scale] * 3},
        (Goal(difference, "zero"),),
        lambda m, p, g: -abs(sum(g[0])),
        "Term by term, for every n and d: the shift drops out by centring, so that E Z#_{pi*(i)} = mu_i / "
        "tau*.",
    )


PROOFS = {
    "section-4-scale-minimiser-repaired": _repaired_minimiser(),
    "section-4-profile-minimiser": _profile_minimiser(),
    "section-4-feature-profile": _feature_profile(),
    "section-4-noise-profile": _noise_profile(),
    "section-4-likelihood-repaired": _likelihood(),
    "section-4-cross-expectation-repaired": _cross_expectation(),
    "log-tangent": _log_tangent(),
}
