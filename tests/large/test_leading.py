"""Leading coordinates bound squared distances from below, in exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.geometry.expansion import relative_error
from lslmatch.geometry.panels import PANEL
from lslmatch.large import leading, points
from lslmatch.large.frame import LargeSets, find_frame, find_moments
from lslmatch.large.leading import (
    EVERY,
    Directions,
    find_directions,
    is_orthonormal,
    lead_cols,
    lead_rows,
    product,
)
from tests.support.reference import SMALL


def make_sets(x, y, is_turned=False):
    frame = find_frame(x, y, Affine(1.0, np.zeros(x.shape[1])), find_moments(x), find_moments(y))
    return LargeSets(x, y, frame, is_turned)


def draw(kind, seed, n=24, m=40, d=37):
    rng = np.random.default_rng([seed, 5])
    y = rng.normal(size=(m, d)) * np.arange(1, d + 1) ** (0.0 if kind == "flat" else -2.0)
    x = y[:n] * (1.0 + 10.0 ** -rng.uniform(1.0, 12.0, (n, 1)) * rng.normal(size=(n, d)))
    if kind == "offset":
        x, y = x + 1e3, y + 1e3
    if kind == "duplicates":
        x = y[np.arange(n) // 3].copy()
    return x, y


def expanded(rows, cols, m):
    """The values that the kernel compares: sums in single precision, one coordinate after the other."""
    tiles, panels, k, _ = cols.points.shape
    b = cols.points.transpose(2, 0, 1, 3).reshape(k, tiles * panels * PANEL)[:, :m]
    total = rows.squares[:, None] + cols.squares.reshape(-1)[:m]
    for at in range(k):
        total = total + rows.points[:, at, None] * b[at]
    assert total.dtype == np.float32
    return total


def exact_squares(sets, n, m):
    geometry = sets.taken(slice(0, n), slice(0, m))
    fractions = np.vectorize(Fraction, otypes=[object])
    a = fractions(geometry.a) + fractions(geometry.a_low)
    b = fractions(geometry.b) + fractions(geometry.b_low)
    return ((a[:, None] - b) ** 2).sum(axis=2)


@pytest.mark.parametrize("kind", ["flat", "falling", "offset", "duplicates"])
@pytest.mark.parametrize("count", [1, 6, 25, 0])
def test_what_is_expanded_is_never_above_the_squared_distance(kind, count, monkeypatch):
    monkeypatch.setattr(points, "_BLOCK", 37 * PANEL)
    n, m = (6, 9) if SMALL else (24, 40)
    sets = make_sets(*draw(kind, count, n, m))
    directions = find_directions(sets, 30).leading(count) if count else EVERY
    rows, cols = lead_rows(sets, directions, None), lead_cols(sets, directions)
    found, exact = expanded(rows, cols, m), exact_squares(sets, n, m)
    assert not any(Fraction(float(v)) > e for v, e in zip(found.ravel(), exact.ravel(), strict=True))
    # All coordinates, or nearly all with the rest, leave little out.
    if count != 1 and kind == "falling":
        norms = np.square(sets.rows(slice(None))[0]).sum(axis=1)[:, None] + 1.0
        assert (exact.astype(float) - found < 0.3 * norms).all()


def test_without_the_bound_of_rounding_errors_it_would_be_above(monkeypatch):
    monkeypatch.setattr(leading, "relative_error", lambda d: 0.0)
    n, m = (6, 9) if SMALL else (24, 40)
    sets = make_sets(*draw("duplicates", 3, n, m))
    directions = find_directions(sets, 30)
    found = expanded(lead_rows(sets, directions, None), lead_cols(sets, directions), m)
    exact = exact_squares(sets, n, m)
    assert any(Fraction(float(v)) > e for v, e in zip(found.ravel(), exact.ravel(), strict=True))


def test_directions_are_orthonormal_and_those_of_the_greatest_variance():
    rng = np.random.default_rng(4)
    spread = np.r_[[9.0, 5.0, 3.0], np.full(27, 0.01)]
    x = rng.normal(size=(300, 30)) * spread
    sets = make_sets(x, x[::-1].copy())
    matrix = find_directions(sets, 5).matrix
    assert is_orthonormal(matrix)
    np.testing.assert_allclose(np.abs(matrix[:3, :3]), np.eye(3), atol=0.05)
    assert not is_orthonormal(matrix * (1.0 + 2.0**-30))
    for count in (0, 30, 99):
        assert find_directions(sets, count) is EVERY


def test_directions_that_are_not_orthonormal_are_not_taken(monkeypatch):
    monkeypatch.setattr(leading, "is_orthonormal", lambda matrix: False)
    assert find_directions(make_sets(*draw("flat", 1)), 5) is EVERY


def test_rows_may_be_chosen_and_sets_turned():
    x, y = draw("flat", 2)
    sets = make_sets(x, y)
    directions = find_directions(sets, 9)
    every = lead_rows(sets, directions, None)
    some = np.array([5, 2])
    part = lead_rows(sets, directions, some)
    np.testing.assert_allclose(part.points, every.points[some], rtol=1e-6, atol=1e-7)
    turned = sets._replace(is_turned=True)
    assert turned.shape == (40, 24)
    np.testing.assert_array_equal(turned.rows(slice(3))[0], sets.cols(slice(3))[0])
    np.testing.assert_array_equal(turned.cols(slice(3))[0], sets.rows(slice(3))[0])


def test_the_last_panel_is_filled_up(monkeypatch):
    for m in (PANEL, PANEL + 1, 3 * PANEL):
        x, y = draw("flat", 6, 8, m)
        cols = lead_cols(make_sets(x, y), EVERY, 64)
        padding = cols.squares.reshape(-1)[m:]
        assert np.isinf(padding).all()
        assert np.isfinite(cols.points).all()
        assert not cols.points.transpose(0, 1, 3, 2).reshape(-1, 37)[m:].any()


def test_products_of_a_few_rows_at_a_time_are_products(monkeypatch):
    monkeypatch.setattr(leading, "_SMALL_PRODUCT", 50)
    rng = np.random.default_rng(7)
    for n in (1, 4, 5, 23):
        p, q = rng.normal(size=(n, 5)), rng.normal(size=(5, 3))
        np.testing.assert_allclose(product(p, q), p @ q, rtol=1e-13)


def test_the_constants_of_the_proof_add_up():
    flint = pytest.importorskip("flint")
    two = flint.arb(2)
    w, v, defect = two**-24, two**-53, two**-36
    d, k = flint.arb(leading.MOST_COORDINATES), flint.arb(leading._MOST_DIRECTIONS)
    assert leading._NOT_ORTHONORMAL == 2.0**-36
    sums = d * v / (1 - d * v)
    along = k.sqrt() * sums * (1 + defect)
    assert along < two ** flint.arb("-35.8")
    off = along + defect
    assert off < two ** flint.arb("-34.9")
    frobenius = k.sqrt() * (1 + defect)
    assert two**10 * v * frobenius * (1 + off) < two ** flint.arb("-37.9")
    left = off * (1 + defect) + defect + two ** flint.arb("-37.9") + 2 * v
    left += (d + 2) * v
    assert left < two ** flint.arb("-34.2")
    assert (off**2 + left**2).sqrt() < two**-34
    coordinates = w + (1 + w) * (two**-34 + v)
    for size in (2, 17, 1025):
        norms, products = (1 / (1 - w)) ** (2 * size + 4) - 1, (1 / (1 - w)) ** (size + 2) - 1
        assert (norms + products + 4 * coordinates) / w < flint.arb(relative_error(size)) / w


def test_directions_lead():
    matrix = np.eye(4)[:, :3]
    some = Directions(matrix).leading(2)
    measured = some.measure(np.array([[1.0, 2.0, 3.0, 4.0]]))
    np.testing.assert_allclose(measured, [[1.0, 2.0, 5.0]])
    assert EVERY.leading(2).matrix is None
    assert math.isclose(float(np.square(measured).sum()), 30.0)
