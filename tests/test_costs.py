import math

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lslmatch import Affine, estimate_affine, log_cost_matrix, match, standardize
from lslmatch import costs as pricing
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.objectives.table import make_rule
from tests.support.reference import EPS, SMALL, coincidence_floor, costs, log_costs, log_fraction
from tests.support.sets import draw

#: Logarithms of distances with a relative error of at most 1e-12, themselves rounded.
TOLERANCE = {"rtol": 1e-14, "atol": 1e-12}


# -------------------------------------------------------------------------------- log_cost_matrix


@pytest.mark.parametrize(
    ("n", "m", "d"),
    [(2, 2, 1), (3, 6, 2), (6, 3, 5), (67, 4, 3), (4, 70, 64), (2, 600, 1)]
    + ([] if SMALL else [(90, 270, 2)]),
)
def test_costs_are_logarithms_of_squared_distances(n, m, d):
    x, y = draw(n, d), draw(m, d, 1)
    np.testing.assert_allclose(log_cost_matrix(x, y), log_costs(x, y), **TOLERANCE)
    affine = Affine(0.3, np.linspace(-1.0, 2.0, d))
    np.testing.assert_allclose(log_cost_matrix(x, y, affine), log_costs(x, y, *affine), **TOLERANCE)


@pytest.mark.parametrize("d", [1, 2, 10])
def test_coincident_points_cost_the_floor(d):
    x = draw(6, d)
    cost = log_cost_matrix(x, x)
    np.testing.assert_allclose(np.diag(cost), log_fraction(coincidence_floor(x, x)), rtol=1e-14)
    np.testing.assert_allclose(cost, log_costs(x, x), **TOLERANCE)


@pytest.mark.parametrize("gap", [2.0**-53, 2.0**-51, 2.0**-40])
def test_distances_are_raised_to_the_floor_only_below_it(gap):
    x = np.array([[-1.0], [1.0]])
    y = np.array([[-1.0], [1.0 - gap]])
    floor = coincidence_floor(x, y)
    expected = max(2 * math.log(gap), log_fraction(floor))
    assert log_cost_matrix(x, y)[1, 1] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("scale", [1.0, 1.0 / 3.0, 2e5])
def test_noiseless_points_are_priced_to_the_last_digit(scale):
    y = draw(8, 3)
    x = scale * y[::-1] + 0.1
    affine = estimate_affine(x, y)
    np.testing.assert_allclose(log_cost_matrix(x, y, affine), log_costs(x, y, *affine), rtol=1e-12)


@pytest.mark.parametrize("unit", [1e200, 1e-200, 2.0**1020, 2.0**-1000])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_another_unit_adds_a_constant(unit, shift):
    x, y = draw(5, 2), draw(6, 2, 1)
    y[0] = x[2] - shift
    cost = log_cost_matrix(unit * x, unit * y, Affine(1.0, np.full(2, shift * unit)))
    plain = log_cost_matrix(x, y, Affine(1.0, np.full(2, shift)))
    # Multiplying by a unit that is no power of two rounds the points, which the coincident pair notices.
    apart = np.ones_like(plain, bool) if math.frexp(unit)[0] == 0.5 else plain > -60.0
    np.testing.assert_allclose((cost - plain)[apart], 2 * math.log(unit), rtol=0, atol=1e-11)


def test_without_a_map_the_points_are_taken_as_they_are():
    x, y = draw(4, 3), draw(5, 3, 1)
    np.testing.assert_array_equal(log_cost_matrix(x, y), log_cost_matrix(x, y, Affine(1.0, np.zeros(3))))


def test_the_map_is_applied_to_the_second_set():
    x, y = draw(4, 3), draw(5, 3, 1)
    mapped = log_cost_matrix(x, y, Affine(2.0, np.array([1.0, 0.0, -1.0])))
    np.testing.assert_allclose(mapped, log_cost_matrix(x, 2.0 * y + [1.0, 0.0, -1.0]), **TOLERANCE)


