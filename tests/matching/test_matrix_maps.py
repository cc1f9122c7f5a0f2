"""Matchings under a map with a matrix are optimal and proven, in any units and with every objective."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from lslmatch import (
    LinearMap,
    Similarity,
    check_certificate,
    diagnose,
    log_cost_matrix,
    match,
    match_path,
)
from lslmatch.diagnosis.columns import in_common_units
from tests.support.reference import SMALL

OBJECTIVES = ("lsl", "lss", "lsns")


def turn(d, rng):
    rotation, upper = np.linalg.qr(rng.normal(size=(d, d)))
    return rotation * np.sign(np.diag(upper))


def draw(seed, n, m, d, noise=0.1, scale=3.0, offset=0.0):
    """Draw two sets, one turned, and the map between them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(max(n, m), d))
    given = Similarity(scale, turn(d, rng), rng.normal(size=d) + offset)
    x = given.apply(z)[:n] + noise * scale * rng.normal(size=(n, d))
    return x, z[:m][rng.permutation(m)], given


def between_spaces(seed, n, m, d_x, d_y, noise=0.1):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(max(n, m), d_y))
    given = LinearMap(rng.normal(size=(d_x, d_y)), rng.normal(size=d_x))
    return given.apply(y)[:n] + noise * rng.normal(size=(n, d_x)), y[:m][rng.permutation(m)], given


def exact_squares(x, y, given):
    """Compute squared distances in rationals."""
    matrix, shift = [[Fraction(v) for v in row] for row in given.matrix.tolist()], given.shift.tolist()
    squares = []
    for p in x.tolist():
        row = []
        for q in y.tolist():
            mapped = [sum(a * Fraction(b) for a, b in zip(line, q, strict=True)) for line in matrix]
            parts = zip(p, mapped, shift, strict=True)
            row.append(float(sum((Fraction(a) - b - Fraction(c)) ** 2 for a, b, c in parts)))
        squares.append(row)
    return np.array(squares)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("sizes", [(5, 5), (4, 6), (6, 4)])
@pytest.mark.parametrize("kind", ["similarity", "linear"])
def test_no_permutation_costs_less(kind, objective, sizes):
    n, m = sizes
    x, y, given = draw(n, n, m, 3) if kind == "similarity" else between_spaces(n, n, m, 2, 4)
    noise = (np.linspace(1, 2, n), np.linspace(1, 3, m)) if objective == "lsns" else None
    result = match(x, y, alignment=given, objective=objective, noise=noise)
    costs = exact_squares(x, y, given)
    if objective == "lsl":
        costs = np.log(costs)
    if noise is not None:
        costs /= np.add.outer(noise[0] ** 2, (noise[1] * given.scale) ** 2)
    few = costs if n <= m else costs.T
    least = min(sum(few[range(len(few)), p]) for p in permutations(range(few.shape[1]), len(few)))
    assert result.objective == pytest.approx(least, rel=1e-9)
    assert check_certificate(x, y, result) < 1e-9 * max(1.0, np.abs(costs).max())


@pytest.mark.parametrize("noise", [0.1, 1e-7, 1e-12, 0.0])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_certificate_holds_to_rounding(noise, offset):
    for d, scale in ((1, 1e-200), (2, 7.0), (5, 1e100)):
        x, y, given = draw(d, 9, 11, d, noise, scale, offset * scale)
        result = match(x, y, alignment=given)
        assert check_certificate(x, y, result) < 1e-9
        # A proof of other numbers is none.
        moved = result.with_map(given._replace(scale=given.scale * 1.001))
        assert check_certificate(x, y, moved) > 1e-5


def test_partners_that_nearly_coincide_cost_their_exact_distance():
    x, y, given = draw(3, 6, 6, 3, 1e-13)
    result = match(x, y, alignment=given)
    cols = result.permutation
    expected = np.log(exact_squares(x, y, given)[range(6), cols])
    found = log_cost_matrix(x, y, given)[range(6), cols]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_fill_costs_others_nothing():
    x, y, given = draw(4, 8, 8, 3, 0.01)
    expected = log_cost_matrix(x, y, given)
    y[5, 1] = 1e20
    found = log_cost_matrix(x, y, given)
    others = np.arange(8) != 5
    np.testing.assert_allclose(found[:, others], expected[:, others], rtol=0, atol=1e-9)
    assert check_certificate(x, y, match(x, y, alignment=given)) < 1e-9


