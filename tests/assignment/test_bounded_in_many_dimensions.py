"""Bounds from leading coordinates lead to the same matchings as the distances, with a proof."""

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, match, match_many, matching, matching_many
from lslmatch.assignment.bounded import match_bounded
from lslmatch.assignment.bounded_nearest import count_leading
from lslmatch.assignment.plan import plan_from_points
from tests.support.matching import assert_is_matching
from tests.support.reference import SMALL
from tests.support.solver import set_solver

N = 30 if SMALL else 90


def planted(noise):
    def draw(rng, n, d):
        x = rng.normal(size=(n, d))
        return x, 3.0 * (x + noise * rng.normal(size=x.shape))[rng.permutation(n)] - 5.0

    return draw


def duplicates(rng, n, d):
    x = rng.normal(size=(n, d))[np.arange(n) % (2 * n // 3)]
    return x + 0.05 * rng.normal(size=x.shape), x[::-1] + 0.05 * rng.normal(size=x.shape)


def coincident(rng, n, d):
    x = rng.normal(size=(n, d))[np.arange(n) % (4 * n // 5)]
    return x, x[rng.permutation(n)]


def of_all_lengths(rng, n, d):
    x = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6.0, 6.0, (n, 1))
    return x * (1.0 + 1e-9 * rng.normal(size=x.shape)), x[::-1]


def close_together(rng, n, d):
    """Beside one wild point, all others are so close that bounds cannot tell them apart."""
    x = 1e-4 * rng.normal(size=(n, d))
    x[0] = 1e4
    return x, x[rng.permutation(n)]


def far_away(rng, n, d):
    x = rng.normal(size=(n, d))
    return x + 1e9, 1e-3 * x[::-1] - 1e5


KINDS = {
    "clear": planted(0.01),
    "noisy": planted(0.5),
    "without signal": planted(20.0),
    "duplicates": duplicates,
    "coincident": coincident,
    "all lengths": of_all_lengths,
    "close together": close_together,
    "far away": far_away,
}
#: Those in which more than one row in 8 clashes, or that bounds do not tell apart.
DIFFICULT = {"without signal", "duplicates", "coincident"} | ({"close together"} if N > 64 else set())


def is_solved(x, y, objective):
    """Say whether the kernel comes to the end."""
    numbers, size = np.zeros(8 + x.shape[1]), len(x) + len(y)
    return match_bounded(x, y, objective == "lsl", numbers, np.empty(size), np.empty(size, np.intp))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 7, 40])
@pytest.mark.parametrize("fewer", [0, -5, 5])
@pytest.mark.parametrize("objective", ["lsl", "lss"])
def test_bounds_change_no_objective(kind, d, fewer, objective, monkeypatch):
    x, y = KINDS[kind](np.random.default_rng([d, N]), N, d)
    x, y = (x[: N - fewer], y) if fewer > 0 else (x, np.ascontiguousarray(y[: N + fewer]))
    # Whether the map is doubtful is of no interest here, and takes long to find out.
    monkeypatch.setattr(matching, "_warn_of_doubts", lambda *arguments: None)
    expected = match(x, y, objective=objective)
    set_solver(monkeypatch, routes=("bounded", "small"))
    monkeypatch.setattr(matching_many, "_ALONE", 0)
    result = match(x, y, objective=objective)
    assert_is_matching(result, len(x), len(y))
    assert (result.scale, *result.shift) == (expected.scale, *expected.shift)
    unit = max(np.abs(expected.row_dual).max(), np.abs(expected.col_dual).max())
    assert result.objective == pytest.approx(expected.objective, rel=1e-12, abs=1e-12 * N * unit)
    assert check_certificate(x, y, result) <= 1e-12 * unit
    assert match_many([x], [y], objective=objective) == [result]
    # (Without some of the points, wild ones spoil the moments.)
    if d > 15 and not fewer:
        assert is_solved(x, y, objective) == (kind not in DIFFICULT)


@pytest.mark.parametrize("known", [False, True])
def test_leading_coordinates_that_suffice_for_a_few_rows_may_not_for_others(known, monkeypatch):
    rng = np.random.default_rng(11)
    x = rng.normal(size=(N, 40))
    # The rows that are asked stand out by their first coordinates, and all others by their last.
    asked = np.arange(4) * (N - 1) // 3
    if known:
        x[:, :20] *= np.isin(np.arange(N), asked)[:, None]
    y = x[rng.permutation(N)] + 0.01 * rng.normal(size=x.shape)
    leading = count_leading(x, y)
    assert leading < 20
    expected = match(x, y)
    set_solver(monkeypatch, routes=("bounded", "small"))
    result = match(x, y)
    assert result.objective == pytest.approx(expected.objective, rel=1e-12)
    assert check_certificate(x, y, result) < 1e-12
    assert is_solved(x, y, "lsl")


def test_all_coordinates_are_used_where_half_of_them_do_not_suffice():
    rng = np.random.default_rng(12)
    x = rng.normal(size=(N, 16))
    assert count_leading(x, x + 2.0 * rng.normal(size=x.shape)) == 16
    assert count_leading(x, x[::-1].copy()) < 16


def test_a_map_may_be_given(monkeypatch):
    x, y = planted(0.3)(np.random.default_rng(3), N, 20)
    expected = match(x, y)
    set_solver(monkeypatch, routes=("bounded", "small"))
    result = match(x, y, alignment=Affine(expected.scale, expected.shift))
    assert result.objective == pytest.approx(expected.objective, rel=1e-12)
    assert check_certificate(x, y, result) < 1e-12


@pytest.mark.parametrize(
    ("n", "d", "is_tried"),
    [(1000, 16, True), (400, 100, True), (300, 100, False), (150, 900, False), (1000, 1001, False)],
)
def test_few_dimensions_and_few_points_are_not_for_it(n, d, is_tried):
    plan = plan_from_points((n, d), n, "lsl")
    assert ("bounded" in [route.name for route in plan]) == is_tried
