"""One run of many batches, which can be interrupted and resumed."""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lslmatch
from verification.engine.checkpoint import Checkpoint
from verification.engine.studies import Find
from verification.engine.trials import Batch
from verification.engine.workers import Pool, compile_kernels, run_batches

#: Called after each batch with it, the number of finished batches and their total.
Progress = Callable[[Batch, int, int], None]


def run_resumably(
    batches: Sequence[Batch],
    find: Find,
    *,
    profile: str,
    seed: int,
    pool: Pool,
    checkpoint: Path,
    resume: bool,
    read: Callable[[dict[str, Any]], Any],
    progress: Progress | None = None,
) -> dict[Batch, Any]:
    """Run what the checkpoint does not hold yet, and give the record of every batch.

    `find` gives the study of an id, `read` turns what the checkpoint stores into a record.
    """
    key = {"seed": seed, "profile": profile, "sources": source_digest()}
    with Checkpoint(checkpoint, key, resume=resume, read=read) as stored:
        if stored.is_stale:
            print("the checkpoint is of other code: starting anew", file=sys.stderr)
        waiting = [batch for batch in batches if batch not in stored.finished]
        count = itertools.count(len(batches) - len(waiting) + 1)

        def done(batch: Batch, record: Any) -> None:
            stored.add(batch, record)
            if progress is not None:
                progress(batch, next(count), len(batches))

        if pool.is_elsewhere:
            compile_kernels(waiting, find)
        run_batches(waiting, pool, find, done)
        return stored.finished


def source_digest() -> str:
    """Give a digest of both packages: a checkpoint of other code is not resumed."""
    digest = hashlib.sha256()
    for package in (Path(lslmatch.__file__).parent, Path(__file__).parents[1]):
        for path in sorted(package.rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
