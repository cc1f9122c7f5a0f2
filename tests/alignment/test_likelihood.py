"""Residuals of pairs as functions of the scale, and lists of them: against their definitions."""

import math

import numpy as np
import pytest

from lslmatch.alignment.likelihood import CandidateResiduals, MatchedResiduals
from tests.support.alignment import draw


def test_a_pair_alone_gains_nothing_by_coming_close():
    b = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    a = 1.1 * b + np.array([[0.0, 1e-9], [0.3, 0.0], [0.4, -0.4]])
    close = MatchedResiduals.of(a, b, 1e-30).value(1.1)
    a[0, 1] = 1e-12
    assert MatchedResiduals.of(a, b, 1e-30).value(1.1) == pytest.approx(close, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_refining_ends_where_the_value_is_stationary(seed):
    x, y = draw(40, 40, 4, seed)
    pairs = MatchedResiduals.of(x - x.mean(axis=0), y - y.mean(axis=0), 1e-30)
    factor = pairs.refine(2.0)
    step = 1e-5 * factor
    assert pairs.value(factor) <= pairs.value(2.0)
    assert pairs.value(factor) <= min(pairs.value(factor - step), pairs.value(factor + step)) + 1e-9


def test_residuals_are_those_of_the_pairs():
    x, y = draw(6, 6, 3)
    squares = ((x[:, None] - 1.7 * y) ** 2).sum(axis=-1)
    np.testing.assert_allclose(MatchedResiduals.of(x, y, 0.0).residuals(1.7), np.diag(squares))
    np.testing.assert_allclose(MatchedResiduals.all_of(x, y, 0.0).residuals(1.7), squares)
    np.testing.assert_allclose(MatchedResiduals.all_of(x, y, 0.0).costs(1.7), np.log(squares))


def test_a_point_that_underflow_takes_to_the_centre_says_nothing_about_the_scale():
    a = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    b = np.array([[1.0, 0.1], [0.1, 1.0], [1e-170, 0.0]])
    others, pairs = MatchedResiduals.of(a[:2], b[:2], 1e-30), MatchedResiduals.of(a, b, 1e-30)
    np.testing.assert_allclose(pairs.residuals(2.0), [1.04, 1.04, 0.5])
    assert pairs.values(np.array([1.0, 2.0])) @ [1.0, -1.0] == pytest.approx(
        others.values(np.array([1.0, 2.0])) @ [1.0, -1.0] + np.log(2.0)
    )
    np.testing.assert_allclose(
        MatchedResiduals.all_of(a, b, 1e-30).residuals(2.0).diagonal(), pairs.residuals(2.0)
    )


@pytest.mark.parametrize("factor", [0.3, 1.0, 2.5])
def test_the_value_is_that_of_the_formula(factor):
    a, b = draw(9, 9, 3)
    squares = [
        sum((p - factor * q) ** 2 for p, q in zip(*pair, strict=True)) for pair in zip(a, b, strict=True)
    ]
    information = sum(sum(q * q for q in row) / square for row, square in zip(b, squares, strict=True))
    expected = sum(map(math.log, squares)) - 9 * math.log(factor) + math.log(information)
    assert MatchedResiduals.of(a, b, 0.0).value(factor) == pytest.approx(expected, rel=1e-12)


def test_some_of_the_pairs_have_the_value_that_they_have_alone():
    a, b = draw(9, 9, 3)
    rows = np.array([7, 2, 3])
    assert MatchedResiduals.of(a, b, 0.0).part(rows).value(1.7) == MatchedResiduals.of(
        a[rows], b[rows], 0.0
    ).value(1.7)


def test_residuals_are_not_below_the_floor():
    b = np.array([[1.0, 2.0], [3.0, -1.0]])
    residuals = MatchedResiduals.of(2.0 * b + [[0.0, 0.0], [0.0, 0.5]], b, 1e-3).residuals(2.0)
    np.testing.assert_allclose(residuals, [1e-3, 0.25])


WINDOW = (0.5, 4.0)


def all_priced(a, b, col_dual, factor):
    """Squared residuals of all pairs times the price of their column, up to a common factor."""
    return ((a[:, None] - factor * b) ** 2).sum(axis=-1) * np.exp(-col_dual)


@pytest.mark.parametrize(("n", "m", "d"), [(8, 8, 1), (10, 20, 3), (20, 10, 3)])
@pytest.mark.parametrize("factor", [0.5, 1.9, 4.0])
def test_lists_that_hold_all_pairs_give_the_best_of_them(n, m, d, factor):
    a, b = draw(n, m, d)
    col_dual = np.random.default_rng(1).normal(size=m)
    lists = CandidateResiduals.of(a, b, col_dual, WINDOW, 1e-30)
    priced = all_priced(a, b, col_dual, factor)
    best = priced.argmin(axis=1)
    np.testing.assert_array_equal(lists.best(factor), best)
    # Prices are those of the column duals up to the greatest of them.
    costs = np.log(priced.min(axis=1)) + col_dual.max()
    residuals = ((a - factor * b[best]) ** 2).sum(axis=1)
    information = ((b[best] ** 2).sum(axis=1) / residuals).sum()
    expected = costs.sum() - n * math.log(factor) + math.log(information + 5.0)
    np.testing.assert_allclose(lists.bounds(np.array([factor]), 5.0), [expected], rtol=1e-11)


def test_lists_hold_the_pairs_that_are_cheapest_where_they_are_closest():
    a, b = draw(6, 90, 3)
    col_dual = np.random.default_rng(1).normal(size=90)
    lists = CandidateResiduals.of(a, b, col_dual, WINDOW, 1e-30)
    closest = np.clip((a @ b.T) / (b**2).sum(axis=1), *WINDOW)
    squares = ((a[:, None] - closest[..., None] * b) ** 2).sum(axis=-1)
    order = np.argsort(squares * np.exp(-col_dual), axis=1)
    size = lists.cols.shape[1]
    assert size < 90
    np.testing.assert_array_equal(lists.cols, order[:, :size])


@pytest.mark.parametrize("seed", range(4))
def test_lists_hold_them_whatever_their_order_was(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((3, 2)), rng.standard_normal((400, 2))
    lists = CandidateResiduals.of(a, b, np.zeros(400), (1.0, 1.0), 1e-30)
    squares = ((a[:, None] - b) ** 2).sum(axis=-1)
    np.testing.assert_array_equal(lists.cols, np.argsort(squares, axis=1)[:, : lists.cols.shape[1]])


def test_heights_are_not_negative():
    b = np.random.default_rng(0).standard_normal((30, 3))
    assert MatchedResiduals.all_of(0.1 * b, b, 0.0).height.min() >= 0.0


def test_proposals_are_where_the_most_promising_pairs_are_closest():
    a, b = draw(6, 90, 3)
    lists = CandidateResiduals.of(a, b, np.zeros(90), WINDOW, 1e-30)
    closest = np.take_along_axis((a @ b.T) / (b**2).sum(axis=1), lists.cols, axis=1)
    proposed = lists.proposals(*WINDOW)
    assert ((WINDOW[0] < proposed) & (proposed < WINDOW[1])).all()
    first = closest[:, 0]
    inside = first[(WINDOW[0] < first) & (first < WINDOW[1])]
    assert inside.size > 0
    for value in inside:
        assert np.isclose(proposed, value, rtol=1e-12).any()


def test_a_set_in_one_place_leaves_the_factor_alone():
    pairs = MatchedResiduals.of(np.random.default_rng(0).standard_normal((6, 3)), np.zeros((6, 3)), 1e-30)
    assert pairs.refine(1.7) == 1.7
    assert np.isfinite(pairs.value(1.7))


@pytest.mark.parametrize("size", [1.0, 0.02])
def test_refining_takes_the_root_of_the_weighted_squares(size):
    a, b = draw(12, 12, 4)
    b *= size
    pairs, factor = MatchedResiduals.of(a, b, 0.0), 1.4
    for _ in range(200):
        residuals = ((a - factor * b) ** 2).sum(axis=1)
        information = (b**2).sum(axis=1) / residuals
        weights = (1.0 - information / information.sum()) / residuals
        square, product = weights @ (b**2).sum(axis=1), weights @ (a * b).sum(axis=1)
        factor = max(np.roots([square, -product, -6.0]))
    assert pairs.refine(1.4) == pytest.approx(factor, rel=1e-10)
