import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lslmatch import Affine, check_certificate
from lslmatch.allowed import repair, small_groups
from lslmatch.allowed.checking import check_given
from lslmatch.allowed.solving import (
    assign_allowed,
    assign_allowed_pairs,
    assign_allowed_points,
    check_pairs_fit,
    masked,
)
from lslmatch.assignment.orientation import partners
from lslmatch.costs import cost_matrix
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.objectives.table import make_rule
from lslmatch.results import MatchResult
from tests.allowed.naive import least_total, problem, solved

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, streamed=st.booleans())
@settings(max_examples=60)
def test_no_allowed_matching_costs_less(seed, streamed):
    parts = x, y, *_ = problem(seed)
    try:
        reference = least_total(*parts)
    except ValueError:
        return
    most = repair.MOST_ENTRIES
    repair.MOST_ENTRIES = 0 if streamed else most
    try:
        result = solved(*parts)
    except ValueError as error:
        if "one with points of both sets" not in str(error):
            assert (reference, "must leave every point" in str(error)) == (None, True)  # noqa: PT017
        return
    finally:
        repair.MOST_ENTRIES = most
    assert result.objective == pytest.approx(reference, rel=1e-9, abs=1e-9)
    assert check_certificate(x, y, result) < 1e-9
    assert result.row_dual.sum() + result.col_dual.sum() == pytest.approx(
        result.objective, rel=1e-9, abs=1e-9
    )


@pytest.mark.parametrize("shape", [(30, 30), (20, 33), (33, 20)])
@pytest.mark.parametrize("objective", ["lsl", "lss"])
def test_paths_repair_what_forbidden_pairs_break(monkeypatch, shape, objective):
    rng = np.random.default_rng(shape)
    x, y = rng.normal(size=(shape[0], 2)), rng.normal(size=(shape[1], 2))
    free = solved(x, y, objective, None, np.empty((0, 2), int), None, np.zeros(shape, bool))
    forbidden = np.zeros(shape, bool)
    forbidden[free.pairs[::2, 0], free.pairs[::2, 1]] = True
    parts = x, y, objective, None, np.empty((0, 2), int), None, forbidden
    by_matrix = solved(*parts)
    monkeypatch.setattr(repair, "MOST_ENTRIES", 0)
    by_paths = solved(*parts)
    assert by_paths.objective == pytest.approx(by_matrix.objective, rel=1e-12)
    assert by_matrix.objective > free.objective
    assert max(check_certificate(x, y, result) for result in (by_matrix, by_paths)) < 1e-9


def test_points_without_enough_partners_are_named_by_either_way(monkeypatch):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    forbidden = np.zeros((5, 5), bool)
    forbidden[[1, 3], :] = True
    forbidden[[1, 3], 2] = False
    words = r"2 rows 1, 3 of x may have only 2 of y"
    for most in (1 << 24, 0):
        monkeypatch.setattr(repair, "MOST_ENTRIES", most)
        with pytest.raises(ValueError, match=words):
            solved(x, y, "lsl", None, np.empty((0, 2), int), None, forbidden)
        with pytest.raises(ValueError, match=r"2 rows 1, 3 of y may have only 2 of x"):
            solved(x, y[:4], "lsl", None, np.empty((0, 2), int), None, forbidden.T[:, :4])
    forbidden[1] = True
    with pytest.raises(ValueError, match="row 1 of x may have no partner in y"):
        solved(x, y, "lsl", None, np.empty((0, 2), int), None, forbidden)


@pytest.mark.parametrize("objective", ["lsl", "lss"])
def test_many_small_groups_are_matched_as_each_by_itself(monkeypatch, objective):
    rng = np.random.default_rng(7)
    group = np.repeat(np.arange(8), 5)
    x, y = rng.normal(size=(40, 3)) + group[:, None], rng.normal(size=(36, 3)) + group[:36, None]
    y[0], y[1] = x[0], x[1]  # partners that coincide are left to others
    parts = x, y, objective, None, np.array([[7, 6]]), (group, group[:36]), np.zeros((40, 36), bool)
    calls = []
    together = small_groups.match_small
    monkeypatch.setattr(small_groups, "match_small", lambda *a: calls.append(1) or together(*a))
    result = solved(*parts)
    assert calls
    monkeypatch.setattr(small_groups, "_FEWEST_GROUPS", 1000)
    one_by_one = solved(*parts)
    assert len(calls) == 1
    assert result.permutation.tolist() == one_by_one.permutation.tolist()
    assert result.objective == pytest.approx(one_by_one.objective, rel=1e-12)
    assert check_certificate(x, y, result) < 1e-10
    assert (result.permutation >= 0).sum() == 36
    assert (group[result.pairs[:, 0]] == group[result.pairs[:, 1]]).all()