def test_exchanging_the_sets_transposes_the_costs():
    x, y = draw(4, 3), draw(5, 3, 1)
    np.testing.assert_allclose(log_cost_matrix(y, x), log_cost_matrix(x, y).T, **TOLERANCE)


def test_permuting_points_permutes_rows_and_columns():
    x, y = draw(6, 2), draw(7, 2, 1)
    rows, cols = np.roll(np.arange(6), 2), np.roll(np.arange(7), 3)
    np.testing.assert_allclose(
        log_cost_matrix(x[rows], y[cols]), log_cost_matrix(x, y)[rows][:, cols], **TOLERANCE
    )


def test_standardised_sets_differ_by_the_sum_of_squares_only():
    x, y = 4.0 * draw(7, 2) + 3.0, draw(7, 2, 1)
    difference = log_cost_matrix(x, y, estimate_affine(x, y)) - log_cost_matrix(
        standardize(x), standardize(y)
    )
    total = ((x - x.mean(axis=0)) ** 2).sum()
    np.testing.assert_allclose(difference, math.log(total), rtol=0, atol=1e-11)


def test_all_points_in_one_place_cost_the_same():
    cost = log_cost_matrix(np.full((3, 2), 7.0), np.full((4, 2), 7.0))
    np.testing.assert_array_equal(cost, np.zeros((3, 4)))


def test_inputs_are_not_changed():
    x, y, shift = draw(4, 2), draw(5, 2, 1), np.ones(2)
    kept = [part.copy() for part in (x, y, shift)]
    log_cost_matrix(x, y, Affine(3.0, shift))
    for part, before in zip((x, y, shift), kept, strict=True):
        np.testing.assert_array_equal(part, before)


@pytest.mark.parametrize(
    ("affine", "error", "message"),
    [
        ((0.0, [0.0, 0.0]), ValueError, r"affine\.scale must be positive; got 0\.0"),
        ((-2.0, [0.0, 0.0]), ValueError, r"affine\.scale must be positive; got -2\.0"),
        ((math.inf, [0.0, 0.0]), ValueError, r"affine\.scale must be finite; got inf"),
        ((1.0, [0.0]), ValueError, r"affine\.shift must have shape \(2,\); got shape \(1,\)"),
        (
            (1.0, [0.0, math.nan]),
            ValueError,
            r"affine\.shift must be finite, without NaN or inf; affine\.shift\[1\] is nan",
        ),
        ((1.0, [0.0, 1j]), TypeError, r"affine\.shift must be real numbers; got dtype complex128"),
        (2.0, TypeError, r"affine must be an Affine\(scale, shift\); got 2\.0"),
        ((1.0,), TypeError, r"affine must be an Affine\(scale, shift\); got \(1\.0,\)"),
        ("standardize", TypeError, r"affine must be an Affine\(scale, shift\); got 'standardize'"),
    ],
)
def test_what_is_not_an_affine_map_is_refused(affine, error, message):
    with pytest.raises(error, match=message):
        log_cost_matrix(draw(3, 2), draw(3, 2), affine)


_coordinates = (
    st.integers(-3, 3) | st.integers(-(2**30), 2**30).map(lambda k: k / 2**27) | st.sampled_from([0.1, 0.3])
)
_points = hnp.arrays(float, st.tuples(st.integers(2, 5), st.just(2)), elements=_coordinates)


@given(
    x=_points,
    y=_points,
    exponent=st.sampled_from([0, -600, 600, -900, 900]),
    scale=st.sampled_from([1.0, 0.1, 2.0**-60, 1e20]),
    shift=st.sampled_from([0.0, 0.1, 1e9]),
)
def test_ties_duplicates_and_any_unit_are_priced_by_the_definition(x, y, exponent, scale, shift):
    x, y, shift = np.ldexp(x, exponent), np.ldexp(y, exponent), np.ldexp(np.full(2, shift), exponent)
    if not coincidence_floor(x, y, scale, shift):
        return  # all points in one place: no unit to measure a floor in
    expected = log_costs(x, y, scale, shift)
    np.testing.assert_allclose(log_cost_matrix(x, y, Affine(scale, shift)), expected, rtol=1e-13, atol=1e-12)


