"""The paper's formulas, copied from its LaTeX source, and how the slack of a step follows from their values.

An entry has the line of the source, the formulas, the values of their symbols, and the slack. It was made
from the paper's text, not from the audit's code. Norms and sums that stand for one number are symbols.
"""

import math
from types import SimpleNamespace
from typing import NamedTuple

from tests.verification.audit.latex import evaluate


class Transcription(NamedTuple):
    line: int
    formulas: tuple
    symbols: object
    slack: object

    def at(self, point):
        """Evaluate the slack at a point of the step's region."""
        p = SimpleNamespace(**point)
        return self.slack(p, *(evaluate(formula, self.symbols(p)) for formula in self.formulas))


def at_most(p, left, right):
    return 1 - left / right


def squares(p, left, right):
    return 1 - (left / right) ** 2


def norms(p):
    second, fourth = (sum(s**k for s in p.sigma) for k in (2, 4))
    return {
        "n": p.n,
        r"\sigma_i": p.sigma[0],
        r"\sigma_{\max}": max(p.sigma),
        r"\alpha_\sigma": max(p.sigma) / math.sqrt(second),
        r"\|\bsigma\|_2^2": second,
        r"\| \bsigma\|_2^2": second,
        r"\|\bsigma\|_2^4": second**2,
        r"\|\bsigma\|_4^2": math.sqrt(fourth),
        r"\|\bsigma\|_4^4": fourth,
        r"\|\bmu\|_2^2": sum(x**2 for x in getattr(p, "mu", [0])),
    }


def sizes(p):
    """Give the scalars of the theorems, with delta itself."""
    found = {"n": "n", "d": "d", r"\alpha_\sigma": "alpha", r"\lambda": "lam", r"\varepsilon": "epsilon"}
    values = {latex: getattr(p, name) for latex, name in found.items() if hasattr(p, name)}
    if hasattr(p, "log_4_delta"):
        values[r"\delta"] = 4 * math.exp(-p.log_4_delta)
    if hasattr(p, "log_2_delta"):
        values[r"\delta"] = 2 * math.exp(-p.log_2_delta)
    return values


def pair(p):
    return {
        r"\omega_i": 1.0,
        r"\omega_j": p.ratio,
        "a": p.a,
        "g_i": getattr(p, "g", 0),
        r"g^\prime_j": getattr(p, "g_prime", 0),
        "M_g": max(abs(getattr(p, "g", 0)), abs(getattr(p, "g_prime", 0))),
    }


def proxy(p):
    near = math.hypot(p.mu_i[0] - p.mu_j, p.mu_i[1]) / math.hypot(1, p.s_j)
    return {
        r"\varepsilon_{\tau}": p.epsilon,
        r"\kappaZ": near,
        r"\max_{i\in[n]}\frac{\|\mu_i\|_2}{s_i}": p.mu_j / p.s_j,
        r"\tauhat_n": p.tau,
        r"\| \mu_i \|_2": 1.0,
        r"\|\mu_i\|_2": 1.0,
        "s_i": 1.0,
    }


def kappa_relation(p, right):
    far = math.hypot(p.mu_i[0] - p.tau * p.mu_j, p.mu_i[1]) / math.hypot(1, p.tau * p.s_j)
    return (1 + p.epsilon) * (far - right) / (far + proxy(p)[r"\kappaZ"])


def kappas(p):
    return {r"\tilde{\kappa}_{i,i}": p.kappa_ii, r"\tilde{\kappa}_{i,j}": p.kappa, r"\zeta_1": p.zeta_1}


def jensen(p):
    name = r"\log\left(\frac{(1+t^2)s_i^2}{s_i^2+t^2 s_{\pi(i)}^2}\right)"
    count = int(p.n)
    return -sum(
        evaluate(name, {"t": p.t, "s_i": s, r"s_{\pi(i)}": moved})
        for s, moved in list(zip(p.s, p.s_pi, strict=True))[:count]
    )


def sums(p):
    cross = sum(a * b for a, b in zip(p.z, p.z_sharp, strict=True))
    return {
        r"\sum_{i=1}^n Z_i^\top\Zdiese_{\pi(i)}": cross,
        r"\sum_{i=1}^n \|\Zdiese_{\pi(i)}\|_2^2": sum(b * b for b in p.z_sharp),
    }


