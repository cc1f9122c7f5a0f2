"""How probably each pair of a matching is one of strangers, from points that are made strangers.

If the partner of a point is deleted, the point has none, and the best matching without the partner shows what
a stranger among these points looks like: no law of strangers is needed. A tenth of the pairs loses its y,
another tenth its x, all other points stay, and the matching is computed again; each pair has its turn.

A pair is described by the logarithm of the odds of its two points for each other beside all other candidates,
once the mean cost of a point is taken off, as in many dimensions some points are near to all others. Pairs
are like strangers with a share that is found where true pairs are not, at the low odds; and the probability
of a stranger given the odds, which only falls with them, is that share times the ratio of densities: isotonic
regression, with no law for true pairs either (Storey, J. R. Statist. Soc. B 64, 2002; Grenander's estimate).

Strangers of another kind than the points themselves can look like true pairs here, as all lie far from the
others: :mod:`lslmatch.choice.partnership` is made for these. Whether anything is in common at all it does
not tell: of unrelated sets only half of the pairs or more are taken for strangers, as all are the best there
are.
"""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.assignment.solve import assign

#: The pairs are cut into so many parts; two of them are deleted at a time.
_PARTS = 10
#: As many strangers as this are enough.
_ENOUGH = 400
#: The quantiles of the strangers below which pairs are counted to find their share.
_LOW = (0.3, 0.4, 0.5, 0.6)
#: The probability that a pair is none of strangers is not below this before the share is known.
_LEAST = 1e-6


def stranger_rates(
    costs: FloatArray, permutation: IntArray, rate: float, torn: IntArray | None = None
) -> FloatArray:
    """Give for each matched row, ascending, the probability that its pair is one of strangers.

    `rate` is that at which candidates become more frequent with cost; `torn` are the rows of the pairs of
    which one point is deleted in turn, by default all.
    """
    rows = np.flatnonzero(permutation >= 0)
    cols = permutation[rows]
    torn = rows if torn is None or torn.size < _PARTS else torn
    # Parts that are alike in cost, whatever the order of the points.
    place = np.empty(torn.size, np.intp)
    place[np.argsort(costs[torn, permutation[torn]], kind="stable")] = np.arange(torn.size)
    parts = min(_PARTS, torn.size // 2)
    drawn: list[FloatArray] = []
    for part in range(parts):
        without_y = torn[place % parts == part]
        without_x = torn[place % parts == (part + parts // 2) % parts]
        drawn.append(_strangers(costs, permutation, without_y, without_x, rate))
        if sum(odds.size for odds in drawn) >= _ENOUGH:
            break
    return _local_rates(_log_odds(costs, rows, cols, rate), np.concatenate(drawn))


def _strangers(
    costs: FloatArray, permutation: IntArray, without_y: IntArray, without_x: IntArray, rate: float
) -> FloatArray:
    """Delete some y and some x, match the others, and give the odds of the pairs with a point left alone."""
    n, m = costs.shape
    alone_y = permutation[without_x]
    kept_x, kept_y = np.delete(np.arange(n), without_x), np.delete(np.arange(m), permutation[without_y])
    rest = costs[np.ix_(kept_x, kept_y)]
    found = assign(rest)
    odds = _log_odds(rest, found.row_ind, found.col_ind, rate)
    alone = np.isin(kept_x[found.row_ind], without_y) | np.isin(kept_y[found.col_ind], alone_y)
    return odds[alone]


def _log_odds(costs: FloatArray, rows: IntArray, cols: IntArray, rate: float) -> FloatArray:
    """Give the mean of the log-odds of a pair in its row and in its column."""
    centred = costs - costs.mean(axis=1, keepdims=True)
    centred -= costs.mean(axis=0) - costs.mean()
    total = np.zeros(rows.size)
    for lines, own in ((centred[rows], cols), (np.ascontiguousarray(centred[:, cols].T), rows)):
        lines *= -rate
        every = np.arange(rows.size)
        mine = lines[every, own]
        lines[every, own] = -np.inf
        top = lines.max(axis=1)
        total += mine - top - np.log(np.exp(lines - top[:, None]).sum(axis=1))
    return total / 2.0


def _local_rates(pairs: FloatArray, strangers: FloatArray) -> FloatArray:
    """Give the probabilities of a stranger at the odds of the pairs."""
    levels = np.quantile(strangers, _LOW)
    shares = [(pairs <= level).mean() / (strangers <= level).mean() for level in levels]
    share = min(float(np.mean(shares)), 1.0)
    is_pair = np.repeat([1.0, 0.0], [pairs.size, strangers.size])
    weight = np.repeat([1.0 / pairs.size, 1.0 / strangers.size], [pairs.size, strangers.size])
    order = np.argsort(np.concatenate([pairs, strangers]), kind="stable")
    among = np.empty(order.size)
    among[order] = isotonic(is_pair[order], weight[order])
    among = np.maximum(among[: pairs.size], _LEAST)
    rates: FloatArray = np.minimum(share * (1.0 - among) / among, 1.0)
    return rates


def isotonic(values: FloatArray, weight: FloatArray) -> FloatArray:
    """Give the ascending sequence that is nearest in weighted squares: pool neighbours that descend."""
    blocks: list[tuple[float, float, int]] = []
    for value, mass in zip(values.tolist(), weight.tolist(), strict=True):
        count = 1
        while blocks and blocks[-1][0] >= value:
            before, more, others = blocks.pop()
            value = (value * mass + before * more) / (mass + more)
            mass, count = mass + more, count + others
        blocks.append((value, mass, count))
    return np.repeat([block[0] for block in blocks], [block[2] for block in blocks])
