"""What a run leaves behind: verdicts.json, the pictures, and one HTML file that needs nothing else."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from verification.audit.outcomes import AuditOutcome
from verification.claims.outcomes import Outcome
from verification.engine.files import write_together
from verification.engine.tally import MULTIPLES
from verification.report import alignment_maps, pictures
from verification.report.environment import environment
from verification.statistics.binomial import CLAIM_LEVEL, CONTROLS, SENSITIVITY, STATEMENTS, SUITE_ERROR

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


@dataclass(frozen=True)
class Record:
    """Everything that a run found out."""

    outcomes: Sequence[Outcome]
    audit: Sequence[AuditOutcome]
    profile: str
    seed: int
    seconds: float
    workers: str
    scaling: Mapping[int, float]

    @property
    def result(self) -> str:
        """RED if something is wrong, UNDECIDED if a claim or a control is, green otherwise."""
        if any(outcome.is_red for outcome in self.outcomes) or any(step.is_red for step in self.audit):
            return "RED"
        return "UNDECIDED" if any(outcome.is_undecided for outcome in self.outcomes) else "green"


def write(record: Record, out: Path) -> None:
    """Write verdicts.json, pictures/ and report.html into `out`, all of them or nothing."""
    (out / "pictures").mkdir(parents=True, exist_ok=True)
    drawn = {
        outcome.claim.id: pictures.draw(outcome) for outcome in record.outcomes if outcome.decision.cells
    }
    files = {
        out / "pictures" / f"{outcome.claim.slug}.svg": drawn[outcome.claim.id].alone
        for outcome in record.outcomes
        if outcome.claim.id in drawn
    }
    facts = environment(record.profile, record.seed, record.seconds)
    verdicts = {
        **facts,
        "claims": [*map(_claim_json, record.outcomes), *(step.to_json() for step in record.audit)],
    }
    files[out / "verdicts.json"] = json.dumps(_plain(verdicts), indent=1, ensure_ascii=False) + "\n"
    files[out / "report.html"] = _render(record, facts, drawn)
    write_together(files)


def _claim_json(outcome: Outcome) -> dict[str, Any]:
    decision = outcome.decision
    return {
        "id": outcome.claim.id,
        "statement": outcome.claim.statement,
        "kind": outcome.claim.kind,
        "verdict": decision.verdict,
        "trials": decision.trials,
        "violations": decision.violations,
        "allowed": decision.allowed,
        "upper_limit": decision.upper_limit,
        "slack": decision.slack,
        "controls": [
            {"name": control.name, "verdict": control.verdict, "expected": control.expected}
            for control in outcome.controls
        ],
        "cells": list(decision.cells),
        "trials_per_second": outcome.trials_per_second,
    }


def _render(record: Record, facts: Mapping[str, Any], drawn: Mapping[str, pictures.Picture]) -> str:
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    jinja = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters["number"] = _number
    jinja.filters["formula"] = _formula
    jinja.filters["svg"] = Markup
    jinja.filters["slack"] = _slack
    jinja.filters["multiple"] = _multiple
    jinja.filters["count"] = lambda value: "–" if value is None else f"{value:,}".replace(",", "\u202f")
    return jinja.get_template("page.html.j2").render(
        record=record,
        facts=facts,
        pictures={key: (Markup(picture.inline), picture.legend) for key, picture in drawn.items()},
        heat_maps=alignment_maps.load(),
        suite_error=SUITE_ERROR,
        level=CLAIM_LEVEL,
        statements=STATEMENTS,
        controls=CONTROLS,
        sensitivity=SENSITIVITY[record.profile],
    )


def _number(value: Any) -> str:
    """Give a number as a reader wants it: three digits, a dash for none."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "undefined"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value)).replace("-", "−")
    text = f"{value:,.0f}".replace(",", "\u202f") if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
    return text.replace("-", "−")


def _multiple(value: float | None) -> str:
    """Give a multiple of a bound; the trials count exceedances of a thousandth and more only."""
    if value is None:
        return "–"
    return "less than × 0.001" if value <= MULTIPLES[0] else f"× {_number(value)}"


def _slack(value: Any) -> str:
    """Give the least slack of a step; an identity's is 0, whatever rounding makes of it."""
    rounding = isinstance(value, float) and abs(value) < 1e-12
    return "0 up to rounding" if rounding else _number(value)


def _formula(text: str) -> Markup:
    """Set subscripts and superscripts, and spell Greek letters, in a formula typed on one line."""
    names = "|".join(_GREEK)  # as words, but not inside ids such as thm-2-kappa-relation
    text = re.sub(
        rf"(?<![A-Za-z])(?<!\d-)(?:{names})(?![A-Za-z])(?!-\d)", lambda found: _GREEK[found[0]], text
    )
    for typed, sign in _SIGNS.items():
        text = text.replace(typed, sign)
    html = str(escape(text))
    html = re.sub(r"_\{([^{}]*)\}|_(\d|(?:[A-Za-zα-ω]|[*∞])+(?:\([a-z]\))?)", r"<sub>\1\2</sub>", html)
    html = re.sub(r"\^([\d¼½]+)", r"<sup>\1</sup>", html)
    html = re.sub(r"\^\{([^{}]*)\}|\^\(((?:[^()]|\([^()]*\))*)\)", r"<sup>\1\2</sup>", html)
    return Markup(html)


def _plain(value: Any) -> Any:
    """Turn what NumPy left and what JSON cannot say into plain values."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
