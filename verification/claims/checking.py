"""One run: sample the chosen claims until they are decided."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from verification import claims
from verification.claims.definition import Claim
from verification.claims.outcomes import Outcome
from verification.claims.sampling import Sampling, is_testable
from verification.engine.runs import Progress, run_resumably
from verification.engine.seeds import SEED
from verification.engine.studies import Find
from verification.engine.tally import Tally
from verification.engine.trials import Batch, run_trials, split
from verification.engine.workers import Pool, run_batches


def run_claims(
    chosen: Sequence[Claim],
    *,
    profile: str,
    seed: int,
    pool: Pool,
    checkpoint: Path,
    resume: bool,
    patience: int = 1,
    progress: Progress | None = None,
    find: Find = claims.get,
    sources: Sequence[str] = (),
) -> list[Outcome]:
    """Run the trials of the chosen claims until they are decided.

    `patience` multiplies the number of trials after which a claim counts as undecided. `progress` is
    called after each batch with it, the number of finished batches and the total as known by then. Claims
    that are not of the suite come with the function that finds them, and with the files that hold them.
    """
    courses = [Sampling(claim, profile, seed, patience) for claim in chosen]

    def go_on(finished: dict[Batch, Tally]) -> list[Batch]:
        for course in courses:
            course.look(finished)
        return [batch for course in courses for batch in course.batches]

    run_resumably(
        [batch for course in courses for batch in course.batches],
        find,
        then=go_on,
        profile=profile,
        seed=seed,
        pool=pool,
        checkpoint=checkpoint,
        resume=resume,
        read=Tally.from_json,
        progress=progress,
        sources=sources,
    )
    return [_outcome(course) for course in courses]


def try_claim(claim: Claim, *, profile: str = "quick", seed: int = SEED) -> Outcome:
    """Run a claim that has no file in :mod:`verification.claims`, in this process, and decide it.

    The verdict and the numbers are those that the command gives once the claim has its file.
    """
    course = Sampling(claim, profile, seed)
    while course.batches:
        course.look({batch: run_trials(claim, batch) for batch in course.batches})
    return _outcome(course)


def measure_scaling(claim: Claim, profile: str, seed: int, workers: int) -> dict[int, float]:
    """Give trials per second of wall time with one worker and with `workers`, on the same batches."""
    cell = next(cell for cell in claim.cells_of(profile) if is_testable(cell))
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


def _outcome(course: Sampling) -> Outcome:
    if course.outcome is None:  # no cell has trials
        course.look({})
    assert course.outcome is not None, "a look gives an outcome"
    return course.outcome
