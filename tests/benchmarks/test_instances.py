import collections

import numpy as np
import pytest

from tests.benchmarks.instances import KINDS, Case, catalogue, draw, smoke_catalogue
from tests.benchmarks.peers import OURS, installed_peers, pair_costs, prepare


def share_of_wrong_nearest(x, y):
    """How many points of y, after standardising, are not the nearest of exactly one point of x."""
    x, y = ((points - points.mean(axis=0)) for points in (x, y))
    x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    squares = (y * y).sum(axis=1) - 2.0 * (x @ y.T)
    return 1.0 - np.unique(squares.argmin(axis=1)).size / len(x)


@pytest.mark.parametrize("d", [3, 20, 100])
@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [("above", 0, 0), ("near", 0.002, 0.08), ("below", 0.1, 0.6), ("nosignal", 0.2, 1)],
)
def test_point_sets_conflict_as_much_as_their_name_says(kind, least, most, d):
    assert least <= share_of_wrong_nearest(*draw(Case(kind, 1000, d))) <= most


def test_signed_logarithms_have_both_signs():
    (cost,) = draw(Case("signed", 60))
    assert cost.min() < 0.0 < cost.max()


@pytest.mark.parametrize("case", smoke_catalogue(), ids=lambda case: case.name)
def test_instances_are_the_same_each_time(case):
    for one, other in zip(draw(case), draw(case), strict=True):
        np.testing.assert_array_equal(one, other)


def test_numbers_give_other_draws():
    case = Case("near", 12, 2)
    firsts = [draw(case, number)[0] for number in range(3)]
    np.testing.assert_array_equal(firsts[2], draw(case, 2)[0])
    assert len({first.tobytes() for first in firsts}) == 3


def test_catalogue_is_what_the_ratios_are_stated_over():
    cases = catalogue()
    assert len(cases) == len({case.name for case in cases})
    groups = collections.Counter(case.group for case in cases)
    assert (groups["match"], groups["dense"]) == (4 * 3 * 4, 7 * 3)
    assert {case.n for case in catalogue(2000) if case.group != "other"} == {300, 1000, 2000}
    assert {case.objective for case in cases if case.group == "other"} == {"lsl", "lss", "lsns"}
    assert {case.kind for case in cases} == set(KINDS)


@pytest.mark.parametrize("peer", installed_peers())
@pytest.mark.parametrize(
    "case",
    [
        Case("uniform", 80),
        Case("nosignal", 80, 3),
        Case("below", 80, 3, 0, "lss"),
        Case("below", 80, 3, 0, "lsns"),
        Case("near", 40, 3, 90),
    ],
    ids=lambda case: case.name,
)
def test_peers_reach_the_optimum_and_leave_their_input(peer, case):
    if peer not in installed_peers(case):
        pytest.skip("for square matrices only")
    data, objective = draw(case), case.objective
    ours = pair_costs(data, prepare(OURS, data, objective)(), objective).sum()
    theirs = pair_costs(data, prepare(peer, data, objective)(), objective).sum()
    assert theirs == pytest.approx(ours, rel=1e-9)
    for one, other in zip(data, draw(case), strict=True):
        np.testing.assert_array_equal(one, other)