_any = st.floats(allow_nan=False, allow_infinity=False)


@given(
    hnp.arrays(float, (3, 2), elements=_any),
    hnp.arrays(float, (2, 2), elements=_any),
    st.floats(min_value=5e-324, max_value=1e308),
    hnp.arrays(float, 2, elements=_any),
)
def test_any_finite_numbers_have_finite_costs(x, y, scale, shift):
    assert np.isfinite(log_cost_matrix(x, y, Affine(scale, shift))).all()


# --------------------------------------------------------------------------- rules and their kernel


def rules(n, m):
    x, y = draw(n, 3), draw(m, 3, 1)
    noise = np.linspace(0.5, 1.0, n), np.linspace(1.0, 4.0, m)
    affine = Affine(0.5, np.ones(3))
    geometry = common_coordinates(x, y, affine)
    for name, rule in (
        ("lsl", pricing.log_rule(geometry)),
        ("lss", pricing.square_rule(geometry)),
        ("lsns", pricing.normalized_rule(geometry, noise, affine.scale)),
    ):
        yield geometry, rule, costs(name, x, y, *affine, noise)


@pytest.mark.parametrize("which", range(3), ids=["lsl", "lss", "lsns"])
@pytest.mark.parametrize(("n", "m"), [(5, 5), (4, 9), (66, 7)])
def test_every_rule_prices_by_its_definition(which, n, m):
    geometry, rule, expected = list(rules(n, m))[which]
    np.testing.assert_allclose(pricing.cost_matrix(geometry, rule), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("which", range(3), ids=["lsl", "lss", "lsns"])
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("entries", [1, 20, 1 << 20])
def test_costs_do_not_depend_on_blocks_and_workers(which, workers, entries, monkeypatch):
    geometry, rule, _ = list(rules(67, 6))[which]
    # In blocks of another size the products may round differently, but not for other workers.
    expected = pricing.cost_matrix(geometry, rule)
    monkeypatch.setattr(pricing, "_BLOCK_ENTRIES", entries)
    found = pricing.cost_matrix(geometry, rule, workers)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(found, pricing.cost_matrix(geometry, rule, 1))


@pytest.mark.parametrize("which", range(3), ids=["lsl", "lss", "lsns"])
def test_one_pair_costs_what_it_does_in_the_matrix(which):
    geometry, rule, expected = list(rules(4, 6))[which]
    for i, j in np.ndindex(4, 6):
        found = pricing.cost_of_pair(geometry, rule, i, j) + rule.offset
        assert found == pytest.approx(expected[i, j], rel=1e-12, abs=1e-12)
    turned = rule.transposed()
    np.testing.assert_array_equal(turned.x_weight, rule.y_weight)
    np.testing.assert_array_equal(turned.y_weight, rule.x_weight)
    assert turned[:3] == rule[:3]


def test_the_rule_of_an_objective_goes_by_its_name():
    geometry = common_coordinates(draw(4, 3), draw(5, 3, 1), Affine(0.5, np.ones(3)))
    noise = np.ones(4), np.full(5, 2.0)
    for name, expected in (
        ("lsl", pricing.log_rule(geometry)),
        ("greedy", pricing.log_rule(geometry)),
        ("lss", pricing.square_rule(geometry)),
        ("lsns", pricing.normalized_rule(geometry, noise, 0.5)),
    ):
        found = make_rule(name, geometry, 0.5, noise)
        assert found[:3] == expected[:3]
        np.testing.assert_array_equal(found.x_weight, expected.x_weight)
        np.testing.assert_array_equal(found.y_weight, expected.y_weight)
    assert make_rule("lsl", geometry, 0.5, coincident=0.5).floor == geometry.mean_square() / 2


@pytest.mark.parametrize("i", range(5))
def test_near_pairs_far_from_the_centre_are_priced_in_any_row(i):
    x, y = draw(5, 2), draw(5, 2, 1)
    x[i] = [1e6, -2e6]
    y[3] = [1e6 + 1e-4, -2e6]
    np.testing.assert_allclose(log_cost_matrix(x, y), log_costs(x, y), **TOLERANCE)


def logarithm_inputs():
    """Doubles of every exponent, and the neighbourhoods where the series or the range reduction changes."""
    rng = np.random.default_rng(0)
    count = 300 if SMALL else 5000
    spread = np.ldexp(rng.uniform(1.0, 2.0, count), rng.integers(-1022, 1024, count))
    centres = [1.0, math.sqrt(0.5), math.sqrt(2.0), 2.0, 0.5, math.e, 2.0**-1022, 1.7e308]
    near = [np.nextafter(c, toward) for c in centres for toward in (0.0, np.inf)]
    powers = np.ldexp(1.0, np.arange(-1022, 1024, 31))
    close_to_one = 1.0 + rng.normal(size=count // 10) * 10.0 ** rng.uniform(-15, -1, count // 10)
    values = np.concatenate([spread, centres, near, powers, close_to_one])
    return values[(values >= 2.0**-1022) & np.isfinite(values)]


def test_the_logarithm_is_right_to_two_units_in_the_last_place():
    for value in logarithm_inputs():
        expected = math.log(value)
        assert abs(pricing.log_kernel(value) - expected) <= 2 * max(
            math.ulp(expected), EPS * abs(expected) / 2
        )


def test_the_logarithm_of_one_is_zero():
    assert pricing.log_kernel(1.0) == 0.0


def test_the_floor_is_measured_from_the_mean_even_where_that_is_no_double():
    x, y = np.array([[1e9, 0.0], [np.nextafter(1e9, np.inf), 0.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])
    affine = estimate_affine(x, y)
    np.testing.assert_allclose(log_cost_matrix(x, y, affine), log_costs(x, y, *affine), **TOLERANCE)


@pytest.mark.parametrize("exponent", [-500, -499, 0, 499, 500])
def test_squares_must_be_in_the_range_of_numbers(exponent):
    geometry = common_coordinates(draw(3, 2), draw(4, 2), Affine(1.0, np.zeros(2)))._replace(
        exponent=exponent
    )
    if abs(exponent) == 500:
        with pytest.raises(ValueError, match="moderate units"):
            pricing.square_rule(geometry)
        return
    rule = pricing.square_rule(geometry)
    assert (rule.logarithm, rule.floor, rule.offset) == (False, 0.0, 0.0)
    np.testing.assert_array_equal(rule.x_weight, np.full(3, 0.25**exponent))
    np.testing.assert_array_equal(rule.y_weight, np.zeros(4))


@pytest.mark.parametrize(
    ("variance", "fine"), [(0.6e-250, True), (0.4e-250, False), (0.4e250, True), (0.6e250, False)]
)
def test_noise_variances_have_limits(variance, fine):
    geometry = common_coordinates(draw(3, 2), draw(4, 2), Affine(1.0, np.zeros(2)))._replace(exponent=0)
    levels = np.full(3, math.sqrt(variance)), np.full(4, math.sqrt(variance))
    if not fine:
        with pytest.raises(ValueError, match="noise must be comparable"):
            pricing.normalized_rule(geometry, levels, 1.0)
        return
    rule = pricing.normalized_rule(geometry, levels, 1.0)
    assert (rule.logarithm, rule.floor, rule.offset) == (False, 0.0, 0.0)
    np.testing.assert_allclose(rule.x_weight, variance)


@pytest.mark.parametrize("extreme", [1e-200, 1e200])
@pytest.mark.parametrize("side", [0, 1])
def test_one_extreme_noise_level_is_refused(extreme, side):
    x = draw(4, 2)
    levels = [np.ones(4), np.ones(4)]
    levels[side][2] = extreme
    if extreme < 1:
        levels[1 - side][1] = extreme  # a pair of which neither has noise
    with pytest.raises(ValueError, match="noise must be comparable"):
        match(x, x[::-1], objective="lsns", noise=tuple(levels))
