"""Many problems at once: small ones together in compiled code, in several threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lslmatch._threads import over_rows
from lslmatch._types import FloatArray
from lslmatch._validation import check_count
from lslmatch.matching import match
from lslmatch.results import MatchResult
from lslmatch.small_sets import are_plain, given_affine, is_plain, is_short, match_small

#: Options of `match`, but for the workers.
_OPTIONS = {"objective", "alignment", "covariance", "pairs", "noise"}
#: Problems that are solved in one call, and pairs of points in them (4 MB), at most; and into how many calls
#: at least the problems of each of several workers are cut.
_GROUP_SIZE, _GROUP_PAIRS, _GROUPS = 1024, 1 << 19, 4


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
    for sets in (xs, ys):
        first = sets[0]
        if not is_plain(first):
            return xs, ys
        shape, dtype = first.shape, first.dtype
        if not all(type(points) is np.ndarray and points.shape == shape for points in sets):
            return xs, ys
        if not all(points.dtype == dtype for points in sets):
            return xs, ys
    if xs[0].shape[1] != ys[0].shape[1] or not is_short(xs[0].shape, len(ys[0]), **options):
        return xs, ys
    x, y = (np.concatenate(sets).reshape(len(sets), *sets[0].shape) for sets in (xs, ys))
    return x, y


def _groups(xs: Any, ys: Any, options: dict[str, Any], workers: int) -> list[list[int]]:
    """Put problems that can go the short way into groups of one dimension, which are solved in one call."""
    if not _OPTIONS.issuperset(options):
        return []
    most = _GROUP_SIZE if workers == 1 else min(-(-len(xs) // (_GROUPS * workers)), _GROUP_SIZE)
    if isinstance(xs, np.ndarray):
        # All have the same shape.
        n, m = xs.shape[1], ys.shape[1]
        short = xs.shape[2] == ys.shape[2] and is_short(xs.shape[1:], m, **options)
        step = max(min(_GROUP_PAIRS // (n * m), most), 1)
        return [list(range(k, min(k + step, len(xs)))) for k in range(0, len(xs), step)] if short else []
    members: dict[int, list[int]] = {}
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if are_plain(x, y) and is_short(x.shape, len(y), **options):
            members.setdefault(x.shape[1], []).append(k)
    groups: list[list[int]] = []
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
    x, y = _gathered(xs, group), _gathered(ys, group)
    if isinstance(xs, np.ndarray):
        sizes = np.full((len(group), 2), (xs.shape[1], ys.shape[1]))
    else:
        sizes = np.array([(len(xs[k]), len(ys[k])) for k in group])
    affine = given_affine(options.get("alignment", "standardize"), x.shape[1])
    for k, result in zip(
        group, match_small(x, y, sizes, options.get("objective", "lsl"), affine), strict=True
    ):
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
