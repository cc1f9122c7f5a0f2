"""How far the scale may be from where the moments put it: the window that is searched.

In the model the difference of a pair, r_i = Z_i - tau Z#_pi(i), is independent of its sum
p_i = Z_i + tau Z#_pi(i), and the sums of squares differ by sum r_i.p_i. So the error of log(tau-hat) has the
variance sum |p_i|^2 |r_i|^2 / d over (2 sum |Z_i|^2)^2: all of it can be seen.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import kernel, step_kernel, summing_kernel

#: Half the window, in standard errors of log(tau-hat).
_STANDARD_ERRORS = 5.0
#: The window never goes beyond this factor: with a handful of points the standard error means little.
_WIDEST = math.log(2.0)
#: A window below this width cannot be told from rounding.
_NARROW = 1e-12
#: A point is undecided if the window moves it by more than this share of its residual.
UNDECIDED = 0.5
#: Scales of the curve that are spread evenly over the window.
EVEN = 33


@kernel
def window_reach(a, partners, b):
    """Do as :func:`find_reach`, called by Python."""
    return find_reach(a, partners, b)


@step_kernel
def find_reach(a, partners, b):
    """Return the logarithm of the greatest factor, from both sets and the partners of a, all as lines."""
    n, m = a.shape[1], b.shape[1]
    variance = _variance(a, partners, np.zeros(n), np.zeros(n))
    if n < m:
        variance += _strangers_variance(b, np.zeros(m)) * (1.0 / n - 1.0 / m)
    # In this order: where the shift is too large for the sets to be seen, the variance may be 0 / 0.
    reach = _STANDARD_ERRORS * math.sqrt(variance)
    reach = reach if reach < _WIDEST else _WIDEST
    return reach if reach > _NARROW else 0.0


@summing_kernel
def _variance(a, partners, noise, position):
    d, n = a.shape
    total = 0.0
    for k in range(d):
        p, q = a[k], partners[k]
        for i in range(n):
            noise[i] += (p[i] - q[i]) * (p[i] - q[i])
            position[i] += (p[i] + q[i]) * (p[i] + q[i])
            total += p[i] * p[i]
    variance = 0.0
    for i in range(n):
        variance += noise[i] * position[i]
    return variance / d / ((2.0 * total) * (2.0 * total))


@summing_kernel
def _strangers_variance(b, squares):
    """Give the variance of a logarithm of a mean of squares, as far as it depends on who is among them."""
    d, m = b.shape
    for k in range(d):
        line = b[k]
        for j in range(m):
            squares[j] += line[j] * line[j]
    mean, variance = 0.0, 0.0
    for j in range(m):
        mean += squares[j] / m
    for j in range(m):
        variance += (squares[j] - mean) * (squares[j] - mean) / m
    return variance / ((2.0 * mean) * (2.0 * mean))
