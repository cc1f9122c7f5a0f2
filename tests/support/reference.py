"""Naive references: exact rational arithmetic and enumeration, written from the definitions alone.

Nothing here knows of the library. Costs and distances are computed without any rounding before the last
step, and optima by trying every assignment.
"""

import itertools
import math
import os
from fractions import Fraction

import numpy as np

#: Whether kernels run as plain Python: large instances shrink then.
SMALL = bool(int(os.environ.get("NUMBA_DISABLE_JIT", "0") or "0"))

EPS = float(np.finfo(float).eps)


# ---------------------------------------------------------------------------------- assignment


def least_cost(cost):
    """The least total of an assignment of the shorter side, exactly; None if all use an infinite pair."""
    cost = np.asarray(cost, float)
    if cost.shape[0] > cost.shape[1]:
        cost = cost.T
    n, m = cost.shape
    integers, bits = _integers(np.where(np.isfinite(cost), cost, 0.0))
    rows = [
        [value if math.isfinite(c) else None for value, c in zip(*row, strict=True)]
        for row in zip(integers.tolist(), cost.tolist(), strict=True)
    ]
    totals = []
    for columns in itertools.permutations(range(m), n):
        chosen = [row[j] for row, j in zip(rows, columns, strict=True)]
        if None not in chosen:
            totals.append(sum(chosen))
    return Fraction(min(totals), 1 << bits) if totals else None


def total_cost(cost, row_ind, col_ind):
    """The total of one assignment, exactly."""
    return sum(
        (Fraction(float(np.asarray(cost)[i, j])) for i, j in zip(row_ind, col_ind, strict=True)), Fraction(0)
    )


def greatest_cost(cost):
    """The largest finite absolute value, the natural unit of rounding errors; 1 if there is none."""
    cost = np.asarray(cost, float)
    return float(np.abs(cost[np.isfinite(cost)]).max(initial=0.0)) or 1.0


def certificate_violation(cost, assignment):
    """How far an assignment of a matrix is from being proven optimal, in units of the greatest cost.

    `assignment` starts with row_ind, col_ind, row_dual, col_dual. Anything that is not a complete
    assignment by finite pairs, in ascending rows, has an infinite violation.
    """
    cost = np.asarray(cost, float)
    n, m = cost.shape
    row_ind, col_ind, row_dual, col_dual = (np.asarray(part) for part in assignment[:4])
    complete = (
        len(set(row_ind.tolist())) == len(set(col_ind.tolist())) == row_ind.size == col_ind.size == min(n, m)
    )
    if not complete or np.any(np.diff(row_ind) <= 0) or row_dual.shape != (n,) or col_dual.shape != (m,):
        return math.inf
    # A power of two, so that huge costs can be subtracted, and without a further rounding.
    exponent = math.frexp(greatest_cost(cost))[1]
    cost, u, v = (np.ldexp(part, -exponent) for part in (cost, row_dual, col_dual))
    slack = cost - u[:, None] - v
    worst = [0.0, *(-slack).ravel(), *np.abs(slack[row_ind, col_ind])]
    if n != m:
        longer, matched = (u, row_ind) if n > m else (v, col_ind)
        worst += [*longer, *np.abs(np.delete(longer, matched))]
    return float(np.max(worst))


# ------------------------------------------------------------------------------------- points


def squared_distances(x, y, scale=1.0, shift=0.0):
    """Exact ``||x[i] - scale * y[j] - shift||**2`` as an object array of fractions."""
    x, y, bits = _aligned(x, y, scale, shift)
    squares = ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)
    return _fractions(squares, 2 * bits)


def coincidence_floor(x, y, scale=1.0, shift=0.0):
    """2**-104 times the mean squared distance of all aligned points from the mean of x, exactly.

    If the shift and some point as it was given (of y: times the scale) are shorter than 2**-20 of the root of
    that, times the least squared length of a point other than 0, or of the shift if it is longer.
    """
    a, b, bits = _aligned(x, y, scale, shift)
    n = len(a)
    deviations = n * np.concatenate([a, b]) - a.sum(axis=0)
    mean = Fraction((deviations**2).sum(), (n * n * len(deviations)) << (2 * bits))
    lengths = [_squared_length(point) for point in x]
    lengths += [Fraction(float(scale)) ** 2 * _squared_length(point) for point in y]
    of_shift = _squared_length(np.broadcast_to(shift, x.shape[1]))
    least = max(min((square for square in lengths if square), default=0), of_shift)
    if least * 2**40 < mean:
        mean = max(least, max(lengths) / 2**800)
    return mean / 2**104


