"""The rules that several public functions share: each error names the argument, the rule and what came."""

import math
import re

import numpy as np
import pytest

from lslmatch import FalseShare, match
from lslmatch._validation import (
    as_kernel_array,
    check_at_least,
    check_between,
    check_cost_matrix,
    check_count,
    check_filled_vector,
    check_finite,
    check_indices,
    check_number,
    check_option,
    check_pairs,
    check_permutation,
    check_points,
    check_positive,
    check_positive_vector,
    check_probability,
    check_vector,
    check_weights,
)

LONG = np.finfo(np.longdouble).max > np.finfo(float).max


# --------------------------------------------------------------------------------------- arrays


def _pairs(pairs, objective, n, m):
    """As for the objectives that there are."""
    return check_pairs(pairs, objective, ("lsl",), ("lsl", "lss", "lsns"), n, m)


def misaligned(values):
    raw = np.zeros(values.nbytes + 1, np.uint8)
    view = raw[1:].view(values.dtype).reshape(values.shape)
    view[:] = values
    return view


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        misaligned,
        lambda a: a[::-1],
        lambda a: a[:, ::2],
        lambda a: a.astype(np.float32),
        lambda a: a.astype(">f8"),
        lambda a: a.astype(int),
        lambda a: np.broadcast_to(a[0], a.shape),
        np.ma.asarray,
        lambda a: a.view(np.recarray),
    ],
)
def test_kernels_get_one_memory_layout_and_type_only(change):
    values = change(np.arange(12.0).reshape(3, 4))
    array = as_kernel_array(values)
    assert type(array) is np.ndarray
    assert array.dtype == np.float64
    assert array.dtype.isnative
    assert array.flags.carray
    np.testing.assert_array_equal(array, np.asarray(values))


def test_what_has_the_layout_already_is_not_copied():
    values = np.arange(12.0).reshape(3, 4)
    assert np.shares_memory(check_points(values, "x"), values)
    assert np.shares_memory(check_cost_matrix(values, False), values)


@pytest.mark.parametrize(
    "values",
    [
        np.full((4, 2), 1.7e308),
        np.array([[1.7e308, -1.7e308], [1.7e308, 1.7e308]]),
        np.full((2, 2), -1.7e308),
    ],
)
def test_finite_values_whose_sum_overflows_are_finite(values):
    check_finite(values, "x")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [(0, 0), (2, 1), (3, 3)])
def test_the_first_entry_that_is_not_finite_is_named(bad, place):
    values = np.ones((4, 4))
    values[place] = values[3, 3] = bad
    with pytest.raises(ValueError, match=re.escape(f"x[{place[0]}, {place[1]}] is {bad}")):
        check_finite(values, "x")


def test_opposite_infinities_do_not_cancel():
    with pytest.raises(ValueError, match=r"x\[0\] is inf"):
        check_finite(np.array([math.inf, -math.inf]), "x")


@pytest.mark.skipif(not LONG, reason="long double is double here")
def test_long_doubles_beyond_the_range_of_doubles_are_refused():
    with pytest.raises(ValueError, match=r"x must be finite, without NaN or inf; x\[1, 0\] is inf"):
        check_points(np.array([[1], [np.longdouble("1e400")]]), "x")
    assert check_points(np.array([[1], [np.longdouble("1e-400")]]), "x")[1, 0] == 0.0


# -------------------------------------------------------------------------------- vectors and numbers

VECTORS = [
    (check_vector, ([1.0, 2.0], "v", 3), ValueError, r"v must have shape \(3,\); got shape \(2,\)"),
    (
        check_vector,
        ([[1.0]], "v"),
        ValueError,
        r"v must be a vector of at least one number; got shape \(1, 1\)",
    ),
    (check_vector, ([], "v"), ValueError, r"v must be a vector of at least one number; got shape \(0,\)"),
    (
        check_vector,
        ([1.0, math.nan], "v"),
        ValueError,
        r"v must be finite, without NaN or inf; v\[1\] is nan",
    ),
    (check_filled_vector, ([1.0], "v", 2), ValueError, r"v must have shape \(2,\); got shape \(1,\)"),
    (check_positive_vector, ([1.0, 0.0], "v"), ValueError, r"v must be positive; its smallest value is 0\.0"),
    (check_positive_vector, (-1, "v", 2), ValueError, r"v must be positive; its smallest value is -1\.0"),
    (check_weights, ([1.0, -0.5], "v"), ValueError, r"v must not be negative; its smallest value is -0\.5"),
    (check_number, ([1.0], "a"), ValueError, r"a must be one number; got shape \(1,\)"),
    (check_number, (math.inf, "a"), ValueError, r"a must be finite; got inf"),
    (check_number, ("1", "a"), TypeError, r"a must be real numbers; got dtype <U1"),
    (check_number, (None, "a"), TypeError, r"a must be real numbers; got dtype object"),
    (check_positive, (0, "a"), ValueError, r"a must be positive; got 0\.0"),
    (check_at_least, (0.5, "a", 1), ValueError, r"a must be at least 1; got 0\.5"),
    (check_between, (2.0, "a", 0, 2), ValueError, r"a must lie strictly between 0 and 2; got 2\.0"),
    (check_probability, (0.0, "a"), ValueError, r"a must lie strictly between 0 and 1; got 0\.0"),
    (check_probability, (1.0, "a"), ValueError, r"a must lie strictly between 0 and 1; got 1\.0"),
    (check_count, (1, "k", 2), ValueError, r"k must be at least 2; got 1"),
    (check_count, (2.0, "k", 2), TypeError, r"k must be a whole number; got 2\.0"),
    (check_count, (np.bool_(True), "k", 1), TypeError, r"k must be a whole number; got .*True"),
    (check_option, ("c", "o", ("a", "b")), ValueError, r"o must be one of 'a', 'b'; got 'c'"),
    (check_permutation, ([0.0, 1.0], "p", 2), TypeError, r"p must hold whole numbers; got dtype float64"),
    (
        check_permutation,
        ([0, 0], "p", 2),
        ValueError,
        r"p must hold each of 0, \.\.\., 1 once; got shape \(2,\)",
    ),
    (
        check_permutation,
        ([0, 1], "p", 3),
        ValueError,
        r"p must hold each of 0, \.\.\., 2 once; got shape \(2,\)",
    ),
    (check_permutation, ([-1, 0], "p", 2), ValueError, r"p must hold each of 0, \.\.\., 1 once"),
]