def scale_minimiser(p, claimed):
    def squared(tau):
        return sum((a - tau * b) ** 2 for a, b in zip(p.z, p.z_sharp, strict=True))

    values = list(sums(p).values())
    best = min(squared(p.tau), squared(values[0] / values[1]))
    return (best - squared(claimed)) / sum(a * a + b * b for a, b in zip(p.z, p.z_sharp, strict=True))


def error_symbols(p):
    return {
        r"\taustar": p.scale,
        r"\hat{\tau}_n^2": p.first_sum / p.second_sum,
        r"\sum_{i=1}^n (\| Z_i\|_2^2 - \| \Zdiese_i\|_2^2)": p.first_sum - p.second_sum,
        r"\sum_{i=1}^n \| \Zdiese_i\|_2^2": p.second_sum,
    }


def derivative(p, shown):
    """Compare the displayed derivative with that of the displayed function, by a complex step."""
    function = r"\frac{\omega_i g_i - a \omega_j g^\prime_j}{\sqrt{\omega_i^2 + a^2\omega_j^2}}"
    exact = evaluate(function, {**pair(p), "a": p.a + 1e-30j}).imag / 1e-30
    return -abs(exact - shown)


def tail(count):
    """Give the slack of a union bound over count(p) variables with tails exp(-x)."""
    return lambda p, x: 1 - count(p) * math.exp(-x) / (2 * math.exp(-p.log_4_delta))


_THREE = (
    r"12\sqrt{\frac{\alpha_\sigma^2\log(4/\delta)}{\lambda^2 + d}} + "
    r"\frac{2\alpha_\sigma^2\log(4/\delta)}{\lambda^2 + d} + \frac{2d}{n(\lambda^2 + d)}"
)
_H = (
    r"\lambda^2 + d - 6\alpha_\sigma(\lambda+\sqrt{d})\sqrt{2\log(2/\delta)} "
    r"- 2\alpha_\sigma^2\log(2/\delta) - \frac{2d}{n}"
)
_NUMERATOR = (
    r"4\alpha_\sigma(\lambda+\sqrt{d})\sqrt{2\log(2/\delta)} + 2\alpha_\sigma^2\log(2/\delta) + n^{-1}d"
)
_DENOMINATOR = r"\lambda^2 + d - 2\alpha_\sigma(\lambda+\sqrt{d})\sqrt{2\log(2/\delta)} - n^{-1}d"
_TERMS = (
    r"12\alpha_\sigma\sqrt{\frac{\log(2/\delta)}{\lambda^2 + d}} + "
    r"\frac{2\alpha_\sigma^2\log(2/\delta) + 2n^{-1}d}{\lambda^2 + d}"
)
_SLOPE = (
    r"\frac{\omega_i^2 \omega_j g^\prime_j + a \omega_j^2 \omega_i g_i}{(\omega_i^2 + a^2\omega_j^2)^{3/2}}"
)
_FACTOR = r"\frac{\omega_i \omega_j (\omega_i + a \omega_j)}{(\omega_i^2 + a^2\omega_j^2)^{3/2}}"
_LEMMA_3 = r"\sqrt{2 \log\left(12 n^3 / \delta\right)} + \frac{2\varepsilon}{n} \sqrt{\log(8n/\delta)}"
_LEMMA_4 = (
    r"2\sqrt{d \log(12 n^3 / \delta)} + 2\log(12 n^3 / \delta) + \frac{4\varepsilon}{n} "
    r"\left( d + 2\sqrt{d \log(4n/\delta)} + 2\log(4n/\delta) \right)"
)
_THRESHOLD = r"5\,\big(d \log(12 n^3 / \delta)\big)^{1/4} + 17 \,\sqrt{\log(24 n^3 / \delta)}"
_ZETA_1 = r"8 \sqrt{2 \log\left(24 n^3 / \delta\right)}"
_ZETA_2 = r"\tfrac{32}{3}\big(\sqrt{d \log(12 n^3 / \delta)} + \log(12 n^3 / \delta)\big)"
_ROOTS = (
    r"\sqrt{\tfrac{32}{3}}\,\big(d \log(12 n^3 / \delta)\big)^{1/4} + "
    r"8\sqrt{2 \log\left(24 n^3 / \delta\right)}"
)


