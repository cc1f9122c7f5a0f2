"""The proof audit: every deterministic step of the paper's proofs, proved, refuted or only searched.

One file for each proof lists its steps: an inequality or identity, the region on which the proof
asserts it, and falsified versions that a search for counterexamples must refute. Some steps are not the
paper's but repair one of its steps, or settle a question about it; their explanation says so. The proofs of
the steps, and exact witnesses of those that fail, are in :mod:`verification.audit.proofs`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from verification.audit import (
    events,
    expectation,
    lemma_3,
    lemma_4,
    proposition_1,
    section_4,
    sharper,
    theorem_1,
    theorem_2,
    theorem_2_error,
    theorem_2_suprema,
    zeta_1,
)
from verification.audit.auditing import AuditStep, audit
from verification.audit.findings import FINDINGS
from verification.audit.proofs.registry import PROOFS
from verification.audit.search import EFFORTS

__all__ = ["FINDINGS", "KNOWN_FAILURES", "STEPS", "AuditStep", "run_audit"]

_PARTS = (
    section_4,
    proposition_1,
    theorem_1,
    expectation,
    lemma_3,
    lemma_4,
    zeta_1,
    theorem_2,
    theorem_2_error,
    theorem_2_suprema,
    events,
    sharper,
)

#: Every step: in the order of the paper, then what lies between its displays, then sharper constants.
STEPS = tuple(step for part in _PARTS for step in part.STEPS)

#: Steps that fail as written, and why. None of them overturns a theorem: each has a repair.
KNOWN_FAILURES = {name: listed.what for name, listed in FINDINGS.items()}


def run_audit(
    profile: str,
    seed: int,
    progress: Callable[[str], None] | None = None,
    only: Collection[str] | None = None,
) -> list[AuditStep]:
    """Decide every step, and search it and its controls.

    Parameters
    ----------
    profile : {"smoke", "quick", "full"}
        How hard to search: a few seconds, half a minute, some ten minutes.
    seed : int
        At least 0. The numbers of a step depend on it and on the step's id alone.
    progress : callable, optional
        Called with the id of each step when it is done.
    only : collection of str, optional
        The ids of the steps to search, instead of all.

    Returns
    -------
    list of AuditStep
        In the order of the paper.
    """
    if profile not in EFFORTS:
        raise ValueError(f"profile must be one of {', '.join(EFFORTS)}, got {profile!r}")
    results = []
    for step in STEPS:
        if only is not None and step.id not in only:
            continue
        results.append(audit(step, seed, EFFORTS[profile]))
        if progress is not None:
            progress(step.id)
    return [_on_firm_ground(result, results) for result in results]


def _on_firm_ground(result: AuditStep, results: list[AuditStep]) -> AuditStep:
    """Take a proof back if a step on which it rests is not proved."""
    unproved = {other.id for other in results if other.verdict != "proved"}
    missing = [name for name in PROOFS[result.id].uses if name in unproved] if result.id in PROOFS else []
    if result.verdict != "proved" or not missing:
        return result
    return result._replace(verdict="searched only", method=f"rests on {', '.join(missing)}, not proved")
