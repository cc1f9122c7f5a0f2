"""Confidences beside those of unrelated sets."""

import numpy as np
import pytest

from lslmatch.diagnosis.chance import beside_chance

Y = np.random.default_rng(0).normal(size=(20, 3))
CONFIDENCE = np.linspace(0.2, 0.8, 20)  # 0.5 in the mean
COSTS = np.arange(20.0)


#: Four standard errors of the mean confidence.
ERRORS = 4 * CONFIDENCE.std() / np.sqrt(20)


@pytest.mark.parametrize(
    ("chance", "believed"), [(0.5, 0.0), (0.7, 0.0), (0.5 - ERRORS / 2, 0.5), (0.5 - ERRORS, 1.0), (0.0, 1.0)]
)
def test_confidences_are_believed_as_far_as_they_exceed_chance(chance, believed):
    found = beside_chance(CONFIDENCE, COSTS, Y, lambda other: (np.full(20, chance), COSTS))
    np.testing.assert_allclose(found, believed * CONFIDENCE + (1 - believed) / 20)


def test_an_excess_of_a_quarter_is_believed_however_wide_confidences_are_spread():
    wide, other = np.repeat([0.1, 0.9], 10), np.repeat([0.0, 0.5], 10)  # means of 0.5 and 0.25
    assert 4 * np.sqrt((wide.var() + other.var()) / 20) > 0.25
    np.testing.assert_allclose(beside_chance(wide, COSTS, Y, lambda _: (other, COSTS)), wide)


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


def test_a_reflection_beyond_the_range_of_numbers_is_left_alone():
    far = np.full((20, 1), 1.7e308)
    far[0] = -1.7e308
    assert beside_chance(CONFIDENCE, COSTS, far, None) is CONFIDENCE
