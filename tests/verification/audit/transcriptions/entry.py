"""An entry, and what several of them share: slacks, symbols, derivatives."""

import math
from types import SimpleNamespace
from typing import NamedTuple

from tests.verification.audit.latex import evaluate


class Transcription(NamedTuple):
    line: int
    """Of the paper's source; 0 for a step that is not in the paper."""
    formulas: tuple
    symbols: object
    slack: object
    reason: str = ""
    """Why the paper has no formula for it."""

    def at(self, point):
        """Evaluate the slack at a point of the step's region."""
        p = SimpleNamespace(**point)
        return self.slack(p, *(evaluate(formula, self.symbols(p)) for formula in self.formulas))


def ours(reason, formulas, symbols, slack):
    """Give the entry of a step that is not the paper's, from the statement of the step."""
    return Transcription(0, formulas, symbols, slack, reason)


def at_most(p, left, right):
    return 1 - left / right


def squares(p, left, right):
    return 1 - (left / right) ** 2


def no_symbols(p):
    return {}


def slope(function, at):
    """Give the derivative of an analytic function, by a complex step."""
    return function(at + 1e-30j).imag / 1e-30


def dot(first, second):
    return sum(a * b for a, b in zip(first, second, strict=True))


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
    if hasattr(p, "delta"):
        values[r"\delta"] = p.delta
    if hasattr(p, "log_4_delta"):
        values[r"\delta"] = 4 * math.exp(-p.log_4_delta)
    if hasattr(p, "log_2_delta"):
        values[r"\delta"] = 2 * math.exp(-p.log_2_delta)
    return values


def halved(p):
    """Give the sizes with delta/2 in place of delta."""
    values = sizes(p)
    return {**values, r"\delta": values[r"\delta"] / 2}
