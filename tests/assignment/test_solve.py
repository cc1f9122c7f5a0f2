import functools

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from lslmatch import linear_sum_assignment, solve_assignment
from tests.support.reference import EPS, SMALL, certificate_violation, greatest_cost, least_cost, total_cost

#: Bound on violations, in units of the greatest cost: rounding errors of a few hundred operations.
TOLERANCE = 1e-12

SHAPES = [(n, m) for n in (1, 2, 3, 4) for m in (1, 2, 3, 4)] + [
    (5, 5),
    (6, 6),
    (7, 7),
    (3, 7),
    (7, 3),
    (6, 7),
    (7, 6),
]


def solve_with_proof(cost, maximize=False):
    """Solve, and see that the certificate proves the solution optimal and that the input is left alone."""
    cost = np.asarray(cost)
    before = cost.copy()
    result = solve_assignment(cost, maximize=maximize)
    np.testing.assert_array_equal(cost, before)
    row_ind, col_ind = linear_sum_assignment(cost, maximize)
    np.testing.assert_array_equal(row_ind, result.row_ind)
    np.testing.assert_array_equal(col_ind, result.col_ind)
    if greatest_cost(cost) > 1e300 and not np.isfinite([*result.row_dual, *result.col_dual]).all():
        return result  # a dual may be a sum of several costs, and then has no double to hold it
    sign = -1.0 if maximize else 1.0
    signed = result._replace(row_dual=sign * result.row_dual, col_dual=sign * result.col_dual)
    assert certificate_violation(sign * cost.astype(float), signed) <= TOLERANCE
    return result


def assert_optimal(cost, result, relative=TOLERANCE):
    """The total is the least of all assignments, up to `relative` times the greatest cost."""
    excess = total_cost(cost, result.row_ind, result.col_ind) - least_cost(cost)
    assert 0 <= excess <= relative * greatest_cost(cost)


def rng_for(*key):
    return np.random.default_rng(list(key))


def sparse(rng, n, m):
    """Four in ten pairs forbidden, one complete assignment allowed for sure."""
    cost = np.where(rng.random((n, m)) < 0.4, np.inf, rng.random((n, m)))
    k = min(n, m)
    cost[rng.permutation(n)[:k], rng.permutation(m)[:k]] = rng.random(k)
    return cost


FAMILIES = {
    "uniform": lambda rng, n, m: rng.random((n, m)),
    "signed": lambda rng, n, m: rng.normal(size=(n, m)),
    "geometric": lambda rng, n, m: rng.random((n, 1)) * rng.random((1, m)) * rng.random((n, m)),
    "integers": lambda rng, n, m: rng.integers(-5, 6, (n, m)).astype(float),
    "two costs": lambda rng, n, m: rng.integers(0, 2, (n, m)).astype(float),
    "low rank": lambda rng, n, m: rng.normal(size=(n, 2)) @ rng.normal(size=(2, m)),
    "Machol-Wien": lambda rng, n, m: np.outer(np.arange(1.0, n + 1), np.arange(1.0, m + 1)),
    "anti-Machol-Wien": lambda rng, n, m: -np.outer(np.arange(1.0, n + 1), np.arange(1.0, m + 1)),
    "absolute differences": lambda rng, n, m: np.abs(rng.normal(size=(n, 1)) - rng.normal(size=(1, m))),
    "logarithms": lambda rng, n, m: np.log((rng.normal(size=(n, 1)) - rng.normal(size=(1, m))) ** 2),
    "duplicated rows": lambda rng, n, m: rng.random((n, m))[rng.integers(0, n, n)],
    "duplicated columns": lambda rng, n, m: rng.random((n, m))[:, rng.integers(0, m, m)],
    "dominant column": lambda rng, n, m: rng.random((n, m)) - 100.0 * (np.arange(m) == 0),
    "sparse": sparse,
}
families = pytest.mark.parametrize("family", FAMILIES)


def sample(family, n, m):
    return FAMILIES[family](rng_for(n, m, len(family)), n, m)


# ------------------------------------------------------------------------------------ optimality


