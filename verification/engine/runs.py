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


#: Says which batches come next, given the records of those that are finished; none ends the run.
Next = Callable[[dict[Batch, Any]], Sequence[Batch]]


def run_resumably(
    batches: Sequence[Batch],
    find: Find,
    *,
    then: Next | None = None,
    profile: str,
    seed: int,
    pool: Pool,
    checkpoint: Path,
    resume: bool,
    read: Callable[[dict[str, Any]], Any],
    progress: Progress | None = None,
    sources: Sequence[str] = (),
) -> dict[Batch, Any]:
    """Run what the checkpoint does not hold yet, and give the record of every batch.

    `find` gives the study of an id, `read` turns what the checkpoint stores into a record. When all
    batches are finished `then` is asked for more, until it has none. `sources` are files besides the packages
    on which the trials depend.
    """
    key = {"seed": seed, "profile": profile, "sources": source_digest(sources)}
    with Checkpoint(checkpoint, key, resume=resume, read=read) as stored:
        if stored.is_stale:
            print("the checkpoint is of other code: starting anew", file=sys.stderr)
        total, compiled = 0, False
        while batches:
            total += len(batches)
            waiting = [batch for batch in batches if batch not in stored.finished]
            count = itertools.count(total - len(waiting) + 1)

            def done(batch: Batch, record: Any, count: Any = count, total: int = total) -> None:
                stored.add(batch, record)
                if progress is not None:
                    progress(batch, next(count), total)

            if pool.is_elsewhere and not compiled:
                compile_kernels(waiting, find)
                compiled = True
            run_batches(waiting, pool, find, done)
            batches = then(stored.finished) if then is not None else ()
        return stored.finished


def source_digest(others: Sequence[str] = ()) -> str:
    """Give a digest of both packages and of other files: a checkpoint of other code is not resumed."""
    digest = hashlib.sha256()
    for package in (Path(lslmatch.__file__).parent, Path(__file__).parents[1]):
        for path in sorted(package.rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes())
    for other in others:
        digest.update(Path(other).read_bytes())
    return digest.hexdigest()
