"""The one way in which kernels are spread over threads: blocks of rows, each worker its own share."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from lslmatch._progress import tell


def over_rows(run: Callable[[int, int, int], None], n: int, step: int, workers: int) -> None:
    """Call ``run(worker, first, last)`` for blocks of `step` rows, shared out in turn among the workers."""
    workers = useful_workers(n, step, workers)
    stopped = Event()

    def run_blocks(worker: int) -> None:
        for first in range(worker * step, n, workers * step):
            if stopped.is_set():
                return
            last = min(first + step, n)
            run(worker, first, last)
            if worker == 0:  # the others are about as far
                tell("rows seen", last, n)

    if workers == 1:
        run_blocks(0)
        return
    with ThreadPoolExecutor(workers - 1) as pool:
        try:
            # This thread is one of them: that saves the time to start another.
            others = pool.map(run_blocks, range(1, workers))
            run_blocks(0)
            list(others)
        finally:
            # After Ctrl-C or an error nobody wants the rest.
            stopped.set()


def useful_workers(n: int, step: int, workers: int) -> int:
    """Return how many of the workers have a block: whoever asks for a million threads need not get them."""
    return max(1, min(workers, -(-n // step)))