@given(seed=seeds)
@settings(max_examples=40)
def test_a_matrix_is_assigned_as_the_points_are_and_fewer_pairs_are_the_cheapest(seed):
    x, y, objective, noise, known, groups, forbidden = problem(seed)
    n, m = len(x), len(y)
    try:
        allowed = check_given(known, groups, forbidden, n, m)
        geometry = common_coordinates(x, y, Affine(1.0, np.zeros(x.shape[1])))
        rule = make_rule(objective, geometry, 1.0, noise)
        by_points = assign_allowed_points(geometry, rule, allowed)
    except ValueError:
        return
    matrix = cost_matrix(geometry, rule)
    by_matrix = assign_allowed(matrix, allowed)
    assert by_matrix.objective == pytest.approx(by_points.objective, rel=1e-9, abs=1e-9)
    if allowed is None:
        return
    most, least = allowed.most_pairs(n, m), len(allowed.known)
    for pairs in range(max(least, 1), most + 1):
        (rows, cols, u, v, total), price = assign_allowed_pairs(matrix, allowed, pairs)
        assert rows.size == pairs
        made = MatchResult(
            partners(n, rows, cols), 1.0, np.zeros(x.shape[1]), total, u, v, objective, noise, price=price
        )
        assert check_certificate(x, y, made._replace(given=allowed)) < 1e-9
        assert total == pytest.approx(matrix[rows, cols].sum(), rel=1e-9, abs=1e-9)
    for pairs in (least - 1, most + 1):
        with pytest.raises(ValueError, match=f"from {least}, the number of known pairs, to {most}"):
            assign_allowed_pairs(matrix, allowed, pairs)


def test_fewer_pairs_than_are_wanted_can_be_allowed():
    forbidden = np.ones((3, 3), bool)
    forbidden[0] = False
    allowed = check_given(None, None, forbidden, 3, 3)
    assert np.isfinite(masked(np.ones((3, 3)), allowed)).sum() == 3
    with pytest.raises(ValueError, match="must leave 2 pairs that can be matched at once; there are 1"):
        assign_allowed_pairs(np.ones((3, 3)), allowed, 2)
    with pytest.raises(ValueError, match="pairs must be 'all'"):
        check_pairs_fit(allowed, 10**5, 10**5, 7)


# ------------------------------------------------------------------------------------------ the proof


def example():
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(8, 2)), rng.normal(size=(8, 2))
    groups = (np.repeat([0, 1], 4), np.repeat([0, 1], [3, 5]))
    forbidden, known = np.zeros((8, 8), bool), np.array([[0, 1], [5, 4]])
    free = solved(x, y, "lsl", None, known, groups, forbidden)
    i, j = free.pairs[~np.isin(free.pairs[:, 0], [0, 5])][1]
    forbidden[i, j] = True
    return x, y, solved(x, y, "lsl", None, known, groups, forbidden)


def test_the_certificate_sees_cheaper_pairs_that_are_allowed_and_no_others():
    x, y, result = example()
    assert check_certificate(x, y, result) < 1e-9
    free = int(result.pairs[~np.isin(result.pairs[:, 0], result.given.known[:, 0])][0, 0])
    raised = result.row_dual.copy()
    raised[free] += 0.1
    assert check_certificate(x, y, result._replace(row_dual=raised)) == pytest.approx(0.1)
    # A known pair is no pair to beat, but its cost is what it is.
    known = int(result.given.known[0, 0])
    raised = result.row_dual.copy()
    raised[known] += 0.1
    assert check_certificate(x, y, result._replace(row_dual=raised)) == pytest.approx(0.1)
    # Without the forbidden pairs the same duals prove nothing.
    more = result.given.forbidden[:0]
    assert check_certificate(x, y, result._replace(given=result.given._replace(forbidden=more))) > 0.01


def test_a_result_that_does_not_keep_what_was_given_is_refused():
    x, y, result = example()
    given_, turned = result.given, result.permutation.copy()
    turned[[0, 1]] = turned[[1, 0]]
    pairs = result.pairs[~np.isin(result.pairs[:, 0], given_.known[:, 0])]
    cases = [
        (result._replace(permutation=turned), "must have its known pairs"),
        (result._replace(given=given_._replace(forbidden=pairs[:1])), "none of its forbidden"),
        (result._replace(given=given_._replace(x_group=1 - given_.x_group)), "within its groups"),
        (result._replace(given=given_._replace(known=np.array([[0, 99]]))), "given.known must be pairs"),
        (result._replace(given=given_._replace(x_group=given_.x_group[1:])), "x_group must have shape"),
    ]
    fewer = result.permutation.copy()
    fewer[pairs[0, 0]] = -1
    cases.append((result._replace(permutation=fewer), "must match all"))
    for wrong, words in cases:
        with pytest.raises(ValueError, match=words):
            check_certificate(x, y, wrong)
