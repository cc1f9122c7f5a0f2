"""What the audit says about a step: proved, refuted at an exact witness, or searched only."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from verification.audit.proofs.kernel import Proof, failures
from verification.audit.proofs.registry import PROOFS, WITNESSES, stored_trees
from verification.audit.proofs.witnesses import doubts
from verification.audit.search import Effort, Finding, least_slack
from verification.audit.step import Step

#: How a goal of each kind was settled, in words.
_WAYS = {
    "algebra": "signs of coefficients",
    "boxes": "interval arithmetic on boxes",
    "number": "interval arithmetic",
    "zero": "an identity",
}


class AuditStep(NamedTuple):
    """The audit's answer on one step."""

    id: str
    statement: str
    formula: str
    verdict: str
    """``proved``, ``refuted`` or ``searched only``."""
    method: str
    """What decided: the ways in which a proof's goals were settled, or the kind of witness."""
    reduction: str
    """The part of the proof that is a person's argument; empty if there is none."""
    searched: int
    """Points at which the step was evaluated."""
    worst_slack: float
    """The least slack that the search found: for left <= right the share 1 - left/right that is left over."""
    witness: dict[str, float]
    """The quantities at the least slack."""
    exact_witness: dict[str, str]
    """For a refuted step the quantities as fractions, at which the violation is certified."""
    explanation: str
    repair: str
    """What makes a failing step true; empty where nothing is needed."""
    controls: list[dict[str, str]]
    """Falsified versions of the step, with the keys name, verdict and expected."""


class _Settled(NamedTuple):
    verdict: str
    method: str
    reduction: str
    exact_witness: dict[str, str]
    summary: str


def audit(step: Step, seed: int, effort: Effort) -> AuditStep:
    """Decide one step, and search it and its controls; the numbers depend on seed and id alone."""
    finding = least_slack(step.problem, _generator(step.id, seed), effort)
    controls = [
        {
            "name": name,
            "verdict": least_slack(problem, _generator(f"{step.id}/{name}", seed), effort).verdict,
            "expected": "refuted",
        }
        for name, problem in step.controls.items()
    ]
    settled = _settle(step, finding)
    return AuditStep(
        step.id,
        step.statement,
        step.formula,
        settled.verdict,
        settled.method,
        settled.reduction,
        finding.searched,
        finding.slack,
        flatten(finding.witness),
        settled.exact_witness,
        " ".join(filter(None, [settled.summary, _text(step.explain, finding)])),
        _text(step.repair, finding),
        controls,
    )


def _settle(step: Step, finding: Finding) -> _Settled:
    """Take a certified witness before anything, then what the search found, then a proof that stands."""
    if step.id in WITNESSES and not doubts(step.problem, WITNESSES[step.id]):
        point = _fractions(WITNESSES[step.id].point)
        where = ", ".join(f"{name} = {value}" for name, value in point.items())
        summary = f"As written the step fails: for instance at {where}, certified in interval arithmetic."
        return _Settled("refuted", "exact witness", "", point, summary)
    if finding.verdict == "refuted":
        where = ", ".join(f"{name} = {value:.6g}" for name, value in flatten(finding.witness).items())
        summary = f"The step fails at {where}, where the slack is {finding.slack:.3g} in 60 digits."
        return _Settled("refuted", "witness of the search", "", {}, summary)
    wrong = ["there is no proof"]
    if step.id in PROOFS:
        wrong = failures(step.problem, PROOFS[step.id], stored_trees().get(step.id, {}))
        if not wrong:
            return _proved(PROOFS[step.id], finding)
    summary = f"Not settled: {wrong[0]}. {_search_summary(finding)}"
    return _Settled("searched only", "search", "", {}, summary)


def _proved(proof: Proof, finding: Finding) -> _Settled:
    method = ", ".join(_WAYS[kind] for kind in proof.kinds)
    uses = f"It rests on {', '.join(proof.uses)}." if proof.uses else ""
    summary = " ".join(filter(None, [f"Proved by {method}.", uses, _search_summary(finding)]))
    return _Settled("proved", method, proof.reduction, {}, summary)


def _search_summary(finding: Finding) -> str:
    if finding.constant:
        return "Nothing varies: the slack is the same at every point, and a search adds nothing."
    slack = "0 up to rounding" if abs(finding.slack) < 1e-12 else f"{finding.slack:.3g}"
    return f"The least slack among {finding.searched:,} points is {slack}."


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


#: Names of quantities as a reader of the paper knows them.
_NAMES = {
    "log_4_delta": "log(4/delta)",
    "lam": "lambda",
    "scale": "tau*",
    "z": "Z",
    "z_sharp": "Z#",
    "first_sum": "first sum",
    "second_sum": "second sum",
}


def _fractions(point: Mapping[str, Any]) -> dict[str, str]:
    return {
        _NAMES.get(name, name): "(" + ", ".join(str(Fraction(entry)) for entry in value) + ")"
        if isinstance(value, list)
        else str(Fraction(value))
        for name, value in point.items()
    }


def _text(words: Callable[[Finding], str] | str, finding: Finding) -> str:
    return words if isinstance(words, str) else words(finding)


def _generator(key: str, seed: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence([seed, zlib.crc32(key.encode())]))
