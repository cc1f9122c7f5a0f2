"""How well a matching predicts itself, pair by pair, when the pair in question was left out.

The costs C of all pairs, each without the residuals of the pair's own points, give each partner of a
point a probability proportional to ``exp(-rate * C)``. The cross-entropy is the mean of minus the
logarithm of the probability of the present partner, for rows and for columns, in nats: 0 if every partner
is certain, and about ``log n`` for either if the costs say nothing. In the model the rate is d / 2; where
features or noise have fewer dimensions than there are coordinates it is less, so the rate that is best
for the matching is taken, from a few.
"""

from __future__ import annotations

import numpy as np

from lslmatch._jit import kernel
from lslmatch._types import FloatArray, IntArray
from lslmatch.covariance.leave_out import White, fill_rows

#: The rates that are tried are d / 2 times 1, 1/2, 1/4, ..., this many of them.
_RATES = 7
#: At most this number of points of either set is looked at, evenly spread.
_ASKED = 1024
#: Entries of the block of rows whose costs are computed at once (512 kB).
_BLOCK_ENTRIES = 1 << 16


def surprises(costs: FloatArray, partner: IntArray, dimension: int) -> FloatArray:
    """Give for each pair minus the logarithms of both probabilities; their mean is the cross-entropy.

    They are in the order of the points of the smaller set.
    """
    rows = np.flatnonzero(partner >= 0)
    if len(costs) > costs.shape[1]:
        rows = rows[np.argsort(partner[rows])]
    return at_best_rate(both_entropies(costs, partner, dimension)[rows])


def best_rate(costs: FloatArray, partner: IntArray, dimension: int) -> float:
    """Give the rate at which a matching predicts itself best."""
    total = both_entropies(costs, partner, dimension).sum(axis=0)
    return _least_rate(dimension) * 2.0 ** int(total.argmin())


def sampled_surprises(white: White) -> FloatArray:
    """Give the surprises of some pairs, from the costs of their rows and columns only."""
    if white.shape[0] > white.shape[1]:
        white = white.transposed()
    rows = np.flatnonzero(white.partner >= 0)
    some = rows[np.unique(np.linspace(0, rows.size - 1, _ASKED).astype(np.intp))]
    total = np.zeros((some.size, _RATES))
    for side, asked in ((white, some), (white.transposed(), white.partner[some])):
        step = max(_BLOCK_ENTRIES // side.shape[1], 1)
        for first in range(0, asked.size, step):
            part = side.rows(asked[first : first + step])
            costs = np.empty(part.shape)
            fill_rows(part, 0, len(costs), costs)
            total[first : first + step] += _row_entropies(costs, part.partner, _least_rate(white.dimension))
    return at_best_rate(total)


def both_entropies(costs: FloatArray, partner: IntArray, dimension: int) -> FloatArray:
    """Give minus the log-probabilities of the partners, for rows and columns together, at every rate."""
    rate = _least_rate(dimension)
    total: FloatArray = _row_entropies(costs, partner, rate)
    total += _column_entropies(costs, partner, rate)
    return total


def at_best_rate(entropies: FloatArray) -> FloatArray:
    """Choose the column whose sum is least."""
    return np.ascontiguousarray(entropies[:, entropies.sum(axis=0).argmin()])


def row_entropies(costs: FloatArray, partner: IntArray, dimension: int) -> FloatArray:
    """Give minus the log-probabilities of the partners of the rows, at every rate."""
    found: FloatArray = _row_entropies(costs, partner, _least_rate(dimension))
    return found


def _least_rate(dimension: int) -> float:
    return dimension / 2.0**_RATES


@kernel
def _row_entropies(costs, partner, rate):
    """Give minus the log-probabilities of the partners of the rows, at `rate` times 1, 2, 4 and so on."""
    n, m = costs.shape
    total, share = np.zeros((n, _RATES)), np.empty(_RATES)
    for i in range(n):
        if partner[i] >= 0:
            least = costs[i, 0]
            for j in range(1, m):
                least = min(least, costs[i, j])
            share[:] = 0.0
            for j in range(m):
                power = np.exp(-rate * (costs[i, j] - least))
                for k in range(_RATES):
                    share[k] += power
                    power *= power
            excess = rate * (costs[i, partner[i]] - least)
            for k in range(_RATES):
                total[i, k] = np.log(share[k]) + excess
                excess *= 2.0
    return total


@kernel
def _column_entropies(costs, partner, rate):
    """Do the same for the columns of the partners, in the order in which the costs lie in memory."""
    n, m = costs.shape
    total, share, least = np.zeros((n, _RATES)), np.zeros((m, _RATES)), costs[0].copy()
    for i in range(1, n):
        for j in range(m):
            least[j] = min(least[j], costs[i, j])
    for i in range(n):
        for j in range(m):
            power = np.exp(-rate * (costs[i, j] - least[j]))
            for k in range(_RATES):
                share[j, k] += power
                power *= power
    for i in range(n):
        j = partner[i]
        if j >= 0:
            excess = rate * (costs[i, j] - least[j])
            for k in range(_RATES):
                total[i, k] = np.log(share[j, k]) + excess
                excess *= 2.0
    return total
