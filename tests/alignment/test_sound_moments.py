"""Whether the moments are sound, against the steps of the robust search."""

import numpy as np
import pytest

from lslmatch import Affine, estimate_affine
from lslmatch.alignment import robust
from lslmatch.alignment.likelihood import as_lines
from lslmatch.alignment.prominence import Judge
from lslmatch.alignment.sound_moments import _mostly_coincide, seen_if_sound
from lslmatch.alignment.starts import central, in_units


def draw(n, m, d, noise, seed=0):
    rng = np.random.default_rng([n, m, d, seed])
    y = rng.standard_normal((m, d))
    return 2.0 * rng.permutation(y)[:n] + 3.0 + noise * rng.standard_normal((n, d)), y


def by_steps(x, y, moments):
    """The mean prominence after refits, with the moments and by chance, and whether the moments are kept."""
    a, b = central(x), central(y)
    judge = Judge(a.points, b.points)
    before = judge.judge(in_units(moments, a, b))
    best = robust._refined(judge, before)
    seen = best.mean, before.mean, judge.chance()
    return seen, best.mean > robust.CONVINCING * judge.chance() and not robust._is_better(best, before)


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.6, 3.0])
@pytest.mark.parametrize(("n", "m", "d"), [(12, 12, 1), (30, 30, 3), (25, 40, 6), (40, 40, 12)])
def test_they_are_if_the_search_would_keep_them_at_once(n, m, d, noise):
    for seed in range(3):
        x, y = draw(n, m, d, noise, seed)
        moments = estimate_affine(x, y)
        expected, kept = by_steps(x, y, moments)
        seen = seen_if_sound(x, y, moments)
        assert (seen is not None) == kept
        if seen is not None:
            assert seen == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_a_wrong_map_is_not_sound_and_a_right_one_is():
    x, y = draw(60, 60, 8, 0.1)
    assert seen_if_sound(x, y, Affine(2.0, np.full(8, 3.0))) is not None
    assert seen_if_sound(x, y, Affine(0.5, np.full(8, -9.0))) is None
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
    assert seen_if_sound(*sets, Affine(2.0, np.full(2, 3.0))) is None


@pytest.mark.parametrize("unit", [2.0**-150, 2.0**150])
def test_so_are_units_that_are_out_of_the_ordinary(unit):
    x, y = draw(40, 40, 8, 0.1)
    assert seen_if_sound(unit * x, unit * y, Affine(2.0, unit * np.full(8, 3.0))) is None
