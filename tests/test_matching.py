import functools
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from reference import SMALL, costs, greedy_partners, least_cost, squared_distances
from support.solver import set_solver

import lslmatch
from lslmatch import Affine, check_certificate, estimate_affine, match, standardize
from lslmatch import costs as pricing

PROVEN = ("lsl", "lss", "lsns")
objectives = pytest.mark.parametrize("objective", [*PROVEN, "greedy"])
proven = pytest.mark.parametrize("objective", PROVEN)
alignments = pytest.mark.parametrize("alignment", ["standardize", "identity", Affine(2.0, np.float64(0.5))])


@pytest.fixture(params=["by size", "streamed", "streamed, short lists"])
def route(request, monkeypatch):
    """Solve as the size of the problem suggests, or without the matrix of costs however small it is."""
    if request.param != "by size":
        set_solver(monkeypatch, dense_pairs=0)
    if request.param.endswith("short lists"):
        set_solver(monkeypatch, list_size=2)


def draw(n, d, seed=0):
    return np.random.default_rng([n, d, seed]).normal(size=(n, d))


def noise_of(objective, n, m):
    return (np.linspace(0.5, 2.0, n), np.linspace(3.0, 1.0, m)) if objective == "lsns" else None


def run(x, y, objective="lsl", alignment="standardize", **options):
    """Match with made-up noise levels where the objective needs some, and check what can be checked."""
    if isinstance(alignment, Affine):
        alignment = Affine(alignment.scale, np.broadcast_to(alignment.shift, x.shape[1]))
    options.setdefault("noise", noise_of(objective, len(x), len(y)))
    result = match(x, y, objective=objective, alignment=alignment, **options)
    assert_is_matching(result, len(x), len(y))
    if objective != "greedy":
        assert check_certificate(x, y, result) <= 1e-9 * max(1.0, abs(result.objective))
    return result


def assert_is_matching(result, n, m):
    partners = result.permutation[result.permutation >= 0]
    assert result.permutation.shape == (n,)
    assert result.permutation.min() >= -1
    assert result.permutation.max() < m
    assert len(set(partners.tolist())) == len(partners) == min(n, m)


def shuffled_copy(n, d, *, scale=1.0, shift=0.0, noise=0.0):
    """x, y and an order, one cycle, with ``x[i]`` about ``scale * y[order[i]] + shift``."""
    x = draw(n, d)
    cycle = np.random.default_rng(n).permutation(n)
    order = np.empty(n, int)
    order[cycle] = np.roll(cycle, 1)
    y = np.empty_like(x)
    y[order] = (x + noise * draw(n, d, 1) - shift) / scale
    return x, y, order


# ---------------------------------------------------------------------------- what is minimised


@proven
@alignments
@pytest.mark.parametrize(
    ("n", "m", "d"), [(2, 2, 1), (5, 5, 1), (6, 6, 3), (4, 6, 2), (6, 4, 2), (2, 6, 1), (6, 2, 3)]
)
@pytest.mark.usefixtures("route")
def test_no_matching_of_small_sets_costs_less(objective, alignment, n, m, d):
    x, y = 3.0 * draw(n, d), draw(m, d, 1) + 0.2
    result = run(x, y, objective, alignment)
    cost = costs(objective, x, y, result.scale, result.shift, noise_of(objective, n, m))
    best = float(least_cost(cost))
    rows = np.flatnonzero(result.permutation >= 0)
    tolerance = {"rel": 1e-12, "abs": 1e-12 * np.abs(cost).max()}
    assert cost[rows, result.permutation[rows]].sum() == pytest.approx(best, **tolerance)
    assert result.objective == pytest.approx(best, **tolerance)


SIZES = (
    [(40, 40), (20, 45), (45, 20), (70, 5)]
    if SMALL
    else [(65, 65), (300, 300), (100, 290), (290, 100), (520, 400)]
)


@proven
@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("relation", ["noisy copy", "unrelated", "few distinct"])
@pytest.mark.usefixtures("route")
def test_matchings_of_larger_sets_cost_what_scipy_finds(objective, n, m, relation):
    d = 3
    if relation == "noisy copy":
        truth = draw(max(n, m), d)
        x, y = truth[:n] + 0.3 * draw(n, d, 1), truth[::-1][:m] + 0.3 * draw(m, d, 2)
    elif relation == "unrelated":
        x, y = draw(n, d), draw(m, d, 1)
    else:
        x, y = np.round(draw(n, 2)), np.round(draw(m, 2, 1))
    result = run(x, y, objective, "identity")
    squares = ((x[:, None] - y) ** 2).sum(axis=2)
    if objective == "lsl":
        centre = x.mean(axis=0)
        mean_square = (((x - centre) ** 2).sum() + ((y - centre) ** 2).sum()) / (n + m)
        cost = np.log(np.maximum(squares, mean_square * 2.0**-104))
    elif objective == "lss":
        cost = squares
    else:
        x_level, y_level = noise_of(objective, n, m)
        cost = squares / (x_level[:, None] ** 2 + y_level**2)
    expected = cost[scipy.optimize.linear_sum_assignment(cost)].sum()
    assert result.objective == pytest.approx(expected, rel=1e-10, abs=1e-9)


