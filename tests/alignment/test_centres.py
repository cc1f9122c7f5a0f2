"""Origins in which pairs with little noise count more: against their definition."""

import numpy as np
import pytest

from lslmatch.alignment import centres as module
from lslmatch.alignment.likelihood import as_lines
from tests.support.alignment import draw


def find_centres(a, b, factor, floor, centres):
    return module.find_centres(as_lines(a), as_lines(b), factor, floor, centres)


def test_centres_do_not_collapse_onto_a_single_pair():
    rng = np.random.default_rng(0)
    b = rng.standard_normal((50, 5))
    a = b + rng.standard_normal((50, 5))
    a[0] = b[0] + 3.0  # noiseless, but of another shift
    centres = np.zeros((2, 5))
    factor = find_centres(a, b, 1.0, 1e-30, centres)
    shift = centres[0] - factor * centres[1]
    assert np.linalg.norm(shift) < 1.0


@pytest.mark.parametrize("d", [1, 2])
def test_on_a_line_and_in_the_plane_the_centres_are_the_means(d):
    a, b = draw(12, 12, d)
    centres = np.zeros((2, d))
    assert find_centres(a, b, 1.3, 1e-30, centres) == 1.3
    np.testing.assert_allclose(centres, [a.mean(axis=0), b.mean(axis=0)], rtol=1e-13)


def centres_by_definition(a, b, factor):
    """Weighted means and the factor that is best about them, in turn, until the map no longer moves."""
    n = len(a)
    centres = np.zeros((2, a.shape[1]))
    for _ in range(30):
        residuals = ((a - centres[0] - factor * (b - centres[1])) ** 2).sum(axis=1)
        weights = 1.0 / residuals
        weights *= 1.0 - weights / weights.sum()
        before = centres[0] - factor * centres[1]
        centres = np.array([weights @ a, weights @ b]) / weights.sum()
        offsets = b - centres[1]
        squares = weights @ (offsets**2).sum(axis=1)
        products = weights @ (offsets * (a - centres[0])).sum(axis=1)
        factor = max(np.roots([squares, -products, -n / 2]))
        if ((centres[0] - factor * centres[1] - before) ** 2).sum() <= 1e-4 * residuals.min():
            break
    return factor, centres


@pytest.mark.parametrize(("d", "size"), [(3, 1.0), (4, 1.0), (7, 1.0), (3, 0.02)])
@pytest.mark.parametrize("seed", range(3))
def test_centres_are_means_in_which_pairs_of_little_noise_count_more(d, size, seed):
    rng = np.random.default_rng([d, seed])
    b = size * rng.standard_normal((15, d)) + 0.5
    a = 1.3 * b - 0.4 + rng.standard_normal((15, d)) * 0.05 ** rng.random((15, 1))
    expected, where = centres_by_definition(a, b, 1.0)
    centres = np.zeros((2, d))
    assert find_centres(a, b, 1.0, 1e-30, centres) == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(centres, where, rtol=1e-8, atol=1e-9)


def test_centres_of_pairs_that_coincide_are_found_with_the_floor():
    rng = np.random.default_rng(0)
    b = rng.standard_normal((8, 3))
    centres = np.zeros((2, 3))
    factor = find_centres(1.3 * b, b, 1.3, 1e-6, centres)
    # All weigh the same, and the term of the logarithm is small beside them.
    assert factor == pytest.approx(1.3, abs=1e-3)
    np.testing.assert_allclose(centres, [1.3 * b.mean(axis=0), b.mean(axis=0)], atol=1e-9)


def test_a_set_in_one_place_leaves_the_factor_alone():
    a, b = np.random.default_rng(0).standard_normal((6, 3)), np.zeros((6, 3))
    assert find_centres(a, b, 1.7, 1e-30, np.zeros((2, 3))) == 1.7