@pytest.mark.parametrize(("check", "arguments", "error", "message"), VECTORS)
def test_errors_name_the_argument_the_rule_and_what_came(check, arguments, error, message):
    with pytest.raises(error, match=message):
        check(*arguments)


@pytest.mark.parametrize(
    ("check", "arguments", "expected"),
    [
        (check_vector, ((1, 2), "v"), [1.0, 2.0]),
        (check_filled_vector, (3, "v", 2), [3.0, 3.0]),
        (check_filled_vector, ([3, 4], "v", 2), [3.0, 4.0]),
        (check_positive_vector, (np.float32(3), "v", 2), [3.0, 3.0]),
        (check_weights, ([0, 1], "v"), [0.0, 1.0]),
        (check_number, (np.int8(-3), "a"), -3.0),
        (check_positive, (5e-324, "a"), 5e-324),
        (check_at_least, (1, "a", 1), 1.0),
        (check_probability, (0.5, "a"), 0.5),
        (check_count, (np.int64(2), "k", 2), 2),
        (check_option, ("a", "o", ("a", "b")), "a"),
        (check_permutation, (np.array([2, 0, 1], np.uint8), "p", 3), [2, 0, 1]),
    ],
)
def test_what_obeys_the_rule_is_returned_in_its_plain_form(check, arguments, expected):
    result = check(*arguments)
    np.testing.assert_array_equal(result, expected)
    assert type(result) is (np.ndarray if isinstance(expected, list) else type(expected))


def test_missing_values_are_counted_by_kind_and_row():
    points = np.zeros((4, 3))
    points[1, 0] = points[1, 2] = points[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"3 of 12 values are missing \(NaN\), in 2 of 4 rows and columns 0"):
        check_points(points, "x")
    points[0, 2] = np.inf
    with pytest.raises(ValueError, match="4 of 12 values are missing or infinite, in 3 of 4 rows"):
        check_points(points, "x")


def test_indices_are_whole_numbers_within_the_length():
    np.testing.assert_array_equal(check_indices([0, 2], "margins", 3), [0, 2])
    assert check_indices([], "margins", 3).dtype == np.intp
    for values, error, message in [
        ([0.0], TypeError, "whole numbers"),
        ([[0]], ValueError, "a vector of indices"),
        ([3], ValueError, "from 0 to 2; got 3 to 3"),
        ([-1, 1], ValueError, "from 0 to 2; got -1 to 1"),
    ]:
        with pytest.raises(error, match=message):
            check_indices(values, "margins", 3)


def test_pairs_are_chosen_for_lsl_only():
    assert _pairs("auto", "lsl", 4, 5) == "auto"
    assert _pairs("all", "lss", 4, 5) is None
    assert _pairs(FalseShare(0.1), "lsl", 4, 5) == FalseShare(0.1)
    assert [_pairs(count, "lsl", 4, 5) for count in (1, 3, 4)] == [1, 3, None]
    for pairs, objective in [
        ("auto", "lss"),
        (FalseShare(0.1), "lsns"),
        (2, "greedy"),
        (5, "lsl"),
        (0, "lsl"),
    ]:
        with pytest.raises(ValueError, match="pairs"):
            _pairs(pairs, objective, 4, 5)


@pytest.mark.parametrize("maximize", [False, True])
def test_a_cost_matrix_may_forbid_but_not_demand(maximize):
    forbidden = -np.inf if maximize else np.inf
    np.testing.assert_array_equal(check_cost_matrix([[forbidden, 1.0]], maximize), [[forbidden, 1.0]])
    assert check_cost_matrix(np.empty((0, 3)), maximize).shape == (0, 3)
    for bad in (-forbidden, np.nan):
        with pytest.raises(ValueError, match="invalid numeric entries"):
            check_cost_matrix([[1.0, bad], [2.0, 3.0]], maximize)


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "value", [np.zeros((30, 30)), "a" * 1000, [10**5000], Unspeakable(), "two\nlines\x1b"], ids=range(5)
)
@pytest.mark.parametrize("argument", ["objective", "alignment", "pairs", "noise", "workers"])
def test_whatever_comes_is_shown_in_one_short_line(argument, value):
    x = np.random.default_rng(0).normal(size=(6, 2))
    options = {"objective": "lsns"} if argument == "noise" else {}
    with pytest.raises((ValueError, TypeError)) as caught:
        match(x, x, **options | {argument: [value] if argument == "workers" else value})
    said = str(caught.value)
    assert len(said) < 300
    assert "\n" not in said
    assert "\x1b" not in said


def test_costs_that_refuse_to_be_an_array_are_told():
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("Can't call numpy()")

    with pytest.raises(ValueError, match="cost_matrix must be convertible to an array: Can't call numpy"):
        check_cost_matrix(Tensor(), False)
