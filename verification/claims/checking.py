"""One run: plan the trials of the chosen claims, run them, decide."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verification import claims
from verification.claims.definition import Claim
from verification.engine.runs import Progress, run_resumably
from verification.engine.seeds import SEED
from verification.engine.studies import CLAIM_ROLE, PROFILES, Cell
from verification.engine.tally import Tally
from verification.engine.trials import Batch, run_trials, split
from verification.engine.workers import Pool, run_batches
from verification.statistics.binomial import SENSITIVITY, trials_needed
from verification.statistics.decisions import CellCount, Decision


@dataclass(frozen=True)
class ControlOutcome:
    """A negative control and what became of it."""

    name: str
    verdict: str
    expected: str = "refuted"

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
    def trials_per_second(self) -> float | None:
        """Trials in a second of one worker's time."""
        seconds = sum(item.tally.seconds for item in self.counts)
        return sum(item.tally.trials for item in self.counts) / seconds if seconds > 0 else None

    @property
    def is_red(self) -> bool:
        """Whether the run must fail because of this claim."""
        survived = any(control.survived for control in self.controls)
        return self.decision.verdict == "refuted" or survived or bool(self.error)


def plan(claim: Claim, profile: str) -> dict[str, int]:
    """Give the trials of each cell of a profile, by the power calculation unless the claim fixes them."""
    cells = claim.cells_of(profile)
    testable = sum(1 for cell in cells if cell.role == CLAIM_ROLE and _is_testable(cell))
    planned: dict[str, int] = {}
    for cell in cells:
        if cell.trials is not None:
            planned[cell.name] = cell.trials[PROFILES.index(profile)]
        elif _is_testable(cell) and cell.allowed is not None:
            planned[cell.name] = trials_needed(cell.allowed, max(testable, 1), SENSITIVITY[profile])
        else:
            planned[cell.name] = 0
    return planned


def run_claims(
    chosen: Sequence[Claim],
    *,
    profile: str,
    seed: int,
    pool: Pool,
    checkpoint: Path,
    resume: bool,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Run the trials of the chosen claims and decide them.

    `progress` is called after each batch with it, the number of finished batches and their total.
    """
    batches = [batch for claim in chosen for batch in _batches(claim, profile, seed)]
    finished = run_resumably(
        batches,
        claims.get,
        profile=profile,
        seed=seed,
        pool=pool,
        checkpoint=checkpoint,
        resume=resume,
        read=Tally.from_json,
        progress=progress,
    )
    return [
        _decide(claim, profile, [batch for batch in batches if batch.study == claim.id], finished)
        for claim in chosen
    ]


def try_claim(claim: Claim, *, profile: str = "quick", seed: int = SEED) -> Outcome:
    """Run a claim that has no file in :mod:`verification.claims`, in this process, and decide it.

    The verdict and the numbers are those that the command gives once the claim has its file.
    """
    batches = _batches(claim, profile, seed)
    return _decide(claim, profile, batches, {batch: run_trials(claim, batch) for batch in batches})


def measure_scaling(claim: Claim, profile: str, seed: int, workers: int) -> dict[int, float]:
    """Give trials per second of wall time with one worker and with `workers`, on the same batches."""
    cell = next(cell for cell in claim.cells_of(profile) if _is_testable(cell))
    batches = list(split(claim, cell, 8 * workers * claim.batch, seed))
    speeds = {}
    for count in (1, workers):
        pool = Pool(count)
        run_batches(
            batches, pool, claims.get, lambda batch, tally: None
        )  # every worker is up, with its kernels
        started = time.perf_counter()
        run_batches(batches, pool, claims.get, lambda batch, tally: None)
        speeds[count] = sum(batch.stop - batch.start for batch in batches) / (time.perf_counter() - started)
    return speeds


def _batches(claim: Claim, profile: str, seed: int) -> list[Batch]:
    planned = plan(claim, profile)
    return [
        batch for cell in claim.cells_of(profile) for batch in split(claim, cell, planned[cell.name], seed)
    ]


def _decide(claim: Claim, profile: str, batches: Sequence[Batch], finished: dict[Batch, Tally]) -> Outcome:
    tallies = {cell.name: Tally() for cell in claim.cells_of(profile)}
    for batch in batches:
        tallies[batch.cell].merge(finished[batch])
    counts = tuple(CellCount(cell, tallies[cell.name]) for cell in claim.cells_of(profile))
    own = {control.name for control in claim.controls if control.own_cells}
    errors = [item for item in counts if item.tally.errors]
    if errors:
        lost = sum(item.tally.errors for item in errors)
        message = f"{lost} trials ended in an error, first in {errors[0].cell.name}: {errors[0].tally.error}"
        decision = Decision("inconclusive", message, trials=sum(item.tally.trials for item in counts))
        return Outcome(claim, decision, (), counts, message)
    decision = claim.decide([item for item in counts if item.cell.role not in own], claim.column)
    controls = tuple(
        ControlOutcome(
            control.name,
            claim.decide(
                [
                    item
                    for item in counts
                    if item.cell.role == (control.name if control.own_cells else CLAIM_ROLE)
                ],
                control.column or claim.column,
            ).verdict,
        )
        for control in claim.controls
    )
    return Outcome(
        claim, replace(decision, trials=sum(item.tally.trials for item in counts)), controls, counts
    )


def _is_testable(cell: Cell) -> bool:
    return cell.allowed is not None and 0 < cell.allowed < 1