@alignments
@pytest.mark.parametrize(
    ("n", "m", "d"), [(2, 2, 1), (9, 9, 1), (7, 12, 3), (12, 7, 3), (70, 66, 2), (66, 70, 2)]
)
def test_greedy_gives_every_point_of_the_smaller_set_its_nearest_free_partner(alignment, n, m, d):
    x, y = draw(n, d), 2.0 * draw(m, d, 1) - 0.1
    result = run(x, y, "greedy", alignment)
    squares = squared_distances(x, y, result.scale, result.shift)
    assert result.permutation.tolist() == greedy_partners(squares)
    cost = costs("greedy", x, y, result.scale, result.shift)
    rows = np.flatnonzero(result.permutation >= 0)
    assert result.objective == pytest.approx(cost[rows, result.permutation[rows]].sum(), rel=1e-11)
    assert result.row_dual is None
    assert result.col_dual is None


def test_greedy_spans_columns_beyond_one_tile():
    x, y = draw(5, 64), draw(130, 64, 1)
    squares = squared_distances(x, y)
    assert match(x, y, objective="greedy", alignment="identity").permutation.tolist() == greedy_partners(
        squares
    )


def test_objectives_differ_where_they_should():
    # One pair is hopeless. Squares sacrifice the good pairs to improve it a little; logarithms do not.
    x = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([[1.0], [2.0], [3.0], [30.0]])
    by_logarithm = run(x, y, "lsl", "identity").permutation
    np.testing.assert_array_equal(by_logarithm, [3, 0, 1, 2])
    by_square = run(x, y, "lss", "identity").permutation
    np.testing.assert_array_equal(by_square, [0, 1, 2, 3])
    # The noise explains a large distance where it is large.
    loud_last = run(x, y, "lsns", "identity", noise=([1e-3, 1e-3, 1e-3, 1e3], 1e-3)).permutation
    np.testing.assert_array_equal(loud_last, [0, 1, 2, 3])
    loud_first = run(x, y, "lsns", "identity", noise=([1e3, 1e-3, 1e-3, 1e-3], 1e-3)).permutation
    np.testing.assert_array_equal(loud_first, [3, 0, 1, 2])


def test_equal_noise_makes_lsns_the_same_as_lss_up_to_its_unit():
    x, y = draw(8, 2), draw(8, 2, 1)
    squares, normalized = run(x, y, "lss"), run(x, y, "lsns", noise=(3.0, np.full(8, 4.0)))
    np.testing.assert_array_equal(squares.permutation, normalized.permutation)
    variance = 9.0 + 16.0 * squares.scale**2
    assert normalized.objective == pytest.approx(squares.objective / variance, rel=1e-12)


@pytest.mark.parametrize("noise", [(2.0, 3.0), ([2.0] * 5, [3.0] * 5), [2, np.full(5, 3, np.float32)]])
def test_one_noise_level_stands_for_equal_levels(noise):
    x, y = draw(5, 2), draw(5, 2, 1)
    result = match(x, y, objective="lsns", noise=noise)
    expected = match(x, y, objective="lsns", noise=(np.full(5, 2.0), np.full(5, 3.0)))
    assert result.objective == expected.objective
    for levels, value in zip(result.noise, (2.0, 3.0), strict=True):
        np.testing.assert_array_equal(levels, np.full(5, value))


# ---------------------------------------------------------------------------- recovery and direction


@objectives
@pytest.mark.parametrize(("n", "d"), [(3, 1), (5, 2), (30, 3), (30 if SMALL else 200, 5)])
def test_the_partner_of_x_i_is_y_at_permutation_i(objective, n, d):
    shift = np.linspace(-20.0, 50.0, d)
    x, y, order = shuffled_copy(n, d, scale=3.0, shift=shift)
    assert not np.array_equal(order[order], np.arange(n))
    result = run(x, y, objective)
    np.testing.assert_array_equal(result.permutation, order)
    np.testing.assert_allclose(result.scale * y[result.permutation] + result.shift, x, atol=1e-12 * 50)
    assert result.scale == pytest.approx(3.0, rel=1e-12)
    np.testing.assert_allclose(result.shift, shift, atol=1e-12 * 50)
    assert result.criterion == objective


@objectives
def test_a_known_map_is_used_as_given(objective):
    x, y, order = shuffled_copy(20, 2, scale=0.01, shift=np.array([5.0, -6.0]), noise=1e-6)
    result = run(x, y, objective, Affine(0.01, np.array([5.0, -6.0])))
    np.testing.assert_array_equal(result.permutation, order)
    assert result.scale == 0.01
    np.testing.assert_array_equal(result.shift, [5.0, -6.0])


