"""The test for a relation: small for related sets, nothing special for others."""

import numpy as np
from reference import SMALL
from support.planted import draw, strong_direction

from lslmatch import relation_p_value
from lslmatch.diagnosis.relation import _unrelated

N, DRAWS = (12, 4) if SMALL else (40, 9)


def test_related_sets_are_better_than_all_unrelated_ones():
    x, y, _ = draw(strong_direction(6), N, 3.0, np.random.default_rng(0))
    assert relation_p_value(x, y, draws=DRAWS, rng=0) == 1 / (DRAWS + 1)


def test_unrelated_sets_are_seldom_called_related():
    values = []
    for seed in range(6):
        rng = np.random.default_rng([1, seed])
        x, y = (draw(strong_direction(6), N, 3.0, rng)[k] for k in (0, 1))
        values.append(relation_p_value(x, y, draws=DRAWS, rng=seed))
    # Three of six at the least value have a probability below 20 / (DRAWS + 1)**3, 2 % with nine draws.
    assert sum(value == 1 / (DRAWS + 1) for value in values) < (4 if SMALL else 3)


def test_an_unrelated_set_keeps_mean_and_covariance():
    y = draw(strong_direction(5), 20, 1.0, np.random.default_rng(2))[1]
    other = _unrelated(y, np.random.default_rng(0))
    np.testing.assert_allclose(other.mean(axis=0), y.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(np.cov(other.T), np.cov(y.T), atol=1e-12)
    assert np.abs(other - y).max() > 0.1


def test_the_same_seed_gives_the_same_value():
    x, y, _ = draw(np.eye(3), N, 0.5, np.random.default_rng(3))
    assert relation_p_value(x, y, draws=DRAWS, rng=5) == relation_p_value(x, y, draws=DRAWS, rng=5, workers=2)


def test_sets_with_nothing_to_learn_have_a_value():
    x = np.random.default_rng(4).normal(size=(N, 1))
    assert 0 < relation_p_value(x, x[::-1], draws=2, rng=0) <= 1
