"""Matching and checking on many machines: the workers of a Dask cluster share the passes over pairs.

    from distributed import Client
    from lslmatch.distributed import check_certificate, match

    client = Client("tcp://scheduler:8786")
    result = match(x, y, client=client)

Whoever calls keeps the points, and finds shortest paths, which is a sparse problem. Workers get blocks of
rows: for nearest partners, for shortlists and their renewal, and for the certificate. What they compute does
not depend on the blocks, so the result is that of :func:`lslmatch.match`, bit for bit, on processors of one
kind. A block that is lost with its worker is computed again.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from lslmatch import matching
from lslmatch._cluster import lending
from lslmatch._optional import load
from lslmatch._progress import tell
from lslmatch.certificate import checking
from lslmatch.results import MatchResult

#: This number of pairs, a second or two of one core, is worth the way to the workers.
LEAST_PAIRS = 1 << 30
#: Shares for each thread of the cluster, so that quick workers take more.
_SHARES = 4
#: How often lost shares are sent out; the rest is computed here.
_TRIES = 3
#: Seconds without any worker after which shares count as lost, and between looks at the workers.
_PATIENCE, _LOOK = 60.0, 2.0
#: Things that workers keep for later calls.
_KEPT = 4


class LostWorkWarning(UserWarning):
    """Workers of a cluster died again and again, and what was lost with them is computed here."""


def match(x: Any, y: Any, *, client: Any, **options: Any) -> MatchResult:
    """Match two sets as :func:`lslmatch.match` does, with the passes over pairs on a Dask cluster.

    Parameters
    ----------
    x, y : array_like or Dask collection, of shapes (n, d) and (m, d)
        The sets. Arrays may be memory maps; an array or a frame of Dask is brought here first.
    client : distributed.Client
        A client of the cluster. Its workers need `lslmatch`, of this version.
    **options
        Those of :func:`lslmatch.match`; `workers` are the threads of this process.

    Returns
    -------
    MatchResult
        The same as without a cluster.

    Warns
    -----
    LostWorkWarning
        If workers die again and again, as they do with too little memory. The result is right all the same.
    """
    cluster = DaskCluster(client)
    x, y = (_brought(points, client) for points in (x, y))
    with lending(cluster):
        return matching.match(x, y, **options)


def check_certificate(
    x: Any, y: Any, result: MatchResult, *, client: Any, atol: float | None = None, workers: int = 1
) -> float:
    """Check a matching as :func:`lslmatch.check_certificate` does, with the pairs on a Dask cluster.

    Parameters
    ----------
    x, y, result, atol, workers
        As there; x and y may also be arrays or frames of Dask.
    client : distributed.Client
        A client of the cluster.

    Returns
    -------
    float
        The largest violation, the same as without a cluster.
    """
    cluster = DaskCluster(client)
    x, y = (_brought(points, client) for points in (x, y))
    with lending(cluster):
        return checking.check_certificate(x, y, result, atol=atol, workers=workers)


def _brought(points: Any, client: Any) -> Any:
    """Compute what is a collection of Dask's."""
    return client.compute(points, sync=True) if hasattr(points, "__dask_graph__") else points


class DaskCluster:
    """A cluster to which shares of rows are sent, and what it was sent already.

    Parameters
    ----------
    client : distributed.Client
        A client of the cluster.
    """

    def __init__(self, client: Any) -> None:
        self._dask = load("distributed", "dask", "matching on a cluster")
        if not isinstance(client, self._dask.Client):
            raise TypeError(f"client must be a distributed.Client; got a {type(client).__name__}")
        if client.asynchronous:
            raise TypeError("client must not be asynchronous: the call waits for the result")
        self._client = client
        self._kept: OrderedDict[int, tuple[Any, Any]] = OrderedDict()
        self.least_pairs = LEAST_PAIRS
        self.shares = _SHARES * max(sum(client.nthreads().values()), 1)

    def map(
        self, function: Callable[..., Any], shared: tuple[Any, ...], shares: list[tuple[Any, ...]]
    ) -> list[Any]:
        """Compute ``function(*shared, *share)`` for all shares; what is lost again and again, here."""
        found: dict[int, Any] = {}
        for _ in range(_TRIES):
            if not self._has_workers():
                self.least_pairs = sys.maxsize  # from now on all is computed here
                break
            self._try(function, shared, shares, found)
            if len(found) == len(shares):
                break
            self._kept.clear()  # what was lost may have been among it
        lost = [k for k in range(len(shares)) if k not in found]
        if lost:
            warnings.warn(
                f"{len(lost)} of {len(shares)} blocks were lost with their workers, again and again, and are "
                "computed here: workers may have too little memory",
                LostWorkWarning,
                stacklevel=2,
            )
        for k in lost:
            found[k] = function(*shared, *shares[k])
        return [found[k] for k in range(len(shares))]

    def _try(
        self,
        function: Callable[..., Any],
        shared: tuple[Any, ...],
        shares: list[tuple[Any, ...]],
        found: dict[int, Any],
    ) -> None:
        """Send out all shares that are not found yet, and take what comes back."""
        try:
            there = [self._send(part) for part in shared]
            waiting = {
                self._client.submit(_call, function, there, *share, pure=False): k
                for k, share in enumerate(shares)
                if k not in found
            }
        except (OSError, TimeoutError, ValueError):  # no worker takes it
            return
        while waiting:
            done = [future for future in waiting if future.done()]
            for future in done:
                k = waiting.pop(future)
                if self._is_there(future):
                    found[k] = future.result()
                tell("blocks of rows seen", len(found), len(shares))
            if waiting and not done and not self._wait(list(waiting)) and not self._has_workers():
                self._client.cancel(list(waiting))
                return

    def _has_workers(self) -> bool:
        """Say whether there are workers; if there are none, wait for some to come."""
        end = time.monotonic() + _PATIENCE
        while not self._client.nthreads():
            if time.monotonic() > end:
                return False
            time.sleep(_LOOK / 10.0)
        return True

    def _wait(self, futures: list[Any]) -> bool:
        """Wait until one of them is done, or it is time to look at the workers: then it is False."""
        try:
            self._dask.wait(futures, timeout=_LOOK, return_when="FIRST_COMPLETED")
        except (TimeoutError, self._dask.TimeoutError):
            return False
        except self._dask.CancelledError:  # that one is done
            pass
        return True

    def _is_there(self, future: Any) -> bool:
        """Say whether a share was computed; raise what the function raised."""
        if future.status == "finished":
            return True
        if future.status == "error":
            error = future.exception()
            if not isinstance(error, (self._dask.scheduler.KilledWorker, MemoryError, OSError)):
                raise error
        return False

    def _send(self, value: Any) -> Any:
        """Give the future of a value that workers get from each other; of a number, the number."""
        if value is None or isinstance(value, (int, float)):
            return _Shared(value)
        key = id(value)
        if key not in self._kept:
            self._kept[key] = (
                value,
                self._client.scatter(_Shared(value), broadcast=True, hash=False, timeout=_PATIENCE),
            )
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[key][1]


class _Shared:
    """A value on its way to the workers, as one thing: kernels want arrays that may be written to."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self.value,)


def _stay(shared: _Shared) -> _Shared:
    return shared


def _arrived(value: Any) -> _Shared:
    return _Shared(_writable(value))


def _writable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable and value.flags.aligned else value.copy()
    if isinstance(value, tuple):
        parts = [_writable(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _call(function: Callable[..., Any], shared: list[_Shared], *share: Any) -> Any:
    return function(*(part.value for part in shared), *(_writable(part) for part in share))
