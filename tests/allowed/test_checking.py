import numpy as np
import pytest
import scipy.sparse

from lslmatch.allowed.checking import check_given
from lslmatch.given import Given
from lslmatch.results import Labels

NAMES = Labels(np.array(["a", "b", "c", "d"], object), np.array([10, 11, 12, 12, 14]))


def test_nothing_given_is_none():
    assert check_given(None, None, None, 4, 5) is None
    assert check_given([], None, np.zeros((4, 5), bool), 4, 5) is None


@pytest.mark.parametrize(
    "known",
    [
        [(2, 0), (1, 4)],
        np.array([[2, 0], [1, 4]]),
        {2: 0, 1: 4},
        [("c", 10), ("b", 14)],
        [(2, 10), ("b", 14)],
    ],
)
def test_pairs_are_rows_or_names_in_the_order_of_x(known):
    named = isinstance(known, list) and any(isinstance(i, str) for i, _ in known)
    if named and known[0][0] == 2:  # names count wherever there is one
        with pytest.raises(ValueError, match=r"known must name rows of x; got 2, which none is called"):
            check_given(known, None, None, 4, 5, NAMES)
        return
    given = check_given(known, None, None, 4, 5, NAMES if named else None)
    assert given.known.tolist() == [[1, 4], [2, 0]]
    assert given.transposed().known.tolist() == [[0, 2], [4, 1]]


def test_a_frame_of_pairs_and_series_of_groups_are_taken_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"left": ["c", "b"], "right": [10, 14]})
    site = pandas.Series([1, 1, 2, 2], index=["d", "c", "b", "a"])
    given = check_given(frame, (site, [1, 9, 9, 9, 2]), None, 4, 5, NAMES)
    assert given.known.tolist() == [[1, 4], [2, 0]]
    assert given.x_group.tolist() == [0, 0, 1, 1]
    assert given.y_group[[0, 4]].tolist() == [1, 0]


@pytest.mark.parametrize(
    "forbidden",
    [
        [(0, 1), (3, 2), (0, 1)],
        np.array([[0, 1], [3, 2]]),
        scipy.sparse.csr_matrix(([1, 1, 0], ([0, 3, 2], [1, 2, 2])), shape=(4, 5)),
        np.isin(np.arange(20), [1, 17]).reshape(4, 5),
        np.isin(np.arange(20), [1, 17]).reshape(4, 5).tolist(),
    ],
)
def test_forbidden_pairs_come_in_any_form(forbidden):
    assert check_given(None, None, forbidden, 4, 5).forbidden.tolist() == [[0, 1], [3, 2]]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([(0, 1), (0, 2)], None, None), ValueError, r"known must have each point once; row 0 of x"),
        (([(0, 1), (1, 1)], None, None), ValueError, r"row 1 of y is in 2 pairs"),
        (([(0, 5)], None, None), ValueError, r"known must hold rows of y from 0 to 4; got 5"),
        (([(-1, 0)], None, None), ValueError, r"from 0 to 3; got -1"),
        (([(0, 1.5)], None, None), TypeError, r"must hold row numbers; got 1.5"),
        (([(True, 1)], None, None), TypeError, r"must hold row numbers; got True"),
        (([("a", 1)], None, None), TypeError, r"got 'a', but the rows of x have no names"),
        (([(0, 1, 2)], None, None), ValueError, r"known must have shape \(k, 2\)"),
        (([0, 1], None, None), TypeError, r"known must be pairs"),
        ((7, None, None), TypeError, r"known must be pairs"),
        ((None, [0, 1, 2], None), ValueError, r"groups must be a pair"),
        ((None, ([0] * 4, [0] * 4), None), ValueError, r"groups\[1\] must have shape \(5,\)"),
        ((None, ([0] * 4, [0, 0, 0, np.nan, 0]), None), ValueError, r"missing entries; that of row 3 of y"),
        ((None, ("aabb", "ccccc"), None), ValueError, r"groups\[0\] must have shape \(4,\)"),
        ((None, (list("aabb"), list("ccccc")), None), ValueError, r"x has 'a', 'b', and y has 'c'"),
        ((None, None, np.zeros((5, 4), bool)), ValueError, r"forbidden must have shape \(4, 5\)"),
        ((None, None, scipy.sparse.eye(4)), ValueError, r"shape \(4, 5\) if it is a sparse"),
        ((None, None, [(0, 9)]), ValueError, r"forbidden must hold rows of y from 0 to 4; got 9"),
        (([(0, 1)], None, [(0, 1)]), ValueError, r"known contradicts forbidden: row 0 of x and row 1 of y"),
        (([(0, 1)], ([0, 1, 1, 1], [0, 1, 0, 0, 0]), None), ValueError, r"known contradicts groups"),
    ],
)
def test_errors_are_one_line_that_names_the_argument(arguments, error, words):
    with pytest.raises(error, match=words) as raised:
        check_given(*arguments, 4, 5)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ([("a", 13)], "known must name rows of y; got 13"),
        ([("a", 12)], "more than one is called 12"),
        ([((), 12)], "known must hold row numbers or names"),
    ],
)
def test_unknown_and_ambiguous_names(known, words):
    with pytest.raises((ValueError, TypeError), match=words):
        check_given(known, None, None, 4, 5, NAMES)


def test_contradictions_name_the_rows():
    with pytest.raises(ValueError, match=r"row 0 of x \('a'\) and row 1 of y \(11\)"):
        check_given([("a", 11)], None, [("a", 11)], 4, 5, NAMES)


def test_blocks_have_what_is_left_of_each_group():
    given = Given(np.array([[0, 0]]), np.array([0, 0, 1, 2]), np.array([0, 1, 1, 0, 3]))
    blocks = [(block.rows.tolist(), block.cols.tolist()) for block in given.blocks(4, 5)]
    assert blocks == [([1], [3]), ([2], [1, 2])]
    assert given.most_pairs(4, 5) == 3
