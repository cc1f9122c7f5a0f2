"""Seeded trials in batches: in this process, over local workers, or on a cluster.

Every trial has a generator of its own, keyed by (claim or study, cell, trial). So the numbers are the same
for any batch size, number of workers or backend, and after a resume; a batch that is lost with its worker is
simply computed again.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import joblib
import numpy as np

from verification import claims
from verification.claim import Cell, Claim
from verification.figure import Study
from verification.recovery import UncertifiedError

#: The seed of a run that is not given one.
SEED = 20260

#: In place of a trial's number, the key of the generator that a cell's setup draws from.
_SETUP = 0xFFFFFFFF


class Batch(NamedTuple):
    """A range of trials of one cell: the unit of work, which a worker can do knowing nothing else."""

    study: str
    """The id of a claim, or of a figure's study."""
    cell: str
    start: int
    stop: int
    seed: int


class Pool(NamedTuple):
    """Where batches run."""

    workers: int = 1
    """Local processes; 1 stays in this process."""
    scheduler: str | None = None
    """Address of a dask.distributed scheduler, whose workers are used instead."""


def generator(seed: int, study: str, cell: str, trial: int) -> np.random.Generator:
    """Give the generator of one trial, keyed by names, so that no other claim or cell can change it."""
    key = (zlib.crc32(study.encode()), zlib.crc32(cell.encode()), trial)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def split(study: Claim | Study, cell: Cell, trials: int, seed: int) -> Iterator[Batch]:
    """Cut the trials of a cell into batches."""
    for start in range(0, trials, study.batch):
        yield Batch(study.id, cell.name, start, min(start + study.batch, trials), seed)


def run_batch(batch: Batch) -> tuple[Batch, Any]:
    """Run one batch: what a worker does. Gives it back with its record, a Tally or Samples."""
    return batch, run_trials(_find(batch.study), batch)


def run_trials(study: Claim | Study, batch: Batch) -> Any:
    """Run the trials of a batch of this claim or study, and give their record."""
    cell = next(cell for cell in study.cells if cell.name == batch.cell)
    record: Any = study.collect()
    started = time.perf_counter()
    state = study.setup(cell.parameters, generator(batch.seed, study.id, cell.name, _SETUP))
    for trial in range(batch.start, batch.stop):
        try:
            record.add(study.trial(state, generator(batch.seed, study.id, cell.name, trial)))
        except UncertifiedError as error:
            record.fail(str(error))
    record.seconds = time.perf_counter() - started
    return record


def run_batches(batches: Sequence[Batch], pool: Pool, done: Callable[[Batch, Any], None]) -> None:
    """Run batches and hand over each result as it comes, in any order."""
    if pool.scheduler is None and pool.workers == 1:
        for batch in batches:
            done(*run_batch(batch))
        return
    with _backend(pool):
        parallel = joblib.Parallel(return_as="generator_unordered", pre_dispatch="4 * n_jobs", batch_size=1)
        results: Iterable[Any] = parallel(joblib.delayed(run_batch)(batch) for batch in batches)
        for batch, record in results:
            done(batch, record)


def compile_kernels(batches: Sequence[Batch]) -> None:
    """Run one trial of each claim or study here, so that workers find its kernels in the cache on disk."""
    seen = set()
    for batch in batches:
        if batch.study not in seen:
            seen.add(batch.study)
            run_batch(batch._replace(stop=batch.start + 1))


def _find(name: str) -> Claim | Study:
    if name in claims.load():
        return claims.get(name)
    from verification import experiments  # drawing is slow to import, and claims need none

    return experiments.get_study(name)


def _backend(pool: Pool) -> AbstractContextManager[Any]:
    if pool.scheduler is None:
        config: AbstractContextManager[Any] = joblib.parallel_config(
            "loky", n_jobs=pool.workers, inner_max_num_threads=1
        )
        return config
    from distributed import Client

    return _Cluster(Client(pool.scheduler, set_as_default=False))


class _Cluster(AbstractContextManager[None]):
    """joblib's dask backend on one client, which is closed at the end."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._config: Any = nullcontext()

    def __enter__(self) -> None:
        self._config = joblib.parallel_config("dask", client=self._client, n_jobs=-1)
        self._config.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._config.__exit__(*exception)
        self._client.close()
