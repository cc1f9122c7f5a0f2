"""Exact suprema over a in [1 - eps, 1 + eps] and all pairs: Phi_1, Phi_2 and the proof's zeta_1.

For a pair (i, j) each is the supremum of a smooth function of the scalar a. Its stationary points are the
root of a linear (Phi_1), a quadratic (Phi_2) or a quartic equation (zeta_1), so no grid over a is needed.
"""

from __future__ import annotations

import math

import numpy as np

from lslmatch._jit import inline_kernel, kernel, step_kernel


@kernel
def linear_supremum(projected, projected_other, spread, epsilon):
    """Give Phi_1 of Lemma 3.

    projected[i, j] is u_ij . eta_i, projected_other[i, j] is u_ij . eta'_j, and spread[i] is omega_i.
    """
    n = spread.shape[0]
    low, high = 1.0 - epsilon, 1.0 + epsilon
    best = 0.0
    for i in range(n):
        for j in range(n):
            p, q = projected[i, j], projected_other[i, j]
            best = max(best, _linear_pair(p, q, spread[i] ** 2, spread[j] ** 2, low, high))
    return best


@kernel
def quadratic_supremum(eta, other, spread, epsilon):
    """Give Phi_2 of Lemma 4 from eta and eta' of shape (n, d), and spread[i] = omega_i."""
    n, d = eta.shape
    low, high = 1.0 - epsilon, 1.0 + epsilon
    best = 0.0
    for i in range(n):
        for j in range(n):
            a, b, c = 0.0, 0.0, 0.0
            for k in range(d):
                a += eta[i, k] * eta[i, k]
                b += eta[i, k] * other[j, k]
                c += other[j, k] * other[j, k]
            least, most = _quadratic_pair(a, b, c, spread[i] ** 2, spread[j] ** 2, low, high)
            best = max(best, most - d, d - least)
    return best


@kernel
def moving_supremum(mu, xi, other, spread, epsilon):
    """Give zeta_1 of the proof of Theorem 2, whose unit vectors (mu_i - a mu_j) / ||.|| move with a.

    mu, xi and xi' are of shape (n, d), and spread[i] is s_i.
    """
    n, d = mu.shape
    low, high = 1.0 - epsilon, 1.0 + epsilon
    best = 0.0
    for i in range(n):
        for j in range(n):
            squares = np.zeros(6)  # of mu_i and mu_j, then of xi_i and xi'_j: both squares and the product
            products = np.zeros(3)  # coefficients of (mu_i - a mu_j) . (xi_i - a xi'_j)
            for k in range(d):
                m, v, x, y = mu[i, k], mu[j, k], xi[i, k], other[j, k]
                squares[0] += m * m
                squares[1] += m * v
                squares[2] += v * v
                squares[3] += x * x
                squares[4] += x * y
                squares[5] += y * y
                products[0] += m * x
                products[1] -= m * y + v * x
                products[2] += v * y
            var_i, var_j = spread[i] ** 2, spread[j] ** 2
            most = _quadratic_pair(squares[3], squares[4], squares[5], var_i, var_j, low, high)[1]
            if most <= best * best:
                continue  # by Cauchy-Schwarz this pair cannot be the largest
            best = max(
                best,
                _moving_pair(mu[i], mu[j], xi[i], other[j], squares, products, (var_i, var_j), low, high),
            )
    return best


@inline_kernel
def _linear_pair(p, q, var_i, var_j, low, high):
    """Largest |p - a q| / sqrt(var_i + a^2 var_j): at an end, or where q var_i + a p var_j = 0."""
    best = max(
        abs(p - low * q) / math.sqrt(var_i + low * low * var_j),
        abs(p - high * q) / math.sqrt(var_i + high * high * var_j),
    )
    if p != 0.0:
        a = -q * var_i / (p * var_j)
        if low < a < high:
            best = max(best, abs(p - a * q) / math.sqrt(var_i + a * a * var_j))
    return best