@pytest.mark.parametrize("units", [1e-150, 1e120])
def test_units_change_nothing_but_the_objective(units):
    x, y, given = draw(5, 7, 7, 3)
    plain = match(x, y, alignment=given)
    other = Similarity(given.scale * units, given.rotation, given.shift * units)
    scaled = match(x * units, y, alignment=other)
    np.testing.assert_array_equal(scaled.permutation, plain.permutation)
    assert scaled.objective == pytest.approx(plain.objective + 2 * 7 * np.log(units), rel=1e-9)


def test_the_identity_costs_what_no_map_does():
    x, y, _ = draw(6, 8, 7, 3)
    nothing = Similarity(1.0, np.eye(3), np.zeros(3))
    plain = match(x, y, alignment="identity")
    for given in (nothing, LinearMap(np.eye(3), np.zeros(3))):
        assert match(x, y, alignment=given).objective == pytest.approx(plain.objective, rel=1e-12)


def test_all_points_in_one_place():
    x = np.ones((4, 2))
    result = match(x, x, alignment=LinearMap(np.zeros((2, 2)), np.ones(2)))
    assert check_certificate(x, x, result) == 0.0
    assert sorted(result.permutation) == [0, 1, 2, 3]


@pytest.mark.parametrize("covariance", ["diagonal", "estimate", "auto", [1.0, 4.0, 9.0]])
@pytest.mark.parametrize("kind", ["similarity", "linear"])
def test_covariances_are_in_the_coordinates_of_x(kind, covariance):
    n = 12 if SMALL else 30
    x, y, given = draw(7, n, n, 3) if kind == "similarity" else between_spaces(7, n, n, 3, 5)
    x[:, 2] += np.random.default_rng(7).normal(size=n)
    result = match(x, y, alignment=given, covariance=covariance)
    assert result.map == given
    assert check_certificate(x, y, result) < 1e-8
    mapped = match(x, given.apply(y), alignment="identity", covariance=covariance)
    if not isinstance(covariance, str):
        assert result.objective == pytest.approx(mapped.objective, rel=1e-9)


def test_full_covariance_with_noise_levels():
    x, y, given = draw(8, 9, 9, 2)
    levels = np.linspace(1, 2, 9), np.linspace(2, 3, 9)
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    result = match(x, y, alignment=given, objective="lsns", noise=levels, covariance=covariance)
    assert check_certificate(x, y, result) < 1e-9
    mapped = match(
        x, given.apply(y), alignment="identity", objective="lsns", covariance=covariance,
        noise=(levels[0], levels[1] * given.scale),
    )  # fmt: skip
    assert result.objective == pytest.approx(mapped.objective, rel=1e-9)


def test_everything_else_takes_such_a_result():
    x, y, given = between_spaces(9, 14, 16, 3, 2, 0.05)
    result = match(x, y, alignment=given, pairs=10)
    assert check_certificate(x, y, result) < 1e-9
    path = match_path(x, y, alignment=given)
    assert path.matching(10).objective == pytest.approx(result.objective)
    result = match(x, y, alignment=given, objective="greedy")
    assert result.row_dual is None
    result = match(x, y, alignment=given, pairs="auto")
    found = diagnose(x, y, result)
    assert np.isnan(found.scale_error)
    assert "linear map from 2 to 3 coordinates" in str(result.summary(found))
    a, b, plain = in_common_units(x, y, result)
    expected = np.sqrt(exact_squares(x, y, given)[range(14), np.abs(result.permutation)])
    found = np.linalg.norm(a - plain.transform(b)[np.abs(result.permutation)], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_names_of_columns_pair_those_that_a_turn_mixes():
    pandas = pytest.importorskip("pandas")
    x, y, given = draw(10, 6, 6, 2)
    frames = pandas.DataFrame(x, columns=["a", "b"]), pandas.DataFrame(y[:, ::-1], columns=["b", "a"])
    result = match(*frames, alignment=given)
    np.testing.assert_array_equal(result.permutation, match(x, y, alignment=given).permutation)
    np.testing.assert_allclose(result.transform(frames[1]), given.apply(y))
    other = pandas.DataFrame(y, columns=["c", "d"])
    linear = LinearMap(given.matrix, given.shift)
    result = match(frames[0], other, alignment=linear)
    np.testing.assert_array_equal(result.permutation, match(x, y, alignment=given).permutation)
    np.testing.assert_allclose(result.transform(other), given.apply(y))