@objectives
def test_identity_means_no_map_at_all(objective):
    x, y, order = shuffled_copy(20, 2, noise=1e-6)
    result = run(x, y, objective, "identity")
    np.testing.assert_array_equal(result.permutation, order)
    assert result.scale == 1.0
    np.testing.assert_array_equal(result.shift, [0.0, 0.0])
    explicit = run(x, y, objective, Affine(1.0, np.zeros(2)))
    assert explicit.objective == result.objective


@objectives
def test_standardisation_is_the_estimated_map(objective):
    x, y = draw(9, 3), 4.0 * draw(9, 3, 1) + 1.0
    affine = estimate_affine(x, y)
    standardized, explicit = run(x, y, objective), run(x, y, objective, affine)
    assert standardized.scale == affine.scale
    np.testing.assert_array_equal(standardized.shift, affine.shift)
    np.testing.assert_array_equal(standardized.permutation, explicit.permutation)
    assert standardized.objective == explicit.objective


@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize(("n", "m"), [(9, 9), (7, 10), (10, 7)])
def test_matching_standardised_sets_is_the_same_problem(objective, n, m):
    x, y = 5.0 * draw(n, 3) + 2.0, draw(m, 3, 1)
    # A sum of squares grows with the number of points, of which the scale knows nothing.
    raw = run(x, y, objective)
    standard = run(standardize(x), math.sqrt(m / n) * standardize(y), objective, "identity")
    np.testing.assert_array_equal(raw.permutation, standard.permutation)
    total = ((x - x.mean(axis=0)) ** 2).sum()
    if objective == "lsl":
        assert raw.objective == pytest.approx(standard.objective + min(n, m) * math.log(total), rel=1e-12)
    else:
        assert raw.objective == pytest.approx(standard.objective * total, rel=1e-12)


@objectives
@pytest.mark.parametrize(("n", "m"), [(4, 9), (9, 4)])
def test_points_of_the_larger_set_may_stay_without_partner(objective, n, m):
    x, y, order = shuffled_copy(9, 2, noise=1e-9)
    x, y = x[:n], y[:m]
    result = run(x, y, objective, "identity")
    np.testing.assert_array_equal(result.permutation, np.where(order[:n] < m, order[:n], -1))
    assert np.count_nonzero(result.permutation == -1) == max(0, n - m)


# -------------------------------------------------------------------------------- known changes


@objectives
@alignments
@pytest.mark.parametrize(("n", "m"), [(8, 8), (6, 9), (9, 6)])
class TestKnownChangeOfTheOptimum:
    def test_permuted_sets(self, objective, alignment, n, m):
        if objective == "greedy":
            # The order of the smaller set is the order of choice: only the larger one may be permuted.
            rows, cols = (
                (np.arange(n), np.roll(np.arange(m), 2))
                if n <= m
                else (np.roll(np.arange(n), 2), np.arange(m))
            )
        else:
            rows, cols = np.roll(np.arange(n), 3), np.roll(np.arange(m), 2)
        x, y = draw(n, 2), draw(m, 2, 1)
        noise = noise_of(objective, n, m)
        one = run(x, y, objective, alignment)
        noise = noise and (noise[0][rows], noise[1][cols])
        other = run(x[rows], y[cols], objective, alignment, noise=noise)
        assert other.objective == pytest.approx(one.objective, rel=1e-11)
        inverse = np.append(np.argsort(cols), -1)
        np.testing.assert_array_equal(other.permutation, inverse[one.permutation[rows]])

    def test_exchanged_sets(self, objective, alignment, n, m):
        if objective == "greedy" and n == m:
            return  # it matters who chooses
        x, y = draw(n, 2), draw(m, 2, 1)
        noise = noise_of(objective, n, m)
        there = run(x, y, objective, alignment)
        back = Affine(1.0 / there.scale, -there.shift / there.scale)
        alignment = back if isinstance(alignment, Affine) else alignment
        result = run(y, x, objective, alignment, noise=noise and noise[::-1])
        assert result.scale == pytest.approx(1.0 / there.scale, rel=1e-13)
        np.testing.assert_allclose(result.shift, back.shift, atol=1e-13)
        for i, j in enumerate(there.permutation):
            assert j < 0 or result.permutation[j] == i
        change = {"lss": there.scale**-2, "lsns": 1.0}
        if objective in change:
            assert result.objective == pytest.approx(there.objective * change[objective], rel=1e-11)
        else:
            expected = there.objective - 2 * min(n, m) * math.log(there.scale)
            assert result.objective == pytest.approx(expected, rel=1e-11)


