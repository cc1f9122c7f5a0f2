"""One run: plan the trials of the chosen claims, run them, decide."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from verification import trials
from verification.checkpoint import Checkpoint
from verification.claim import CLAIM, PROFILES, Cell, CellCount, Claim, Decision
from verification.tally import Tally
from verification.trials import SEED, Batch, Pool
from verification.verdicts import SENSITIVITY, trials_needed


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
    """An error of the laboratory or of the solver, which is no evidence about the claim."""

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
    family = sum(1 for cell in cells if cell.role == CLAIM and _is_testable(cell))
    planned: dict[str, int] = {}
    for cell in cells:
        if cell.trials is not None:
            planned[cell.name] = cell.trials[PROFILES.index(profile)]
        elif _is_testable(cell) and cell.allowed is not None:
            planned[cell.name] = trials_needed(cell.allowed, max(family, 1), SENSITIVITY[profile])
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
    progress: Callable[[Batch, int, int], None] | None = None,
) -> list[Outcome]:
    """Run the trials of the chosen claims and decide them.

    `progress` is called after each batch with it, the number of finished batches and their total.
    """
    batches = [batch for claim in chosen for batch in _batches(claim, profile, seed)]
    finished = run_resumably(
        batches,
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
    return _decide(claim, profile, batches, {batch: trials.run_trials(claim, batch) for batch in batches})


def run_resumably(
    batches: Sequence[Batch],
    *,
    profile: str,
    seed: int,
    pool: Pool,
    checkpoint: Path,
    resume: bool,
    read: Callable[[dict[str, Any]], Any],
    progress: Callable[[Batch, int, int], None] | None = None,
) -> dict[Batch, Any]:
    """Run what the checkpoint does not hold yet, and give the record of every batch.

    `read` turns a stored record into a record, `progress` is as in :func:`run_claims`.
    """
    key = {"seed": seed, "profile": profile, "sources": source_digest()}
    with Checkpoint(checkpoint, key, resume=resume, read=read) as stored:
        if stored.is_stale:
            print("the checkpoint is of other code: starting anew", file=sys.stderr)
        waiting = [batch for batch in batches if batch not in stored.finished]

        def done(batch: Batch, record: Any) -> None:
            stored.add(batch, record)
            if progress is not None:
                progress(batch, len(batches) - len(waiting) + counter.step(), len(batches))

        counter = _Counter()
        if pool.workers > 1 or pool.scheduler is not None:
            trials.compile_kernels(waiting)
        trials.run_batches(waiting, pool, done)
        return stored.finished


def measure_scaling(claim: Claim, profile: str, seed: int, workers: int) -> dict[int, float]:
    """Give trials per second of wall time with one worker and with `workers`, on the same batches."""
    cell = next(cell for cell in claim.cells_of(profile) if _is_testable(cell))
    batches = list(trials.split(claim, cell, 8 * workers * claim.batch, seed))
    speeds = {}
    for count in (1, workers):
        pool = Pool(count)
        trials.run_batches(batches, pool, lambda batch, tally: None)  # every worker is up, with its kernels
        started = time.perf_counter()
        trials.run_batches(batches, pool, lambda batch, tally: None)
        speeds[count] = sum(batch.stop - batch.start for batch in batches) / (time.perf_counter() - started)
    return speeds


def source_digest() -> str:
    """Give a digest of library and laboratory: a checkpoint of other code is not resumed."""
    import lslmatch

    digest = hashlib.sha256()
    for package in (Path(lslmatch.__file__).parent, Path(__file__).parent):
        for path in sorted(package.rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _batches(claim: Claim, profile: str, seed: int) -> list[Batch]:
    planned = plan(claim, profile)
    return [
        batch
        for cell in claim.cells_of(profile)
        for batch in trials.split(claim, cell, planned[cell.name], seed)
    ]


def _decide(claim: Claim, profile: str, batches: Sequence[Batch], finished: dict[Batch, Tally]) -> Outcome:
    tallies = {cell.name: Tally(claim.columns) for cell in claim.cells_of(profile)}
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
    decision = claim.decide([item for item in counts if item.cell.role not in own], 0)
    controls = tuple(
        ControlOutcome(
            control.name,
            claim.decide(
                [item for item in counts if item.cell.role == (control.name if control.own_cells else CLAIM)],
                control.column,
            ).verdict,
        )
        for control in claim.controls
    )
    return Outcome(
        claim, replace(decision, trials=sum(item.tally.trials for item in counts)), controls, counts
    )


def _is_testable(cell: Cell) -> bool:
    return cell.allowed is not None and 0 < cell.allowed < 1


class _Counter:
    """Counts the batches of this run."""

    def __init__(self) -> None:
        self._count = 0

    def step(self) -> int:
        self._count += 1
        return self._count
