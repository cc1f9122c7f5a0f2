"""Residuals of pairs as functions of the scale, and the steps of the search."""

import numpy as np
import pytest

from lslmatch.alignment.likelihood import Pairs, find_centres
from tests.support.alignment import draw


def test_a_pair_alone_gains_nothing_by_coming_close():
    b = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    a = 1.1 * b + np.array([[0.0, 1e-9], [0.3, 0.0], [0.4, -0.4]])
    close = Pairs.of(a, b, 1e-30).value(1.1)
    a[0, 1] = 1e-12
    assert Pairs.of(a, b, 1e-30).value(1.1) == pytest.approx(close, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_refining_ends_where_the_value_is_stationary(seed):
    x, y = draw(40, 40, 4, seed)
    pairs = Pairs.of(x - x.mean(axis=0), y - y.mean(axis=0), 1e-30)
    factor = pairs.refine(2.0)
    step = 1e-5 * factor
    assert pairs.value(factor) <= pairs.value(2.0)
    assert pairs.value(factor) <= min(pairs.value(factor - step), pairs.value(factor + step)) + 1e-9


def test_residuals_are_those_of_the_pairs():
    x, y = draw(6, 6, 3)
    squares = ((x[:, None] - 1.7 * y) ** 2).sum(axis=-1)
    np.testing.assert_allclose(Pairs.of(x, y, 0.0).residuals(1.7), np.diag(squares))
    np.testing.assert_allclose(Pairs.all_of(x, y, 0.0).residuals(1.7), squares)
    np.testing.assert_allclose(Pairs.all_of(x, y, 0.0).costs(1.7), np.log(squares))


def test_a_point_that_underflow_takes_to_the_centre_says_nothing_about_the_scale():
    a = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    b = np.array([[1.0, 0.1], [0.1, 1.0], [1e-170, 0.0]])
    others, pairs = Pairs.of(a[:2], b[:2], 1e-30), Pairs.of(a, b, 1e-30)
    np.testing.assert_allclose(pairs.residuals(2.0), [1.04, 1.04, 0.5])
    assert pairs.values(np.array([1.0, 2.0])) @ [1.0, -1.0] == pytest.approx(
        others.values(np.array([1.0, 2.0])) @ [1.0, -1.0] + np.log(2.0)
    )
    np.testing.assert_allclose(Pairs.all_of(a, b, 1e-30).residuals(2.0).diagonal(), pairs.residuals(2.0))


def test_centres_do_not_collapse_onto_a_single_pair():
    rng = np.random.default_rng(0)
    b = rng.standard_normal((50, 5))
    a = b + rng.standard_normal((50, 5))
    a[0] = b[0] + 3.0  # noiseless, but of another shift
    centres = np.zeros((2, 5))
    factor = find_centres(a, b, 1.0, 1e-30, centres)
    shift = centres[0] - factor * centres[1]
    assert np.linalg.norm(shift) < 1.0
