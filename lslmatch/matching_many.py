"""Many problems at once: small ones together in compiled code, in several threads."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from lslmatch._threads import over_rows
from lslmatch._validation import check_count
from lslmatch.matching import match
from lslmatch.results import MatchResult
from lslmatch.small_sets import given_affine, goes_short_way, match_small

#: Options of `match` that the short way knows, with the values that it takes.
_KNOWN = {"covariance": "isotropic", "pairs": "all", "noise": None}
#: Problems that are solved in one call, and pairs of points in them, at most.
_GROUP_SIZE, _GROUP_PAIRS = 256, 1 << 20


def match_many(
    xs: Sequence[Any], ys: Sequence[Any], *, workers: int = 1, **options: Any
) -> list[MatchResult]:
    """Match many pairs of sets, each as :func:`match` does, to the last bit.

    For sets of a few hundred points or less, this is much quicker than a loop: what lies between the steps
    of a match is done once for many problems, and the steps leave Python's other threads free. Small sets
    are not looked through for points that contradict the alignment, of which :func:`match` warns.

    Parameters
    ----------
    xs : sequence of array_like, each of shape (n, d)
        The first sets. Problems may have different sizes.
    ys : sequence of array_like, each of shape (m, d)
        The second sets, as many as `xs`.
    workers : int, default 1
        Threads; each takes some problems at a time. The results do not depend on it.
    **options
        As of :func:`match`, the same for all problems.

    Returns
    -------
    list of MatchResult
        One for each problem, in their order.

    Raises
    ------
    ValueError, TypeError
        As :func:`match` does, for the first problem that is at fault, whose number is named.

    Examples
    --------
    >>> import numpy as np
    >>> from lslmatch import match_many
    >>> rng = np.random.default_rng(1)
    >>> xs = [rng.normal(size=(n, 3)) for n in (5, 8)]
    >>> results = match_many(xs, [2.0 * x[::-1] for x in xs])
    >>> [result.permutation.tolist() for result in results]
    [[4, 3, 2, 1, 0], [7, 6, 5, 4, 3, 2, 1, 0]]
    """
    xs, ys = list(xs), list(ys)
    workers = check_count(workers, "workers", 1)
    if len(xs) != len(ys):
        raise ValueError(f"xs and ys must be equally many sets; got {len(xs)} and {len(ys)}")
    results: list[MatchResult | None] = [None] * len(xs)
    groups = _groups(xs, ys, options)

    def run(worker: int, first: int, last: int) -> None:
        for group in groups[first:last]:
            _match_group(xs, ys, group, options, results)

    over_rows(run, len(groups), 1, workers)
    # One by one: what is not small, or not ordinary. Large problems are shared among the workers.
    return [
        found if found is not None else _match_one(xs[k], ys[k], k, workers, options)
        for k, found in enumerate(results)
    ]


def _groups(xs: list[Any], ys: list[Any], options: dict[str, Any]) -> list[list[int]]:
    """Put problems that can go the short way into groups of one dimension, which are solved in one call."""
    options = {**options}
    objective, alignment = options.pop("objective", "lsl"), options.pop("alignment", "standardize")
    if any(name not in _KNOWN or not _is(value, _KNOWN[name]) for name, value in options.items()):
        return []
    short: dict[int, list[int]] = {}
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        plain = _is_plain(x) and _is_plain(y) and x.shape[1] == y.shape[1]
        if plain and goes_short_way(x.shape, len(y), objective, alignment):
            short.setdefault(x.shape[1], []).append(k)
    groups = []
    for members in short.values():
        ends = np.cumsum([len(xs[k]) * len(ys[k]) for k in members]) // _GROUP_PAIRS
        for _, part in itertools.groupby(zip(ends.tolist(), members, strict=True), key=lambda pair: pair[0]):
            some = [k for _, k in part]
            groups += [some[start : start + _GROUP_SIZE] for start in range(0, len(some), _GROUP_SIZE)]
    return groups


def _is(value: Any, expected: str | None) -> bool:
    return value is expected if expected is None else isinstance(value, str) and value == expected


def _is_plain(points: Any) -> bool:
    """Say whether points are an array as kernels want it; all others go the long way, with its checks."""
    plain = type(points) is np.ndarray and points.dtype == np.float64 and points.ndim == 2
    return plain and points.flags.carray and points.shape[0] >= 2 and points.shape[1] >= 1


def _match_group(
    xs: list[Any],
    ys: list[Any],
    group: list[int],
    options: dict[str, Any],
    results: list[MatchResult | None],
) -> None:
    """Match a group in one call, but leave those problems out that are not finite."""
    finite = [k for k in group if np.isfinite(xs[k].sum()) and np.isfinite(ys[k].sum())]
    if not finite:
        return
    affine = given_affine(options.get("alignment", "standardize"), xs[finite[0]].shape[1])
    found = match_small(
        [xs[k] for k in finite], [ys[k] for k in finite], options.get("objective", "lsl"), affine
    )
    for k, result in zip(finite, found, strict=True):
        results[k] = result


def _match_one(x: Any, y: Any, k: int, workers: int, options: dict[str, Any]) -> MatchResult:
    try:
        return match(x, y, workers=workers, **options)
    except (TypeError, ValueError) as error:
        raise type(error)(f"problem {k}: {error}") from error
