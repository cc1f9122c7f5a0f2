"""The options that the commands share: where to write, where to run, the seed."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
from pathlib import Path
from typing import Any

from verification.engine.seeds import SEED
from verification.engine.workers import Pool, require_scheduler


def add_run_options(parser: argparse.ArgumentParser, out: Path) -> None:
    """Add where to write, where to run, the seed and --resume; `out` is the default directory."""
    parser.add_argument("--out", type=Path, default=out, metavar="DIR", help="default: %(default)s")
    parser.add_argument(
        "--workers", type=positive, metavar="N", help="local processes (default: all processors)"
    )
    parser.add_argument("--resume", action="store_true", help="go on where an interrupted run stopped")
    parser.add_argument(
        "--scheduler",
        type=_address,
        metavar="tcp://HOST:PORT",
        help="run the trials on a dask.distributed cluster",
    )
    add_seed(parser)


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add the seed, and whether to show progress."""
    parser.add_argument("--seed", type=_natural, default=SEED, help="default: %(default)s")
    parser.add_argument("--quiet", action="store_true", help="no progress, neither as a bar nor in lines")


def choose_pool(options: Any) -> Pool:
    """Give the pool that the options ask for; LookupError if what it needs is not there."""
    if options.scheduler:
        if importlib.util.find_spec("distributed") is None:
            raise LookupError("--scheduler needs dask.distributed: pip install 'lslmatch[dask]'")
        try:
            require_scheduler(options.scheduler)
        except OSError as error:
            raise LookupError(f"--scheduler: {options.scheduler} cannot be reached: {error}") from None
    # The smoke profile is over before worker processes would have started.
    workers = options.workers or (1 if options.profile == "smoke" else os.cpu_count() or 1)
    return Pool(workers, options.scheduler)


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    return _whole(text, 1)


def _natural(text: str) -> int:
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text) or int(text) < least:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}; got {text!r}")
    return int(text)


def _address(text: str) -> str:
    if not re.fullmatch(r"([a-z]+://)?[^\s/:]+:[0-9]+|[a-z]+://\[[0-9a-fA-F:]+\]:[0-9]+", text):
        raise argparse.ArgumentTypeError(f"must be an address such as tcp://HOST:PORT; got {text!r}")
    return text
