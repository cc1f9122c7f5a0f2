"""Lemmas 3 and 4, and what Lemma 3 says of zeta_1."""

import math

import numpy as np

from tests.verification.audit.latex import evaluate
from tests.verification.audit.transcriptions.entry import Transcription as T
from tests.verification.audit.transcriptions.entry import (
    at_most,
    dot,
    no_symbols,
    ours,
    sizes,
    slope,
    squares,
)


def pair(p):
    return {
        r"\omega_i": 1.0,
        r"\omega_j": p.ratio,
        "a": p.a,
        "g_i": getattr(p, "g", 0),
        r"g^\prime_j": getattr(p, "g_prime", 0),
        "M_g": max(abs(getattr(p, "g", 0)), abs(getattr(p, "g_prime", 0))),
    }


_FUNCTION = r"\frac{\omega_i g_i - a \omega_j g^\prime_j}{\sqrt{\omega_i^2 + a^2\omega_j^2}}"
_SLOPE = (
    r"\frac{\omega_i^2 \omega_j g^\prime_j + a \omega_j^2 \omega_i g_i}{(\omega_i^2 + a^2\omega_j^2)^{3/2}}"
)
_FACTOR = r"\frac{\omega_i \omega_j (\omega_i + a \omega_j)}{(\omega_i^2 + a^2\omega_j^2)^{3/2}}"
LEMMA_3 = r"\sqrt{2 \log\left(12 n^3 / \delta\right)} + \frac{2\varepsilon}{n} \sqrt{\log(8n/\delta)}"
_MAXIMUM = r"\sqrt{2 \log(8n/\delta)}"


def derivative(p, shown):
    """Compare the displayed derivative with that of the displayed function."""
    return -abs(slope(lambda a: evaluate(_FUNCTION, {**pair(p), "a": a}), p.a) - shown)


def tail(count):
    """Give the slack of a union bound over count(p) variables with tails exp(-x)."""
    return lambda p, x: 1 - count(p) * math.exp(-x) / (2 * math.exp(-p.log_4_delta))


def maximum_event(p, t):
    """Bound the probability that 2 n^2 independent variables pass t from below, and compare with delta/2.

    erfc(x) > 2 exp(-x^2) / (sqrt(pi) (x + sqrt(x^2 + 2))), 22/7 is above pi, and (1 - t)^N <= 1 / (1 + N t).
    """
    x = t / math.sqrt(2)
    above = 2 * math.exp(-(x**2)) / (math.sqrt(22 / 7) * (x + math.sqrt(x**2 + 2)))
    none_passes = 1 / (1 + 2 * p.n**2 * above)
    return 1 - 2 * p.n**2 * above * none_passes / (2 * math.exp(-p.log_4_delta))


def squared_norm_derivative(p, right):
    """Compare the derivative of the squared norm of the displayed vector with the bound."""
    draws = {"g_i": (p.g, 0.0), r"g^\prime_j": (p.g_along, p.g_across)}

    def squared(a):
        parts = [
            evaluate(
                _FUNCTION,
                {r"\omega_i": 1.0, r"\omega_j": p.ratio, "a": a} | {name: g[k] for name, g in draws.items()},
            )
            for k in (0, 1)
        ]
        return parts[0] ** 2 + parts[1] ** 2

    return 1 - abs(slope(squared, p.a)) / right


def longest(p):
    return max(p.g**2, p.g_along**2 + p.g_across**2)


def direction(p, a):
    """Give the unit vector along mu_i - a mu_j, mu_j = (1, 0)."""
    gap = (p.mu_along - a, p.mu_across)
    return [entry / np.sqrt(dot(gap, gap)) for entry in gap]


def noise(p, a):
    """Give (eta_i - a eta'_j) / sqrt(omega_i^2 + a^2 omega_j^2), omega_i = 1."""
    return [
        (g - a * p.ratio * h) / np.sqrt(1 + (a * p.ratio) ** 2) for g, h in zip(p.g, p.g_prime, strict=True)
    ]


