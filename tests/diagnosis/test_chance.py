"""Confidences beside those of unrelated sets."""

import numpy as np
import pytest

from lslmatch.diagnosis.chance import beside_chance

Y = np.random.default_rng(0).normal(size=(20, 3))
CONFIDENCE = np.linspace(0.2, 0.8, 20)  # 0.5 in the mean
COSTS = np.arange(20.0)


@pytest.mark.parametrize(
    ("chance", "believed"), [(0.5, 0.0), (0.7, 0.0), (0.375, 0.5), (0.25, 1.0), (0.0, 1.0)]
)
def test_confidences_are_believed_as_far_as_they_exceed_chance(chance, believed):
    found = beside_chance(CONFIDENCE, COSTS, Y, lambda other: (np.full(20, chance), COSTS))
    np.testing.assert_allclose(found, believed * CONFIDENCE + (1 - believed) / 20)


@pytest.mark.parametrize(("nearer", "believed"), [(0.0, 0.0), (5.0, 0.5), (20.0, 1.0), (-20.0, 0.0)])
def test_confidences_are_believed_as_far_as_pairs_are_nearer_than_by_chance(nearer, believed):
    found = beside_chance(CONFIDENCE, COSTS - nearer, Y, lambda other: (CONFIDENCE, COSTS))
    np.testing.assert_allclose(found, believed * CONFIDENCE + (1 - believed) / 20)


def test_the_unrelated_set_is_the_reflected_one():
    seen = []
    beside_chance(CONFIDENCE, COSTS, Y, lambda other: seen.append(other) or (CONFIDENCE, COSTS))
    np.testing.assert_allclose(seen, [2 * Y.mean(axis=0) - Y])


def test_few_pairs_are_left_alone():
    few = CONFIDENCE[:7]
    assert beside_chance(few, COSTS[:7], Y, None) is few