@inline_kernel
def _quadratic_pair(a, b, c, var_i, var_j, low, high):
    """Least and largest (a - 2 t b + t^2 c) / (var_i + t^2 var_j) over t in [low, high]."""
    at_low = (a - 2 * low * b + low * low * c) / (var_i + low * low * var_j)
    at_high = (a - 2 * high * b + high * high * c) / (var_i + high * high * var_j)
    least, most = min(at_low, at_high), max(at_low, at_high)
    # The derivative vanishes where b var_j t^2 + (c var_i - a var_j) t - b var_i = 0.
    square, middle, constant = b * var_j, c * var_i - a * var_j, -b * var_i
    root = math.sqrt(max(middle * middle - 4 * square * constant, 0.0))
    half = -0.5 * (middle + math.copysign(root, middle))  # the form without cancellation
    for k in range(2):
        above, below = (half, square) if k == 0 else (constant, half)
        if below != 0.0:
            t = above / below
            if low < t < high:
                value = (a - 2 * t * b + t * t * c) / (var_i + t * t * var_j)
                least, most = min(least, value), max(most, value)
    return least, most


@step_kernel
def _moving_pair(mu_i, mu_j, xi_i, xi_j, squares, products, variances, low, high):
    """Largest |N| / sqrt(Q S): N = (mu_i - a mu_j).(xi_i - a xi'_j), Q = |mu_i - a mu_j|^2, S a variance."""
    var_i, var_j = variances
    n0, n1, n2 = products
    m0, m1, m2 = squares[0], -2 * squares[1], squares[2]
    discriminant = m0 * m2 - squares[1] * squares[1]
    if discriminant <= 1e-12 * m0 * m2:  # mu_i and mu_j on one line: the direction does not move
        length = math.sqrt(max(m0, m2))
        if length == 0.0:
            return 0.0
        p, q = 0.0, 0.0
        for k in range(mu_i.shape[0]):
            unit = (mu_i[k] if m0 >= m2 else mu_j[k]) / length
            p += unit * xi_i[k]
            q += unit * xi_j[k]
        return _linear_pair(p, q, var_i, var_j, low, high)
    # The derivative of N^2 / (Q S) vanishes with 2 N' Q S - N (Q' S + Q S'); the terms in a^5 cancel.
    s0, s2 = var_i, var_j
    r0, r1, r2, r3, r4 = m0 * s0, m1 * s0, m2 * s0 + m0 * s2, m1 * s2, m2 * s2  # Q S
    quartic = np.empty(5)
    quartic[0] = 2 * n1 * r0 - n0 * r1
    quartic[1] = (2 * n1 * r1 + 4 * n2 * r0) - (2 * n0 * r2 + n1 * r1)
    quartic[2] = (2 * n1 * r2 + 4 * n2 * r1) - (3 * n0 * r3 + 2 * n1 * r2 + n2 * r1)
    quartic[3] = (2 * n1 * r3 + 4 * n2 * r2) - (4 * n0 * r4 + 3 * n1 * r3 + 2 * n2 * r2)
    quartic[4] = (2 * n1 * r4 + 4 * n2 * r3) - (4 * n1 * r4 + 3 * n2 * r3)
    points = np.empty(6)
    points[0], points[1] = low, high
    count = 2 + _roots_between(quartic, low, high, points[2:])
    best = 0.0
    for k in range(count):
        a = points[k]
        above = abs(n0 + a * (n1 + a * n2))
        below = (m0 + a * (m1 + a * m2)) * (s0 + a * a * s2)
        if below > 0.0:
            best = max(best, above / math.sqrt(below))
    return best


@step_kernel
def _roots_between(quartic, low, high, roots):
    """Fill `roots` with the sign changes of a quartic in (low, high), and count them.

    Between two neighbouring roots of its derivative a polynomial is monotone, so bisection there finds its
    one root; the derivatives are taken down to the linear one, and the way back up repeats this.
    """
    level = np.empty((4, 5))  # derivatives of order 3, 2, 1, 0
    level[3] = quartic
    for k in range(2, -1, -1):
        level[k, 4] = 0.0
        for power in range(4):
            level[k, power] = (power + 1) * level[k + 1, power + 1]
    ends = np.empty(6)
    count = 0
    for k in range(4):
        ends[0] = low
        ends[1 : count + 1] = roots[:count]
        ends[count + 1] = high
        found = 0
        for part in range(count + 1):
            left, right = ends[part], ends[part + 1]
            at_left, at_right = _horner(level[k], left), _horner(level[k], right)
            if (at_left < 0.0) == (at_right < 0.0):
                continue
            for _ in range(60):
                middle = 0.5 * (left + right)
                if (_horner(level[k], middle) < 0.0) == (at_left < 0.0):
                    left = middle
                else:
                    right = middle
            roots[found] = 0.5 * (left + right)
            found += 1
        count = found
    return count


@inline_kernel
def _horner(coefficients, a):
    value = 0.0
    for k in range(4, -1, -1):
        value = value * a + coefficients[k]
    return value