@families
@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_no_assignment_costs_less(family, n, m):
    cost = sample(family, n, m)
    result = solve_with_proof(cost)
    assert_optimal(cost, result)
    assert result.objective == pytest.approx(float(least_cost(cost)), rel=1e-12, abs=TOLERANCE)


@families
@pytest.mark.parametrize(("n", "m"), [(2, 2), (5, 5), (3, 5), (5, 3)])
def test_no_assignment_is_worth_more_when_maximising(family, n, m):
    cost = -sample(family, n, m)
    result = solve_with_proof(cost, maximize=True)
    assert_optimal(-cost, result)
    assert result.objective == pytest.approx(-float(least_cost(-cost)), rel=1e-12, abs=TOLERANCE)


@pytest.mark.parametrize("m", [0, 1, 2, 4, 8, 16])
@pytest.mark.parametrize("n", [0, 1, 2, 4, 8, 16])
@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("family", ["signed", "integers"])
def test_every_shape_costs_what_scipy_finds(family, maximize, n, m):
    cost = sample(family, n, m)
    result = solve_with_proof(cost, maximize)
    expected = cost[scipy.optimize.linear_sum_assignment(cost, maximize)].sum()
    assert result.objective == pytest.approx(expected, abs=1e-12)
    assert result.row_ind.size == result.col_ind.size == min(n, m)


@families
@pytest.mark.parametrize(
    ("n", "m"), [(24, 24), (10, 30), (30, 10)] if SMALL else [(150, 150), (70, 200), (200, 70)]
)
def test_larger_problems_cost_what_scipy_finds(family, n, m):
    cost = sample(family, n, m)
    result = solve_with_proof(cost)
    expected = cost[scipy.optimize.linear_sum_assignment(cost)].sum()
    assert result.objective == pytest.approx(expected, abs=1e-12 * n * greatest_cost(cost))


@pytest.mark.parametrize("n", [30 if SMALL else 300])
@pytest.mark.parametrize("greatest", [1, 10, 2**40])
def test_integer_costs_are_solved_without_rounding(n, greatest):
    cost = rng_for(n, greatest).integers(-greatest, greatest, (n, n), endpoint=True)
    result = solve_assignment(cost)
    assert certificate_violation(cost, result) == 0.0
    assert result.objective == result.row_dual.sum() + result.col_dual.sum()


# ----------------------------------------------------------------------------------- metamorphic


@families
@pytest.mark.parametrize(("n", "m"), [(12, 12), (9, 14), (14, 9)])
class TestKnownChangeOfTheOptimum:
    def test_constants_added_to_the_shorter_side_or_to_both_of_a_square(self, family, n, m):
        cost = sample(family, n, m)
        rng = rng_for(n, m)
        rows = rng.normal(size=n) if n <= m else np.zeros(n)
        cols = rng.normal(size=m) if m <= n else np.zeros(m)
        changed = solve_with_proof(cost + rows[:, None] + cols)
        expected = solve_with_proof(cost).objective + rows.sum() + cols.sum()
        assert changed.objective == pytest.approx(expected, abs=1e-12 * greatest_cost(cost) * n)

    def test_permuted_rows_and_columns(self, family, n, m):
        cost = sample(family, n, m)
        rng = rng_for(n, m)
        permuted = cost[rng.permutation(n)][:, rng.permutation(m)]
        difference = solve_with_proof(permuted).objective - solve_with_proof(cost).objective
        assert abs(difference) <= 1e-13 * greatest_cost(cost) * n

    def test_transposition(self, family, n, m):
        cost = sample(family, n, m)
        difference = solve_with_proof(cost.T).objective - solve_with_proof(cost).objective
        assert abs(difference) <= 1e-13 * greatest_cost(cost) * n

    def test_negation_turns_minimum_into_maximum(self, family, n, m):
        cost = sample(family, n, m)
        least, most = solve_with_proof(cost), solve_with_proof(-cost, maximize=True)
        np.testing.assert_array_equal(least.col_ind, most.col_ind)
        assert least.objective == -most.objective
        np.testing.assert_array_equal(least.row_dual, -most.row_dual)

    @pytest.mark.parametrize("factor", [2.0**-300, 2.0**300])
    def test_powers_of_two_scale_everything_exactly(self, family, n, m, factor):
        cost = sample(family, n, m)
        one, scaled = solve_assignment(cost), solve_assignment(factor * cost)
        np.testing.assert_array_equal(scaled.col_ind, one.col_ind)
        np.testing.assert_array_equal(scaled.row_dual, factor * one.row_dual)
        np.testing.assert_array_equal(scaled.col_dual, factor * one.col_dual)


