"""What a run leaves behind: verdicts.json, the pictures, and one HTML file that needs nothing else."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from verification.audit.outcomes import AuditOutcome
from verification.claims.outcomes import Outcome
from verification.engine.errors import explain
from verification.engine.files import write_together
from verification.engine.tally import MULTIPLES
from verification.report import alignment_maps, pictures
from verification.report.environment import environment
from verification.report.typesetting import formula, number
from verification.statistics.binomial import CLAIM_LEVEL, CONTROLS, SENSITIVITY, STATEMENTS, SUITE_ERROR


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
    left_out: Sequence[str] = ()
    """Claims that the profile has no cells of."""
    not_asked: int = 0
    """How many claims ``--only`` left out."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """Files that should hold claims and cannot be imported, and why."""
    files: Sequence[str] = ()
    """The files of one's own whose claims were run; none for those of the suite."""

    @property
    def broken(self) -> dict[str, str]:
        """The claims whose code ended in an error, with those files, and what went wrong."""
        ended = {item.claim.id: item.decision.detail for item in self.outcomes if item.is_broken}
        return {**ended, **self.unread}

    @property
    def result(self) -> str:
        """RED if something is wrong, BROKEN if a claim cannot run, UNDECIDED if one is open, or green."""
        if any(outcome.is_red for outcome in self.outcomes) or any(step.is_red for step in self.audit):
            return "RED"
        if self.broken:
            return "BROKEN"
        return "UNDECIDED" if any(outcome.is_undecided for outcome in self.outcomes) else "green"


def write(record: Record, out: Path) -> dict[str, str]:
    """Write verdicts.json, pictures/ and report.html into `out`, all of them or nothing.

    Gives by claim the errors of pictures that could not be drawn; the report is written without them.
    """
    (out / "pictures").mkdir(parents=True, exist_ok=True)
    drawn, undrawn = _draw(record.outcomes)
    files = {
        out / "pictures" / f"{outcome.claim.slug}.svg": drawn[outcome.claim.id].alone
        for outcome in record.outcomes
        if outcome.claim.id in drawn
    }
    facts = environment(record.profile, record.seed, record.seconds)
    verdicts = {
        **facts,
        "left_out": list(record.left_out),
        "broken": record.broken,
        "claims": [*map(_claim_json, record.outcomes), *(step.to_json() for step in record.audit)],
    }
    files[out / "verdicts.json"] = json.dumps(_plain(verdicts), indent=1, ensure_ascii=False) + "\n"
    files[out / "report.html"] = _render(record, facts, drawn)
    write_together(files)
    return undrawn


def _draw(outcomes: Sequence[Outcome]) -> tuple[dict[str, pictures.Picture], dict[str, str]]:
    drawn, undrawn = {}, {}
    for outcome in outcomes:
        if outcome.decision.cells:
            try:
                drawn[outcome.claim.id] = pictures.draw(outcome)
            except Exception as error:
                undrawn[outcome.claim.id] = explain(error)
    return drawn, undrawn


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
    jinja.filters["number"] = number
    jinja.filters["formula"] = formula
    jinja.filters["svg"] = Markup
    jinja.filters["slack"] = _slack
    jinja.filters["multiple"] = _multiple
    jinja.filters["count"] = lambda value: "–" if value is None else f"{value:,}".replace(",", "\u202f")
    return jinja.get_template("page.html.j2").render(
        record=record,
        facts=facts,
        pictures={
            key: (Markup(picture.inline), Markup(picture.narrow), picture.legend)
            for key, picture in drawn.items()
        },
        heat_maps=None if record.files else alignment_maps.load(),
        suite_error=SUITE_ERROR,
        level=CLAIM_LEVEL,
        statements=STATEMENTS,
        controls=CONTROLS,
        sensitivity=SENSITIVITY[record.profile],
    )


def _multiple(value: float | None) -> str:
    """Give a multiple of a bound; the trials count exceedances of a thousandth and more only."""
    if value is None:
        return "–"
    return "less than × 0.001" if value <= MULTIPLES[0] else f"× {number(value)}"


def _slack(value: Any) -> str:
    """Give the least slack of a step; an identity's is 0, whatever rounding makes of it."""
    rounding = isinstance(value, float) and abs(value) < 1e-12
    return "0 up to rounding" if rounding else number(value)


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
