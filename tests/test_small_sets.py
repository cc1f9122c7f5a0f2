"""The short way for small sets ends where the long way does."""

import numpy as np
import pytest

from lslmatch import (
    Affine,
    check_certificate,
    estimate_affine,
    match,
    match_many,
    matching_many,
)
from lslmatch.assignment import small_sets
from lslmatch.assignment.small_dense import CLASHES, FEW_CLASH, MANY_CLASH
from tests.support.matching import assert_is_matching
from tests.support.solver import STREAMED, noted_routes, set_solver


def normal(n, m, d, rng):
    return rng.normal(size=(n, d)), 3.0 * rng.normal(size=(m, d)) - 7.0


def planted(n, m, d, rng):
    points = rng.normal(size=(max(n, m), d))
    x, y = points[:n], 0.3 * points[rng.permutation(len(points))[:m]] + 2.0
    return x + 0.01 * rng.normal(size=x.shape), y


def lattice(n, m, d, rng):
    return rng.integers(0, 3, (n, d)).astype(float), rng.integers(0, 3, (m, d)) + 0.5


def far_away(n, m, d, rng):
    return rng.normal(size=(n, d)) + 1e9, 1e-3 * rng.normal(size=(m, d)) - 1e5


def tiny(n, m, d, rng):
    return 1e-20 * rng.normal(size=(n, d)), 1e20 * rng.normal(size=(m, d))


def equal(n, m, d, rng):
    points = rng.integers(0, 4, (max(n, m), d)) / 2.0
    return points[:n] + np.arange(n)[:, None] % 2, points[:m] + np.arange(m)[:, None] % 2


def of_all_lengths(n, m, d, rng):
    """Points far out have partners that are as far from them as others from the origin."""
    points = rng.normal(size=(max(n, m), d)) * 10.0 ** rng.uniform(-6.0, 6.0, (max(n, m), 1))
    return points[:n] * (1.0 + 1e-9 * rng.normal(size=(n, d))), points[::-1][:m]


KINDS = [normal, planted, lattice, far_away, tiny, equal, of_all_lengths]
SHAPES = [(2, 2, 1), (9, 9, 1), (4, 11, 3), (11, 4, 5), (25, 25, 4)]


def draw(kind, n, m, d):
    return kind(n, m, d, np.random.default_rng([n, m, d]))


