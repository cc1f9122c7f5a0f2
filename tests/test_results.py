import numpy as np
import pytest

from lslmatch import Affine, Assignment, MatchResult, match, solve_assignment

X = np.array([[0.0, 1.0], [4.0, 4.0], [9.0, 2.0]])
Y = X[[2, 0, 1]] / 2.0 + 3.0


def test_fields_come_in_the_documented_order():
    assert Affine._fields == ("scale", "shift")
    assert Assignment._fields == ("row_ind", "col_ind", "row_dual", "col_dual", "objective")
    assert MatchResult._fields[:6] == ("permutation", "scale", "shift", "objective", "row_dual", "col_dual")


@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns", "greedy"])
def test_a_match_holds_plain_numbers_and_arrays(objective):
    result = match(X, Y, objective=objective, noise=(1.0, 1.0) if objective == "lsns" else None)
    assert isinstance(result, MatchResult)
    assert result.permutation.dtype == np.intp
    assert type(result.scale) is float
    assert type(result.objective) is float
    assert result.shift.dtype == np.float64
    assert result.shift.shape == (2,)
    if objective != "greedy":
        assert result.row_dual.dtype == result.col_dual.dtype == np.float64
        assert result.row_dual.shape == result.col_dual.shape == (3,)


def test_an_assignment_holds_plain_numbers_and_arrays():
    result = solve_assignment([[1, 2, 3], [3, 1, 2]])
    assert isinstance(result, Assignment)
    assert result.row_ind.dtype == result.col_ind.dtype == np.intp
    assert result.row_dual.shape == (2,)
    assert result.col_dual.shape == (3,)
    assert type(result.objective) is float


def test_the_map_of_a_match_can_be_passed_on():
    result = match(X, Y)
    assert isinstance(result.affine, Affine)
    again = match(X, Y, alignment=result.affine)
    np.testing.assert_array_equal(again.permutation, result.permutation)
    assert again.objective == result.objective
    assert again.affine.scale == result.scale
    np.testing.assert_array_equal(again.affine.shift, result.shift)
