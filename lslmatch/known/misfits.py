"""Known pairs that do not fit the others: reported, and never forced on the map.

A pair of strangers is as far apart as any two points. So a known pair is named if its cost is far above those
of most pairs, and if each of its points has many nearer candidates. Where noise is so large that true
partners are as far apart, nothing can be told, and nothing is said.
"""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.geometry.columns import mapped_coordinates
from lslmatch.linear.record import costs_of
from lslmatch.results import MatchResult
from lslmatch.summary import count

#: How far above the middle cost, in standard deviations by the median deviation, and behind which share of
#: the candidates of both points.
_FAR, _BEHIND = 3.0, 0.05
#: Fewer pairs than this say nothing of each other.
_FEWEST = 6
#: The ratio of a standard deviation to the median absolute deviation, of normal variables.
_NORMAL = 1.4826


def misfits(x: FloatArray, y: FloatArray, result: MatchResult) -> IntArray:
    """Give the numbers of the known pairs that do not fit."""
    assert result.given is not None
    known, pairs = result.given.known, result.pairs
    if not len(known) or len(pairs) < _FEWEST:
        return np.empty(0, np.intp)
    if result.regression is not None:
        costs = costs_of(x, y, result)
        own, every = costs[known[:, 0], known[:, 1]], costs[pairs[:, 0], pairs[:, 1]]
        behind = (costs[known[:, 0]] < own[:, None]).mean(axis=1), (costs[:, known[:, 1]] < own).mean(axis=0)
    else:
        units = None if result.covariance is None else result.covariance.units
        geometry = mapped_coordinates(x, y, result.map, units)
        least = geometry.mean_square() * 2.0**-80 or 1.0
        apart = geometry.taken(pairs[:, 0], pairs[:, 1]).residuals()
        every = np.log(np.maximum((apart**2).sum(axis=1), least))
        apart = geometry.taken(known[:, 0], known[:, 1]).residuals()
        squares = (apart**2).sum(axis=1)
        own = np.log(np.maximum(squares, least))
        behind = np.empty(len(known)), np.empty(len(known))
        for k, (i, j) in enumerate(known.tolist()):
            behind[0][k] = (((geometry.a[i] - geometry.b) ** 2).sum(axis=1) < squares[k]).mean()
            behind[1][k] = (((geometry.a - geometry.b[j]) ** 2).sum(axis=1) < squares[k]).mean()
    middle = float(np.median(every))
    spread = _NORMAL * float(np.median(np.abs(every - middle)))
    far = own > middle + _FAR * spread
    return np.flatnonzero(far & (np.minimum(*behind) > _BEHIND))


def say_misfits(result: MatchResult, numbers: IntArray) -> str:
    """Name known pairs that do not fit the others; empty if there are none."""
    if not numbers.size:
        return ""
    assert result.given is not None
    known = result.given.known
    names = []
    for i, j in known[numbers].tolist():
        x_name = i if result.labels is None or result.labels.x is None else result.labels.x[i]
        y_name = j if result.labels is None or result.labels.y is None else result.labels.y[j]
        names.append(f"({x_name}, {y_name})")
    verb = "does" if numbers.size == 1 else "do"
    return (
        f"{numbers.size} of {count(len(known), 'known pair')} {verb} not fit the others: "
        f"{', '.join(names[:5])}{', ...' if len(names) > 5 else ''}"
    )
