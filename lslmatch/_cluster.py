"""Machines that were lent for a while: whoever has many blocks of rows to compute may ask for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol


class Cluster(Protocol):
    """Other processes that compute functions."""

    shares: int
    """Into how many shares the rows of a problem are best cut."""
    least_pairs: int
    """Fewer pairs than this are not worth the way."""

    def map(
        self, function: Callable[..., Any], shared: tuple[Any, ...], shares: list[tuple[Any, ...]]
    ) -> list[Any]:
        """Compute ``function(*shared, *share)`` for each share, in their order, once or more often."""


_lent: ContextVar[Cluster | None] = ContextVar("cluster", default=None)


def lent_cluster(pairs: int) -> Cluster | None:
    """Give the cluster that was lent to this thread, if there is one and that many pairs are worth it."""
    cluster = _lent.get()
    return cluster if cluster is not None and pairs >= cluster.least_pairs else None


@contextmanager
def lending(cluster: Cluster) -> Iterator[None]:
    """Lend a cluster to all that is called in the block."""
    token = _lent.set(cluster)
    try:
        yield
    finally:
        _lent.reset(token)


def row_shares(n: int, step: int, count: int) -> list[tuple[int, int]]:
    """Cut n rows into about so many shares of whole blocks of `step` rows, from the first to the last."""
    size = max(-(-n // (step * count)), 1) * step
    return [(first, min(first + size, n)) for first in range(0, n, size)]