def long_way(monkeypatch, *arguments, **options):
    with monkeypatch.context() as patch:
        set_solver(patch, routes=("line", "far", *STREAMED))
        return match(*arguments, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m", "d"), SHAPES)
@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize("alignment", ["standardize", "identity", "given"])
def test_both_ways_end_with_the_same_objective_and_a_proof(kind, n, m, d, objective, alignment, monkeypatch):
    x, y = draw(kind, n, m, d)
    if alignment == "given":
        alignment = Affine(0.7, np.linspace(-1.0, 1.0, d) * np.abs(x).max())
    result = match(x, y, objective=objective, alignment=alignment)
    expected = long_way(monkeypatch, x, y, objective=objective, alignment=alignment)
    assert_is_matching(result, n, m)
    # Beside a large dual, costs lose digits.
    unit = max(
        np.abs(np.concatenate([expected.row_dual, expected.col_dual])).max(),
        1.0 if objective == "lsl" else 0.0,
    )
    assert result.objective == pytest.approx(expected.objective, rel=1e-12, abs=1e-12 * n * unit)
    assert check_certificate(x, y, result) <= 1e-12 * unit
    assert result.scale == expected.scale
    np.testing.assert_array_equal(result.shift, expected.shift)
    assert (result.criterion, result.noise, result.profile) == (objective, None, None)


@pytest.mark.parametrize("kind", KINDS)
def test_scale_and_shift_are_those_of_estimate_affine(kind):
    x, y = draw(kind, 12, 9, 3)
    result, affine = match(x, y), estimate_affine(x, y)
    assert result.scale == affine.scale
    np.testing.assert_array_equal(result.shift, affine.shift)


@pytest.mark.parametrize("unit", [1e-300, 1e-120, 1e40, 1e120, 1e300])
def test_what_is_not_ordinary_goes_the_long_way(unit, monkeypatch):
    x, y = draw(normal, 6, 6, 2)
    x = unit * x
    affine = estimate_affine(x, y)
    assert small_sets.match_small(x, y, np.array([[6, 6]]), "lsl", None) == [None]
    result, expected = match(x, y), long_way(monkeypatch, x, y)
    assert result.scale == affine.scale
    np.testing.assert_array_equal(result.permutation, expected.permutation)
    assert result.objective == pytest.approx(expected.objective, rel=1e-12)


def test_sets_that_coincide_have_costs_of_zero():
    x = np.full((3, 2), 5.0)
    result = match(x, x, alignment="identity")
    assert result.objective == 0.0
    assert check_certificate(x, x, result) == 0.0
    with pytest.raises(ValueError, match="x must have a positive total variance"):
        match(x, x)


def test_what_is_matched_is_not_changed_and_what_comes_back_is_ones_own():
    x, y = draw(planted, 8, 8, 2)
    kept = x.copy(), y.copy()
    affine = Affine(1.0, np.zeros(2))
    result = match(x, y, alignment=affine)
    result.shift[:] = result.row_dual[:] = 9.0
    np.testing.assert_array_equal((x, y), kept)
    np.testing.assert_array_equal(affine.shift, np.zeros(2))


@pytest.mark.parametrize(
    ("noise", "offset", "pairs", "bounded", "by_kernel"),
    [
        (0.01, 0.0, 100, 0, True),
        (0.04, 0.0, 100, 0, True),
        (0.04, 0.0, 100, 1600, False),
        (3.0, 0.0, 100, 0, False),
        (3.0, 0.0, 1600, 0, True),
        (3.0, 0.0, 1600, 1600, True),
        (3.0, 1e3, 1600, 1600, False),
        (3.0, 1e3, 6400, 1600, True),
    ],
)
def test_sets_that_are_neither_small_nor_bounded_are_aligned_and_assigned_in_steps(
    noise, offset, pairs, bounded, by_kernel, monkeypatch
):
    set_solver(monkeypatch, most_small_pairs=pairs, matrix_pairs=0, least_bounded_pairs=bounded)
    monkeypatch.setattr(matching_many, "_ALONE", 0)
    rng = np.random.default_rng(5)
    x = rng.normal(size=(40, 3)) + [offset, 0.0, 0.0]
    y = x + noise * rng.normal(size=x.shape) - [offset, 0.0, 0.0]
    with noted_routes() as tried:
        result = match(x, y, objective="lss", alignment="identity")
    names = [name for name, _ in tried]
    assert len(set(names)) == len(names), "each route is tried once"
    assert (names[-1] in ("small", "bounded")) == by_kernel
    assert check_certificate(x, y, result) <= 1e-12 * abs(result.objective)
    assert match_many([x, x], [y, y], objective="lss", alignment="identity") == [result, result]


@pytest.mark.parametrize(("noise", "codes"), [(0.01, set()), (0.15, {FEW_CLASH}), (1.0, {MANY_CLASH})])
@pytest.mark.parametrize("objective", ["lsl", "lss"])
def test_few_and_many_free_rows_end_with_a_proof(noise, codes, objective, monkeypatch):
    seen, solve = set(), small_sets._match_all

    def note(*arguments):
        solve(*arguments)
        seen.update(arguments[5][:, CLASHES].tolist())

    monkeypatch.setattr(small_sets, "_match_all", note)
    rng = np.random.default_rng(4)
    x = rng.normal(size=(40, 3))
    for k in range(5):
        y = x + noise * rng.normal(size=x.shape)
        result = match(x, y[: 40 - k], objective=objective)
        assert check_certificate(x, y[: 40 - k], result) <= 1e-12 * max(1.0, abs(result.objective))
    assert seen - {0} >= codes, seen


@pytest.mark.parametrize("d", [1, 3])
def test_problems_with_few_and_many_free_rows_are_solved_in_one_call(d):
    rng = np.random.default_rng(6)
    xs = [rng.normal(size=(30, d)) for _ in range(12)]
    ys = [x + noise * rng.normal(size=x.shape) for x, noise in zip(xs, 4 * [0.01, 0.2, 1.0], strict=True)]
    for x, y, result in zip(xs, ys, match_many(xs, ys), strict=True):
        assert result == match(x, y)
        assert check_certificate(x, y, result) <= 1e-12 * abs(result.objective)
