"""Seeded trials in batches: in this process, over local workers, or on a cluster.

Every trial has a generator of its own, keyed by (claim, cell, trial). So the numbers are the same for any
batch size, number of workers or backend, and after a resume; a batch that is lost with its worker is simply
computed again.
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
from verification.recovery import UncertifiedError
from verification.tally import Tally

#: In place of a trial's number, the key of the generator that a cell's setup draws from.
_SETUP = 0xFFFFFFFF


class Batch(NamedTuple):
    """A range of trials of one cell: the unit of work, which a worker can do knowing nothing else."""

    claim: str
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


def generator(seed: int, claim: str, cell: str, trial: int) -> np.random.Generator:
    """Give the generator of one trial, keyed by names, so that no other claim or cell can change it."""
    key = (zlib.crc32(claim.encode()), zlib.crc32(cell.encode()), trial)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def split(claim: Claim, cell: Cell, trials: int, seed: int) -> Iterator[Batch]:
    """Cut the trials of a cell into batches."""
    for start in range(0, trials, claim.batch):
        yield Batch(claim.id, cell.name, start, min(start + claim.batch, trials), seed)


def run_batch(batch: Batch) -> tuple[Batch, Tally]:
    """Run one batch: what a worker does."""
    claim = claims.get(batch.claim)
    cell = next(cell for cell in claim.cells if cell.name == batch.cell)
    tally = Tally(claim.columns)
    started = time.perf_counter()
    state = claim.setup(cell.parameters, generator(batch.seed, claim.id, cell.name, _SETUP))
    for trial in range(batch.start, batch.stop):
        try:
            tally.add(claim.trial(state, generator(batch.seed, claim.id, cell.name, trial)))
        except UncertifiedError as error:
            tally.fail(str(error))
    tally.seconds = time.perf_counter() - started
    return batch, tally


def run_batches(batches: Sequence[Batch], pool: Pool, done: Callable[[Batch, Tally], None]) -> None:
    """Run batches and hand over each result as it comes, in any order."""
    if pool.scheduler is None and pool.workers == 1:
        for batch in batches:
            done(*run_batch(batch))
        return
    with _backend(pool):
        parallel = joblib.Parallel(return_as="generator_unordered", pre_dispatch="4 * n_jobs", batch_size=1)
        results: Iterable[Any] = parallel(joblib.delayed(run_batch)(batch) for batch in batches)
        for batch, tally in results:
            done(batch, tally)


def compile_kernels(batches: Sequence[Batch]) -> None:
    """Run one trial of each claim here, so that workers find its kernels in the cache on disk."""
    seen = set()
    for batch in batches:
        if batch.claim not in seen:
            seen.add(batch.claim)
            run_batch(batch._replace(stop=batch.start + 1))


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
