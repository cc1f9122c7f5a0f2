"""How many trials: a first look by a power calculation, then more until claim and controls are decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verification.claims.definition import Claim
from verification.claims.outcomes import Outcome, broken, decide
from verification.engine.errors import explain
from verification.engine.studies import CLAIM_ROLE, PROFILES, Cell
from verification.engine.tally import Tally
from verification.engine.trials import Batch, split
from verification.statistics.binomial import DOUBLINGS, SENSITIVITY, largest_number_of_trials, trials_needed
from verification.statistics.decisions import CellCount


def plan(claim: Claim, profile: str) -> dict[str, int]:
    """Give each cell's trials at the first look: by the power calculation, unless the claim fixes them."""
    cells, testable = claim.cells_of(profile), _testable_cells(claim, profile)
    planned: dict[str, int] = {}
    for cell in cells:
        if cell.trials is not None:
            planned[cell.name] = cell.trials[PROFILES.index(profile)]
        elif is_testable(cell) and cell.allowed is not None:
            planned[cell.name] = trials_needed(cell.allowed, testable, SENSITIVITY[profile])
        else:
            planned[cell.name] = 0
    return planned


def largest_plan(claim: Claim, profile: str) -> dict[str, int]:
    """Give the trials of each cell after which the claim counts as undecided."""
    first, testable = plan(claim, profile), _testable_cells(claim, profile)
    largest: dict[str, int] = {}
    for cell in claim.cells_of(profile):
        largest[cell.name] = first[cell.name] << DOUBLINGS
        if is_testable(cell) and cell.allowed is not None and first[cell.name]:
            largest[cell.name] = largest_number_of_trials(cell.allowed, testable, first[cell.name])
    return largest


def is_testable(cell: Cell) -> bool:
    """Say whether a cell allows a probability that can be passed."""
    return cell.allowed is not None and 0 < cell.allowed < 1


class Sampling:
    """The trials of one claim, look after look.

    After each look the cells that could still decide something get twice their trials. What is looked
    at, and when, depends on the outcomes alone: not on workers, batches or interruptions.
    """

    def __init__(self, claim: Claim, profile: str, seed: int, patience: int = 1) -> None:
        self._claim, self._cells, self._seed = claim, claim.cells_of(profile), seed
        self._tallies = {cell.name: Tally() for cell in self._cells}
        self._looks = 0
        self.outcome: Outcome | None = None
        """What the last look found."""
        self._waiting: list[Batch] = []
        try:
            claim.require_conditions(profile, seed)
            self._planned = plan(claim, profile)
            largest = largest_plan(claim, profile)
        except Exception as error:  # before any trial
            self.outcome = broken(claim, explain(error))
            return
        self._largest = {name: patience * trials for name, trials in largest.items()}
        self._waiting = self._split(dict.fromkeys(self._planned, 0))

    @property
    def batches(self) -> Sequence[Batch]:
        """The batches that the next look waits for; none at the end."""
        return self._waiting

    def look(self, finished: Mapping[Batch, Tally]) -> None:
        """Decide on the trials so far, and plan more if that leaves something open."""
        if not self._waiting and self.outcome is not None:
            return
        for batch in self._waiting:
            self._tallies[batch.cell].merge(finished[batch])
        counts = [CellCount(cell, self._tallies[cell.name], self._looks) for cell in self._cells]
        self.outcome = decide(self._claim, counts)
        done = dict(self._planned)
        for name in self.outcome.open_cells:
            self._planned[name] = min(2 * done[name], self._largest[name])
        self._waiting = self._split(done)
        self._looks += 1

    def _split(self, done: Mapping[str, int]) -> list[Batch]:
        return [
            batch
            for cell in self._cells
            for batch in split(self._claim, cell, self._planned[cell.name], self._seed, done=done[cell.name])
        ]


def _testable_cells(claim: Claim, profile: str) -> int:
    return max(sum(is_testable(cell) for cell in claim.cells_of(profile, CLAIM_ROLE)), 1)
