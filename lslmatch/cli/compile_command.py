"""``lslmatch compile``: compile all kernels now, so that no later run has to."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import Any, TextIO

from lslmatch.cli.kernels import all_kernels, count_kept, missing
from lslmatch.cli.options import add_number
from lslmatch.cli.output import print_table

_DESCRIPTION = """\
Compile everything that the library may need, in several processes, and keep it on the
disk. Without this, each part is compiled when it is needed for the first time, once
after an installation. For images of containers, and for clusters.
"""

EXAMPLES = """\
examples:
  lslmatch compile
  lslmatch compile --workers 8

Kernels are kept in the cache directory of the user, or in the one that
NUMBA_CACHE_DIR names, for this processor, Python, Numba and version of lslmatch.
"""

#: Processes unless told otherwise: each needs some 300 MB.
_MOST_WORKERS = 4
_BAR = 30
#: Kernels that a message names at most.
_MOST_NAMED = 5


def add_command(commands: Any) -> None:
    """Add the command to a parser's subparsers."""
    parser = commands.add_parser(
        "compile",
        help="compile all kernels ahead of time",
        description=_DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    add_number(parser, "--workers", min(os.cpu_count() or 1, _MOST_WORKERS), "processes to use")


def run(options: argparse.Namespace) -> None:
    """Let processes run what needs all kernels, and show how many are there."""
    if options.workers < 1:
        raise ValueError(f"workers must be at least 1; got {options.workers}")
    total = len(all_kernels())
    if not total:
        print_table({"kernels": "none: NUMBA_DISABLE_JIT is set"})
        return
    start, before = time.perf_counter(), count_kept()
    processes = [_start(turn, options.workers) for turn in range(options.workers)]
    try:
        _wait(processes, total, sys.stderr)
    finally:
        for process in processes:
            if process.poll() is None:
                process.terminate()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()
    kept = count_kept()
    print_table(
        {
            "kernels": f"{kept} of {total} are compiled, {kept - before} of them now",
            "seconds": f"{time.perf_counter() - start:.3f}",
        }
    )
    if kept < total:
        raise ValueError(
            f"{total - kept} kernels could not be kept: is the cache directory writable? "
            f"NUMBA_CACHE_DIR names another one. Missing: {', '.join(missing()[:_MOST_NAMED])}"
        )


def _start(turn: int, turns: int) -> subprocess.Popen[str]:
    # With the path of this process: otherwise the folder that it was started in comes first, and in a clone
    # that is another copy of the library, with kernels of its own.
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; "
        f"from lslmatch.cli.kernels import run_all; run_all({turn}, {turns})"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def _wait(processes: list[subprocess.Popen[str]], total: int, stream: TextIO) -> None:
    """Wait for all processes, with a bar on a terminal; raise if one fails."""
    shown = 0
    while any(process.poll() is None for process in processes):
        if stream.isatty():
            kept = count_kept()
            filled = _BAR * kept // total
            line = f"compiling kernels [{'#' * filled}{'.' * (_BAR - filled)}] {kept} of {total}"
            stream.write(f"\r{line}")
            stream.flush()
            shown = len(line)
        time.sleep(0.2)
    if shown:
        stream.write("\r" + " " * shown + "\r")
        stream.flush()
    for process in processes:
        if process.returncode:
            errors = "" if process.stderr is None else process.stderr.read()
            last = errors.strip().rpartition("\n")[2] or f"exit code {process.returncode}"
            raise ValueError(f"a process that compiles failed: {last}")
