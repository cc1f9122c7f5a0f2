"""The options that the commands share: where to write, where to run, the seed."""

from __future__ import annotations

import argparse
import importlib.util
import os
from pathlib import Path
from typing import Any

from verification.engine.seeds import SEED
from verification.engine.workers import Pool


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


def _positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1; got {text}")
    return int(text)


def _natural(text: str) -> int:
    if int(text) < 0:
        raise argparse.ArgumentTypeError(f"must be at least 0; got {text}")
    return int(text)
