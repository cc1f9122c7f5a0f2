"""Where batches run: in this process, in local worker processes, or on a cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

import joblib

from verification.engine.studies import Find
from verification.engine.trials import Batch, run_batch

#: How long a scheduler may take to answer.
PATIENCE = "10s"


class Pool(NamedTuple):
    """Where batches run."""

    workers: int = 1
    """Local processes; 1 stays in this process."""
    scheduler: str | None = None
    """Address of a dask.distributed scheduler, whose workers are used instead."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether other processes run the batches."""
        return self.workers > 1 or self.scheduler is not None

    def __str__(self) -> str:
        """Say where trials run."""
        return f"scheduler {self.scheduler}" if self.scheduler else f"{self.workers} local"


def run_batches(batches: Sequence[Batch], pool: Pool, find: Find, done: Callable[[Batch, Any], None]) -> None:
    """Run batches and hand over each result as it comes, in any order."""
    if not pool.is_elsewhere:
        for batch in batches:
            done(*run_batch(find, batch))
        return
    with _thread_errors_told_later(), _backend(pool):
        parallel = joblib.Parallel(return_as="generator_unordered", pre_dispatch="4 * n_jobs", batch_size=1)
        results: Iterable[Any] = parallel(joblib.delayed(run_batch)(find, batch) for batch in batches)
        for batch, record in results:
            done(batch, record)


@contextmanager
def _thread_errors_told_later() -> Iterator[None]:
    """Keep back what goes wrong in other threads until the end, and forget it after an interruption.

    joblib's executor drops its work when it is interrupted, and a thread of its own that is just fetching
    some then fails. That is no news to whoever pressed Ctrl-C.
    """
    told, kept = threading.excepthook, list[threading.ExceptHookArgs]()
    threading.excepthook = kept.append
    try:
        yield
    except KeyboardInterrupt:
        raise  # with the hook in place: the thread may fail later still
    except BaseException:
        _tell(told, kept)
        raise
    _tell(told, kept)


def _tell(
    told: Callable[[threading.ExceptHookArgs], object], kept: Sequence[threading.ExceptHookArgs]
) -> None:
    threading.excepthook = told
    for error in kept:
        told(error)


def compile_kernels(batches: Sequence[Batch], find: Find) -> None:
    """Run one trial of each study here, so that workers find its kernels in the cache on disk."""
    for batch in {batch.study: batch for batch in reversed(batches)}.values():
        run_batch(find, batch._replace(stop=batch.start + 1))


def require_scheduler(address: str) -> None:
    """Raise OSError unless a dask scheduler answers at an address within :data:`PATIENCE`."""
    _connect(address).close()


def _connect(address: str) -> Any:
    import logging

    from distributed import Client

    # The client says what is wrong in its exception; its log says it again, with tracebacks.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        return Client(address, set_as_default=False, timeout=PATIENCE)
    except OSError:
        raise
    except Exception as error:  # what dask makes of an answer that is no scheduler's
        raise ConnectionError(f"{type(error).__name__}: {error}") from None


def _backend(pool: Pool) -> AbstractContextManager[Any]:
    if pool.scheduler is None:
        config: AbstractContextManager[Any] = joblib.parallel_config(
            "loky", n_jobs=pool.workers, inner_max_num_threads=1
        )
        return config
    return _Cluster(_connect(pool.scheduler))


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
