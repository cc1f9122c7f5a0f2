"""The test for a relation: small for related sets, nothing special for others."""

import numpy as np
import pytest

from lslmatch import relation_p_value
from lslmatch.diagnosis.relation import _unrelated
from tests.support.planted import draw, strong_direction
from tests.support.reference import SMALL

N, DRAWS = (12, 4) if SMALL else (40, 9)


def test_related_sets_are_better_than_all_unrelated_ones():
    x, y, _ = draw(strong_direction(6), N, 3.0, np.random.default_rng(0))
    assert relation_p_value(x, y, draws=DRAWS, rng=0) == 1 / (DRAWS + 1)


@pytest.mark.skipif(SMALL, reason="many draws show nothing else without compilation")
def test_unrelated_sets_are_seldom_called_related():
    values = []
    for seed in range(6):
        rng = np.random.default_rng([1, seed])
        x, y = (draw(strong_direction(6), N, 3.0, rng)[k] for k in (0, 1))
        values.append(relation_p_value(x, y, draws=DRAWS, rng=seed))
    # Three of six at the least value have a probability below 20 / (DRAWS + 1)**3, 2 % with nine draws.
    assert sum(value == 1 / (DRAWS + 1) for value in values) < 3


def test_an_unrelated_set_keeps_mean_and_covariance():
    y = draw(strong_direction(5), 20, 1.0, np.random.default_rng(2))[1]
    other = _unrelated(y, np.random.default_rng(0))
    np.testing.assert_allclose(other.mean(axis=0), y.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(np.cov(other.T), np.cov(y.T), atol=1e-12)
    assert np.abs(other - y).max() > 0.1


def test_the_same_seed_gives_the_same_value():
    x, y, _ = draw(np.eye(3), N, 0.5, np.random.default_rng(3))
    assert relation_p_value(x, y, draws=DRAWS, rng=5) == relation_p_value(x, y, draws=DRAWS, rng=5, workers=2)


def test_a_set_on_a_line_is_refused():
    line = np.outer(np.random.default_rng(4).normal(size=N), [1.0, 2.0])
    for x in (line, line[:, :1]):
        with pytest.raises(ValueError, match="y must vary in at least 2 directions"):
            relation_p_value(x, x[::-1], draws=2, rng=0)


def test_rotations_are_uniform():
    y = np.random.default_rng(5).normal(size=(6, 2))
    turned = [_unrelated(y, np.random.default_rng(seed)) for seed in range(40)]
    maps = [np.linalg.lstsq(y - y.mean(0), z - z.mean(0), rcond=None)[0] for z in turned]
    # In the plane half of them are reflections. All forty of one kind: a probability of 2e-12.
    assert {float(np.sign(np.linalg.det(linear))) for linear in maps} == {-1.0, 1.0}