def longer(p):
    return math.sqrt(max(dot(p.g, p.g), dot(p.g_prime, p.g_prime)))


def moving(p, root):
    return 1 - abs(slope(lambda a: dot(direction(p, a), noise(p, a)), p.a)) / (root * longer(p))


def turning(p, root):
    distance = math.hypot(p.mu_along - p.a, p.mu_across)
    turned = slope(lambda a: dot(direction(p, a), noise(p, p.a)), p.a)
    return 1 - abs(turned) / (root * longer(p) / distance)


def plane(p):
    vectors = np.array([p.mu_i, p.mu_j])
    gap = vectors[0] - p.a * vectors[1]
    basis, _ = np.linalg.qr(vectors.T)
    return 1 - abs(gap @ p.w) / np.linalg.norm(gap) / np.linalg.norm(basis.T @ np.array(p.w))


TRANSCRIPTIONS = {
    "lemma-3-derivative": T(1063, (f"-{_SLOPE}",), pair, derivative),
    "lemma-3-derivative-bound": T(1067, (f"|{_SLOPE}|", _FACTOR + r" \times {M_g}"), pair, at_most),
    "lemma-3-cauchy-schwarz": T(1073, (_FACTOR, r"\frac{1}{\sqrt{2}a}"), pair, at_most),
    "lemma-3-half": T(1078, (r"\frac{1}{\sqrt{2}a}", r"\sqrt{2}"), vars, at_most),
    "lemma-3-net-size": T(1090, ("2n + 1", "3n"), sizes, at_most),
    "lemma-3-net-union": T(
        1098,
        (r"\sqrt{2 \log\left(12 n^3 / \delta\right)}",),
        sizes,
        lambda p, t: tail(lambda p: 2 * 3 * p.n**3)(p, t**2 / 2),
    ),
    "lemma-3-maximum-union": T(
        1083,
        (_MAXIMUM,),
        sizes,
        lambda p, t: tail(lambda p: 2 * 2 * p.n**2)(p, t**2 / 2),
    ),
    "lemma-3-maximum-event": T(1083, (_MAXIMUM,), sizes, maximum_event),
    "lemma-3-mean-value": T(
        1106,
        (r"\frac{2\varepsilon}{n} \sqrt{\log(8n/\delta)}",),
        sizes,
        lambda p, right: (
            1 - p.epsilon / (2 * p.n) * 2 * math.sqrt(math.log(2 * p.n**2) + p.log_4_delta) / right
        ),
    ),
    "lemma-4-norm": T(
        1130, (r"\frac{\omega_i + a \omega_j}{\sqrt{\omega_i^2 + a^2\omega_j^2}}", r"\sqrt{2}"), pair, squares
    ),
    "lemma-4-derivative": T(
        1147, ("4 M_g^2",), lambda p: {"M_g": math.sqrt(longest(p))}, squared_norm_derivative
    ),
    "lemma-4-maximum-union": T(1154, (r"\log(4n/\delta)",), sizes, tail(lambda p: 2 * p.n)),
    "lemma-4-net-union": T(1162, (r"\log(12 n^3 / \delta)",), sizes, tail(lambda p: 6 * p.n**3)),
    "zeta-1-fixed-direction": T(1079, (r"\sqrt{2}",), no_symbols, moving),
    "zeta-1-turning": ours(
        "a second repair, by the speed of the direction", (r"\sqrt{2}",), no_symbols, turning
    ),
    "zeta-1-plane": ours("the repair's first half", (), no_symbols, plane),
    "zeta-1-plane-bound": T(
        880,
        (LEMMA_3,),
        sizes,
        lambda p, right: (
            1
            - (
                math.sqrt(2 * (math.log(1.5 * p.n**3) + p.log_4_delta))
                + p.epsilon / p.n * math.sqrt(math.log(p.n**2) + p.log_4_delta)
            )
            / right
        ),
    ),
}
