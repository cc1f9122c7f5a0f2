"""The progress of a run: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time

from tqdm import tqdm

from verification.engine.trials import Batch

#: Seconds between two lines where there is no terminal.
_SECONDS = 20.0


class Bar:
    """A progress bar that learns its length with the first step."""

    def __init__(self, quiet: bool) -> None:
        self._bar = tqdm(disable=quiet or None, dynamic_ncols=True, leave=False)
        self._in_lines = not quiet and not sys.stderr.isatty()
        self._done, self._total, self._next = 0, 0, time.monotonic() + _SECONDS

    def __enter__(self) -> Bar:
        """Show it."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Take it away."""
        self._bar.close()

    def expect(self, total: int, name: str) -> None:
        """Set the number of steps to come."""
        self._bar.total = self._total = total
        self._bar.set_description(name)

    def batch(self, batch: Batch, done: int, total: int) -> None:
        """Show that a batch is finished."""
        self._bar.total = self._total = total
        self._bar.set_description(batch.study, refresh=False)
        self._bar.update(done - self._bar.n)
        self._line(done, batch.study, "batches so far planned")

    def step(self, name: str) -> None:
        """Show that one step is finished."""
        self._bar.set_description(name, refresh=False)
        self._bar.update()
        self._line(self._done + 1, name, "steps")

    def _line(self, done: int, name: str, what: str) -> None:
        self._done = done
        if self._in_lines and time.monotonic() >= self._next:
            print(f"{done} of {self._total} {what}; last {name}", file=sys.stderr, flush=True)
            self._next = time.monotonic() + _SECONDS
