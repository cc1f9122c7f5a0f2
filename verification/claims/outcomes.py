"""What became of a claim and of its controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from verification.claims.definition import Claim
from verification.engine.errors import explain
from verification.engine.studies import CLAIM_ROLE
from verification.statistics.decisions import CellCount, Decision


@dataclass(frozen=True)
class ControlOutcome:
    """A negative control and what became of it."""

    name: str
    verdict: str
    expected: str = "refuted"
    undecided: tuple[str, ...] = ()
    """The cells in which more trials could still refute it."""

    @property
    def survived(self) -> bool:
        """Whether the false statement was not found out."""
        return self.verdict != self.expected


@dataclass(frozen=True)
class Outcome:
    """A claim, its decision and its controls."""

    claim: Claim
    decision: Decision
    controls: tuple[ControlOutcome, ...]
    counts: tuple[CellCount, ...]
    error: str = ""
    """An error of a trial or of the solver, which is no evidence about the claim."""

    @property
    def is_broken(self) -> bool:
        """Whether the claim's own code ended in an error, so that it says nothing."""
        return self.decision.verdict == "broken"

    @property
    def trials_per_second(self) -> float | None:
        """Trials in a second of one worker's time."""
        seconds = sum(item.tally.seconds for item in self.counts)
        return sum(item.tally.trials for item in self.counts) / seconds if seconds > 0 else None

    @property
    def is_red(self) -> bool:
        """Whether the claim is refuted, a control is supported, or a trial ended in an error."""
        supported = any(control.verdict == "supported" for control in self.controls)
        return self.decision.verdict == "refuted" or supported or bool(self.error)

    @property
    def is_undecided(self) -> bool:
        """Whether the claim, or a control, was still open after the largest number of trials."""
        open_controls = any(control.verdict == "inconclusive" for control in self.controls)
        return self.decision.verdict == "inconclusive" or open_controls

    @property
    def open_cells(self) -> set[str]:
        """The cells in which more trials could decide what is still open."""
        if self.error or self.decision.verdict == "refuted":
            return set()
        names = set(self.decision.undecided) if self.decision.verdict == "inconclusive" else set()
        return names.union(*(control.undecided for control in self.controls if control.survived))


def broken(claim: Claim, message: str, counts: Sequence[CellCount] = ()) -> Outcome:
    """Give the outcome of a claim whose code ended in an error."""
    trials = sum(item.tally.trials for item in counts)
    return Outcome(claim, Decision("broken", message, trials=trials), (), tuple(counts))


def decide(claim: Claim, counts: Sequence[CellCount]) -> Outcome:
    """Decide a claim and its controls on what the trials so far added up to."""
    counts = tuple(counts)
    for item in counts:
        if item.tally.broken:
            return broken(claim, item.tally.broken, counts)
    try:
        return _decide(claim, counts)
    except Exception as error:
        return broken(claim, explain(error), counts)


def _decide(claim: Claim, counts: tuple[CellCount, ...]) -> Outcome:
    trials = sum(item.tally.trials for item in counts)
    errors = [item for item in counts if item.tally.errors]
    if errors:
        lost = sum(item.tally.errors for item in errors)
        message = f"{lost} trials ended in an error, first in {errors[0].cell.name}: {errors[0].tally.error}"
        return Outcome(claim, Decision("inconclusive", message, trials=trials), (), counts, message)
    own = {control.name for control in claim.controls if control.own_cells}
    decision = claim.decide([item for item in counts if item.cell.role not in own], claim.column)
    controls = []
    for control in claim.controls:
        role = control.name if control.own_cells else CLAIM_ROLE
        if not any(item.cell.role == role for item in counts):
            continue  # its cells belong to a larger profile
        found = claim.decide(
            [item for item in counts if item.cell.role == role], control.column or claim.column
        )
        controls.append(ControlOutcome(control.name, found.verdict, undecided=found.undecided))
    return Outcome(claim, replace(decision, trials=trials), tuple(controls), counts)
