"""The separation against a loop over all pairs."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lslmatch import theory
from tests.support.simulation import mixed_configuration, naive_separation


@settings(deadline=None, max_examples=60)
@given(n=st.integers(2, 12), d=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
def test_separation_is_the_smallest_over_all_pairs(n, d, seed):
    features, noise = mixed_configuration(n, d, seed)
    assert theory.separation(features, noise) == pytest.approx(naive_separation(features, noise), rel=1e-12)


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e-3, 1e200, 1e300])
def test_separation_ignores_the_unit(factor):
    features, noise = mixed_configuration(20, 3)
    expected = naive_separation(features, noise)
    assert theory.separation(factor * features, factor * noise) == pytest.approx(expected, rel=1e-12)


def test_separation_ignores_a_large_common_offset_exactly():
    features = np.random.default_rng(1).integers(-50, 50, (30, 3)).astype(float)
    assert theory.separation(features + 1e9, 1.0) == theory.separation(features, 1.0) > 0


def test_separation_ignores_the_order_of_the_points():
    features, noise = mixed_configuration(25, 4)
    order = np.random.default_rng(2).permutation(25)
    assert theory.separation(features[order], noise[order]) == pytest.approx(
        theory.separation(features, noise), rel=1e-14
    )


def test_separation_of_coincident_features_is_zero():
    assert theory.separation([[1.0, 2.0], [5.0, 6.0], [1.0, 2.0]], 1.0) == 0.0
    assert theory.separation(np.zeros((3, 2)), 1.0) == 0.0


def test_separation_sees_a_gap_whose_square_underflows():
    expected = 1e-200 / math.sqrt(2 * 2 / 3)
    assert theory.separation([[0.0], [1e-200], [1.0]], 1.0) == pytest.approx(expected, rel=1e-14, abs=0)


def test_separation_holds_no_matrix_of_all_pairs():
    features = np.random.default_rng(3).standard_normal((2500, 15))
    tracemalloc.start()
    try:
        theory.separation(features, 1.0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * features.nbytes
