"""The proof audit as part of a run: its steps become claims of the kind "audit"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AuditOutcome:
    """One step of a proof and what the audit found."""

    step: Any
    """An ``AuditStep`` of :mod:`verification.audit`."""
    known: str
    """Why the step is known to fail as written; empty for a step that should hold."""
    line: int | None = None
    """The line of the paper's source, for a known failure."""
    consequence: str = ""
    """What a known failure changes."""

    @property
    def survivors(self) -> list[str]:
        """The names of the falsified versions that the search did not refute."""
        return [c["name"] for c in self.step.controls if c["verdict"] != c["expected"]]

    @property
    def is_red(self) -> bool:
        """Whether the run must fail: a failure that is not a known, published one, or a surviving control."""
        return (self.step.verdict == "refuted" and not self.known) or bool(self.survivors)

    @property
    def is_repaired(self) -> bool:
        """Whether a step that is listed as failing came out otherwise, so that the list is out of date."""
        return bool(self.known) and self.step.verdict != "refuted"

    def to_json(self) -> dict[str, Any]:
        """Give the step in the fields of verdicts.json."""
        step = self.step
        return {
            "id": step.id,
            "statement": step.statement,
            "kind": "audit",
            "verdict": step.verdict,
            "method": step.method,
            "reduction": step.reduction,
            "exact_witness": step.exact_witness,
            "repair": step.repair,
            "line": self.line,
            "consequence": self.consequence,
            "trials": step.searched,
            "violations": int(step.verdict == "refuted"),
            "allowed": 0.0,
            "upper_limit": None,
            "slack": step.worst_slack,
            "controls": list(step.controls),
            "cells": [
                {
                    "name": "least slack",
                    "parameters": dict(step.witness),
                    "trials": step.searched,
                    "violations": int(step.verdict == "refuted"),
                }
            ],
            "trials_per_second": None,
        }


def step_ids() -> list[str]:
    """Give the ids of the audit's steps, in the order of the paper."""
    from verification.audit import STEPS

    return [step.id for step in STEPS]


def run_steps(
    chosen: Iterable[str], profile: str, seed: int, progress: Callable[[str], None] | None = None
) -> list[AuditOutcome]:
    """Decide the chosen steps of the proofs, and search them for counterexamples."""
    wanted = set(chosen)
    if not wanted:
        return []
    from verification.audit import FINDINGS, run_audit

    steps = run_audit(profile, seed, progress, wanted)
    outcomes = []
    for step in steps:
        listed = FINDINGS.get(step.id)
        found = (listed.what, listed.line, listed.consequence) if listed else ("",)
        outcomes.append(AuditOutcome(step, *found))
    return outcomes
