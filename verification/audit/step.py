"""A step of a proof, what the audit says about it, and how the one becomes the other."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from verification.audit.search import Effort, Finding, Problem, least_slack


class AuditStep(NamedTuple):
    """The audit's answer on one step."""

    id: str
    statement: str
    formula: str
    verdict: str
    """``supported``, ``refuted``, ``vacuous`` or ``inconclusive``."""
    searched: int
    """Points at which the step was evaluated."""
    worst_slack: float
    """The least slack: for left <= right the share 1 - left/right that is left over."""
    witness: dict[str, float]
    """The quantities at the least slack."""
    explanation: str
    repair: str
    """What makes a failing step true; empty where nothing is needed."""
    controls: list[dict[str, str]]
    """Falsified versions of the step, with the keys name, verdict and expected."""


class Step(NamedTuple):
    """A deterministic assertion of a proof, with falsified versions that the search must refute."""

    id: str
    statement: str
    formula: str
    problem: Problem
    controls: dict[str, Problem]
    explain: Callable[[Finding], str] | str = ""
    repair: Callable[[Finding], str] | str = ""


def audit(step: Step, seed: int, effort: Effort) -> AuditStep:
    """Search one step and its controls; the numbers depend on the seed and the step's id alone."""
    finding = least_slack(step.problem, _generator(step.id, seed), effort)
    controls = [
        {
            "name": name,
            "verdict": least_slack(problem, _generator(f"{step.id}/{name}", seed), effort).verdict,
            "expected": "refuted",
        }
        for name, problem in step.controls.items()
    ]
    return AuditStep(
        step.id,
        step.statement,
        step.formula,
        finding.verdict,
        finding.searched,
        finding.slack,
        flatten(finding.witness),
        " ".join(filter(None, [_summary(finding), _text(step.explain, finding)])),
        _text(step.repair, finding),
        controls,
    )


def flatten(witness: Mapping[str, Any]) -> dict[str, float]:
    """Name the entries of vectors one by one, without the padding, and add delta to its logarithm.

    Examples
    --------
    >>> flatten({"n": 2.0, "sigma": [1.0, 3.0, 0.0]})
    {'n': 2.0, 'sigma_1': 1.0, 'sigma_2': 3.0}
    """
    flat: dict[str, float] = {}
    for name, value in witness.items():
        if isinstance(value, list):
            length = int(witness.get("n", len(value)))
            flat.update({f"{name}_{k + 1}": entry for k, entry in enumerate(value[:length])})
        else:
            flat[name] = value
    for name, top in (("log_4_delta", 4), ("log_2_delta", 2)):
        if name in flat and (delta := top * math.exp(-flat[name])) > 0:  # it may be too small for a double
            flat["delta"] = delta
    return flat


def _summary(finding: Finding) -> str:
    if finding.verdict == "vacuous":
        return "No point satisfies the conditions of the statement, so there is nothing to check."
    if finding.verdict == "supported":
        return f"No counterexample among {finding.searched:,} points; the least slack is {finding.slack:.3g}."
    where = ", ".join(f"{name} = {value:.6g}" for name, value in flatten(finding.witness).items())
    return f"As written the step fails, for instance at {where}, where the slack is {finding.slack:.3g}."


def _text(words: Callable[[Finding], str] | str, finding: Finding) -> str:
    return words if isinstance(words, str) else words(finding)


def _generator(key: str, seed: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence([seed, zlib.crc32(key.encode())]))
