"""The one way in which kernels are spread over threads: blocks of rows, each worker its own share."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def over_rows(run: Callable[[int, int, int], None], n: int, step: int, workers: int) -> None:
    """Call ``run(worker, first, last)`` for blocks of `step` rows, shared out in turn among the workers."""

    def run_blocks(worker: int) -> None:
        for first in range(worker * step, n, workers * step):
            run(worker, first, min(first + step, n))

    if workers == 1:
        run_blocks(0)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(run_blocks, range(workers)))
