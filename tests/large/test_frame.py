"""Coordinates that are made some points at a time are those of the sets as a whole."""

import numpy as np
import pytest

from lslmatch import Affine, estimate_affine
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.large import points
from lslmatch.large.frame import LargeSets, affine_of, find_frame, find_moments


def frame_of(x, y, affine):
    return find_frame(x, y, affine, find_moments(x), find_moments(y))


@pytest.fixture(autouse=True)
def _in_blocks(monkeypatch):
    monkeypatch.setattr(points, "_BLOCK", 60)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4"])
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (3.0, 5.0), (2.0**-9, 100.0)])
def test_coordinates_are_those_of_all_points_together(dtype, scale, offset):
    rng = np.random.default_rng(1)
    x = (offset + rng.normal(size=(70, 3))).astype(dtype)
    y = (rng.normal(size=(90, 3)) / scale).astype(dtype)
    affine = Affine(scale, np.array([offset, offset, 1.0]))
    frame = frame_of(x, y, affine)
    assert frame is not None
    whole = common_coordinates(x.astype(float), y.astype(float), affine)
    assert frame.exponent == whole.exponent
    sets = LargeSets(x, y, frame, False)
    rows, cols = np.array([69, 3, 3, 0]), slice(10, 80)
    some, expected = sets.taken(rows, cols), whole.taken(rows, np.arange(10, 80))
    # (The origin may be another rounding of the mean. Differences are what counts, with their low parts.)
    for i in range(4):
        found = (some.a[i] - some.b) + (some.a_low[i] - some.b_low)
        wanted = (expected.a[i] - expected.b) + (expected.a_low[i] - expected.b_low)
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-16)


def test_moments_are_those_of_all_points():
    rng = np.random.default_rng(2)
    x, y = 1e3 + rng.normal(size=(70, 4)), rng.normal(size=(50, 4)) * 0.3
    affine, expected = affine_of(find_moments(x), find_moments(y), 70, 50), estimate_affine(x, y)
    assert affine.scale == pytest.approx(expected.scale, rel=1e-13)
    np.testing.assert_allclose(affine.shift, expected.shift, rtol=1e-13)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200, 1e-200])
def test_sets_out_of_the_ordinary_have_no_moments(value):
    x = np.full((40, 2), value)
    x[:20] *= 0.5
    assert find_moments(x) is None


def test_points_that_coincide_have_no_moments():
    assert find_moments(np.ones((40, 2))) is None


def ordinary():
    rng = np.random.default_rng(3)
    return rng.normal(size=(70, 2)), rng.normal(size=(70, 2))


def far_away(x, y):
    x[3] = 1e7


def far_in_both(x, y):
    x[::3] = 1e5
    y[::3] = 1e5


def near_the_origin(x, y):
    y[5] = 1e-9


def far_from_each_other(x, y):
    y *= 1e-300


@pytest.mark.parametrize("change", [far_away, far_in_both, near_the_origin, far_from_each_other])
def test_sets_that_ask_for_something_special_have_no_frame(change):
    x, y = ordinary()
    identity = Affine(1.0, np.zeros(2))
    assert frame_of(x, y, identity) is not None
    change(x, y)
    if change is far_from_each_other:
        assert find_moments(y) is None
        return
    assert frame_of(x, y, identity) is None


def test_maps_with_extreme_scales_have_no_frame():
    x, y = ordinary()
    assert frame_of(x, y, Affine(2.0**-900, np.zeros(2))) is None
