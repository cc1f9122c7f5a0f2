"""Sets for blind pairs, and small structures of false pairs whose coins can be enumerated."""

from fractions import Fraction

import numpy as np
import pytest

from verification.scenarios.blind_edges import (
    Ranked,
    Setting,
    Structure,
    draw_ranked,
    draw_structure,
    kept_without_one,
    looked_at,
    pick_false,
)

#: Two objects whose points were paired with each other: a cycle of two edges.
TWINS = (((0, 0), (1, 0)), ((0, 1), (1, 1)))


def test_twins_have_one_coin_and_a_path_one_for_each_edge():
    twins = Structure(TWINS, 2, (100, 100, 100))
    assert sorted(twins.joins()) == [(False, False)] * 2 + [(True, True)] * 2
    assert not twins.are_fair_coins()
    # 100 true edges allow no edge within: false are 2 of 102, or none.
    assert twins.mean_false_share(Fraction(1, 100)) == Fraction(1, 102)
    path = Structure((((0, 0), (1, 0)), ((1, 1), (2, 1))), 3, (100, 100, 100))
    assert path.are_fair_coins()
    # The second edge counts only if the first joins the sets.
    assert path.mean_false_share(Fraction(1, 100)) == (Fraction(1, 101) + Fraction(2, 102)) / 4


def test_partners_always_join_the_sets():
    assert Structure((((0, 0), (0, 1)),), 1, (9, 9)).joins() == [(True,), (True,)]


@pytest.mark.parametrize("kind", ["forest", "twins", "cycles"])
@pytest.mark.parametrize("seed", range(5))
def test_structures_are_what_they_are_called(kind, seed):
    structure = draw_structure(5, kind, Fraction(1, 20), np.random.default_rng(seed))
    points = [point for edge in structure.edges for point in edge]
    assert len(structure.edges) == 5
    assert len(set(points)) == 10  # no point is in two pairs
    assert {point[0] for point in points} == set(range(structure.objects))
    assert (np.diff(structure.before) >= 0).all()
    assert len(structure.before) == 6
    assert structure.are_fair_coins() == (kind == "forest")
    parts = structure.objects - np.linalg.matrix_rank(_incidence(structure))
    assert (len(structure.edges) > structure.objects - parts) == (kind != "forest")


def _incidence(structure):
    matrix = np.zeros((len(structure.edges), structure.objects))
    for row, (p, q) in zip(matrix, structure.edges, strict=True):
        row[p[0]], row[q[0]] = 1.0, -1.0
    return matrix


def test_what_is_drawn_is_ranked_and_relatives_are_taken_for_partners():
    setting = Setting(20, 10, 3, 0.01, False, 0)
    ranked = draw_ranked(setting, np.random.default_rng(1))
    assert ranked.right[:20].all()
    assert ranked.right.sum() == 20
    assert ranked.joins[ranked.right].all()
    other = draw_ranked(setting._replace(relatives=10), np.random.default_rng(1))
    assert other.joins[:30].all()
    assert other.right.sum() == 20


def test_rules_that_are_wrong():
    ranked = Ranked(np.array([True, False, True, True]), np.array([True, False, False, True]))
    seen = looked_at(ranked)
    assert seen.joins.tolist() == [True, True, True, False]
    assert seen.right.tolist() == [True, False, True, False]
    assert kept_without_one(ranked.joins, 0.5) == 4
    assert kept_without_one(np.zeros(3, bool), 0.5) == 0
    rng = np.random.default_rng(1)
    assert not pick_false(ranked, 0, rng)
    assert not pick_false(ranked, 2, rng)
    assert {pick_false(ranked, 4, rng) for _ in range(40)} == {True, False}
