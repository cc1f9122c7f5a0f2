"""One call in a process of its own, with limits on time and memory, so that nothing else suffers from it."""

import importlib
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]

#: Of the machine's memory, what a call may ask for.
MEMORY_SHARE = 0.85


class Outcome(NamedTuple):
    """What came of a call."""

    value: Any
    """What it returned; None if it did not end well."""
    failure: str | None
    """Why it did not: "time" or "memory"."""


def call(function, *arguments, seconds, environment=None):
    """Call ``function``, given as "module:name", with JSON arguments.

    Raises
    ------
    RuntimeError
        If it fails by anything but the time limit or a lack of memory.
    """
    command = [sys.executable, "-m", "tests.benchmarks.isolated", function, json.dumps(arguments)]
    try:
        done = subprocess.run(
            command,
            env=child_environment() | (environment or {}),
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return Outcome(None, "time")
    # A negative status is a signal: the system ends processes when memory runs out, and libraries
    # that do not check an allocation crash.
    if done.returncode < 0 or "MemoryError" in done.stderr or "bad_alloc" in done.stderr:
        return Outcome(None, "memory")
    if done.returncode:
        raise RuntimeError(f"{function}{arguments} failed:\n{done.stderr}")
    return Outcome(json.loads(done.stdout.splitlines()[-1]), None)


def child_environment():
    """Let child processes import this checkout."""
    paths = [str(CHECKOUT), os.environ.get("PYTHONPATH")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def peak_bytes():
    """Return the most memory that this process has ever held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def machine_bytes():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _main(function, arguments):
    limit = int(MEMORY_SHARE * machine_bytes())
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    module, name = function.split(":")
    print(json.dumps(getattr(importlib.import_module(module), name)(*json.loads(arguments))))


if __name__ == "__main__":
    _main(*sys.argv[1:])
