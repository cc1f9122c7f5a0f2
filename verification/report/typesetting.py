"""Numbers and formulas as readers want them: typed on one line in the code, set on the page."""

from __future__ import annotations

import math
import re
from typing import Any

from markupsafe import Markup, escape

_GREEK = {
    "alpha": "α",
    "beta": "β",
    "delta": "δ",
    "epsilon": "ε",
    "eps": "ε",
    "eta": "η",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "omega": "ω",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "theta": "θ",
    "xi": "ξ",
    "zeta": "ζ",
}

_SIGNS = {"-hat": "\u0302", "<=": "≤", ">=": "≥", "||": "‖", "sum_": "Σ_", "sqrt(": "√(", " - ": " − "}


def number(value: Any) -> str:
    """Give a number as a reader wants it: three digits, a dash for none."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "undefined"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value)).replace("-", "−")
    text = f"{value:,.0f}".replace(",", "\u202f") if 999.5 <= abs(value) < 1e9 else f"{value:.3g}"
    return text.replace("-", "−")


def greek(text: str) -> str:
    """Spell Greek letters and signs in a formula, in plain text.

    Examples
    --------
    >>> greek("rho=25 delta<=0.1")
    'ρ=25 δ≤0.1'
    """
    names = "|".join(_GREEK)  # as words, but not inside ids such as thm-2-kappa-relation
    text = re.sub(
        rf"(?<![A-Za-z])(?<!\d-)(?:{names})(?![A-Za-z])(?!-\d)", lambda found: _GREEK[found[0]], text
    )
    for typed, sign in _SIGNS.items():
        text = text.replace(typed, sign)
    return re.sub(r"(?<![\w)-])-(?=\d)", "−", text)


def formula(text: str) -> Markup:
    """Set subscripts, superscripts and powers of ten, and spell Greek letters, in a line that was typed."""
    html = str(escape(greek(text)))
    html = re.sub(r"_\{([^{}]*)\}|_(\d|(?:[A-Za-zα-ω]|[*∞])+(?:\([a-z]\))?)", r"<sub>\1\2</sub>", html)
    html = re.sub(r"\^([\d¼½]+)", r"<sup>\1</sup>", html)
    html = re.sub(r"\^\{([^{}]*)\}|\^\(((?:[^()]|\([^()]*\))*)\)", r"<sup>\1\2</sup>", html)
    return Markup(re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)e([-−+]?)0*(\d+)(?!\w)", _power_of_ten, html))


def _power_of_ten(found: re.Match[str]) -> str:
    times = "" if found[1] == "1" else f"{found[1]} · "
    return f"{times}10<sup>{'' if found[2] in ('', '+') else '−'}{found[3]}</sup>"
