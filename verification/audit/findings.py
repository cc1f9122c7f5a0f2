"""The steps that fail as written: where in the paper, what is wrong, and what it changes.

Lines are those of the paper's source in one file, ``exact-permutation-recovery.tex``. The witness of each
finding is in :mod:`verification.audit.proofs.witnesses`, the repair with the step. None of
them overturns a theorem.
"""

from __future__ import annotations

from typing import NamedTuple


class Listed(NamedTuple):
    """A failure that is known."""

    line: int
    place: str
    what: str
    consequence: str


_MOTIVATION = "none: a motivation"

FINDINGS = {
    "section-4-scale-minimiser": Listed(
        514,
        "section 4, tau-hat_0",
        "the minimiser of a quadratic carries no square root",
        "the formula of tau-hat_0; tau-hat_n is right",
    ),
    "section-4-likelihood": Listed(
        465,
        "section 4, likelihood",
        "the logarithm's coefficient is d where the likelihood has 2d",
        "none: profiling removes the coefficient",
    ),
    "section-4-cross-expectation": Listed(
        519, "section 4, expectation", "a factor 1/tau* is missing, harmless at tau* = 1", _MOTIVATION
    ),
    "section-4-second-moment": Listed(
        516,
        "section 4, from the display to tau-hat_n",
        "the mean of a squared norm is taken for the squared norm of the mean",
        _MOTIVATION,
    ),
    "section-4-conditional": Listed(
        518,
        "section 4, expectation",
        "an expectation under a condition is taken without it",
        _MOTIVATION,
    ),
    "prop-1-lemma-2-citation": Listed(
        679,
        "Proposition 1, linear term",
        "the two-sided Lemma 2 gives delta, not delta/2",
        "none: one side is used at a time",
    ),
    "thm-1-error-identity": Listed(
        751,
        "Theorem 1, first display",
        "a factor tau*^2 is missing, harmless at tau* = 1",
        "none: the proof sets tau* = 1",
    ),
    "thm-1-expectation": Listed(
        402,
        "after Theorem 1, in expectation",
        "the third term is not dominated once d is far above n",
        "the bound cannot be had by integration",
    ),
    "thm-1-expectation-display": Listed(
        402,
        "after Theorem 1, in expectation",
        "in one or two dimensions the expectation may be arbitrarily large",
        "the display needs d >= 16 alpha^2; then it holds with constant 6",
    ),
    "lemma-3-maximum-union": Listed(
        1083,
        "Lemma 3, union bound",
        "2 n^2 variables are counted as 2n",
        "none: the lemma keeps its statement",
    ),
    "lemma-3-maximum-event": Listed(
        1083,
        "Lemma 3, maximum",
        "the maximum of 2 n^2 independent variables passes the bound for 2n",
        "none: the lemma keeps its statement",
    ),
    "zeta-1-fixed-direction": Listed(
        949,
        "Theorem 2, zeta_1",
        "the unit vectors of zeta_1 move with tau, those of Lemma 3 do not",
        "none: the same constants, in a plane",
    ),
    "thm-2-first-term": Listed(
        1040,
        "Theorem 2, last display",
        "two positive terms of Theorem 1 are left out",
        "none: 52 covers them",
    ),
    "thm-2-zeta-1-term": Listed(
        1018,
        "Theorem 2, zeta_1's threshold",
        "Lemma 3's term in epsilon is left out",
        "none: 5 and 17 cover it",
    ),
    "thm-2-zeta-2-term": Listed(
        1024,
        "Theorem 2, zeta_2's threshold",
        "Lemma 4's terms in epsilon are left out",
        "none: 5 and 17 cover them",
    ),
    "thm-2-combination": Listed(
        1026,
        "Theorem 2, combined display",
        "12 n^3 stands where 24 n^3 is needed",
        "none: the next display has 24 n^3",
    ),
    "thm-2-probability": Listed(
        1010,
        "Theorem 2, probabilities",
        "Theorem 1 is used with delta and stated with 4 delta",
        "none: 4 delta, from its proof at delta/2",
    ),
    "prop-1-frobenius-remark": Listed(
        372,
        "after Proposition 1, around the mean",
        "the bounds around the mean follow from the proof, not from the statement",
        "none: they are true",
    ),
    "thm-2-zeta-1-defined": Listed(
        949, "Theorem 2, zeta_1", "a quotient is 0/0 for i = j and tau = 1", "none: read it as 0"
    ),
    "thm-2-random-separation": Listed(
        1008,
        "Theorem 2, probabilities",
        "a random separation is used outside the event that bounds it",
        "none: intersect with that event",
    ),
}
