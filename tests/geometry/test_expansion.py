"""The one bound of rounding errors: it holds in exact arithmetic, and no term of it can be left out."""

import math
from fractions import Fraction

import numba
import numpy as np
import pytest

from lslmatch.geometry import expansion
from lslmatch.geometry.expansion import absolute_error, relative_error, underflow_error

W, V = 2.0**-24, 2.0**-53


def fractions(array):
    return np.vectorize(Fraction, otypes=[object])(np.asarray(array, float))


def expanded(t, a, b, dtype=np.float32, *, fused=False, early=True, order=1):
    """Compute E in working precision, for pairs in rows: sums of the terms one after the other.

    With `fused` a product is rounded together with its sum. Norms are taken `early`, of coordinates in double
    precision and rounded once, or added up in working precision. `order` is that of the coordinates.
    """
    exact_a, exact_b = t * a, t * b
    a, b = exact_a.astype(dtype), exact_b.astype(dtype)
    zero = np.zeros(len(a), dtype)
    if early:
        squares = [np.square(part).sum(axis=1).astype(dtype) for part in (exact_a, exact_b)]
    else:
        squares = [sum((part[:, k] * part[:, k] for k in range(part.shape[1])), zero) for part in (a, b)]
    total = squares[0] + squares[1]
    for k in range(a.shape[1])[::order]:
        p, q = dtype(-2.0) * a[:, k], b[:, k]
        # The product of two single-precision numbers is exact in double precision.
        total = (total + p.astype(float) * q).astype(dtype) if fused else total + p * q
    assert total.dtype == dtype
    return total, np.square(exact_a).sum(axis=1) + np.square(exact_b).sum(axis=1)


def excess(found, t, p, q):
    """Give by how much E is above the squared distance of the points, exactly."""
    squares = ((p - q) ** 2).sum(axis=1) * Fraction(t) ** 2
    return [Fraction(float(value)) - exact for value, exact in zip(found, squares, strict=True)]


def bound(t, norms, d, offset_square=0.0, greatest=0.0, is_single=True):
    absolute = absolute_error(d, offset_square, greatest)
    return [
        Fraction(relative_error(d, is_single)) * Fraction(float(norm))
        + Fraction(absolute) * Fraction(t) ** 2
        + Fraction(underflow_error(d))
        for norm in norms
    ]


def farthest_in(a, b, offset, greatest):
    """Give points p and q as near to each other as the errors of their coordinates allow."""
    towards = np.sign(b - a).astype(int)
    p = fractions(a) + Fraction(4.0 * V) * fractions(np.abs(a)) * towards
    error = Fraction(4.0 * V) * (fractions(np.abs(b)) + fractions(np.abs(offset)))
    error = error + Fraction(2.0**-100) * Fraction(greatest)
    return p, fractions(b) - error * towards


def normal(rng, count, d):
    return rng.normal(size=(2, count, d))


def antiparallel(rng, count, d):
    a = 2.0 ** rng.uniform(0.0, 1e-5, (count, d))
    return a, -a * (1.0 + 1e-7 * rng.normal(size=a.shape))


def close(rng, count, d):
    a = rng.normal(size=(count, d))
    return a, a * (1.0 + 10.0 ** rng.uniform(-17.0, -2.0, (count, 1)) * rng.normal(size=a.shape))


def of_all_lengths(rng, count, d):
    return 10.0 ** rng.uniform(-44.0, 6.0, (2, count, 1)) * rng.uniform(-1.0, 1.0, (2, count, d))


def of_all_coordinates(rng, count, d):
    return 10.0 ** rng.uniform(-44.0, 6.0, (2, count, d)) * rng.choice([-1.0, 1.0], (2, count, d))


def half_units(rng, count, d):
    """Beside a first coordinate of 1, squares and products that are about half a unit in the last place."""
    a, b = 2.0**-12 * np.sqrt(rng.integers(1, 8, (2, count, d)) * (1.0 + 1e-4))
    a[:, 0], b[:, 0] = 1.0, -1.0
    return a, -b


