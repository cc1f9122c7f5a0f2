"""The steps of the robust search, each by its definition, on small sets and judgements made by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.alignment import robust
from lslmatch.alignment.prominence import JudgedMap, Map
from lslmatch.alignment.robust import Improved
from lslmatch.alignment.starts import Central, robust_starts

ORIGIN = np.zeros(1)
AS_GIVEN = Central(np.zeros((4, 1)), ORIGIN, 1.0, ORIGIN)


class Told:
    """A judge who is told the prominences under the map of each scale."""

    def __init__(self, chance=1.0, asked=4, **prominences):
        self.a = self.b = np.arange(4.0)[:, None]
        self.rows = np.arange(asked)
        self.prominences = {float(name[1:]): value for name, value in prominences.items()}
        self.by_chance = chance

    def chance(self):
        return self.by_chance

    def judge(self, map_, rows=None):
        rows = self.rows if rows is None else rows
        return JudgedMap(map_, rows, np.broadcast_to(self.prominences[map_.scale], 4)[rows].astype(float))


def searched(monkeypatch, judge, last=None):
    """Search with the maps 1 by moments, 2 by centres, 3 by two points; tell which were begun with."""
    begun = []

    def begin(scale):
        def starts(judge, a, b):
            begun.append(scale)
            return [Map(scale, ORIGIN)]

        return starts

    monkeypatch.setattr(robust, "Judge", lambda a, b: judge)
    monkeypatch.setattr(robust, "_refined", lambda judge, judged: judged)
    monkeypatch.setattr(robust, "_refit", lambda *args: None if last is None else Map(last, ORIGIN))
    monkeypatch.setattr(robust, "_central_maps", begin(2.0))
    monkeypatch.setattr(robust, "_two_point_maps", begin(3.0))
    return robust._search(AS_GIVEN, AS_GIVEN, Affine(1.0, ORIGIN)), begun


# ---------------------------------------------------------------------------- the search


@pytest.mark.parametrize(
    ("moments", "centres", "begun"),
    [(5.1, 0.0, []), (5.0, 5.1, [2.0]), (4.9, 5.1, [2.0]), (4.9, 5.0, [2.0, 3.0]), (1.0, 2.0, [2.0, 3.0])],
)
def test_more_maps_are_tried_until_one_is_above_five_fourths_of_chance(monkeypatch, moments, centres, begun):
    judge = Told(chance=4.0, s1=moments, s2=centres, s3=0.0)
    assert searched(monkeypatch, judge)[1] == begun


def test_the_map_of_greatest_mean_is_found_and_the_moments_are_kept_if_none_is_better(monkeypatch):
    assert searched(monkeypatch, Told(s1=0.1, s2=0.5, s3=0.3))[0].affine.scale == 2.0
    assert searched(monkeypatch, Told(s1=0.1, s2=0.3, s3=0.5))[0].affine.scale == 3.0
    kept = searched(monkeypatch, Told(s1=0.5, s2=0.3, s3=0.1))[0]
    assert (kept.affine, kept.beyond_chance) == (None, False)


@pytest.mark.parametrize(("mean", "beyond"), [(0.9, False), (1.0, False), (1.1, True)])
def test_pairs_stand_out_beyond_chance_if_their_mean_is_above_it(monkeypatch, mean, beyond):
    assert searched(monkeypatch, Told(s1=0.1, s2=mean, s3=0.0))[0].beyond_chance is beyond


@pytest.mark.parametrize(("others", "scale"), [([2.0, 2.0], 2.0), ([0.0, 0.0], None)])
def test_points_that_had_no_part_in_the_search_decide(monkeypatch, others, scale):
    judge = Told(asked=2, s1=[0.1, 0.1, 0.1, 0.1], s2=[2.0, 2.0, *others], s3=0.0)
    found = searched(monkeypatch, judge)[0].affine
    assert (None if found is None else found.scale) == scale


@pytest.mark.parametrize(("mean", "scale"), [(1.9, 2.0), (2.0, 2.0), (2.1, 7.0)])
def test_the_last_refit_is_taken_only_if_it_is_better(monkeypatch, mean, scale):
    judge = Told(s1=0.1, s2=2.0, s3=0.0, s7=mean)
    assert searched(monkeypatch, judge, last=7.0)[0].affine.scale == scale


@pytest.mark.parametrize(
    ("gain", "better"),
    [([0.0, 2.0, 0.0, 2.0], False), ([0.1, 2.0, 0.0, 2.0], True), ([-0.1, 2.0, 0.0, 2.0], False)],
)
def test_better_is_a_mean_gain_of_more_than_two_standard_errors(gain, better):
    # The first has mean 1 and two standard errors of 1 / sqrt(4).
    before = np.array([1.0, 2.0, 3.0, 4.0])
    one, other = (JudgedMap(Map(1.0, ORIGIN), np.arange(4), values) for values in (before + gain, before))
    assert robust._is_better(one, other) is better


def test_the_four_centred_maps_of_greatest_mean_are_refitted():
    a, b = AS_GIVEN, AS_GIVEN._replace(core=np.array([1.0]))
    judge = SimpleNamespace(
        judge=lambda map_: JudgedMap(map_, np.arange(1), np.array([map_.scale - 0.1 * map_.shift[0]]))
    )
    expected = [(2.0, -2.0), (2.0, 0.0), (math.sqrt(2.0), -math.sqrt(2.0)), (math.sqrt(2.0), 0.0)]
    assert len(list(robust_starts(a, b))) == 10
    found = [(map_.scale, map_.shift[0]) for map_ in robust._central_maps(judge, a, b)]
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_two_points_of_either_set_are_taken_about_the_cores(monkeypatch):
    monkeypatch.setattr(robust, "two_point_maps", lambda *args: args)
    a, b = AS_GIVEN._replace(core=np.array([2.0])), AS_GIVEN._replace(core=np.array([1.0]))
    assert robust._two_point_maps("judge", a, b) == ("judge", a.core, b.core)


# ---------------------------------------------------------------------------- refits


@pytest.mark.parametrize("count", [3, 4, 5, 6, 7, 8, 9, 10])
def test_a_refit_standardises_the_more_prominent_half_of_the_pairs_that_stand_out(count):
    rng = np.random.default_rng(count)
    judge = SimpleNamespace(a=rng.standard_normal((20, 2)) + 1.0, b=rng.standard_normal((30, 2)) - 2.0)
    rows, cols = rng.permutation(20)[:12], rng.permutation(30)[:12]
    order = rng.permutation(12)
    prominence = np.zeros(12)
    prominence[order[:count]] = 0.3 * np.arange(count, 0, -1)  # some below 1 and some above
    kept = order[: max(math.ceil(count / 2), 3)]
    a, b = judge.a[rows[kept]], judge.b[cols[kept]]
    found = robust._refit(judge, JudgedMap(Map(1.0, np.zeros(2)), cols, prominence), rows)
    scale = math.sqrt(a.var(axis=0).sum() / b.var(axis=0).sum())
    assert found.scale == pytest.approx(scale, rel=1e-12)
    np.testing.assert_allclose(found.shift, a.mean(axis=0) - scale * b.mean(axis=0), rtol=1e-12)


def refitted(a, b, prominence=(1.0, 1.0, 1.0)):
    judge = SimpleNamespace(a=np.array(a)[:, None], b=np.array(b)[:, None])
    every = np.arange(3)
    with np.errstate(all="ignore"):
        return robust._refit(judge, JudgedMap(Map(1.0, ORIGIN), every, np.array(prominence)), every)


def test_a_refit_needs_three_pairs_that_stand_out_and_do_not_coincide():
    line, point = [0.0, 1.0, 2.0], [1.0, 1.0, 1.0]
    assert refitted(line, [0.0, 2.0, 4.0]).scale == 0.5
    assert refitted(line, [0.0, 2.0, 4.0], (1.0, 1.0, 1e-9)).scale == 0.5
    assert refitted(line, line, (1.0, 1.0, 0.0)) is None
    assert refitted(point, line) is None
    assert refitted(line, point) is None
    assert refitted(point, point) is None


def refits(monkeypatch, means, cols):
    """Refit the map of scale k to that of k + 1, with these means and partners; return best and last."""
    reached = []

    def refit(judge, judged, rows):
        following = judged.map.scale + 1.0
        reached.append(judged.map.scale)
        return Map(following, ORIGIN) if following < len(means) else None

    def judge(map_):
        k = int(map_.scale)
        return JudgedMap(map_, np.array([cols[k]]), np.array([means[k]]))

    monkeypatch.setattr(robust, "_refit", refit)
    judges = SimpleNamespace(judge=judge, rows=np.arange(1))
    return robust._refined(judges, judge(Map(0.0, ORIGIN))).map.scale, len(reached)


def test_refits_end_with_the_same_pairs_or_after_eight_and_the_best_on_the_way_is_kept(monkeypatch):
    assert refits(monkeypatch, [1.0, 3.0, 2.0], [0, 1, 2]) == (1.0, 3)
    assert refits(monkeypatch, [3.0, 1.0, 2.0], [0, 1, 2]) == (0.0, 3)
    assert refits(monkeypatch, [1.0, 2.0, 3.0, 4.0], [0, 1, 1, 2]) == (2.0, 2)
    assert refits(monkeypatch, list(range(20)), list(range(20))) == (8.0, 8)


# ---------------------------------------------------------------------------- what is returned


def test_the_moments_are_returned_unless_a_better_map_is_found(monkeypatch):
    x, y = np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]])
    for affine, scale in ((None, 2.0), (Affine(5.0, ORIGIN), 5.0)):
        improved = Improved(affine, "why", True)
        monkeypatch.setattr(robust, "improve_moments", lambda *args, improved=improved: improved)
        found = robust.fit_robust(x, y)
        assert (found.affine.scale, found.decision) == (scale, "why")


# ---------------------------------------------------------------------------- which set is the smaller


@pytest.mark.parametrize(("n", "m"), [(5, 5), (5, 7), (7, 5)])
def test_the_search_goes_from_the_larger_set_to_the_smaller(monkeypatch, n, m):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((n, 1)), rng.standard_normal((m, 1))
    seen = []

    def search(a, b, moments):
        seen.append((len(a.points), len(b.points), moments.scale, moments.shift[0]))
        return Improved(Affine(4.0, np.array([8.0])), "found", True)

    monkeypatch.setattr(robust, "begin_with_moments", lambda *args: None)
    monkeypatch.setattr(robust, "_search", search)
    found = robust.improve_moments(x, y, Affine(2.0, np.array([6.0])))
    given, back = ((2.0, 6.0), (4.0, 8.0)) if n <= m else ((0.5, -3.0), (0.25, -2.0))
    assert seen == [(min(n, m), max(n, m), *given)]
    assert (found.affine.scale, found.affine.shift[0], found.beyond_chance) == (*back, True)


@pytest.mark.parametrize(("n", "m"), [(5, 5), (7, 5)])
def test_no_better_map_is_none_in_either_direction(monkeypatch, n, m):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(robust, "begin_with_moments", lambda *args: None)
    monkeypatch.setattr(robust, "_search", lambda *args: Improved(None, "kept", False))
    x, y = rng.standard_normal((n, 1)), rng.standard_normal((m, 1))
    assert robust.improve_moments(x, y, Affine(2.0, ORIGIN)) == Improved(None, "kept", False)


def test_half_of_the_points_of_one_set_in_one_place_keep_the_moments(monkeypatch):
    monkeypatch.setattr(robust, "_search", lambda *args: pytest.fail("there is no unit"))
    line, point = np.arange(5.0)[:, None], np.array([[0.0], [0.0], [0.0], [0.0], [9.0]])
    for x, y in ((line, point), (point, line), (point, point)):
        found = robust.improve_moments(x, y, Affine(1.0, ORIGIN))
        assert (found.affine, found.beyond_chance) == (None, False)
        assert "coincide" in found.decision
