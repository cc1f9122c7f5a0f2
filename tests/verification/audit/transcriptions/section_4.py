"""Section 4: profile likelihood and the homogeneous case."""

import math

from tests.verification.audit.latex import evaluate
from tests.verification.audit.transcriptions.entry import Transcription as T
from tests.verification.audit.transcriptions.entry import dot, no_symbols, ours


def sums(p):
    return {
        r"\sum_{i=1}^n Z_i^\top\Zdiese_{\pi(i)}": dot(p.z, p.z_sharp),
        r"\sum_{i=1}^n \|\Zdiese_{\pi(i)}\|_2^2": dot(p.z_sharp, p.z_sharp),
        r"\sum_{i=1}^n \| Z_i\|_2^2": dot(p.z, p.z),
        r"\sum_{i=1}^n \| \Zdiese_i\|_2^2": dot(p.z_sharp, p.z_sharp),
    }


def squared(p, tau):
    return sum((a - tau * b) ** 2 for a, b in zip(p.z, p.z_sharp, strict=True))


def scale_minimiser(p, claimed):
    best = min(squared(p, p.tau), squared(p, dot(p.z, p.z_sharp) / dot(p.z_sharp, p.z_sharp)))
    return (best - squared(p, claimed)) / (dot(p.z, p.z) + dot(p.z_sharp, p.z_sharp))


def profile_minimiser(p, claimed):
    gap = squared(p, p.tau) / p.tau - squared(p, claimed) / claimed
    return gap / (dot(p.z, p.z) + dot(p.z_sharp, p.z_sharp))


_SQUARES = (
    r"\frac{\big\|X_i - \tau\tdiese_{\pi(i)} - \beta\big\|_2^2}{\tau^2\sdiesesq_{\pi(i)}} "
    r"+ \frac{\big\|\Xdiese_{\pi(i)} - \tdiese_{\pi(i)}\big\|_2^2}{\sdiesesq_{\pi(i)}}"
)


def likelihood(formula):
    """Compare a displayed function of the variance with the density of the normal distribution."""

    def at(p, v):
        return {
            r"\big\|X_i - \tau\tdiese_{\pi(i)} - \beta\big\|_2^2": p.first,
            r"\big\|\Xdiese_{\pi(i)} - \tdiese_{\pi(i)}\big\|_2^2": p.second,
            r"\sdiesesq_{\pi(i)}": v,
            r"\tau": p.tau,
            "d": p.d,
        }

    def exact(p, v):
        logs = [math.log(2 * math.pi * variance) for variance in (p.tau**2 * v, v)]
        return p.d * sum(logs) + p.first / (p.tau**2 * v) + p.second / v

    def slack(p):
        shown, true = (
            [function(p.v[0]) - function(v) for v in p.v[1:]]
            for function in (lambda v: evaluate(formula, at(p, v)), lambda v: exact(p, v))
        )
        scale = 1 + sum(map(abs, shown)) * sum(map(abs, true))
        return -abs(shown[0] * true[1] - shown[1] * true[0]) / scale

    return slack


_PROFILE = r"\frac{\big\|X_i - \tau\Xdiese_{\pi(i)} - \beta\big\|_2^2}{2\tau^2\sdiesesq_{\pi(i)}}"
_NOISE_PROFILE = _PROFILE + r" + d\log(\tau\sdiesesq_{\pi(i)})"


def profile(p, added=0.0, variance=1.0):
    residual = (p.x - p.tau * p.x_sharp - p.beta) ** 2 + added
    return {
        r"\big\|X_i - \tau\Xdiese_{\pi(i)} - \beta\big\|_2^2": residual,
        r"\|X_i  - \tau \Xdiese_{\pi(i)} - \beta\|_2^2": residual,
        r"\sdiesesq_{\pi(i)}": variance,
        r"\tau": p.tau,
        "d": p.d,
    }


def feature_profile(p, shown):
    first, second = (p.x - p.beta) / p.tau, p.x_sharp  # both squares are of distances of theta from these
    least = (first - second) ** 2 / 2
    at_theta = (first - p.theta) ** 2 + (second - p.theta) ** 2
    return min(at_theta - shown, -abs(least - shown)) / (1 + shown)