def halved(p):
    """Give the sizes with delta/2 in place of delta."""
    values = sizes(p)
    return {**values, r"\delta": values[r"\delta"] / 2}


def lemma_3(p):
    """Give Lemma 3's bound at delta/2."""
    return evaluate(_LEMMA_3, halved(p))


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


T = Transcription
TRANSCRIPTIONS = {
    "section-4-scale-minimiser": T(
        514,
        (
            r"\brr{\frac{\sum_{i=1}^n Z_i^\top\Zdiese_{\pi(i)}}{\sum_{i=1}^n \|\Zdiese_{\pi(i)}\|_2^2}}"
            r"^{\frac{1}{2}}",
        ),
        sums,
        scale_minimiser,
    ),
    "prop-1-centred-variance": T(
        348,
        (r"\frac{n-2}{n} \sigma_i^2 + \frac{1}{n^2} \| \bsigma\|_2^2",),
        norms,
        lambda p, shown: (
            -abs(sum((s * ((k == 0) - 1 / p.n)) ** 2 for k, s in enumerate(p.sigma[: int(p.n)])) / shown - 1)
        ),
    ),
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
        lambda p, right: 1 - noise_form(p) / (right * sum(x * x for x in p.x)),
    ),
    "prop-1-lemma-2-citation": T(
        661,
        (r"2\exp(-x^2/(2\sum_{i=1}^n \sigma_i^2 \|a_i\|^2))",),
        lambda p: {"x": math.sqrt(2 * math.log(2 / p.delta)), r"\sum_{i=1}^n \sigma_i^2 \|a_i\|^2": 1.0},
        lambda p, left: 1 - left / (p.delta / 2),
    ),
    "thm-1-error-identity": T(
        751,
        (
            r"\frac{\hat{\tau}_n^2 }{\taustar^2}- 1",
            r"\frac{\sum_{i=1}^n (\| Z_i\|_2^2 - \| \Zdiese_i\|_2^2)}"
            r"{\taustar^2\sum_{i=1}^n \| \Zdiese_i\|_2^2}",
        ),
        error_symbols,
        lambda p, left, right: -abs(left - right) / (1 + abs(left)),
    ),
    "thm-1-noise-norms": T(
        795, (r"\frac{\|\bsigma\|_4^2}{\|\bsigma\|_2^2}", r"\alpha_\sigma"), norms, at_most
    ),
    "thm-1-cross-terms": T(
        797, (r"\sqrt{2}\lambda + \sqrt{d}", r"\sqrt{2}(\lambda+\sqrt{d})"), sizes, at_most
    ),
    "thm-1-h-nonnegative": T(820, (_H,), sizes, lambda p, h: h / (p.lam**2 + p.d)),
    "thm-1-h-minimum": T(
        829,
        (
            _H,
            r"d - 20\alpha_\sigma^2\log(2/\delta) - 6\alpha_\sigma\sqrt{2d\log(2/\delta)} - \frac{2d}{n}",
            r"3\alpha_\sigma\sqrt{2\log(2/\delta)}",
        ),
        sizes,
        lambda p, h, least, star: (
            min(-abs(evaluate(_H, {**sizes(p), r"\lambda": star}) - least), h - least) / (p.d + p.lam**2)
        ),
    ),
    "thm-1-am-gm": T(
        833,
        (r"6\alpha_\sigma\sqrt{2d\log(2/\delta)}", r"d/2 + 36\alpha_\sigma^2\log(2/\delta)"),
        sizes,
        at_most,
    ),
    "thm-1-quotient": T(844, (r"\frac{a}{b}", r"\frac{a+x}{b+x}"), vars, at_most),
    "thm-1-last-step": T(864, (r"\lambda + \sqrt{d}", r"\sqrt{2(\lambda^2 + d)}"), sizes, squares),
    "thm-1-three-terms": T(
        850,
        (_NUMERATOR, _DENOMINATOR, _TERMS),
        sizes,
        lambda p, over, under, right: min(1 - over / under / right, under / (p.lam**2 + p.d)),
    ),
    "thm-1-expectation": T(
        402,
        (
            r"\frac{2d}{n(\lambda^2 + d)}",
            r"\sqrt{\frac{\alpha_\sigma^2}{\lambda^2 + d}}",
            r"\frac{\alpha_\sigma^2}{\lambda^2 + d}",
        ),
        sizes,
        lambda p, third, small, large: 1 - third / (100 * max(small, large)),
    ),
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
        (r"\sqrt{2 \log(8n/\delta)}",),
        sizes,
        lambda p, t: tail(lambda p: 2 * 2 * p.n**2)(p, t**2 / 2),
    ),
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
    "lemma-4-maximum-union": T(1154, (r"\log(4n/\delta)",), sizes, tail(lambda p: 2 * p.n)),
    "lemma-4-net-union": T(1162, (r"\log(12 n^3 / \delta)",), sizes, tail(lambda p: 6 * p.n**3)),
    "zeta-1-plane-bound": T(
        880,
        (_LEMMA_3,),
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
    "thm-2-jensen": T(917, (), lambda p: {}, jensen),
    "thm-2-kappa-relation": T(
        980,
        (
            r"\frac{1}{1+\varepsilon_{\tau}}\Big(\kappaZ - \varepsilon_{\tau}"
            r"\max_{i\in[n]}\frac{\|\mu_i\|_2}{s_i}\Big)",
        ),
        proxy,
        kappa_relation,
    ),
    "thm-2-kappa-condition": T(
        982,
        (r"(3+2\varepsilon_\tau)\,\varepsilon_{\tau}", r"2\varepsilon_{\tau}"),
        lambda p: {r"\varepsilon_{\tau}": p.epsilon, r"\varepsilon_\tau": p.epsilon},
        lambda p, given, asked: ((given - p.epsilon) / (1 + p.epsilon) - asked) / p.epsilon,
    ),
    "thm-2-kappa-diagonal": T(
        984,
        (
            r"\frac{|1-\tauhat_n| \| \mu_i \|_2}{s_i\sqrt{1+ \tauhat_n^2}}",
            r"\frac{\varepsilon_{\tau}\|\mu_i\|_2}{s_i}",
        ),
        proxy,
        lambda p, left, right: (right - left) / (1 + left),
    ),
    "thm-2-quadratic": T(
        995,
        (
            r"\tilde{\kappa}_{i,i}^2 + 2\zeta_1(\tilde{\kappa}_{i,i} + \tilde{\kappa}_{i,j})",
            r"3 \zeta_1 \tilde{\kappa}_{i,j}",
            r"\frac{3}{4}\tilde{\kappa}_{i,j}^2",
        ),
        kappas,
        lambda p, before, after, kept: (
            (p.kappa**2 - before - (kept - after)) / (p.kappa**2 + p.zeta_1 * p.kappa)
        ),
    ),
    "thm-2-smallest-variance": T(
        1038,
        (r"\sigma_{\min} \sqrt{1 - 1/n}", r"\frac{n-2}{n} \sigma_i^2 + \frac{1}{n^2} \| \bsigma\|_2^2"),
        lambda p: {**norms(p), r"\sigma_{\min}": p.smallest},
        lambda p, least, square: 1 - least**2 / square,
    ),
    "thm-2-thirteen": T(
        1041,
        (
            r"12\sqrt{\frac{\rho_{\sigma}\lambda^2 \log(4/\delta)}{(1- 1/n)(\lambda^2+d)}}",
            r"13 \sqrt{\rho_{\sigma}\log(4/\delta)}",
        ),
        lambda p: {"n": p.n, r"\rho_{\sigma}": 1.0, r"\lambda": 1.0, "d": 0.0, r"\delta": 0.5},
        squares,
    ),
    "thm-2-half": T(389, (_THREE,), sizes, lambda p, error: 1 - 2 * error),
    "thm-2-half-by-kappa": T(389, (_THREE,), sizes, lambda p, error: 1 - 2 * error),
    "sharp-epsilon": T(389, (_THREE,), sizes, lambda p, error: 1 - error / 0.43),
    "thm-2-first-term": T(
        1040,
        (_THREE, r"12 \sqrt{\frac{\alpha_\sigma^2\log(4/\delta)}{\lambda^2 + d}}"),
        sizes,
        at_most,
    ),
    "thm-2-fifty-two": T(
        1041,
        (_THREE, r"13 \sqrt{\rho_{\sigma}\log(4/\delta)}"),
        lambda p: {**sizes(p), r"\rho_{\sigma}": 1.0},
        lambda p, error, right: 1 - error * p.lam / (p.alpha * math.sqrt(1 - 1 / p.n)) / right,
    ),
    "thm-2-zeta-1-term": T(1018, (_ZETA_1,), sizes, lambda p, right: 1 - 8 * lemma_3(p) / right),
    "thm-2-zeta-2-term": T(
        1024, (_LEMMA_4, _ZETA_2), sizes, lambda p, left, right: 1 - left * 16 / 3 / right
    ),
    "thm-2-seventeen": T(
        1036, (_THRESHOLD,), sizes, lambda p, given: 1 - 8 * lemma_3(p) * (1 + p.epsilon) / given
    ),
    "thm-2-five": T(
        1036,
        (_LEMMA_4, _THRESHOLD),
        sizes,
        lambda p, left, given: 1 - left * 16 / 3 * ((1 + p.epsilon) / given) ** 2,
    ),
    "thm-2-combination": T(
        1026,
        (
            r"128\,\log(24 n^3/\delta)",
            r"\tfrac{32}{3}\sqrt{d\log(12n^3/\delta)} + 128\log(12n^3/\delta)",
        ),
        sizes,
        at_most,
    ),
    "thm-2-sum-of-roots": T(
        1028,
        (_ROOTS, r"128\,\log(24 n^3/\delta)", _ZETA_2),
        sizes,
        lambda p, root, first, second: min(1 - first / root**2, 1 - second / root**2),
    ),
    "thm-2-rounding": T(
        1032,
        (r"(1+\varepsilon) \sqrt{\tfrac{32}{3}}", r"(1+\varepsilon) 8\sqrt{2}", r"3+2\varepsilon"),
        sizes,
        lambda p, five, seventeen, four: min(1 - (five / 5) ** 2, 1 - (seventeen / 17) ** 2, 1 - four / 4),
    ),
}

