"""The rule of 2023 for the number of pairs, on data of its own setting and of another."""

import numpy as np
import pytest

from lslmatch import match_path
from verification.scenarios.rule_of_2023 import number_of_pairs


def increments(common, strangers, d, levels):
    rng = np.random.default_rng([common, d])
    x, y = 3.0 * rng.standard_normal((2, common + strangers, d))
    y[:common] = x[:common]
    noise = levels(rng, common + strangers)[:, None]
    x, y = (points + noise * rng.standard_normal(points.shape) for points in (x, y))
    return match_path(x, y, alignment="identity", objective="lss").increments


@pytest.mark.parametrize(("common", "strangers"), [(30, 10), (20, 20), (40, 0)])
def test_it_finds_the_number_of_pairs_if_all_noise_is_equal(common, strangers):
    found = increments(common, strangers, 40, lambda rng, n: np.full(n, 0.5))
    assert number_of_pairs(found, common + strangers, 40) == common


def test_it_does_not_if_noise_differs_from_point_to_point():
    found = increments(30, 10, 40, lambda rng, n: 0.05 * 20.0 ** rng.random(n))
    assert number_of_pairs(found, 40, 40) < 25
