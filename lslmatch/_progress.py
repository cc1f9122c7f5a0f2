"""How far a long run is: loops tell it, and whoever shows it to a person listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: What is told: a plural noun with what happened to it, how many of them, and of how many.
Listener = Callable[[str, int, int], None]

_listener: Listener | None = None


def tell(what: str, done: int, total: int) -> None:
    """Say how far a loop is; next to nothing is done if nobody listens."""
    listener = _listener
    if listener is not None:
        listener(what, done, total)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let a function hear of all loops of this process, of any of its threads, while the block runs."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before
