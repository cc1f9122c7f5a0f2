"""Stops that are explained in one line instead of a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: The exit code where the program itself, or the code of a claim, ended in an error: no evidence of anything.
PROGRAM_ERROR = 4


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