#: Steps that have no formula of the paper to copy: its words, or a fact about a repair of ours. Their second
#: transcription is the proof's formula in goals, written from the statement and tied to the slack.
WITHOUT_FORMULA = {
    "in words, or a count": {
        "section-4-likelihood",
        "section-4-feature-profile",
        "section-4-noise-profile",
        "section-4-cross-expectation",
        "section-4-second-moment",
        "section-4-conditional",
        "prop-1-cross-term",
        "prop-1-semidefinite",
        "prop-1-one-sided-tail",
        "prop-1-events",
        "prop-1-frobenius-remark",
        "thm-1-logarithm",
        "thm-1-events",
        "thm-1-expectation-display",
        "lemma-3-maximum-event",
        "lemma-4-derivative",
        "zeta-1-fixed-direction",
        "thm-2-scale-passage",
        "thm-2-spread",
        "thm-2-monotone",
        "thm-2-split",
        "thm-2-mean-norm",
        "thm-2-probability",
        "thm-2-some-term",
        "thm-2-right-pair",
        "thm-2-wrong-pair",
        "thm-2-zeta-1-defined",
        "thm-2-random-separation",
    },
    "not the paper's": {
        "section-4-scale-minimiser-repaired",
        "section-4-profile-minimiser",
        "section-4-likelihood-repaired",
        "section-4-cross-expectation-repaired",
        "log-tangent",
        "prop-1-frobenius-centre",
        "thm-1-error-identity-repaired",
        "thm-1-recentred",
        "thm-1-expectation-variance",
        "thm-1-expectation-concave",
        "thm-1-expectation-exponential",
        "thm-1-expectation-repaired",
        "zeta-1-turning",
        "zeta-1-plane",
        "thm-2-forced-distortion",
        "thm-2-small-n",
        "thm-2-probability-repaired",
        "thm-2-lower-threshold",
        "thm-2-chain",
        "sharp-178",
        "sharp-obstruction",
        "sharp-52",
        "sharp-17",
        "sharp-5",
    },
}