def test_the_unique_optimum_follows_a_permutation_that_is_not_its_own_inverse():
    cost = rng_for(5).random((5, 5))
    order = np.array([1, 2, 3, 4, 0])
    _, col_ind = linear_sum_assignment(cost)
    np.testing.assert_array_equal(linear_sum_assignment(cost[order])[1], col_ind[order])
    np.testing.assert_array_equal(order[linear_sum_assignment(cost[:, order])[1]], col_ind)


# ------------------------------------------------------------------- ties, extremes, forbidden pairs


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -7.25, 1e-300, 1e300, -1.7e308])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (8, 8), (3, 6), (6, 3)])
def test_equal_costs_give_the_identity(value, n, m):
    result = solve_with_proof(np.full((n, m), value))
    np.testing.assert_array_equal(result.row_ind, np.arange(min(n, m)))
    np.testing.assert_array_equal(result.col_ind, np.arange(min(n, m)))


@pytest.mark.parametrize("layout", ["independent", "rows", "columns", "product", "signed"])
@pytest.mark.parametrize("n", [6, 25 if SMALL else 120])
def test_costs_over_forty_orders_of_magnitude_end_and_are_proven(layout, n):
    rng = rng_for(n, len(layout))
    exponents = {
        "independent": rng.uniform(-20, 20, (n, n)),
        "rows": np.repeat(rng.uniform(-20, 20, (n, 1)), n, axis=1) + 0.01 * rng.random((n, n)),
        "columns": np.repeat(rng.uniform(-20, 20, (1, n)), n, axis=0) + 0.01 * rng.random((n, n)),
        "product": rng.uniform(-10, 10, (n, 1)) + rng.uniform(-10, 10, (1, n)),
        "signed": rng.uniform(-20, 20, (n, n)),
    }
    cost = 10.0 ** exponents[layout] * (rng.choice([-1.0, 1.0], (n, n)) if layout == "signed" else 1.0)
    result = solve_with_proof(cost)
    if n <= 7:
        assert_optimal(cost, result, relative=16 * EPS)


@pytest.mark.parametrize("unit", [1e-10, 1e-300, 5e-324 * 2**20, 1e300, 1.7e308])
@pytest.mark.parametrize("family", ["uniform", "signed", "integers", "sparse"])
@pytest.mark.parametrize(("n", "m"), [(6, 6), (4, 6), (6, 4)])
def test_the_unit_of_the_costs_does_not_matter(family, unit, n, m):
    cost = sample(family, n, m)
    cost /= greatest_cost(cost)
    cost *= unit
    assert_optimal(cost, solve_with_proof(cost), relative=16 * EPS)


def test_subnormal_costs_are_solved_without_rounding():
    cost = rng_for(0).integers(0, 1000, (6, 6)) * 5e-324
    result = solve_with_proof(cost)
    assert total_cost(cost, result.row_ind, result.col_ind) == least_cost(cost)


def test_a_sum_beyond_the_largest_double_is_infinite_but_its_assignment_is_right():
    cost = np.array([[1.7e308, 1.0, 1.7e308], [1.7e308, 1.7e308, 1.6e308], [1.5e308, 1.7e308, 1.7e308]])
    result = solve_with_proof(cost)
    np.testing.assert_array_equal(result.col_ind, [1, 2, 0])
    assert result.objective == np.inf


