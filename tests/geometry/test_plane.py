import numpy as np
import pytest

from lslmatch import match
from lslmatch.geometry.plane import midpoints, principal_plane


def test_principal_components_show_the_widest_directions():
    rng = np.random.default_rng(0)
    x = 1e9 + rng.normal(size=(300, 4)) * [0.1, 5.0, 0.1, 2.0]
    places = principal_plane(x).places(x)
    assert np.corrcoef(places[:, 0], x[:, 1])[0, 1] > 0.99
    assert np.corrcoef(places[:, 1], x[:, 3])[0, 1] > 0.99


@pytest.mark.parametrize("d", [1, 2])
def test_few_coordinates_are_drawn_as_they_are(d):
    x = np.arange(3.0 * d).reshape(3, d)
    np.testing.assert_array_equal(principal_plane(x).places(x)[:, :d], x)


def test_points_on_a_line_and_huge_ones_have_places():
    x = np.array([[0.0, 0.0, 0.0], [1e300, 2e300, -1e300]])
    places = principal_plane(x).places(x)
    assert np.isfinite(places).all()
    assert abs(places[0, 0] - places[1, 0]) == pytest.approx(6**0.5 * 1e300)
    assert (principal_plane(np.ones((2, 3))).places(np.ones((2, 3))) == 0).all()


def test_many_points_need_no_more_than_some_for_the_axes():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30_000, 3)) * [1.0, 9.0, 3.0]
    axes = np.abs(principal_plane(x).axes)
    assert axes[0, 1] > 0.99
    assert axes[1, 2] > 0.99


def test_midpoints_lie_between_partners():
    x = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 5.0]])
    result = match(x, x[[2, 0, 1]] + [0.0, 2.0], alignment="identity")
    np.testing.assert_array_equal(midpoints(x, x[[2, 0, 1]] + [0.0, 2.0], result), x + [0.0, 1.0])