KINDS = [normal, antiparallel, close, of_all_lengths, of_all_coordinates, half_units]
WAYS = [
    {},
    {"fused": True},
    {"early": False},
    {"early": False, "fused": True, "order": -1},
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 7, 40])
@pytest.mark.parametrize("way", WAYS)
def test_no_expanded_square_is_above_the_distance_by_more(kind, d, way):
    rng = np.random.default_rng([d, KINDS.index(kind)])
    a, b = kind(rng, 24, d)
    t = 1.0 if kind is half_units else 2.0 / 3.0
    offset, greatest = rng.normal(size=d) * 10.0 ** rng.uniform(-20.0, 6.0), 10.0 ** rng.uniform(0.0, 20.0)
    found, norms = expanded(t, a, b, **way)
    least = excess(found, t, *farthest_in(a, b, offset, greatest))
    most = bound(t, norms, d, math.fsum(offset**2), greatest)
    assert all(error <= limit for error, limit in zip(least, most, strict=True))
    # The control: where points are close, or roundings add up, the bare square would be no lower bound.
    if kind is close or (kind is half_units and d > 1):
        assert any(error > 0 for error in least)


@pytest.mark.parametrize("kind", [normal, antiparallel, close])
@pytest.mark.parametrize("d", [1, 7, 40])
def test_in_double_precision_it_holds_for_coordinates_that_are_rounded_once(kind, d):
    a, b = kind(np.random.default_rng(d), 24, d)
    found, norms = expanded(1.0, a, b, np.float64)
    p, q = (fractions(part) for part in (a, b))
    towards = np.sign(b - a).astype(int)
    p, q = p + Fraction(V) * abs(p) * towards, q - Fraction(V) * abs(q) * towards
    most = bound(1.0, norms, d, is_single=False)
    assert all(error <= limit for error, limit in zip(excess(found, 1.0, p, q), most, strict=True))


def growing(d):
    """Give a pair whose 3 d roundings are nearly all upwards, and nearly as large as roundings can be.

    The first coordinates make the sums 1, 1 and 4. Each of the others adds a little more than half a unit, or
    5 halves, to the norms, and as much as rounds up to half a unit to the sum of products.
    """
    unit = 2.0**-23
    a, b = np.full(d, math.sqrt(2.5 * unit * 1.001)), np.full(d, -math.sqrt(0.5 * unit * 1.001))
    a[0], b[0] = 1.0, -1.0
    return a[None], b[None]


@pytest.mark.parametrize("d", [100, 400])
def test_each_coordinate_may_round_three_times(d):
    a, b = growing(d)
    found, norms = expanded(1.0, a, b, early=False)
    (error,) = excess(found, 1.0, fractions(a), fractions(b))
    (limit,) = bound(1.0, norms, d)
    assert error <= limit
    # Twice a coordinate would not do.
    assert error > Fraction((2 * d + 16) * W) * Fraction(float(norms[0])) + 2 * Fraction(underflow_error(d))


def badly_rounded():
    """Give two numbers, on either side of 0, whose E is nearly as wrong as that of one coordinate can be.

    Mantissas are a little above a power of two, where rounding errors are greatest beside them.
    """
    mantissas = 2.0 * np.random.default_rng(0).integers(0, 1 << 15, (2, 40000)) + 1.0 + 1e-6
    a, b = [[1.0], [-1.0]] * (1.0 + W * mantissas)
    found, norms = expanded(1.0, a[:, None], b[:, None], early=False)
    worst = int(((found - (a - b) ** 2) / norms).argmax())
    return a[[worst], None], b[[worst], None]


def test_the_roundings_of_a_single_coordinate_are_many():
    a, b = badly_rounded()
    found, norms = expanded(1.0, a, b, early=False)
    (error,) = excess(found, 1.0, *farthest_in(a, b, np.zeros(1), 0.0))
    (limit,) = bound(1.0, norms, 1)
    assert error <= limit
    # A third of what is added to the coordinates' part would not do.
    assert error > Fraction((3 + 16 / 3) * W) * Fraction(float(norms[0]))


