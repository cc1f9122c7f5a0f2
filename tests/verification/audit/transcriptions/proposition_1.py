"""Proposition 1: the noise as a quadratic form, and its norms."""

import math

from scipy.stats import norm

from tests.verification.audit.latex import evaluate
from tests.verification.audit.transcriptions.entry import Transcription as T
from tests.verification.audit.transcriptions.entry import at_most, dot, norms, ours, sizes


def noise_form(p):
    """Give x^T DPD x by its definition."""
    scaled = [s * x for s, x in zip(p.sigma, p.x, strict=True)]
    mean = sum(scaled) / p.n
    return sum((value - mean) ** 2 for value in scaled[: int(p.n)])


def entries(p):
    """Give the squared entries of DPD."""
    count = int(p.n)
    return sum(
        (p.sigma[i] * p.sigma[j] * ((i == j) - 1 / p.n)) ** 2 for i in range(count) for j in range(count)
    )


_CENTRED = r"\sigma_i \xi_i - \frac{1}{n}\sum_{k=1}^n \sigma_k\xi_k"


def cross_term(p):
    count, total = int(p.n), dot(p.sigma, p.xi)
    symbols = {"n": p.n, r"\sum_{k=1}^n \sigma_k\xi_k": total}
    left = sum(
        p.mu[i] * evaluate(_CENTRED, {**symbols, r"\sigma_i": p.sigma[i], r"\xi_i": p.xi[i]})
        for i in range(count)
    )
    products = [p.sigma[i] * p.mu[i] * p.xi[i] for i in range(count)]
    return -abs(left - sum(products)) / (sum(map(abs, products)) + abs(total / p.n))


def level(p):
    return {r"\delta": p.delta, "x": math.sqrt(2 * math.log(2 / p.delta))}


TRANSCRIPTIONS = {
    "prop-1-centred-variance": T(
        348,
        (r"\frac{n-2}{n} \sigma_i^2 + \frac{1}{n^2} \| \bsigma\|_2^2",),
        norms,
        lambda p, shown: (
            -abs(sum((s * ((k == 0) - 1 / p.n)) ** 2 for k, s in enumerate(p.sigma[: int(p.n)])) / shown - 1)
        ),
    ),
    "prop-1-cross-term": T(670, (), norms, cross_term),
    "prop-1-linear-variance": T(
        679,
        (r"\sigma_{\max}^2\|\bmu\|_2^2",),
        norms,
        lambda p, right: 1 - sum((s * x) ** 2 for s, x in zip(p.sigma, p.mu, strict=True)) / right,
    ),
    "prop-1-trace": T(
        693,
        (r"\frac{n-1}{n}\|\bsigma\|_2^2",),
        norms,
        lambda p, shown: -abs(sum(s * s * (1 - 1 / p.n) for s in p.sigma) / shown - 1),
    ),
    "prop-1-frobenius": T(
        694,
        (r"\frac{n-2}{n}\|\bsigma\|_4^4 + \frac{1}{n^2}\|\bsigma\|_2^4",),
        norms,
        lambda p, shown: -abs(entries(p) / shown - 1),
    ),
    "prop-1-frobenius-bound": T(694, (r"\|\bsigma\|_4^4",), norms, lambda p, right: 1 - entries(p) / right),
    "prop-1-power-means": T(697, (r"\|\bsigma\|_2^4", r"n\|\bsigma\|_4^4"), norms, at_most),
    "prop-1-operator-norm": T(
        695,
        (r"\sigma_{\max}^2",),
        norms,
        lambda p, right: 1 - noise_form(p) / (right * dot(p.x, p.x)),
    ),
    "prop-1-semidefinite": T(
        689, (r"\sigma_{\max}^2",), norms, lambda p, top: noise_form(p) / (top * dot(p.x, p.x))
    ),
    "prop-1-lemma-2-citation": T(
        661,
        (r"2\exp(-x^2/(2\sum_{i=1}^n \sigma_i^2 \|a_i\|^2))",),
        lambda p: {**level(p), r"\sum_{i=1}^n \sigma_i^2 \|a_i\|^2": 1.0},
        lambda p, left: 1 - left / (p.delta / 2),
    ),
    "prop-1-one-sided-tail": T(
        681,
        (r"\sqrt{2\log(2/\delta)}", r"\delta/2"),
        level,
        lambda p, x, allowed: 1 - float(norm.sf(x)) / allowed,
    ),
    "prop-1-events": T(
        679, (r"\delta/2", r"\delta"), sizes, lambda p, each, allowed: 1 - (each + each) / allowed
    ),
    "prop-1-frobenius-remark": T(
        372,
        (r"\bar{\sf r}_{\textup{ub}}(\bsigma, d, \delta)", r"\frac{d}{n}\|\bsigma\|_2^2"),
        lambda p: {
            r"\bar{\sf r}_{\textup{ub}}(\bsigma, d, \delta)": p.bound,
            r"\|\bsigma\|_2^2": p.gap,
            "d": 1.0,
            "n": 1.0,
        },
        # Counted from the mean, which is below the statement's centre by the second formula.
        lambda p, bound, below: 1 - (bound + below) / bound,
    ),
    "prop-1-frobenius-centre": ours(
        "what the remark after the proposition rests on; both formulas are the paper's, lines 348 and 693",
        (r"\frac{n-2}{n} \|\bsigma\|_2^2 + n \frac{1}{n^2} \|\bsigma\|_2^2", r"\frac{n-1}{n}\|\bsigma\|_2^2"),
        lambda p: {r"\|\bsigma\|_2^2": p.sigma, "n": p.n},
        lambda p, left, right: -abs((p.mu + p.d * left) / (p.mu + p.d * right) - 1),
    ),
}
