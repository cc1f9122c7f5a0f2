"""Choosing pairs of which at most a given share is false, in expectation, by a theorem."""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.choice.blind.counting import Count, count_pairs
from lslmatch.choice.blind.learning import pair_and_learn
from lslmatch.choice.blind.pool import pool_sets
from lslmatch.costs import CostRule
from lslmatch.covariance.known import known_problem
from lslmatch.geometry.columns import mapped_coordinates
from lslmatch.geometry.coordinates import Geometry
from lslmatch.objectives.table import make_rule
from lslmatch.results import ColumnMap, Covariance, MatchResult

#: So many pairs below those that are kept say whether the sets mix, and above this share of them joins a set
#: to itself if they do not: by chance one of 1,000 does where half should.
_LEAST_LATER, _UNMIXED = 20, 0.5
_STANDARD_ERRORS = 3.1
#: Where a covariance comes from that was not learned from the pairs.
_GIVEN = ("given", "diagonal, given")


def choose_blindly(
    x: FloatArray, y: FloatArray, result: MatchResult, share: float, is_given: bool, workers: int
) -> MatchResult:
    """Keep pairs that were made and ranked blindly, under the map of a result.

    `is_given` says that the map was not estimated from these sets. A covariance that was learned with the
    sets in view is not used: where one was asked for, another is learned blindly. Known pairs are kept
    besides, and partners are of one group.
    """
    permutation, confidence = np.full(len(x), -1, np.intp), np.full(len(x), np.nan)
    # The pairs are no cheapest matching, so there is nothing for duals to prove.
    empty = result._replace(
        permutation=permutation,
        objective=0.0,
        row_dual=None,
        col_dual=None,
        price=None,
        chosen_from=None,
        confidence=confidence,
    )
    geometry, rule, kind, units = _problem(x, y, result)
    pool = pool_sets(geometry, rule, 0 if is_given else result.map.parameters, result.given)
    edges, pool, noise, rounds = pair_and_learn(pool, kind, workers)
    joins = pool.in_y[edges.ends[:, 0]] != pool.in_y[edges.ends[:, 1]]
    count = count_pairs(joins, share)
    ends = edges.ends[: count.kept][joins[: count.kept]]
    ends = np.where(pool.in_y[ends[:, :1]], ends[:, ::-1], ends)  # the point of x first
    rows = pool.row[ends[:, 0]]
    permutation[rows] = pool.row[ends[:, 1]]
    confidence[rows] = count.right[: count.between]
    cost = pool._replace(between=1.0).log_squares(*ends.T)
    if result.given is not None:
        known = result.given.known
        permutation[known[:, 0]], confidence[known[:, 0]] = known[:, 1], 1.0
        apart = geometry.taken(known[:, 0], known[:, 1]).residuals()
        squares = np.square(apart if noise is None else noise.whiten(apart)).sum(axis=1)
        cost = np.concatenate([cost, np.log(np.maximum(squares, pool.floor))])
    chosen = empty._replace(objective=float(cost.sum()) + pool.offset * cost.size)
    if kind != "known":
        record = None if noise is None else Covariance(noise.root, 0.0, rounds=rounds, units=units)
        chosen = chosen._replace(covariance=record)
    lines = _words(count, share)
    if result.given is not None and len(result.given.known):
        lines.append(f"pairs: {len(result.given.known)} known ones besides, which need no proof")
    return _decided(chosen, *lines)


def _problem(
    x: FloatArray, y: FloatArray, result: MatchResult
) -> tuple[Geometry, CostRule, str, FloatArray | None]:
    """Give both sets and the rule of their costs, what is to be learned of the noise, and columns' units.

    Noise of a covariance that is known is isotropic there.
    """
    covariance, found = result.covariance, result.map
    kind, units = "isotropic", None
    if covariance is not None and covariance.origin in _GIVEN:
        kind, units = "known", covariance.units
    elif covariance is not None:
        kind = "diagonal" if covariance.is_diagonal else "full"
    elif isinstance(found, ColumnMap):
        kind = "diagonal"
    if kind == "known" and not (covariance is not None and covariance.is_diagonal):
        geometry, rule = known_problem(x, y, result)
    else:
        if isinstance(found, ColumnMap) and kind != "known":  # no column is to outweigh others for its unit
            units = _spreads(np.concatenate([x, found.apply(y)]))
        geometry = mapped_coordinates(x, y, found, units)
        rule = make_rule("lsl", geometry, result.scale)
    return geometry, rule, kind, units


def _spreads(points: FloatArray) -> FloatArray:
    """Give a unit for each column: how far its middle half reaches, or all of it if that is nothing."""
    low, high = np.quantile(points, (0.25, 0.75), axis=0)
    unit = np.where(high > low, high - low, np.ptp(points, axis=0))
    return np.where(unit > 0.0, unit, 1.0)


def _words(count: Count, share: float) -> list[str]:
    """Say what was found, and what it rests on."""
    total = count.between + count.within
    lines: list[str] = []
    if count.kept:
        lines.append(
            f"pairs: {count.between} that join the sets, of the first {total} blind pairs; {count.within} "
            f"of these join a set to itself. At most {share:.3g} of the pairs are false in expectation, "
            "proven if the noise of both sets is alike and strangers are not each other's relatives"
        )
    else:
        lines.append(
            "pairs: none, as too many of the first blind pairs join a set to itself (a limit of "
            f"{share:.3g} needs at least {_least_pairs(share)} pairs)"
        )
    later = count.later_between + count.later_within
    if later:
        lines.append(
            f"pairs: of the {later} blind pairs of lower rank {count.later_within} join a set to itself"
            + (", far more than half: the sets do not mix" if _is_unmixed(count) else "")
        )
    if count.strangers:
        lines.append(
            f"pairs: about {count.strangers} points are strangers; if the sizes of the sets were fixed "
            f"beforehand, the limit is about {1.0 + 2.0 / count.strangers:.3g} times as high"
        )
    return lines


def _least_pairs(share: float) -> int:
    return int(np.ceil(1.0 / share))


def _is_unmixed(count: Count) -> bool:
    later = count.later_between + count.later_within
    excess = count.later_within - _UNMIXED * later
    return later >= _LEAST_LATER and bool(excess > _STANDARD_ERRORS * np.sqrt(later) / 2.0)


def _decided(result: MatchResult, *lines: str) -> MatchResult:
    return result._replace(decisions=(*result.decisions, *lines))
