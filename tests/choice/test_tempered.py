"""Costs to begin with, between isotropic and whitened ones."""

import numpy as np
import pytest

from lslmatch import ColumnMap, match
from lslmatch.choice import tempered
from lslmatch.choice.tempered import tempered_starts
from lslmatch.results import Covariance

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(7, 4)) * [1.0, 2.0, 5.0, 0.1], RNG.normal(size=(9, 4)) + 3.0


def naive(x, y, power):
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    _, sizes, axes = np.linalg.svd(np.vstack([a, b]))
    weight = (sizes / sizes[0]) ** -power
    apart = ((a @ axes.T)[:, None] - b @ axes.T) * weight
    return np.log(np.square(apart).sum(axis=2))


@pytest.mark.parametrize("units", [None, np.array([0.1, 1.0, 3.0, 2.0])])
def test_components_are_divided_by_powers_of_their_sizes(units):
    result = match(X, Y)
    weight = np.ones(4)
    if units is not None:
        result = result._replace(covariance=Covariance(np.empty((0, 4)), 1.0, units=units))
        weight = np.exp(np.log(units).mean()) / units
    starts = list(tempered_starts(X, Y, result))
    assert len(starts) == 2
    for start, power in zip(starts, (0.25, 0.5), strict=True):
        assert start.result is result
        difference = start.costs - naive(X * weight, result.map.apply(Y) * weight, power)
        assert np.ptp(difference) < 1e-9  # coordinates have a unit of their own


def test_a_power_of_0_is_isotropic_and_points_that_coincide_are_ordinary(monkeypatch):
    monkeypatch.setattr(tempered, "_POWERS", (0.0,))
    result = match(X, X, alignment=ColumnMap(np.ones(4), np.zeros(4)))
    (start,) = tempered_starts(X, X, result)
    assert (start.costs.argmin(axis=1) == np.arange(7)).all()
    assert np.isfinite(start.costs).all()
    (start,) = tempered_starts(
        np.ones((5, 2)), np.ones((5, 2)), match(np.ones((5, 2)), np.ones((5, 2)), alignment="identity")
    )
    assert np.ptp(start.costs) == 0.0
