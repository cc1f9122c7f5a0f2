"""What the commands share: the options of a run, its progress bar, and how it stops."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from verification.trials import SEED, Batch, Pool


def add_run_options(parser: argparse.ArgumentParser, out: Path) -> None:
    """Add where to write, where to run, the seed and --resume; `out` is the default directory."""
    parser.add_argument("--out", type=Path, default=out, metavar="DIR", help="default: %(default)s")
    parser.add_argument(
        "--workers", type=_positive, metavar="N", help="local processes (default: all processors)"
    )
    parser.add_argument("--seed", type=_natural, default=SEED, help="default: %(default)s")
    parser.add_argument("--resume", action="store_true", help="go on where an interrupted run stopped")
    parser.add_argument(
        "--scheduler", metavar="tcp://HOST:PORT", help="run the trials on a dask.distributed cluster"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def choose_pool(options: Any) -> Pool:
    """Give the pool that the options ask for; LookupError if a package that it needs is not there."""
    if options.scheduler and importlib.util.find_spec("distributed") is None:
        raise LookupError("--scheduler needs dask.distributed: pip install 'lslmatch[dask]'")
    # The smoke profile is over before worker processes would have started.
    workers = options.workers or (1 if options.profile == "smoke" else os.cpu_count() or 1)
    return Pool(workers, options.scheduler)


def place(pool: Pool) -> str:
    """Say where trials ran."""
    return f"scheduler {pool.scheduler}" if pool.scheduler else f"{pool.workers} local"


@contextmanager
def explained_stops(options: Any) -> Iterator[list[int]]:
    """Explain an interruption, a scheduler that is not there, and a file that cannot be written.

    If one of these stops the run, the list then holds the exit code.
    """
    stopped: list[int] = []
    try:
        yield stopped
    except KeyboardInterrupt:
        print("\ninterrupted; the same command with --resume goes on from here", file=sys.stderr)
        stopped.append(130)
    except OSError as error:
        if error.filename is not None:
            print(f"{error.filename}: {(error.strerror or 'cannot be used').lower()}", file=sys.stderr)
        elif options.scheduler:
            print(f"--scheduler: {options.scheduler} cannot be reached: {error}", file=sys.stderr)
        else:
            raise
        stopped.append(2)


class Bar:
    """A progress bar that learns its length with the first step."""

    def __init__(self, quiet: bool) -> None:
        self._bar = tqdm(disable=quiet or None, dynamic_ncols=True, leave=False)

    def __enter__(self) -> Bar:
        """Show it."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Take it away."""
        self._bar.close()

    def expect(self, total: int, name: str) -> None:
        """Set the number of steps to come."""
        self._bar.total = total
        self._bar.set_description(name)

    def batch(self, batch: Batch, done: int, total: int) -> None:
        """Show that a batch is finished."""
        self._bar.total = total
        self._bar.set_description(batch.study, refresh=False)
        self._bar.update(done - self._bar.n)

    def step(self, name: str) -> None:
        """Show that one step is finished."""
        self._bar.set_description(name, refresh=False)
        self._bar.update()


def _positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1; got {text}")
    return int(text)


def _natural(text: str) -> int:
    if int(text) < 0:
        raise argparse.ArgumentTypeError(f"must be at least 0; got {text}")
    return int(text)
