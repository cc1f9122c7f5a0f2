"""Many problems at once: small ones together in compiled code, in several threads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from operator import attrgetter
from typing import Any

import numpy as np

from lslmatch._threads import over_rows
from lslmatch._types import FloatArray
from lslmatch._validation import check_count
from lslmatch.matching import match
from lslmatch.results import MatchResult
from lslmatch.small_sets import are_plain, given_affine, is_plain, is_short, match_one, match_small

#: Options of `match`, but for the workers.
_OPTIONS = {"objective", "alignment", "covariance", "pairs", "noise"}
#: Problems that are solved in one call, and pairs of points in them, at most; and into how many calls at
#: least the problems of each of several workers are cut.
_GROUP_SIZE, _GROUP_PAIRS, _GROUPS = 1024, 1 << 19, 4
#: Pairs from which on a problem is solved alone: copying its points would take longer than a call.
_ALONE = 150**2


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
        The first sets. Problems may have different sizes. Where all have the same, an array of shape
        (problems, n, d) is the quickest to read.
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
    if not (is_plain(xs, ndim=3) and is_plain(ys, ndim=3)):
        xs, ys = list(xs), list(ys)
    workers = check_count(workers, "workers", 1)
    if len(xs) != len(ys):
        raise ValueError(f"xs and ys must be equally many sets; got {len(xs)} and {len(ys)}")
    results: list[MatchResult | None] = [None] * len(xs)
    xs, ys = _stacked(xs, ys, options)
    groups = _groups(xs, ys, options, workers)

    def run(worker: int, first: int, last: int) -> None:
        for group in groups[first:last]:
            _match_group(xs, ys, group, options, results)

    over_rows(run, len(groups), 1, workers)
    # One by one: what is not small, or not ordinary. Large problems are shared among the workers.
    return [
        found if found is not None else _match_one(xs[k], ys[k], k, workers, options)
        for k, found in enumerate(results)
    ]


def _stacked(xs: Any, ys: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Put small sets of one shape into an array, which is the quickest to read."""
    if isinstance(xs, np.ndarray) or not xs or not _OPTIONS.issuperset(options):
        return xs, ys
    x, y = xs[0], ys[0]
    if not (are_plain(x, y) and is_short(x.shape, len(y), **options)) or len(x) * len(y) > _ALONE:
        return xs, ys
    if not (_are_alike(xs) and _are_alike(ys)):
        return xs, ys
    x, y = (np.concatenate(sets).reshape(len(sets), *sets[0].shape) for sets in (xs, ys))
    return x, y


def _are_alike(sets: list[Any]) -> bool:
    """Say whether all sets are arrays of the type and the shape of the first."""
    try:
        kinds = list(map(_kind, sets))
    except AttributeError:
        return False
    return kinds.count(kinds[0]) == len(kinds)


_kind = attrgetter("__class__", "dtype", "shape")


def _groups(xs: Any, ys: Any, options: dict[str, Any], workers: int) -> list[list[int]]:
    """Put problems that can go the short way into groups of one dimension, which are solved in one call."""
    if not _OPTIONS.issuperset(options):
        return []
    most = _GROUP_SIZE if workers == 1 else min(-(-len(xs) // (_GROUPS * workers)), _GROUP_SIZE)
    if isinstance(xs, np.ndarray):
        # All have the same shape.
        n, m = xs.shape[1], ys.shape[1]
        if xs.shape[2] != ys.shape[2] or not is_short(xs.shape[1:], m, **options):
            return []
        step = max(min(_GROUP_PAIRS // (n * m), most), 1)
        return [list(range(k, min(k + step, len(xs)))) for k in range(0, len(xs), step)]
    members: dict[int, list[int]] = {}
    groups: list[list[int]] = []
    short = cache(partial(is_short, **options))
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if are_plain(x, y) and short(x.shape, len(y)):
            if len(x) * len(y) > _ALONE:
                groups.append([k])
            else:
                members.setdefault(x.shape[1], []).append(k)
    for some in members.values():
        held = 0
        for k in some:
            pairs = len(xs[k]) * len(ys[k])
            if not held or held + pairs > _GROUP_PAIRS or len(groups[-1]) == most:
                groups.append([])
                held = 0
            groups[-1].append(k)
            held += pairs
    return groups


def _match_group(
    xs: Any,
    ys: Any,
    group: list[int],
    options: dict[str, Any],
    results: list[MatchResult | None],
) -> None:
    """Match a group in one call."""
    objective, alignment = options.get("objective", "lsl"), options.get("alignment", "standardize")
    if len(group) == 1:
        results[group[0]] = match_one(xs[group[0]], ys[group[0]], objective, alignment)
        return
    x, y = _gathered(xs, group), _gathered(ys, group)
    if isinstance(xs, np.ndarray):
        sizes = np.full((len(group), 2), (xs.shape[1], ys.shape[1]))
    else:
        sizes = np.array([(len(xs[k]), len(ys[k])) for k in group])
    found = match_small(x, y, sizes, objective, given_affine(alignment, x.shape[1]))
    if group[-1] - group[0] + 1 == len(group):
        results[group[0] : group[-1] + 1] = found
        return
    for k, result in zip(group, found, strict=True):
        results[k] = result


def _gathered(sets: Any, group: list[int]) -> FloatArray:
    """Put the points of some sets one below the other."""
    if isinstance(sets, np.ndarray):
        return sets[group[0] : group[-1] + 1].reshape(-1, sets.shape[2])
    return np.concatenate([sets[k] for k in group])


def _match_one(x: Any, y: Any, k: int, workers: int, options: dict[str, Any]) -> MatchResult:
    try:
        return match(x, y, workers=workers, **options)
    except (TypeError, ValueError) as error:
        raise type(error)(f"problem {k}: {error}") from error
