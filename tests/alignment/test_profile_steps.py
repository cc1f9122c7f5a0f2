"""What the search for the scale begins with, and what it keeps of a matching."""

import numpy as np
import pytest

from lslmatch import estimate_affine
from lslmatch.alignment.likelihood import MatchedResiduals
from lslmatch.alignment.profile import _ScaleSearch
from tests.support.alignment import draw


@pytest.fixture
def begun():
    x, y = draw(12, 12, 3)
    search = _ScaleSearch(x, y, estimate_affine(x, y), 1)
    pairs = MatchedResiduals.of(search.a, search.b[search.first.assignment.col_ind], search.floor)
    low, high = search.window
    return search, pairs, float(np.clip(pairs.refine(1.0), low, high))


def test_the_search_begins_with_the_matching_at_the_moments_and_an_even_window(begun):
    search, pairs, best = begun
    low, high = search.window
    assert low < 1.0 < high
    np.testing.assert_allclose(np.diff(np.log(search.even)), np.log(high / low) / 32, rtol=1e-9)
    assert len(search.even) == 33
    np.testing.assert_array_equal(search.centres, np.zeros((2, 3)))
    assert search.fits == {1.0: search.first}
    assert search.start_value == pairs.value(1.0)
    assert {1.0, *search.even} <= {*search.factors} <= {1.0, best, *search.even}


def test_the_best_factor_of_a_matching_is_kept_beside_its_own_if_it_gains_enough(begun):
    search, pairs, best = begun
    low, high = search.window
    assert low < best < high
    for end in (low, high):
        assert pairs.value(end) > pairs.value(best) + 0.1
        search.factors = np.array([end])
        search._keep(end, search.first)
        np.testing.assert_allclose(search.factors, sorted([end, best]), rtol=1e-9)
    near = best * (1.0 + 1e-6)
    search.factors = np.array([low])
    search._keep(near, search.first)
    np.testing.assert_array_equal(search.factors, [low, near])
    assert {low, high, near} <= {*search.fits}
    assert len(search.matchings) == 1
