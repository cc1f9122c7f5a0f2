"""Seeded trials in batches, the unit of work.

Every trial has a generator of its own, keyed by (study, cell, trial). So the numbers are the same for any
batch size, number of workers or backend, and after a resume; a batch that is lost with its worker is simply
computed again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from lslmatch import AlignmentWarning, ColumnScaleWarning
from verification.engine.errors import explain
from verification.engine.seeds import SETUP, generator
from verification.engine.studies import Cell, Find, Runnable


class TrialError(RuntimeError):
    """An error inside a trial that is no evidence about what the trial is for."""


class Batch(NamedTuple):
    """A range of trials of one cell: what a worker can do, given a function that finds the study."""

    study: str
    """The id of a claim, or of a figure's study."""
    cell: str
    start: int
    stop: int
    seed: int


def split(study: Runnable, cell: Cell, trials: int, seed: int, *, done: int = 0) -> Iterator[Batch]:
    """Cut the trials of a cell into batches, those after the first `done` of them."""
    for start in range(done, trials, study.batch):
        yield Batch(study.id, cell.name, start, min(start + study.batch, trials), seed)


def run_batch(find: Find, batch: Batch) -> tuple[Batch, Any]:
    """Run one batch: what a worker does. Gives it back with its record."""
    return batch, run_trials(find(batch.study), batch)


def run_trials(study: Runnable, batch: Batch) -> Any:
    """Run the trials of a batch of this study, and give their record.

    An error of the study's own code ends the batch. The record says which; other studies go on.
    """
    cell = next(cell for cell in study.cells if cell.name == batch.cell)
    record = study.collect()
    started = time.perf_counter()
    with warnings.catch_warnings():
        # Many studies are about the paper's alignment where it fails.
        warnings.simplefilter("ignore", AlignmentWarning)
        warnings.simplefilter("ignore", ColumnScaleWarning)
        try:
            state = study.setup(cell.parameters, generator(batch.seed, study.id, cell.name, SETUP))
            for trial in range(batch.start, batch.stop):
                try:
                    record.add(study.trial(state, generator(batch.seed, study.id, cell.name, trial)))
                except TrialError as error:
                    record.fail(str(error))
        except Exception as error:
            record.break_off(f"{cell.name}: {explain(error)}")
    record.seconds = time.perf_counter() - started
    return record
