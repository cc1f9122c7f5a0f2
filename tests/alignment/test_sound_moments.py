"""Whether the moments are sound, against the steps of the robust search."""

import numpy as np
import pytest

from lslmatch import Affine, estimate_affine
from lslmatch.alignment import robust
from lslmatch.alignment.likelihood import as_lines
from lslmatch.alignment.prominence import Judge
from lslmatch.alignment.sound_moments import _mostly_coincide, begin_with_moments
from lslmatch.alignment.starts import central, in_units


def draw(n, m, d, noise, seed=0):
    rng = np.random.default_rng([n, m, d, seed])
    y = rng.standard_normal((m, d))
    return 2.0 * rng.permutation(y)[:n] + 3.0 + noise * rng.standard_normal((n, d)), y


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.6, 3.0])
@pytest.mark.parametrize(("n", "m", "d"), [(12, 12, 1), (30, 30, 3), (25, 40, 6), (40, 40, 12)])
def test_the_beginning_is_that_of_the_search(n, m, d, noise):
    for seed in range(3):
        x, y = draw(n, m, d, noise, seed)
        moments = estimate_affine(x, y)
        a, b = central(x), central(y)
        judge = Judge(a.points, b.points)
        before = judge.judge(in_units(moments, a, b))
        best = robust._refined(judge, before)
        begun = begin_with_moments(x, y, moments)
        assert (begun is not None) == (best.mean > robust.CONVINCING * judge.chance())
        if begun is not None:
            assert begun.seen == pytest.approx((best.mean, before.mean, judge.chance()), rel=1e-6, abs=1e-9)
            assert begun.better == robust._is_better(best, before)
            for one, other in zip(begun.judged(d), (before, best), strict=True):
                np.testing.assert_array_equal(one.cols, other.cols)
                np.testing.assert_allclose(one.prominence, other.prominence, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("n", "m", "d"), [(40, 40, 4), (60, 80, 3), (80, 60, 3)])
@pytest.mark.parametrize("wild", [0, 3, 8])
def test_the_search_ends_where_it_would_in_robust_units(monkeypatch, n, m, d, wild):
    rng = np.random.default_rng([n, m, d])
    x, y = draw(n, m, d, 0.02) if n <= m else draw(m, n, d, 0.02)[::-1]
    x[:wild] += 4.0 * rng.standard_normal((wild, d))
    moments = estimate_affine(x, y)
    found = robust.improve_moments(x, y, moments)
    monkeypatch.setattr(robust, "begin_with_moments", lambda *args: None)
    expected = robust.improve_moments(x, y, moments)
    assert (found.decision, found.beyond_chance) == (expected.decision, expected.beyond_chance)
    assert (found.affine is None) == (expected.affine is None)
    if found.affine is not None:
        assert found.affine.scale == pytest.approx(expected.affine.scale, rel=1e-9)
        np.testing.assert_allclose(found.affine.shift, expected.affine.shift, rtol=1e-9)


def test_points_that_are_very_wild_leave_it_to_robust_units():
    x, y = draw(40, 40, 4, 0.02)
    assert begin_with_moments(x, y, Affine(2.0, np.full(4, 3.0))) is not None
    x[0] += 1e7
    assert begin_with_moments(x, y, Affine(2.0, np.full(4, 3.0))) is None


def test_a_wrong_map_is_not_sound_and_a_right_one_is():
    x, y = draw(60, 60, 8, 0.1)
    assert begin_with_moments(x, y, Affine(2.0, np.full(8, 3.0))) is not None
    assert begin_with_moments(x, y, Affine(0.5, np.full(8, -9.0))) is None
    assert robust.improve_moments(x, y, Affine(2.0, np.full(8, 3.0))).affine is None


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("n", [21, 40, 500])
def test_sets_of_which_most_points_coincide_are_left_to_the_search(n, which):
    sets = draw(n, n, 2, 0.01)
    points = sets[which]
    # Evenly spread, and together with the last one half of the points, and then one more.
    some = np.append(np.arange(0, 2 * (n // 2) - 2, 2), n - 1)
    for equal in (some, np.append(some, 1)):
        points[equal] = points[-1]
        assert _mostly_coincide(as_lines(points)) == (central(points) is None) == (2 * equal.size > n)
    assert begin_with_moments(*sets, Affine(2.0, np.full(2, 3.0))) is None


@pytest.mark.parametrize("unit", [2.0**-150, 2.0**150])
def test_so_are_units_that_are_out_of_the_ordinary(unit):
    x, y = draw(40, 40, 8, 0.1)
    assert begin_with_moments(unit * x, unit * y, Affine(2.0, unit * np.full(8, 3.0))) is None
