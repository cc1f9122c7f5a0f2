"""The usual course of the search for the scale, for small sets: between two matchings two kernels do it all.

Mostly no point is undecided, the best scale for the pairs found at the moments is also the best for those
found at that scale, and new origins are no mistake. Then :mod:`lslmatch.alignment.profile` takes the steps
that are written here without lists, names and objects. Whatever else comes is left to it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lslmatch._jit import kernel, step_kernel
from lslmatch._types import FloatArray
from lslmatch.alignment.centres import fit_centres
from lslmatch.alignment.common_lines import fill_lines
from lslmatch.alignment.likelihood import fill_parabolas, fill_values, refine_factor
from lslmatch.alignment.window import EVEN, UNDECIDED, find_reach
from lslmatch.assignment.from_points import are_plain, match_points
from lslmatch.assignment.plan import plan_from_points
from lslmatch.costs import COINCIDENT
from lslmatch.results import Affine, MatchResult, ProfileCurve

#: A smaller fall of f than this is not worth another matching.
GAIN = 1e-3
#: Pairs up to which a matching is repeated without the prices of the one before.
_COLD = 500**2
#: What is found, in this order: the factor, the window's reach, the value at the start, and the floor.
_FACTOR, _REACH, _START, _FLOOR, _SIZE = range(5)


class QuickFit(NamedTuple):
    """The matching at the start, where a kernel leads to it; and the last one, if the course is usual."""

    first: MatchResult | None
    last: MatchResult | None = None
    curve: ProfileCurve | None = None


def fit_quickly(x: FloatArray, y: FloatArray) -> QuickFit:
    """Minimise the profile likelihood of two checked sets, y not smaller than x, as far as that is usual."""
    plan = plan_from_points(x.shape, len(y), "lsl")
    if not (plan and are_plain(x, y)):
        return QuickFit(None)
    first = match_points(x, y, "lsl", None, plan)
    if first is None:
        return QuickFit(None)
    (n, d), m = x.shape, len(y)
    assert first.col_dual is not None
    if prices_pay(n, first.col_dual):
        return QuickFit(first)
    a, b, pairs, centres = np.empty((d, n)), np.empty((d, m)), np.empty((3, n)), np.zeros((2, d))
    found, shift = np.empty(_SIZE), np.empty(d)
    if not _propose(x, y, first.permutation, first.scale, first.shift, a, b, pairs, centres, found, shift):
        return QuickFit(first)
    affine = Affine(float(found[_FACTOR]) * first.scale, shift)
    last = match_points(x, y, "lsl", affine, plan)
    if last is None:
        return QuickFit(first)
    curve, value = np.empty((2, EVEN + 1)), last.objective - n * affine.log_volume / d
    size = _trace(first.permutation, last.permutation, a, b, pairs, centres, found, value, curve)
    if not size:
        return QuickFit(first)
    return QuickFit(first, last, ProfileCurve(first.scale * curve[0, :size], curve[1, :size]))


def prices_pay(n: int, prices: FloatArray) -> bool:
    """Tell whether to match n points again with the prices of their partners, rather than without.

    Where nearest partners hardly clash most prices are 0, and a warm start saves nothing.
    """
    return n == prices.size and n * n > _COLD and 2 * int(np.count_nonzero(prices)) > n


@kernel
def _propose(x, y, partners, scale, shift, a, b, pairs, centres, found, new_shift):
    """Fill the map that is best for the pairs of the start; return whether that is the usual course.

    `a` and `b` become coordinates about the mean of x, as lines, those of `a` about the new centre; `pairs`
    becomes the parabolas about the new `centres`.
    """
    d, n = a.shape
    height, foot, squares, partner = pairs[0], pairs[1], pairs[2], np.empty((d, n))
    floor = COINCIDENT * fill_lines(x, y, scale, shift, a, b, new_shift)
    _take(b, partners, centres, partner)
    reach = find_reach(a, partner, b)
    fill_parabolas(a, partner, height, foot, squares)
    greatest = 0.0
    for i in range(n):
        residual = max(height[i] + squares[i] * ((1.0 - foot[i]) * (1.0 - foot[i])), floor)
        greatest = max(greatest, squares[i] / residual)
    if not (reach > 0.0 and reach * math.sqrt(greatest) <= UNDECIDED):
        return False
    fill_values(height, foot, squares, floor, np.ones(1), found[_START : _START + 1])
    factor = _confine(refine_factor(height, foot, squares, floor, 1.0), reach)
    factor = fit_centres(a, partner, factor, floor, centres)
    for k in range(d):
        line, place = a[k], centres[0, k]
        for i in range(n):
            line[i] -= place
    _take(b, partners, centres, partner)
    fill_parabolas(a, partner, height, foot, squares)
    factor = _confine(refine_factor(height, foot, squares, floor, factor), reach)
    found[_FACTOR], found[_REACH], found[_FLOOR] = factor, reach, floor
    for k in range(d):
        origin = new_shift[k]
        new_shift[k] = origin - factor * (origin - shift[k]) + (centres[0, k] - factor * centres[1, k])
    return True


@kernel
def _trace(first, last, a, b, pairs, centres, found, value, curve):
    """Fill the curve of the last matching; return its length, or 0 if a scale of it or the start is better.

    It has the given value at the factor of the matching.
    """
    height, foot, squares = pairs[0], pairs[1], pairs[2]
    factor, reach, floor = found[_FACTOR], found[_REACH], found[_FLOOR]
    same = True
    for i in range(first.size):
        same &= first[i] == last[i]
    factors, values = curve[0], curve[1]
    if not same:
        partner = np.empty(a.shape)
        _take(b, last, centres, partner)
        fill_parabolas(a, partner, height, foot, squares)
        factors[0] = factor
        factors[1] = _confine(refine_factor(height, foot, squares, floor, factor), reach)
        fill_values(height, foot, squares, floor, factors[:2], values[:2])
        if not values[1] >= values[0] - GAIN:
            return 0
    # The even ones, and the factor in its place among them, if it is not one of them.
    size, place = 0, -1
    for k in range(EVEN):
        even = math.exp(reach * (2.0 * k / (EVEN - 1) - 1.0))
        if place < 0 and factor <= even:
            place = size
            factors[size] = factor
            size += factor < even
        factors[size] = even
        size += 1
    fill_values(height, foot, squares, floor, factors[:size], values[:size])
    least, here = values[0], values[place]
    for k in range(size):
        least = min(least, values[k])
        values[k] += value - here
    return size if here <= least + GAIN and here <= found[_START] + GAIN else 0


@step_kernel
def _take(b, columns, centres, out):
    """Take columns, about the second centre."""
    for k in range(out.shape[0]):
        line, place, other = b[k], centres[1, k], out[k]
        for i in range(other.size):
            other[i] = line[columns[i]] - place


@step_kernel
def _confine(factor, reach):
    return min(max(factor, math.exp(-reach)), math.exp(reach))
