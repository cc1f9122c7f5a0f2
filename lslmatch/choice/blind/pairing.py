"""Pairing the points of a pool with each other, and ranking the pairs, without a look at the sets.

Each point gives every other one a probability proportional to a power of their distance, as the model of
equal noise does once noise levels are forgotten (the power is d, as in LSL). The mean cost of a point is
taken off first: in many dimensions some points are near to all others. The log-odds of a pair are the mean of
those of its two points for each other. Pairs are taken in descending order of the log-odds, as long as
both of their points are free; that order is their rank.

On planted sets this finds as many pairs as an optimal assignment of the pool to itself, whose cycles are cut,
and needs no matrix: each point keeps its most probable partners only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._threads import over_rows
from lslmatch._types import FloatArray, IntArray
from lslmatch.choice.blind.pool import Pool

#: Partners that each point keeps.
_KEPT = 12
#: Points of the pool from which the mean cost of a point is estimated.
_SAMPLE = 1024
#: Entries of the block of costs of some points (2 MB: several of them stay in a near cache).
_BLOCK_ENTRIES = 1 << 18


class Edges(NamedTuple):
    """Disjoint pairs of points of a pool, the surest first."""

    ends: IntArray  # (k, 2)
    odds: FloatArray  # (k,): descending


def pair_blindly(pool: Pool, workers: int = 1) -> Edges:
    """Pair the points of a pool with each other, and rank the pairs."""
    if pool.size < 2:
        return Edges(np.empty((0, 2), np.intp), np.empty(0))
    mean = _mean_costs(pool, workers)
    partner, total = _candidates(pool, mean, workers)
    first = np.repeat(np.arange(pool.size), partner.shape[1])
    second = partner.ravel()
    # Each pair once.
    low, high = np.minimum(first, second), np.maximum(first, second)
    once = np.unique(low * pool.size + high)
    first, second = once // pool.size, once % pool.size
    fit = pool.may_be_paired(first, second)
    first, second = first[fit], second[fit]
    value = _weights(pool, first, second, mean)
    odds = (_log_odds(value, total[first]) + _log_odds(value, total[second])) / 2.0
    order = np.argsort(-odds, kind="stable")
    return _greedy(first[order], second[order], odds[order], pool.size)


def _rate(pool: Pool) -> float:
    return pool.points.shape[1] / 2.0


def _weights(pool: Pool, first: IntArray, second: IntArray, mean: FloatArray) -> FloatArray:
    """Give the logarithms of the weights of some pairs: minus their costs, without their points' mean."""
    return -_rate(pool) * (pool.log_squares(first, second) - mean[first] - mean[second])


def _log_odds(value: FloatArray, total: FloatArray) -> FloatArray:
    """Give the log-odds of a candidate beside all others, from the logarithms of its and all weights."""
    share = np.minimum(value - total, -1e-15)
    odds: FloatArray = value - total - np.log(-np.expm1(share))
    return odds


def _mean_costs(pool: Pool, workers: int) -> FloatArray:
    """Estimate the mean cost of each point; the pool is shuffled, so the first points are a sample."""
    few = min(pool.size, _SAMPLE)
    mean = np.empty(pool.size)

    def fill(worker: int, first: int, last: int) -> None:
        costs = _block(pool, first, last, few)
        # A point's distance to itself says nothing of it.
        own = np.arange(first, min(last, few))
        costs[own - first, own] = 0.0
        others = np.full(last - first, few)
        others[: own.size] -= 1
        mean[first:last] = costs.sum(axis=1) / others

    over_rows(fill, pool.size, max(_BLOCK_ENTRIES // few, 1), workers)
    return mean


def _candidates(pool: Pool, mean: FloatArray, workers: int) -> tuple[IntArray, FloatArray]:
    """Give each point's most probable partners, and the logarithm of the sum of the weights of all."""
    size = pool.size
    kept = min(_KEPT, size - 1)
    partner, total = np.empty((size, kept), np.intp), np.empty(size)

    def fill(worker: int, first: int, last: int) -> None:
        value = _block(pool, first, last, size)
        value -= mean
        value *= -_rate(pool)
        own = np.arange(first, last)
        value[own - first, own] = -np.inf
        # Points of other groups count among all others, but are no candidates.
        wanted = value
        if pool.group is not None:
            wanted = np.where(pool.may_be_paired(own[:, None], np.arange(size)), value, -np.inf)
        best = np.argpartition(wanted, size - kept, axis=1)[:, size - kept :]
        partner[first:last] = best
        # The nearest ones are computed anew, as squares that are expanded cancel.
        place = np.arange(last - first)[:, None]
        value[place, best] = (
            _weights(pool, np.broadcast_to(own[:, None], best.shape), best, mean)
            + _rate(pool) * -mean[own][:, None]
        )
        top = value.max(axis=1)
        value -= top[:, None]
        np.exp(value, out=value)
        total[first:last] = top + np.log(value.sum(axis=1)) + _rate(pool) * mean[own]

    over_rows(fill, size, max(_BLOCK_ENTRIES // size, 1), workers)
    return partner, total


def _block(pool: Pool, first: int, last: int, count: int) -> FloatArray:
    """Give the costs of some points to the first `count` ones, from expanded squares."""
    some, others = pool.points[first:last], pool.points[:count]
    costs = some @ others.T
    costs *= -2.0
    costs += np.einsum("ij,ij->i", some, some)[:, None]
    costs += np.einsum("ij,ij->i", others, others)
    if pool.between != 1.0:
        costs[pool.in_y[first:last, None] != pool.in_y[:count]] *= pool.between
    np.maximum(costs, pool.floor, out=costs)
    return np.log(costs, out=costs)


def _greedy(first: IntArray, second: IntArray, odds: FloatArray, size: int) -> Edges:
    """Take pairs in the given order whose points are both free."""
    free = bytearray(b"\x01") * size
    kept: list[int] = []
    for place, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if free[i] and free[j]:
            free[i] = free[j] = 0
            kept.append(place)
    taken = np.array(kept, np.intp)
    return Edges(np.column_stack([first[taken], second[taken]]), odds[taken])