@objectives
@pytest.mark.parametrize(("n", "m"), [(8, 8), (6, 9), (9, 6)])
@pytest.mark.parametrize(("a", "c"), [(2.0, 1.0), (1.0, 0.3), (1e-7, 1e6)])
def test_scaling_and_shifting_either_set_changes_the_unit_only(objective, n, m, a, c):
    x, y = draw(n, 2), draw(m, 2, 1)
    noise = noise_of(objective, n, m)
    one = run(x, y, objective)
    other = run(a * x + 3.0 * a, c * y - c, objective, noise=noise and (a * noise[0], c * noise[1]))
    np.testing.assert_array_equal(other.permutation, one.permutation)
    assert other.scale == pytest.approx(one.scale * a / c, rel=1e-12)
    if objective in ("lss", "lsns"):
        factor = a * a if objective == "lss" else 1.0
        assert other.objective == pytest.approx(one.objective * factor, rel=1e-11)
    else:
        assert other.objective == pytest.approx(one.objective + 2 * min(n, m) * math.log(a), rel=1e-11)


# -------------------------------------------------------------------------------- extreme and degenerate data


@pytest.mark.parametrize("objective", ["lsl", "greedy", "lsns"])
@pytest.mark.parametrize("alignment", ["standardize", "identity"])
@pytest.mark.parametrize("unit", [1e200, 1e-200, 1e300, 1e-290])
@pytest.mark.usefixtures("route")
def test_very_large_and_very_small_values_are_matched(objective, alignment, unit):
    x, y = draw(7, 3), draw(7, 3, 1)
    noise = noise_of(objective, 7, 7)
    one = run(x, y, objective, alignment)
    result = run(unit * x, unit * y, objective, alignment, noise=noise and (unit * noise[0], unit * noise[1]))
    np.testing.assert_array_equal(result.permutation, one.permutation)
    assert result.scale == pytest.approx(one.scale, rel=1e-12)
    expected = one.objective + (0.0 if objective == "lsns" else 14 * math.log(unit))
    assert result.objective == pytest.approx(expected, rel=1e-11)


def test_very_different_units_are_bridged_by_the_scale():
    x, y, order = shuffled_copy(7, 3, scale=1.0, noise=1e-6)
    result = run(1e150 * x, 1e-150 * y)
    np.testing.assert_array_equal(result.permutation, order)
    assert result.scale == pytest.approx(1e300, rel=1e-4)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
@pytest.mark.parametrize("alignment", ["standardize", "identity"])
def test_sums_of_squares_beyond_the_range_of_doubles_are_refused(unit, alignment):
    with pytest.raises(
        ValueError, match="x and y must have moderate units for a sum of squares: .* multiply both sets"
    ):
        match(unit * draw(5, 2), unit * draw(5, 2, 1), objective="lss", alignment=alignment)


@pytest.mark.parametrize("level", [1e-170, 1e-300, 1e170, 1e300])
@pytest.mark.parametrize("coincident", [False, True])
def test_noise_levels_far_from_the_data_are_used_or_refused_by_name(level, coincident):
    x = draw(6, 2)
    y = x[::-1] if coincident else draw(6, 2, 1)
    try:
        result = run(x, y, "lsns", "identity", noise=(level, level))
    except ValueError as error:
        assert "noise" in str(error)  # noqa: PT017
    else:
        np.testing.assert_array_equal(result.permutation, run(x, y, "lss", "identity").permutation)


@objectives
@pytest.mark.parametrize("offset", [1e9, -1e9])
def test_a_large_common_offset_costs_no_digits(objective, offset):
    # A grid on which adding the offset is exact.
    x, y = np.round(draw(12, 3) * 2**20) / 2**20, np.round(draw(12, 3, 1) * 2**20) / 2**20
    near = run(x, y, objective)
    for far in (
        run(x + offset, y, objective),
        run(x, y + offset, objective),
        run(x + offset, y - offset, objective),
    ):
        np.testing.assert_array_equal(far.permutation, near.permutation)
        assert far.objective == pytest.approx(near.objective, rel=1e-6)
    both = run(x + offset, y + offset, objective, "identity")
    assert both.objective == pytest.approx(run(x, y, objective, "identity").objective, rel=1e-12)


@objectives
@pytest.mark.parametrize("alignment", ["standardize", "identity"])
@pytest.mark.parametrize(("n", "m"), [(6, 6), (5, 7), (7, 5)])
@pytest.mark.usefixtures("route")
def test_duplicated_points_are_ordinary_input(objective, alignment, n, m):
    places = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 2.0]])
    x, y = places[np.arange(n) % 3], places[(np.arange(m) + 1) % 3]
    result = run(x, y, objective, alignment)
    cost = costs(objective, x, y, result.scale, result.shift, noise_of(objective, n, m))
    best = float(least_cost(cost))
    if objective != "greedy":
        assert result.objective == pytest.approx(best, rel=1e-11, abs=1e-20)
    elif alignment == "identity" and n == m:
        assert result.objective == pytest.approx(best, rel=1e-11)


