"""First matchings of sets whose coordinates may have nothing in common, from what no linear map changes.

Scores: leading principal coordinates of either set, divided by their spread, correspond up to signs if a few
directions hold most of the spread. The third moments of the sets tell the signs, whatever the order of the
rows. Profiles: in coordinates with covariance 1, inner products of points are the same in both sets. Sorted,
those of a point with all others say which point it is, whatever the order of the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.allowed.solving import assign_allowed
from lslmatch.assignment.orientation import partners
from lslmatch.given import Given
from lslmatch.linear.growth import surest

#: Numbers of scores that are tried, and signs for each of them.
_SCORES, _SIGNS = (3, 5, 8), 2
#: The share of the pairs of a first matching that is kept: others grow from it.
_KEPT = 0.15
#: Quantiles of inner products that make a profile, at most.
_QUANTILES = 256


def guess_pairs(a: FloatArray, b: FloatArray, given: Given | None) -> Iterator[tuple[str, IntArray]]:
    """Give first pairs to grow from, with the name of what they come from; -1 where there is none.

    Both sets come in principal coordinates.
    """
    for count in _SCORES:
        if count <= min(a.shape[1], b.shape[1]):
            x, y = _whitened(a[:, :count]), _whitened(b[:, :count])
            for signs in _likely_signs(x, y):
                yield f"{count} scores", _surest(_log_squares(x, y * signs), given)
    yield "profiles", _surest(_log_squares(*_profiles(_whitened(a), _whitened(b))), given)


def _surest(costs: FloatArray, given: Given | None) -> IntArray:
    found = assign_allowed(costs, given)
    matching = partners(len(costs), found.row_ind, found.col_ind)
    return surest(costs, matching, max(int(_KEPT * found.row_ind.size), 3), given)


def _whitened(points: FloatArray) -> FloatArray:
    """Divide principal coordinates by their spread."""
    white: FloatArray = points / np.sqrt((points**2).mean(axis=0))
    return white


def _likely_signs(x: FloatArray, y: FloatArray) -> list[FloatArray]:
    """Give the signs under which third moments agree best, of points as they are and of their directions."""
    k = x.shape[1]
    every = np.array(list(itertools.product((1.0, -1.0), repeat=k)))
    chosen: dict[bytes, FloatArray] = {}
    for one, other in ((x, y), (_directions(x), _directions(y))):
        both = _third_moments(one) * _third_moments(other)
        agree = np.einsum("si,sj,sk,ijk->s", every, every, every, both, optimize=True)
        for s in np.argsort(-agree)[:_SIGNS]:
            chosen.setdefault(every[s].tobytes(), every[s])
    return list(chosen.values())


def _directions(points: FloatArray) -> FloatArray:
    lengths = np.sqrt((points**2).sum(axis=1, keepdims=True))
    scaled: FloatArray = points / np.maximum(lengths, 1e-300) * np.sqrt(points.shape[1])
    return scaled


def _third_moments(points: FloatArray) -> FloatArray:
    moments: FloatArray = np.einsum("ni,nj,nk->ijk", points, points, points, optimize=True) / len(points)
    return moments


def _profiles(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give quantiles of the inner products of each point with all of its set, and its own square."""
    share = (np.arange(min(len(x), len(y), _QUANTILES)) + 0.5) / min(len(x), len(y), _QUANTILES)
    sides = []
    for points in (x, y):
        products = points @ points.T
        rank = share * (len(points) - 1)
        low = rank.astype(np.intp)
        part = np.sort(products, axis=1)
        high = np.minimum(low + 1, len(points) - 1)
        sides.append(part[:, low] + (rank - low) * (part[:, high] - part[:, low]))
    return sides[0], sides[1]


def _log_squares(x: FloatArray, y: FloatArray) -> FloatArray:
    squares = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2.0 * (x @ y.T)
    least = 1e-12 * float(squares.max()) or 1.0
    logarithms: FloatArray = np.log(np.maximum(squares, least))
    return logarithms
