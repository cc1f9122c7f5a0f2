"""Many problems at once: small ones together in compiled code, in several threads."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from lslmatch._threads import over_rows
from lslmatch._types import FloatArray
from lslmatch._validation import check_count
from lslmatch.alignment.registry import direct_map, is_direct
from lslmatch.assignment.from_points import are_plain, match_points
from lslmatch.assignment.plan import plan_from_points
from lslmatch.assignment.small_sets import match_small
from lslmatch.matching import OPTIONS, is_usual, match
from lslmatch.results import MatchResult

#: Problems and coordinates of points (half a megabyte) that are solved in one call at most; and into how many
#: calls at least the problems of each of several workers are cut.
_GROUP_SIZE, _GROUP_COORDINATES, _GROUPS = 1024, 1 << 16, 4
#: Pairs from which on a problem is solved alone: copying its points would take longer than a call.
_ALONE = 150**2
#: Options that are other ones for each problem.
_OF_EACH = ("known", "groups", "forbidden")


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
        As of :func:`match`, the same for all problems; but `known`, `groups` and `forbidden` are sequences
        with an entry for each problem, None where there is nothing.

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
    if not (_is_stack(xs) and _is_stack(ys)):
        xs, ys = list(xs), list(ys)
    workers = check_count(workers, "workers", 1)
    if len(xs) != len(ys):
        raise ValueError(f"xs and ys must be equally many sets; got {len(xs)} and {len(ys)}")
    given = _given_of_each(options, len(xs))
    options = {name: value for name, value in options.items() if name not in _OF_EACH}
    results: list[MatchResult | None] = [None] * len(xs)
    groups = _groups(xs, ys, options, workers) if set(OPTIONS).issuperset(options) and not given else []

    def run(worker: int, first: int, last: int) -> None:
        for group in groups[first:last]:
            _match_group(xs, ys, group, options, results)

    over_rows(run, len(groups), 1, workers)
    # One by one: what is not small, or not ordinary. Large problems are shared among the workers.
    return [
        found
        if found is not None
        else _match_one(xs[k], ys[k], k, workers, options | (given[k] if given else {}))
        for k, found in enumerate(results)
    ]


def _given_of_each(options: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Give what is known of each problem; nothing if it is of none."""
    parts = {name: options[name] for name in _OF_EACH if options.get(name) is not None}
    for name, values in parts.items():
        if len(values) != count:
            raise ValueError(f"{name} must have an entry for each of {count} problems; got {len(values)}")
    return [{name: values[k] for name, values in parts.items()} for k in range(count)] if parts else []


def _is_stack(sets: Any) -> bool:
    """Say whether sets are an array of arrays as kernels want them."""
    is_array = type(sets) is np.ndarray and sets.dtype == np.float64 and sets.ndim == 3
    return is_array and sets.shape[1] >= 2 and sets.shape[2] >= 1 and bool(sets.flags.carray)


def _groups(xs: Any, ys: Any, options: dict[str, Any], workers: int) -> list[int | Sequence[int]]:
    """Put problems that one kernel solves into groups of one dimension, which are solved in one call.

    A number in place of a group is a problem that is solved alone, in place.
    """
    most = _GROUP_SIZE if workers == 1 else min(-(-len(xs) // (_GROUPS * workers)), _GROUP_SIZE)
    objective, alignment = options.get("objective", "lsl"), options.get("alignment", "standardize")
    if not (is_usual(**options) and is_direct(alignment)):
        return []
    if _are_alike(xs, ys) and _are_few(xs[0], ys[0], objective):
        step = max(min(_GROUP_COORDINATES // (xs[0].size + ys[0].size), most), 1)
        return [range(k, min(k + step, len(xs))) for k in range(0, len(xs), step)]
    groups: list[int | Sequence[int]] = []
    open_groups: dict[int, list[int]] = {}
    held: dict[int, int] = {}
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if not are_plain(x, y):
            continue
        if not _are_few(x, y, objective):
            if plan_from_points(x.shape, len(y), objective):
                groups.append(k)
            continue
        d, size = x.shape[1], x.size + y.size
        group = open_groups.get(d)
        if group is None or held[d] + size > _GROUP_COORDINATES or len(group) == most:
            group = open_groups[d] = []
            held[d] = 0
            groups.append(group)
        group.append(k)
        held[d] += size
    return groups


def _are_few(x: FloatArray, y: FloatArray, objective: str) -> bool:
    """Say whether two sets are matched together with others, by the kernel of small sets."""
    plan = plan_from_points(x.shape, len(y), objective)
    return bool(plan) and plan[0].name == "small" and len(x) * len(y) <= _ALONE


def _are_alike(xs: Any, ys: Any) -> bool:
    """Say whether there are sets, and all are arrays of points, of one type and shape on either side."""
    if not len(xs) or not are_plain(xs[0], ys[0]):
        return False
    if isinstance(xs, np.ndarray):
        return True
    try:
        kinds = list(map(_kind, xs)), list(map(_kind, ys))
    except AttributeError:
        return False
    return all(some.count(some[0]) == len(some) for some in kinds)


_kind = attrgetter("__class__", "dtype", "shape")


def _match_group(
    xs: Any,
    ys: Any,
    group: int | Sequence[int],
    options: dict[str, Any],
    results: list[MatchResult | None],
) -> None:
    """Match a group in one call."""
    objective, alignment = options.get("objective", "lsl"), options.get("alignment", "standardize")
    if isinstance(group, int):
        x, y = xs[group], ys[group]
        plan, affine = plan_from_points(x.shape, len(y), objective), direct_map(alignment, x.shape[1])
        results[group] = match_points(x, y, objective, affine, plan)
        return
    affine = direct_map(alignment, xs[group[0]].shape[1])
    if isinstance(group, range):
        # All are alike.
        some = slice(group.start, group.stop)
        sizes = np.full((len(group), 2), (len(xs[group.start]), len(ys[group.start])))
        results[some] = match_small(_joined(xs[some]), _joined(ys[some]), sizes, objective, affine)
        return
    x, y = [xs[k] for k in group], [ys[k] for k in group]
    sizes = np.array([(len(p), len(q)) for p, q in zip(x, y, strict=True)])
    for k, result in zip(group, match_small(_joined(x), _joined(y), sizes, objective, affine), strict=True):
        results[k] = result


def _joined(sets: Any) -> FloatArray:
    """Put the points of sets one below the other."""
    return sets.reshape(-1, sets.shape[2]) if isinstance(sets, np.ndarray) else np.concatenate(sets)


def _match_one(x: Any, y: Any, k: int, workers: int, options: dict[str, Any]) -> MatchResult:
    try:
        return match(x, y, workers=workers, **options)
    except (TypeError, ValueError) as error:
        raise type(error)(f"problem {k}: {error}") from error
