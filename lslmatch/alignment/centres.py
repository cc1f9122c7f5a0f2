"""Origins of both sets, as the likelihood would have them: pairs with little noise count more."""

from __future__ import annotations

import numpy as np

from lslmatch._jit import kernel, step_kernel, summing_kernel
from lslmatch.alignment.likelihood import root

#: Steps of the centres at most, and the step that ends them in units of the smallest residual.
_RECENTRINGS, _STILL = 30, 1e-2


@kernel
def find_centres(a, b, factor, floor, centres):
    """Do as :func:`fit_centres`, called by Python."""
    return fit_centres(a, b, factor, floor, centres)


@step_kernel
def fit_centres(a, b, factor, floor, centres):
    """Fill `centres` with the points of both sets that fit best as origins; return the factor that fits them.

    Coordinates are lines. The likelihood weighs pairs by 1 / |r_i|^2, so that pairs with little noise count
    more; each step is a weighted mean, and the root of `refine_factor` about it. As there, one pair is spent:
    a pair that weighs more than all others counts little. In one or two dimensions such weights have no mean,
    and chance would rule: there pairs are weighed equally.
    """
    d, n = a.shape
    weights = np.empty(n)
    before = np.empty(d)
    for _ in range(_RECENTRINGS):
        least = _fill_weights(a, b, factor, floor, centres, weights)
        for k in range(d):
            before[k] = centres[0, k] - factor * centres[1, k]
        squares, slope = _move_centres(a, b, weights, centres)
        if d <= 2:
            break
        if squares > 0.0:
            factor = root(squares, slope, n)
        moved = 0.0
        for k in range(d):
            moved += (centres[0, k] - factor * centres[1, k] - before[k]) ** 2
        if moved <= _STILL**2 * least:
            break
    return factor


@summing_kernel
def _fill_weights(a, b, factor, floor, centres, weights):
    """Fill the weights of the pairs, and return the least squared residual."""
    d, n = a.shape
    for i in range(n):
        weights[i] = 0.0
    for k in range(d):
        p, q, offset = a[k], b[k], centres[0, k] - factor * centres[1, k]
        for i in range(n):
            rest = p[i] - factor * q[i] - offset
            weights[i] += rest * rest
    least, total = np.inf, 0.0
    for i in range(n):
        residual = max(weights[i], floor)
        least = min(least, residual)
        weights[i] = 1.0 / residual if d > 2 else 1.0 / n
        total += weights[i]
    for i in range(n):
        weights[i] *= (total - weights[i]) / total
    return least


@summing_kernel
def _move_centres(a, b, weights, centres):
    """Fill the weighted means; return the weighted sums of squares of b about them, and of products."""
    d, n = a.shape
    total = squares = products = 0.0
    for i in range(n):
        total += weights[i]
    for k in range(d):
        p, q = a[k], b[k]
        p_mean = q_mean = 0.0
        for i in range(n):
            p_mean += weights[i] * p[i]
            q_mean += weights[i] * q[i]
        p_mean /= total
        q_mean /= total
        for i in range(n):
            offset = q[i] - q_mean
            squares += weights[i] * offset * offset
            products += weights[i] * offset * (p[i] - p_mean)
        centres[0, k], centres[1, k] = p_mean, q_mean
    return squares, products