INF = np.inf
INFEASIBLE = {
    "single pair": [[INF]],
    "everything": np.full((3, 3), INF),
    "a column": [[1, INF, 2], [3, INF, 4], [5, INF, 6]],
    "a row": [[1, 2, 3], [INF, INF, INF], [4, 5, 6]],
    "a row of a wide matrix": [[1, 2, 3], [INF, INF, INF]],
    "a column of a tall matrix": [[INF, 1], [INF, 2], [INF, 3]],
    "two rows that share their only column": [[1, INF, INF], [2, INF, INF], [3, 4, 5]],
    "two columns that share their only row": [[1, 2, 3], [INF, INF, 4], [INF, INF, 5]],
    "three rows with two columns between them": [
        [1, 2, INF, INF],
        [3, 4, INF, INF],
        [5, 6, INF, INF],
        [7, 8, 9, 10],
    ],
    "two rows of a wide matrix that share a column": [[INF, 1, INF], [INF, 2, INF]],
}


@pytest.mark.parametrize("cost", INFEASIBLE.values(), ids=INFEASIBLE)
@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("solver", [linear_sum_assignment, solve_assignment])
def test_no_finite_assignment_is_an_error(cost, maximize, solver):
    assert least_cost(cost) is None
    with pytest.raises(ValueError, match="cost matrix is infeasible"):
        solver(-np.array(cost) if maximize else cost, maximize=maximize)


@pytest.mark.parametrize(
    ("cost", "columns"),
    [
        ([[INF, 1.0], [1.0, INF]], [1, 0]),
        ([[0.0, INF, INF], [0.0, 50.0, INF], [0.0, 50.0, 100.0]], [0, 1, 2]),
        ([[INF, INF, 3.0], [INF, 2.0, 1.0]], [2, 1]),
        (np.where(np.roll(np.eye(9), 4, axis=1) > 0, 1e9, INF), (np.arange(9) + 4) % 9),
        ([[-1e300, INF], [-1.7e308, 1e300]], [0, 1]),
    ],
)
def test_forbidden_pairs_are_avoided_at_any_price(cost, columns):
    result = solve_with_proof(np.array(cost))
    np.testing.assert_array_equal(result.col_ind, columns)


def test_a_forbidden_line_of_the_longer_side_is_left_out():
    wide = np.array([[1.0, INF, 5.0, 7.0], [2.0, INF, 1.0, 3.0]])
    np.testing.assert_array_equal(solve_with_proof(wide).col_ind, [0, 2])
    np.testing.assert_array_equal(solve_with_proof(wide.T).row_ind, [0, 2])


# ------------------------------------------------------------------------------------------ input


@pytest.mark.parametrize("value", [np.nan, -np.nan])
@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("where", [(0, 0), (1, 2), (2, 1)])
def test_nan_is_refused_wherever_it_is(where, maximize, value):
    cost = np.ones((3, 3))
    cost[where] = value
    with pytest.raises(ValueError, match="cost_matrix contains invalid numeric entries: NaN"):
        linear_sum_assignment(cost, maximize)


@pytest.mark.parametrize("maximize", [False, True])
def test_an_infinite_gain_is_refused(maximize):
    gain = INF if maximize else -INF
    with pytest.raises(ValueError, match=f"cost_matrix contains invalid numeric entries: NaN or {gain}"):
        solve_assignment([[1.0, gain], [2.0, 3.0]], maximize=maximize)


@pytest.mark.parametrize(
    ("cost", "error", "message"),
    [
        (3.0, ValueError, r"expected a matrix \(2-D array\), got a 0-D array as cost_matrix"),
        ([1.0, 2.0], ValueError, r"expected a matrix \(2-D array\), got a 1-D array as cost_matrix"),
        (np.ones((2, 2, 2)), ValueError, r"expected a matrix \(2-D array\), got a 3-D array as cost_matrix"),
        ([["1", "2"], ["3", "4"]], TypeError, r"cost_matrix: Cannot cast array data from dtype\('<U1'\)"),
        (
            np.ones((2, 2), complex),
            TypeError,
            r"cost_matrix: Cannot cast array data from dtype\('complex128'\)",
        ),
        (np.ones((2, 2), object), TypeError, r"cost_matrix: Cannot cast array data from dtype\('object'\)"),
        (
            np.ones((2, 2), "m8[s]"),
            TypeError,
            r"cost_matrix: Cannot cast array data from dtype\('timedelta64\[s\]'\)",
        ),
    ],
)
def test_what_is_not_a_matrix_of_numbers_is_refused(cost, error, message):
    with pytest.raises(error, match=message):
        linear_sum_assignment(cost)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def misaligned(array):
    raw = np.zeros(array.nbytes + 1, np.uint8)
    view = raw[1:].view(array.dtype).reshape(array.shape)
    view[:] = array
    return view


