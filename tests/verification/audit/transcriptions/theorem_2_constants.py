"""Theorem 2's constants 5, 17 and 52, and the sharper ones."""

import math

from tests.verification.audit.latex import evaluate
from tests.verification.audit.transcriptions.entry import Transcription as T
from tests.verification.audit.transcriptions.entry import at_most, halved, ours, sizes, squares
from tests.verification.audit.transcriptions.lemmas import LEMMA_3

_THREE = (
    r"12\sqrt{\frac{\alpha_\sigma^2\log(4/\delta)}{\lambda^2 + d}} + "
    r"\frac{2\alpha_\sigma^2\log(4/\delta)}{\lambda^2 + d} + \frac{2d}{n(\lambda^2 + d)}"
)
_LEMMA_4 = (
    r"2\sqrt{d \log(12 n^3 / \delta)} + 2\log(12 n^3 / \delta) + \frac{4\varepsilon}{n} "
    r"\left( d + 2\sqrt{d \log(4n/\delta)} + 2\log(4n/\delta) \right)"
)
_THRESHOLD = r"5\,\big(d \log(12 n^3 / \delta)\big)^{1/4} + 17 \,\sqrt{\log(24 n^3 / \delta)}"
_SHARP = (
    r"\frac{468}{100}\,\big(d \log(12 n^3 / \delta)\big)^{1/4} + "
    r"\frac{162}{10} \,\sqrt{\log(24 n^3 / \delta)}"
)
_ZETA_1 = r"8 \sqrt{2 \log\left(24 n^3 / \delta\right)}"
_ZETA_2 = r"\tfrac{32}{3}\big(\sqrt{d \log(12 n^3 / \delta)} + \log(12 n^3 / \delta)\big)"
_ROOTS = (
    r"\sqrt{\tfrac{32}{3}}\,\big(d \log(12 n^3 / \delta)\big)^{1/4} + "
    r"8\sqrt{2 \log\left(24 n^3 / \delta\right)}"
)


def lemma_3(p):
    """Give Lemma 3's bound at delta/2."""
    return evaluate(LEMMA_3, halved(p))


def zeta_1(p, given):
    return 1 - 8 * lemma_3(p) * (1 + p.epsilon) / given


def zeta_2(p, left, given):
    return 1 - left * 16 / 3 * ((1 + p.epsilon) / given) ** 2


def obstruction(p, error, right):
    """Compare the error of the scale times lambda |sigma| / (sigma_min sqrt(1 - 1/n)), at rho = 1."""
    return 1 - error * p.lam / (p.alpha * math.sqrt(1 - 1 / p.n)) / right


def with_rho(p):
    return {**sizes(p), r"\rho_{\sigma}": 1.0}


_CONSTANT = "the paper's formula with a sharper constant"

TRANSCRIPTIONS = {
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
    "thm-2-fifty-two": T(1041, (_THREE, r"13 \sqrt{\rho_{\sigma}\log(4/\delta)}"), with_rho, obstruction),
    "sharp-obstruction": ours(
        _CONSTANT,
        (_THREE, r"\frac{1231}{100} \sqrt{\rho_{\sigma}\log(4/\delta)}"),
        with_rho,
        obstruction,
    ),
    "sharp-52": ours(
        _CONSTANT,
        (r"(3+2\varepsilon)\frac{1231}{100}", r"\frac{4752}{100}"),
        sizes,
        at_most,
    ),
    "thm-2-zeta-1-term": T(1018, (_ZETA_1,), sizes, lambda p, right: 1 - 8 * lemma_3(p) / right),
    "thm-2-zeta-2-term": T(
        1024, (_LEMMA_4, _ZETA_2), sizes, lambda p, left, right: 1 - left * 16 / 3 / right
    ),
    "thm-2-seventeen": T(1036, (_THRESHOLD,), sizes, zeta_1),
    "sharp-17": ours(_CONSTANT, (_SHARP,), sizes, zeta_1),
    "thm-2-five": T(1036, (_LEMMA_4, _THRESHOLD), sizes, zeta_2),
    "sharp-5": ours(_CONSTANT, (_LEMMA_4, _SHARP), sizes, zeta_2),
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