def noise_profile(p, shown):
    """Compare d times the displayed logarithm, and the constant left out, with the function minimised."""
    shown = p.d * (shown + 1 - math.log(2 * p.d))
    best = profile(p, 1.0)[r"\|X_i  - \tau \Xdiese_{\pi(i)} - \beta\|_2^2"] / (2 * p.tau**2 * p.d)
    reached, elsewhere = (
        evaluate(_NOISE_PROFILE, profile(p, 1.0, variance)) for variance in (best, p.theta**2 + p.d / 10)
    )
    return min(elsewhere - shown, -abs(reached - shown)) / (p.d + abs(shown))


def means(p):
    centre = sum(p.theta) / 3
    return {
        r"\sum_{i=1}^n \| \Exp[Z_i]\|_2^2": sum((value - centre) ** 2 for value in p.theta),
        r"\taustar": p.scale,
    }


def cross_expectation(p, right):
    sharp = [(value - p.shift) / p.scale for value in p.theta]
    # The covariance of two lists needs only one of them centred.
    left = dot(p.theta, sharp) - sum(p.theta) * sum(sharp) / 3
    return -abs(left - right) / (abs(left) + abs(right))


_RATIO = r"\frac{\sum_{i=1}^n Z_i^\top\Zdiese_{\pi(i)}}{\sum_{i=1}^n \|\Zdiese_{\pi(i)}\|_2^2}"
_TAU_HAT = r"\brr{\frac{\sum_{i=1}^n \| Z_i\|_2^2}{\sum_{i=1}^n \| \Zdiese_i\|_2^2}}^{1/2}"
_MEANS = r"\sum_{i=1}^n \| \Exp[Z_i]\|_2^2"

TRANSCRIPTIONS = {
    "section-4-scale-minimiser": T(514, (rf"\brr{{{_RATIO}}}^{{\frac{{1}}{{2}}}}",), sums, scale_minimiser),
    "section-4-scale-minimiser-repaired": ours(
        "the display without its root", (_RATIO,), sums, scale_minimiser
    ),
    "section-4-profile-minimiser": ours(
        "a better reading of a sentence; the estimator is the paper's", (_TAU_HAT,), sums, profile_minimiser
    ),
    "section-4-likelihood": T(
        465,
        (),
        no_symbols,
        likelihood(_SQUARES + r" + d\log\big(\tau\sdiesesq_{\pi(i)}\big)"),
    ),
    "section-4-likelihood-repaired": ours(
        "the display with 2d for d",
        (),
        no_symbols,
        likelihood(_SQUARES + r" + 2 d\log\big(\tau\sdiesesq_{\pi(i)}\big)"),
    ),
    "section-4-feature-profile": T(472, (_PROFILE,), profile, feature_profile),
    "section-4-noise-profile": T(
        476,
        (r"\log \brr{\frac{\|X_i  - \tau \Xdiese_{\pi(i)} - \beta\|_2^2}{\tau}}",),
        lambda p: profile(p, 1.0),
        noise_profile,
    ),
    "section-4-cross-expectation": T(519, (_MEANS,), means, cross_expectation),
    "section-4-cross-expectation-repaired": ours(
        "the display with its factor restored", (rf"{_MEANS} / \taustar",), means, cross_expectation
    ),
    "section-4-second-moment": T(
        519,
        (_MEANS,),
        lambda p: {_MEANS: p.square},
        lambda p, shown: 1 - (p.square + p.d * p.variance) / (shown + p.d * p.variance / 1000),
    ),
    "section-4-conditional": T(
        519,
        (_MEANS,),
        lambda p: {_MEANS: p.square},
        # The mean of a product of half-normal variables is 2/pi times the variance, more than half of it.
        lambda p, shown: (shown - p.variance / 2) / p.variance,
    ),
    "log-tangent": ours(
        "a fact of analysis on which steps rest",
        (r"\log(w)", "w - 1"),
        vars,
        lambda p, left, right: (right - left) / (1 + p.w),
    ),
}