KINDS = {
    "list": np.ndarray.tolist,
    "Fortran order": np.asfortranarray,
    "every other column": lambda cost: np.repeat(cost, 2, axis=1)[:, ::2],
    "reversed": lambda cost: cost[::-1, ::-1].copy()[::-1, ::-1],
    "broadcast": lambda cost: np.broadcast_to(cost, (2, *cost.shape))[1],
    "read only": read_only,
    "misaligned": misaligned,
    "float16": lambda cost: cost.astype(np.float16),
    "float32": lambda cost: cost.astype(np.float32),
    "long double": lambda cost: cost.astype(np.longdouble),
    "int8": lambda cost: cost.astype(np.int8),
    "uint64": lambda cost: cost.astype(np.uint64),
    "big-endian float": lambda cost: cost.astype(">f8"),
    "big-endian integer": lambda cost: cost.astype(">i4"),
    "unmasked": np.ma.asarray,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m"), [(6, 6), (4, 6), (6, 4)])
def test_kind_and_layout_of_the_input_do_not_matter(kind, n, m):
    cost = rng_for(n, m).integers(0, 100, (n, m)).astype(float)
    expected = solve_assignment(cost)
    given_cost = KINDS[kind](cost)
    before = np.array(given_cost)
    for found, wanted in zip(solve_assignment(given_cost), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.array(given_cost), before)


def test_booleans_are_costs_of_zero_and_one():
    cost = rng_for(3).random((7, 7)) < 0.6
    assert solve_with_proof(cost).objective == float(least_cost(cost))


def test_results_are_the_callers_own():
    cost = np.ones((3, 3))
    first = solve_assignment(cost)
    for part in first[:4]:
        part[:] = 99
    np.testing.assert_array_equal(cost, np.ones((3, 3)))
    np.testing.assert_array_equal(solve_assignment(cost).col_ind, [0, 1, 2])


# ------------------------------------------------------------------------------------- any input

_values = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, -1.0, 0.1, 1e-10, 1e20, 1e-20]),
    st.sampled_from([INF, INF, -0.0, 5e-324, 1e300, -1e300, 1.7e308, -1.7e308]),
    st.floats(allow_nan=False, allow_infinity=False),
)
_shapes = st.tuples(st.integers(0, 4 if SMALL else 5), st.integers(0, 5))


@given(hnp.arrays(float, _shapes, elements=_values))
def test_any_costs_are_solved_or_proven_infeasible(cost):
    best = least_cost(cost)
    if best is None:
        with pytest.raises(ValueError, match="infeasible"):
            solve_assignment(cost)
    else:
        assert_optimal(cost, solve_with_proof(cost), relative=64 * EPS)


@given(hnp.arrays(st.sampled_from([np.int8, np.uint16, np.int32, np.float32, np.bool_]), _shapes))
def test_arrays_of_any_number_type_are_solved_or_refused_for_a_reason(cost):
    refused = np.isnan(cost).any() or (cost == -INF).any() or least_cost(cost) is None
    if refused:
        with pytest.raises(ValueError, match="invalid numeric entries|infeasible"):
            linear_sum_assignment(cost)
    else:
        assert_optimal(cost, solve_with_proof(cost), relative=64 * EPS)


@given(
    st.recursive(
        st.none() | st.floats() | st.text(max_size=2) | st.booleans(), functools.partial(st.lists, max_size=3)
    )
)
def test_anything_else_raises_only_type_and_value_errors(cost):
    try:
        row_ind, col_ind = linear_sum_assignment(cost)
    except (TypeError, ValueError):
        return
    assert row_ind.shape == col_ind.shape == (min(np.shape(cost)),)
