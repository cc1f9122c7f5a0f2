"""A look at some rows of two large sets: how clear their nearest partners are, by how many coordinates.

What is seen here decides how much is computed, never what is true.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.large.frame import LargeSets
from lslmatch.large.leading import EVERY, Directions, find_directions, product
from lslmatch.large.points import blocks

#: Rows that are looked at.
_ROWS = 64
#: Numbers of leading coordinates, one more with the rest; they serve up to this share of all.
_SIZES, _MOST = (15, 23, 31, 47, 63, 95, 127, 191, 255), 0.7
#: A pair takes the time of this number of coordinates beside its own.
_OVERHEAD = 12


class LargeOutlook(NamedTuple):
    """What some rows suggest about all of them."""

    mutual: float  # the share whose nearest partner is nearest to them, too
    directions: Directions
    sizes: tuple[int, ...]  # of leading coordinates to try, one after the other; 0: all of them


def look(sets: LargeSets) -> LargeOutlook:
    """Look at some rows."""
    n, d = sets.shape[0], sets.x.shape[1]
    sizes = [size for size in _SIZES if size <= _MOST * d]
    directions = find_directions(sets, sizes[-1]) if sizes else EVERY
    if directions.matrix is None:
        sizes = []
    rows = np.linspace(0, n - 1, min(n, _ROWS)).astype(np.intp)
    nearest, least, bounds = _nearest_columns(sets, rows, directions, sizes)
    returned = _nearest_rows(sets, nearest)
    unclear = [float((part <= least).mean()) for part in bounds]
    return LargeOutlook(float((returned == rows).mean()), directions, _stages(sizes, unclear, d))


def _stages(sizes: list[int], unclear: list[float], d: int) -> tuple[int, ...]:
    """Choose the numbers of coordinates that take least: each is for the rows that the last has left."""
    best: tuple[float, tuple[int, ...]] = (float(d + _OVERHEAD), (0,))
    # From the last to the first: what is left for those after it costs as much as they do together.
    plans = [best]
    for size, share in list(zip(sizes, unclear, strict=True))[::-1]:
        if share < 0.5:
            work, after = min(plans)
            plans.append((size + 1 + _OVERHEAD + (share + 0.5 / _ROWS) * work, (size, *after)))
    return min(plans)[1]


def _nearest_columns(
    sets: LargeSets, rows: IntArray, directions: Directions, sizes: list[int]
) -> tuple[IntArray, FloatArray, list[FloatArray]]:
    """Give nearest columns, their squared distances, and the second least bounds by leading coordinates."""
    a = sets.rows(rows)[0]
    (_, m), d, r = sets.shape, a.shape[1], np.arange(rows.size)
    norms = np.einsum("ij,ij->i", a, a)
    matrix = directions.matrix
    along = None if matrix is None else product(a, matrix)
    nearest, least = np.zeros(rows.size, np.intp), np.full(rows.size, np.inf)
    bounds = [np.full((rows.size, 2), np.inf) for _ in sizes]
    for some in blocks(m, d):
        b = sets.cols(some)[0]
        b_norms = np.einsum("ij,ij->i", b, b)
        squares = norms[:, None] + b_norms - 2.0 * product(b, np.ascontiguousarray(a.T)).T
        at = squares.argmin(axis=1)
        closer = squares[r, at] < least
        nearest[closer], least[closer] = at[closer] + some.start, squares[r, at][closer]
        if matrix is None or along is None:
            continue
        b_along = product(b, matrix)
        part, a_rest, b_rest, before = np.zeros_like(squares), norms.copy(), b_norms.copy(), 0
        for size, two in zip(sizes, bounds, strict=True):
            p, q = along[:, before:size], b_along[:, before:size]
            p_squares, q_squares = np.einsum("ij,ij->i", p, p), np.einsum("ij,ij->i", q, q)
            part += p_squares[:, None] + q_squares
            part -= 2.0 * product(np.ascontiguousarray(q), np.ascontiguousarray(p.T)).T
            a_rest, b_rest, before = a_rest - p_squares, b_rest - q_squares, size
            gap = np.sqrt(np.maximum(a_rest, 0.0))[:, None] - np.sqrt(np.maximum(b_rest, 0.0))
            found = np.concatenate([two, part + gap * gap], axis=1)
            two[:] = np.partition(found, 1, axis=1)[:, :2]
    return nearest, least, [two[:, 1] for two in bounds]


def _nearest_rows(sets: LargeSets, cols: IntArray) -> IntArray:
    turned = sets._replace(is_turned=not sets.is_turned)
    return _nearest_columns(turned, cols, EVERY, [])[0]