@objectives
@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize("alignment", ["standardize", "identity"])
@pytest.mark.usefixtures("route")
def test_noiseless_points_are_ordinary_input(objective, d, alignment):
    x, y, order = shuffled_copy(25, d)
    result = run(x, y, objective, alignment)
    np.testing.assert_array_equal(result.permutation, order)
    assert math.isfinite(result.objective)


@objectives
def test_two_points_on_a_line_are_enough(objective):
    result = run(np.array([[0.0], [10.0]]), np.array([[3.0], [1.0]]), objective)
    # After standardisation the two orders are mirror images; only distances decide.
    np.testing.assert_array_equal(result.permutation, [1, 0])
    assert result.scale == 5.0
    np.testing.assert_array_equal(result.shift, [-5.0])


@objectives
@pytest.mark.parametrize(("n", "m"), [(4, 4), (3, 5), (5, 3)])
@pytest.mark.parametrize("value", [0.0, 7.0, -1e9])
def test_all_points_of_one_set_in_one_place_need_no_scale_under_identity(objective, n, m, value):
    x, y = np.full((n, 2), value), value + draw(m, 2)
    for first, second in ((x, y), (y, x)):
        result = run(first, second, objective, "identity")
        if objective != "greedy":
            cost = costs(objective, first, second, noise=noise_of(objective, len(first), len(second)))
            assert result.objective == pytest.approx(float(least_cost(cost)), rel=1e-11)


@objectives
@pytest.mark.parametrize("value", [0.0, 1.0, 1e-200, -1e200])
@pytest.mark.usefixtures("route")
def test_all_points_in_one_place_are_matched_in_order(objective, value):
    points = np.full((4, 2), value)
    if objective == "lss" and abs(value) in (1e200, 1e-200):
        return  # refused, as tested above
    noise = (abs(value) or 1.0, abs(value) or 1.0) if objective == "lsns" else None
    result = run(points, points, objective, "identity", noise=noise)
    np.testing.assert_array_equal(result.permutation, np.arange(4))


# --------------------------------------------------------------------------------- kinds of input


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


KINDS = {
    "list": np.ndarray.tolist,
    "tuples": lambda points: tuple(map(tuple, points)),
    "Fortran order": np.asfortranarray,
    "every other column": lambda points: np.repeat(points, 2, axis=1)[:, ::2],
    "reversed": lambda points: points[::-1, ::-1].copy()[::-1, ::-1],
    "read only": read_only,
    "float16": lambda points: points.astype(np.float16),
    "float32": lambda points: points.astype(np.float32),
    "long double": lambda points: points.astype(np.longdouble),
    "int16": lambda points: points.astype(np.int16),
    "big-endian float": lambda points: points.astype(">f8"),
    "big-endian integer": lambda points: points.astype(">i8"),
    "unmasked": np.ma.asarray,
    "DataFrame": pd.DataFrame,
    "labelled DataFrame": lambda points: pd.DataFrame(
        points, index=range(90, 90 - len(points), -1)
    ).add_prefix("c"),
    "integer DataFrame": lambda points: pd.DataFrame(points.astype(int)),
}


@objectives
@pytest.mark.parametrize("kind", KINDS)
def test_kind_and_layout_of_the_input_do_not_matter(objective, kind):
    rng = np.random.default_rng(0)
    x, y = rng.integers(-50, 50, (6, 3)).astype(float), rng.integers(-50, 50, (6, 3)).astype(float)
    noise = noise_of(objective, 6, 6)
    expected = match(x, y, objective=objective, noise=noise)
    given_x, given_y = KINDS[kind](x), KINDS[kind](y)
    before = np.array(given_x), np.array(given_y)
    result = match(given_x, given_y, objective=objective, noise=noise)
    for found, wanted in zip(result[:6], expected[:6], strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.array(given_x), before[0])
    np.testing.assert_array_equal(np.array(given_y), before[1])


def test_booleans_are_coordinates_of_zero_and_one():
    x = np.array([[False, True], [True, True], [False, False]])
    np.testing.assert_array_equal(match(x, ~x).permutation, match(x.astype(float), 1.0 - x).permutation)


def test_noise_levels_are_not_changed_and_may_be_series():
    x, y = draw(5, 2), draw(5, 2, 1)
    levels = pd.Series(np.linspace(1.0, 2.0, 5), index=list("abcde"))
    kept = levels.copy()
    result = match(x, y, objective="lsns", noise=(levels, levels))
    pd.testing.assert_series_equal(levels, kept)
    assert (
        result.objective == match(x, y, objective="lsns", noise=(kept.to_numpy(), kept.to_numpy())).objective
    )


def test_results_are_the_callers_own():
    x, y = draw(5, 2), draw(5, 2, 1)
    shift = np.zeros(2)
    first = match(x, y, alignment=Affine(1.0, shift))
    expected = first.permutation.copy()
    for part in (first.permutation, first.row_dual, first.col_dual):
        part[:] = 99
    np.testing.assert_array_equal(match(x, y, alignment=Affine(1.0, shift)).permutation, expected)


