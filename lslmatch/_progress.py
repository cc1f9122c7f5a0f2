"""How far a long run is: loops tell it, and whoever shows it to a person listens.

From Python that is the logger "lslmatch": at the level INFO it says every two seconds how far a loop is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: What is told: a plural noun with what happened to it, how many of them, and of how many.
Listener = Callable[[str, int, int], None]

#: Seconds between two lines of the log.
PAUSE = 2.0

_LOG = logging.getLogger("lslmatch")
_listener: Listener | None = None
_said = 0.0


def tell(what: str, done: int, total: int) -> None:
    """Say how far a loop is; next to nothing is done if nobody listens."""
    listener = _listener
    if listener is not None:
        listener(what, done, total)
    if _LOG.isEnabledFor(logging.INFO):
        _log(what, done, total)


def _log(what: str, done: int, total: int) -> None:
    global _said
    now = time.monotonic()
    if now - _said >= PAUSE:
        _said = now
        _LOG.info("%s: %s of %s", what, f"{done:,}", f"{total:,}")


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let a function hear of all loops of this process, of any of its threads, while the block runs."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before