def _squared_length(point):
    return sum(Fraction(float(value)) ** 2 for value in point)


def log_costs(x, y, scale=1.0, shift=0.0):
    """LSL: logarithms of squared distances, none below the floor; 0 if all points coincide."""
    floor = coincidence_floor(x, y, scale, shift)
    if not floor:
        return np.zeros((len(x), len(y)))
    return _to_floats(lambda square: log_fraction(max(square, floor)), squared_distances(x, y, scale, shift))


def square_costs(x, y, scale=1.0, shift=0.0):
    """LSS: squared distances."""
    return _to_floats(float, squared_distances(x, y, scale, shift))


def normalized_costs(x, y, noise, scale=1.0, shift=0.0):
    """LSNS: squared distances over the variances of the pairs."""
    x_variance, y_variance = ([Fraction(float(level)) ** 2 for level in levels] for levels in noise)
    factor = Fraction(float(scale)) ** 2
    squares = squared_distances(x, y, scale, shift)
    return np.array(
        [
            [float(square / (p + factor * q)) for square, q in zip(row, y_variance, strict=True)]
            for row, p in zip(squares, x_variance, strict=True)
        ]
    )


def costs(criterion, x, y, scale=1.0, shift=0.0, noise=None):
    """The costs of a criterion by its name; the greedy matching is judged by those of LSL."""
    if criterion == "lss":
        return square_costs(x, y, scale, shift)
    if criterion == "lsns":
        return normalized_costs(x, y, noise, scale, shift)
    return log_costs(x, y, scale, shift)


def greedy_partners(squares):
    """Let the points of the smaller set take their nearest free partner in turn; -1: x without partner."""
    if len(squares) > len(squares[0]):
        partner_of_y = greedy_partners(np.transpose(squares))
        return [partner_of_y.index(i) if i in partner_of_y else -1 for i in range(len(squares))]
    free = list(range(len(squares[0])))
    partners = []
    for row in squares:
        nearest = min(free, key=lambda j: row[j])
        free.remove(nearest)
        partners.append(nearest)
    return partners


def centred_statistics(points):
    """Column means and total sum of squares about them, exactly."""
    integers, bits = _integers(points)
    n = len(integers)
    sums = integers.sum(axis=0)
    squares = ((n * integers - sums) ** 2).sum()
    return _fractions(sums, bits) / n, Fraction(squares, (n * n) << (2 * bits))


# ----------------------------------------------------------------------------------- numbers


def log_fraction(value):
    """Natural logarithm of a positive fraction, however large or small."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(value / Fraction(2) ** exponent) + exponent * math.log(2)


def sqrt_fraction(value):
    """Square root of a positive fraction, however large or small."""
    half = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(value / Fraction(4) ** half), half)


def _integers(values):
    """The values times one power of two that makes them whole, as Python's unbounded integers."""
    values = np.asarray(values, float)
    nonzero = values[values != 0]
    bits = max(0, 53 - int(np.frexp(nonzero)[1].min())) if nonzero.size else 0
    integers = np.empty(values.shape, object)
    integers.flat = [int(Fraction(value) * (1 << bits)) for value in values.ravel().tolist()]
    return integers, bits


def _aligned(x, y, scale, shift):
    """x and ``scale * y + shift``, both as integers in the same power of two."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    shift = np.broadcast_to(np.asarray(shift, float), (1, x.shape[1]))
    factor, factor_bits = _integers(scale)
    (x, y, shift), bits = _split_rows(*_integers(np.concatenate([x, y, shift])), len(x), len(y))
    unit = 1 << factor_bits
    return x * unit, y * factor.item() + shift * unit, bits + factor_bits


def _split_rows(integers, bits, n, m):
    return (integers[:n], integers[n : n + m], integers[n + m :]), bits


def _fractions(integers, bits):
    fractions = np.empty(integers.shape, object)
    fractions.flat = [Fraction(value, 1 << bits) for value in integers.ravel()]
    return fractions


def _to_floats(function, fractions):
    return np.array([[function(value) for value in row] for row in fractions])