def start_python(code):
    """Run code in a new interpreter that finds the same library."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": str(Path(lslmatch.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_library_never_imports_pandas_by_itself():
    child = start_python(
        """
        import sys, lslmatch
        lslmatch.match([[0, 1], [2, 3], [5, 5]], [[5, 5], [2, 3], [0, 1]])
        print({"pandas", "matplotlib", "statsmodels", "joblib", "verification"} & set(sys.modules))
        """
    )
    out, err = child.communicate(timeout=300)
    assert (out, err) == ("set()\n", "")


# --------------------------------------------------------------------------------------- errors

X, Y = draw(4, 2), draw(5, 2, 1)
NAN, NEGATIVE = X.copy(), Y.copy()
NAN[1, 0], NEGATIVE[4, 1] = math.nan, -math.inf
MASKED = np.ma.masked_equal(X, X[2, 1])
RAGGED = [[1.0, 2.0], [3.0]]

BAD_POINTS = [
    (dict(x=[1.0, 2.0]), ValueError, r"x must be 2-dimensional, one row a point; got shape \(2,\)"),
    (
        dict(y=np.ones((2, 2, 2))),
        ValueError,
        r"y must be 2-dimensional, one row a point; got shape \(2, 2, 2\)",
    ),
    (dict(x=3.0), ValueError, r"x must be 2-dimensional, one row a point; got shape \(\)"),
    (dict(x=[]), ValueError, r"x must be 2-dimensional, one row a point; got shape \(0,\)"),
    (dict(x=np.empty((0, 2))), ValueError, r"x must have at least 2 points; got shape \(0, 2\)"),
    (dict(y=[[1.0, 2.0]]), ValueError, r"y must have at least 2 points; got shape \(1, 2\)"),
    (dict(y=np.empty((3, 0))), ValueError, r"y must have at least one column; got shape \(3, 0\)"),
    (dict(y=draw(4, 3)), ValueError, r"x and y must have the same number of columns; got 2 and 3"),
    (dict(x=NAN), ValueError, r"x must be finite, without NaN or inf; x\[1, 0\] is nan"),
    (dict(y=NEGATIVE), ValueError, r"y must be finite, without NaN or inf; y\[4, 1\] is -inf"),
    (dict(x=X * 1j), TypeError, r"x must be real numbers; got dtype complex128"),
    (dict(y=Y.astype(object)), TypeError, r"y must be real numbers; got dtype object"),
    (dict(x=X.astype(str)), TypeError, r"x must be real numbers; got dtype <U"),
    (dict(x=X.astype("M8[s]")), TypeError, r"x must be real numbers; got dtype datetime64"),
    (dict(x=None), TypeError, r"x must be real numbers; got dtype object"),
    (
        dict(x=pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]})),
        TypeError,
        r"x must be real numbers; got dtype object",
    ),
    (dict(x=RAGGED), ValueError, r"x must be convertible to an array: .*inhomogeneous"),
    (dict(x=MASKED), ValueError, r"x must not have masked entries; fill or drop them first"),
    (
        dict(x=np.ones((4, 2))),
        ValueError,
        r"x must have a positive total variance, .* all its 4 points coincide",
    ),
    (
        dict(y=np.zeros((3, 2))),
        ValueError,
        r"y must have a positive total variance, .* all its 3 points coincide",
    ),
    (dict(x=1e200 * X, y=1e-200 * Y), ValueError, r"x and y must have comparable units"),
]
BAD_OPTIONS = [
    (
        dict(objective="LSL"),
        ValueError,
        r"objective must be one of 'lsl', 'lss', 'lsns', 'greedy'; got 'LSL'",
    ),
    (dict(objective=None), ValueError, r"objective must be one of .*; got None"),
    (dict(objective=("lsl",)), ValueError, r"objective must be one of .*; got \('lsl',\)"),
    (
        dict(alignment="affine"),
        ValueError,
        r"alignment must be one of 'standardize', 'identity',.*; got 'affine'",
    ),
    (dict(alignment=None), ValueError, r"alignment must be one of .*; got None"),
    (dict(alignment=2.0), ValueError, r"alignment must be one of .*; got 2\.0"),
    (dict(alignment=Affine(0.0, np.zeros(2))), ValueError, r"alignment\.scale must be positive; got 0\.0"),
    (dict(alignment=Affine(-1.0, np.zeros(2))), ValueError, r"alignment\.scale must be positive; got -1\.0"),
    (dict(alignment=Affine(math.nan, np.zeros(2))), ValueError, r"alignment\.scale must be finite; got nan"),
    (
        dict(alignment=Affine([1.0, 2.0], np.zeros(2))),
        ValueError,
        r"alignment\.scale must be one number; got shape \(2,\)",
    ),
    (
        dict(alignment=Affine(1.0, np.zeros(3))),
        ValueError,
        r"alignment\.shift must have shape \(2,\); got shape \(3,\)",
    ),
    (
        dict(alignment=Affine(1.0, 0.0)),
        ValueError,
        r"alignment\.shift must have shape \(2,\); got shape \(\)",
    ),
    (
        dict(alignment=Affine(1.0, [0.0, math.inf])),
        ValueError,
        r"alignment\.shift must be finite, .*shift\[1\] is inf",
    ),
    (
        dict(alignment=Affine("1", np.zeros(2))),
        TypeError,
        r"alignment\.scale must be real numbers; got dtype <U1",
    ),
    (
        dict(alignment=(1.0, 2.0, 3.0)),
        TypeError,
        r"alignment must be an Affine\(scale, shift\); got \(1\.0, 2\.0, 3\.0\)",
    ),
    (dict(workers=0), ValueError, r"workers must be at least 1; got 0"),
    (dict(workers=-2), ValueError, r"workers must be at least 1; got -2"),
    (dict(workers=1.5), TypeError, r"workers must be a whole number; got 1\.5"),
    (dict(workers="2"), TypeError, r"workers must be a whole number; got '2'"),
    (dict(workers=True), TypeError, r"workers must be a whole number; got True"),
    (dict(workers=None), TypeError, r"workers must be a whole number; got None"),
    (
        dict(noise=(1.0, 1.0)),
        ValueError,
        r"noise is only used by objective 'lsns'; got it with objective 'lsl'",
    ),
]
BAD_NOISE = [
    (None, ValueError, r"noise must be a pair \(levels of x, levels of y\) for objective 'lsns'; got None"),
    (1.0, ValueError, r"noise must be a pair .*; got 1\.0"),
    ((1.0,), ValueError, r"noise must be a pair .*; got \(1\.0,\)"),
    ((1.0, 1.0, 1.0), ValueError, r"noise must be a pair .*; got \(1\.0, 1\.0, 1\.0\)"),
    ((np.ones(5), 1.0), ValueError, r"noise\[0\] must have shape \(4,\); got shape \(5,\)"),
    ((1.0, np.ones((5, 1))), ValueError, r"noise\[1\] must have shape \(5,\); got shape \(5, 1\)"),
    ((0.0, 1.0), ValueError, r"noise\[0\] must be positive; its smallest value is 0\.0"),
    (
        (1.0, [1.0, 1.0, -0.5, 1.0, 1.0]),
        ValueError,
        r"noise\[1\] must be positive; its smallest value is -0\.5",
    ),
    ((math.nan, 1.0), ValueError, r"noise\[0\] must be finite, without NaN or inf; noise\[0\]\[0\] is nan"),
    (
        (1.0, [1.0, math.inf, 1.0, 1.0, 1.0]),
        ValueError,
        r"noise\[1\] must be finite, .*; noise\[1\]\[1\] is inf",
    ),
    ((1j, 1.0), TypeError, r"noise\[0\] must be real numbers; got dtype complex128"),
    (("1", 1.0), TypeError, r"noise\[0\] must be real numbers; got dtype <U1"),
]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        *BAD_POINTS,
        *BAD_OPTIONS,
        *((dict(objective="lsns", noise=noise), *rest) for noise, *rest in BAD_NOISE),
    ],
)
def test_errors_name_the_argument_the_rule_and_what_came(change, error, message):
    arguments = {"x": X, "y": Y, **change}
    with pytest.raises(error, match=message):
        match(**arguments)


@pytest.mark.parametrize("function", [estimate_affine, standardize])
@pytest.mark.parametrize(("change", "error", "message"), BAD_POINTS)
def test_every_function_of_points_refuses_the_same_input(function, change, error, message):
    points = {"x": X, "y": Y, **change}
    if function is standardize:
        if "x" not in change or "y" in change:
            return  # it has one argument only
        del points["y"]
    with pytest.raises(error, match=message):
        function(**points)


def test_options_are_given_by_name():
    with pytest.raises(TypeError, match="positional argument"):
        match(X, Y, "lsl")


# ------------------------------------------------------------------------------ threads and interrupts


def assert_identical(first, second):
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@objectives
@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize(
    ("n", "m"), [(33, 33), (20, 31), (31, 20)] if SMALL else [(300, 300), (150, 320), (320, 150)]
)
@pytest.mark.usefixtures("route")
def test_the_number_of_workers_changes_no_bit(objective, workers, n, m, monkeypatch):
    monkeypatch.setattr(pricing, "_BLOCK_ENTRIES", 50 * m)
    set_solver(monkeypatch, block_rows=16)
    x, y = draw(n, 3), draw(m, 3, 1)
    noise = noise_of(objective, n, m)
    alone = match(x, y, objective=objective, noise=noise)
    assert_identical(match(x, y, objective=objective, noise=noise, workers=workers)[:7], alone[:7])


def test_eight_threads_may_match_at_once():
    n = 12 if SMALL else 150
    problems = [
        (draw(n, 3, k), draw(n + k % 3, 3, 100 + k), objective)
        for k, objective in enumerate(2 * ["lsl", "lss", "greedy", "lsl", "lsl", "lss", "greedy", "lsl"])
    ]

    def solve(problem):
        x, y, objective = problem
        return match(x, y, objective=objective, workers=2)

    expected = [solve(problem) for problem in problems]
    with ThreadPoolExecutor(8) as pool:
        for found, wanted in zip(pool.map(solve, problems), expected, strict=True):
            assert_identical(found, wanted)


#: Machol and Wien's costs, on which every path is long. Uninterrupted, one solution takes about a minute.
LONG_SOLVE = """
import numpy as np
from lslmatch import solve_assignment
solve_assignment(np.eye(9))
side = np.arange(1.0, {n} + 1)
cost = np.outer(side, side)
print("ready", flush=True)
while True:
    solve_assignment(cost)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_an_interrupt_reaches_a_long_solve():
    with start_python(LONG_SOLVE.format(n=300 if SMALL else 4500)) as child:
        try:
            assert child.stdout.readline() == "ready\n", child.stderr.read()
            time.sleep(1.0)
            assert child.poll() is None
            child.send_signal(signal.SIGINT)
            _, err = child.communicate(timeout=20)
        finally:
            child.kill()
    assert child.returncode != 0
    assert err.rstrip().endswith("KeyboardInterrupt")


