"""What a few points let expect: clear data look clear, and data without signal do not."""

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.assignment.probe import probe
from lslmatch.geometry.coordinates import common_coordinates


def outlook(noise, n=60, d=40):
    rng = np.random.default_rng([n, d])
    features = rng.normal(size=(n, d))
    x, y = features + noise * rng.normal(size=(2, n, d))
    return probe(common_coordinates(x, rng.permutation(y), Affine(1.0, np.zeros(d))))


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
    assert probe(common_coordinates(points, points, Affine(1.0, np.zeros(30)))).dimensions is None