@pytest.mark.parametrize(
    ("offset", "greatest", "absolute"),
    # Errors of 2**-51 of the offset, and of 2**-100 of the greatest coordinate.
    [(1.0, 0.0, 2.0**-76), (2.0**20, 0.0, 2.0**-36), (0.0, 2.0**70, 2.0**-34), (0.0, 2.0**49, 2.0**-76)],
)
@pytest.mark.parametrize("t", [1.0, 2.0**30])
def test_errors_of_coordinates_that_are_no_share_of_them_count(offset, greatest, absolute, t):
    """Near the origin, rounding errors of a common offset are large beside coordinates."""
    a, b = badly_rounded()
    error_of_coordinate = 4.0 * V * offset + 2.0**-100 * greatest
    unit = 2.0 ** round(math.log2(error_of_coordinate / (10.0 * W)))
    p, q = farthest_in(unit * a, unit * b, np.full(1, offset), greatest)
    found, norms = expanded(t, unit * a, unit * b, early=False)
    (error,) = excess(found, t, p, q)
    (limit,) = bound(t, norms, 1, offset**2, greatest)
    assert error <= limit
    # A small part of the absolute part would not do.
    less = Fraction(relative_error(1)) * Fraction(float(norms[0])) + Fraction(underflow_error(1))
    assert error > less + Fraction(absolute / 24.0) * Fraction(t) ** 2


@pytest.mark.parametrize("d", [1, 8])
def test_squares_may_underflow(d):
    a = np.full((1, d), 2.0**-75 * 1.001)
    found, norms = expanded(1.0, a, np.zeros((1, d)), early=False)
    (error,) = excess(found, 1.0, fractions(a), fractions(np.zeros((1, d))))
    (limit,) = bound(1.0, norms, d)
    # Without the last part, which is far larger than need be, it would not hold.
    assert limit >= error > Fraction(relative_error(d)) * Fraction(float(norms[0])) > 0


def test_the_bound_is_the_one_that_is_stated():
    for d in (1, 3, 4096):
        assert Fraction(relative_error(d)) == Fraction(3 * d + 16) / 2**24
        assert Fraction(relative_error(d, is_single=False)) == Fraction(3 * d + 16) / 2**53
        assert Fraction(absolute_error(d, 5.0, 0.0)) == Fraction(5, 2**76)
        assert Fraction(absolute_error(d, 0.0, 7.0)) == Fraction(49 * d, 2**174)
        assert absolute_error(d, 5.0, 2.0**50) == 5.0 * 2.0**-76 + d * 2.0**-74
        assert Fraction(underflow_error(d)) == Fraction(d, 2**104)
        for kernel, function, arguments in (
            (expansion.relative_error_kernel, relative_error, (d,)),
            (expansion.absolute_error_kernel, absolute_error, (d, 5.0, 2.0**50)),
            (expansion.underflow_error_kernel, underflow_error, (d,)),
        ):
            assert called(kernel, *arguments) == function(*arguments)


@numba.njit
def called(kernel, *arguments):
    return kernel(*arguments)


def test_the_steps_of_its_proof_hold_in_ball_arithmetic():
    """The factor of w N, without a first order: every rounding is a factor of at most 1 / (1 - w)."""
    flint = pytest.importorskip("flint")
    w, v = flint.arb(W), flint.arb(V)
    for d in range(1, 4097):
        # A norm has d + 3 roundings, the sums d + 1 more, and a product one.
        norms, products = (1 / (1 - w)) ** (2 * d + 4) - 1, (1 / (1 - w)) ** (d + 2) - 1
        # |e| + |f| beside |A| + |B|: what rounds to A is t times a, whose unit is rounded, too.
        coordinates = w + (1 + w) * ((1 + 4 * v) * (1 + v) - 1)
        needed = (norms + products + 4 * coordinates) / w + 1
        claimed = flint.arb(relative_error(d)) / w
        assert needed < claimed
        # Nor is it much more than its proof needs: 2 units at least, and 5 at most, are left.
        assert claimed - needed > 2
        assert claimed - needed < 6
    t, offset, greatest = flint.arb("1.7"), flint.arb("3e5"), flint.arb(2) ** 70
    for d in (1, 12, 4096):
        h = 4 * v * t * offset + flint.arb(2) ** -100 * t * greatest * flint.arb(d).sqrt()
        claimed = flint.arb(absolute_error(d, 9e10, 2.0**70)) * t**2
        assert 2 * h**2 / w < claimed * (1 + 2 * v)
        assert 4 * (2 * d * flint.arb(2 * d * 2**40)).sqrt() * flint.arb(2) ** -150 < underflow_error(d)