# --------------------------------------------------------------------------------------- any input

_coordinates = (
    st.integers(-3, 3) | st.integers(-(2**30), 2**30).map(lambda k: k / 2**27) | st.sampled_from([0.1, 0.3])
)


@st.composite
def point_sets(draw, elements=_coordinates):
    d = draw(st.integers(1, 3))
    return [draw(hnp.arrays(float, (draw(st.integers(2, 5)), d), elements=elements)) for _ in "xy"]


@given(
    points=point_sets(),
    objective=st.sampled_from(PROVEN),
    affine=st.none() | st.tuples(st.sampled_from([1.0, 0.1, 3.0]), st.sampled_from([0.0, 0.1, -1e9])),
    exponent=st.sampled_from([0, 0, 300, -300]),
    pairs=st.sampled_from([0, 100]),
)
def test_ties_and_duplicates_are_matched_at_the_least_cost(points, objective, affine, exponent, pairs):
    x, y = (np.ldexp(part, exponent) for part in points)
    noise = noise_of(objective, len(x), len(y))
    noise = noise and tuple(np.ldexp(levels, exponent) for levels in noise)
    alignment = "standardize"
    if affine is not None:
        alignment = Affine(affine[0], np.ldexp(np.full(x.shape[1], affine[1]), exponent))
    elif min(np.ptp(x, axis=0).max(), np.ptp(y, axis=0).max()) == 0.0:
        with pytest.raises(ValueError, match="must have a positive total variance"):
            match(x, y, objective=objective, noise=noise)
        return
    with pytest.MonkeyPatch.context() as patch:
        set_solver(patch, dense_pairs=pairs, list_size=3)
        result = match(x, y, objective=objective, alignment=alignment, noise=noise)
    assert_is_matching(result, len(x), len(y))
    if objective == "lsl" and not any(map(any, squared_distances(x, y, result.scale, result.shift))):
        return  # all points in one place: no unit to measure costs in
    cost = costs(objective, x, y, result.scale, result.shift, noise)
    unit = np.abs(cost).max()
    assert result.objective == pytest.approx(float(least_cost(cost)), rel=1e-10, abs=1e-11 * unit)
    assert check_certificate(x, y, result) <= 1e-11 * unit


