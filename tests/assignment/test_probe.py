"""What a few points let expect: clear data look clear, and data without signal do not."""

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.assignment.probe import probe
from lslmatch.costs import log_rule, normalized_rule
from lslmatch.geometry.coordinates import common_coordinates


def outlook(noise, n=60, d=40):
    rng = np.random.default_rng([n, d])
    features = rng.normal(size=(n, d))
    x, y = features + noise * rng.normal(size=(2, n, d))
    geometry = common_coordinates(x, rng.permutation(y), Affine(1.0, np.zeros(d)))
    return probe(geometry, log_rule(geometry))


def test_a_tenth_of_the_coordinates_tells_clear_partners():
    assert outlook(0.001)[:2] == (1.0, 4)


def test_more_noise_asks_for_more_coordinates():
    assert outlook(0.15).dimensions > 4


def test_without_signal_few_are_nearest_to_each_other():
    found = outlook(50.0)
    assert found.mutual < 0.7
    assert found.dimensions is None


@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 7), (12, 8), (13, 41)])
def test_any_size_has_an_outlook(n, d):
    assert 0.0 <= outlook(1.0, n, d).mutual <= 1.0


def test_coincident_points_have_an_outlook():
    points = np.zeros((5, 30))
    geometry = common_coordinates(points, points, Affine(1.0, np.zeros(30)))
    assert probe(geometry, log_rule(geometry)).dimensions is None


def test_columns_with_much_noise_are_near_to_all_rows():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, 3))
    geometry = common_coordinates(x, x + 0.01 * rng.normal(size=x.shape), Affine(1.0, np.zeros(3)))
    levels = np.full(60, 0.01), np.where(np.arange(60) == 7, 100.0, 0.01)
    assert probe(geometry, log_rule(geometry)).mutual == 1.0
    found = probe(geometry, normalized_rule(geometry, levels, 1.0))
    assert found.mutual < 0.2
    squares = np.square(x[found.rows, None] - geometry.b * 2.0**geometry.exponent - x.mean(axis=0))
    np.testing.assert_allclose(
        found.least, (squares.sum(axis=2) / (levels[0][found.rows, None] ** 2 + levels[1] ** 2)).min(axis=1)
    )