@given(
    points=point_sets(
        st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, 1e200, 1e-200])
    ),
    objective=st.sampled_from([*PROVEN, "greedy"]),
    alignment=st.sampled_from(["standardize", "identity"]),
)
def test_any_finite_points_are_matched_or_refused_for_a_reason(points, objective, alignment):
    x, y = points
    try:
        result = match(
            x, y, objective=objective, alignment=alignment, noise=noise_of(objective, len(x), len(y))
        )
    except ValueError as error:
        assert str(error).startswith(("x ", "y ", "x and y ", "noise"))  # noqa: PT017
        return
    assert_is_matching(result, len(x), len(y))
    assert math.isfinite(result.objective)
    if objective != "greedy":
        assert check_certificate(x, y, result) <= 1e-9 * max(1.0, abs(result.objective))


_anything = st.recursive(
    st.none() | st.floats() | st.booleans() | st.text(max_size=2), functools.partial(st.lists, max_size=3)
)


@given(
    x=_anything | hnp.arrays(float, (3, 2)), y=_anything | hnp.arrays(np.float32, (2, 2)), alignment=_anything
)
def test_anything_else_raises_only_type_and_value_errors(x, y, alignment):
    try:
        assert_is_matching(match(x, y, alignment=alignment), len(x), len(y))
    except (TypeError, ValueError):
        return
