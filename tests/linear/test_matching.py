import warnings

import numpy as np
import pytest

from lslmatch import AlignmentWarning, check_certificate
from lslmatch.given import Given
from lslmatch.linear.control import mix_objects
from lslmatch.linear.coordinates import principal_axes
from lslmatch.linear.matching import match_by_regression
from lslmatch.linear.record import costs_of


def planted(seed, n=40, m=40, d_x=6, d_y=4, noise=0.05):
    """Points of y with features of x that a linear map has mixed, in another order: x[i] is y[order[i]]."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(max(n, m), 4))
    x = features[:n] @ rng.normal(size=(4, d_x)) + noise * rng.normal(size=(n, d_x))
    order = rng.permutation(max(n, m))
    y = np.empty((max(n, m), d_y))
    y[order] = features @ rng.normal(size=(4, d_y)) + noise * rng.normal(size=(max(n, m), d_y))
    kept = np.sort(order[:n])[:m] if n >= m else np.arange(m)
    place = np.full(max(n, m), -1)
    place[kept] = np.arange(kept.size)
    return x, y[kept], place[order[:n]]


def given_pairs(order, count):
    rows = np.flatnonzero(order >= 0)[:count]
    return Given(np.stack([rows, order[rows]], axis=1))


@pytest.mark.parametrize(("n", "m", "count"), [(40, 40, 8), (30, 36, 8), (36, 30, 8)])
def test_known_pairs_lead_to_all_others_with_a_proof(n, m, count):
    x, y, order = planted([n, m], n, m)
    result = match_by_regression(x, 7.0 * y + 100.0, "isotropic", given_pairs(order, count), 1)
    right = (result.permutation == order)[order >= 0]
    assert right.mean() > 0.9
    assert check_certificate(x, 7.0 * y + 100.0, result) < 1e-9
    raised = result.row_dual + 0.01
    assert check_certificate(x, 7.0 * y + 100.0, result._replace(row_dual=raised)) > 0.005
    assert result.map.matrix.shape == (6, 4)
    pairs = result.pairs[right[result.pairs[:, 0]]] if right.size == n else result.pairs
    apart = x[pairs[:, 0]] - result.map.apply(7.0 * y + 100.0)[pairs[:, 1]]
    assert (apart**2).mean() < 0.5 * x.var()
    costs = costs_of(x, 7.0 * y + 100.0, result)
    assert costs[result.pairs[:, 0], result.pairs[:, 1]].sum() == pytest.approx(result.objective)
    assert "known pairs" in result.decisions[0]


def test_columns_that_correspond_are_a_start():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(30, 4)) * [1.0, 10.0, 0.1, 3.0]
    order = rng.permutation(30)
    mixed = x / x.std(axis=0) @ (np.eye(4) + 0.2 * rng.normal(size=(4, 4)))
    result = match_by_regression(x, mixed[np.argsort(order)], "isotropic", None, 1)
    assert (result.permutation == order).mean() > 0.9
    assert result.regression.start == "columns"
    assert check_certificate(x, mixed[np.argsort(order)], result) < 1e-9


def test_sets_that_are_not_related_are_not_confirmed():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(24, 3)), rng.normal(size=(24, 2))
    with pytest.warns(AlignmentWarning, match="not confirmed"):
        result = match_by_regression(x, y, "isotropic", None, 1)
    assert check_certificate(x, y, result) < 1e-9


def test_too_few_points_cannot_tell():
    x, y, order = planted(7, n=20, m=20, d_x=12, d_y=12, noise=0.0)
    with pytest.warns(AlignmentWarning, match=r"cannot tell .* 20 points are too few for 12|not confirmed"):
        match_by_regression(x, y, "isotropic", given_pairs(order, 5), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        match_by_regression(x, y, "isotropic", given_pairs(order, 10), 1)


def test_a_known_pair_that_does_not_fit_is_not_forced_on_the_map():
    x, y, order = planted(8)
    known = given_pairs(order, 10).known
    known[[0, 1], 1] = known[[1, 0], 1]
    result = match_by_regression(x, y, "isotropic", Given(known), 1)
    assert result.permutation[known[:, 0]].tolist() == known[:, 1].tolist()
    rest = np.setdiff1d(np.arange(40), known[:, 0])
    assert (result.permutation == order)[rest].mean() > 0.9
    weight = result.regression.weight[known[:, 0]]
    assert weight[:2].max() < 0.2 * np.median(weight[2:])


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (np.ones((3, 2)), np.ones((9, 2)), "needs at least 4 points in each set; got 3"),
        (np.ones((9, 2)), np.arange(18.0).reshape(9, 2), "x must have points that differ"),
        (np.arange(18.0).reshape(9, 2) * 1e200, np.arange(18.0).reshape(9, 2), "moderate units"),
    ],
)
def test_what_no_map_can_be_learned_from_is_refused(x, y, words):
    with pytest.raises(ValueError, match=words):
        match_by_regression(x, y, "isotropic", None, 1)
    with pytest.raises(ValueError, match="takes up to"):
        match_by_regression(np.empty((10**4, 1)), np.empty((10**4, 1)), "isotropic", None, 1)


def test_the_control_keeps_mean_and_covariance_and_mixes_objects():
    points = np.random.default_rng(9).normal(size=(30, 3)) + 5.0
    mixed = mix_objects(points)
    assert mixed.mean(axis=0) == pytest.approx(points.mean(axis=0))
    assert np.cov(mixed.T) == pytest.approx(np.cov(points.T))
    assert np.abs(mixed - points).max() > 0.1


def test_axes_have_no_more_coordinates_than_are_asked_for_or_there():
    points = np.outer(np.arange(9.0), [1.0, 2.0, 0.0])
    assert principal_axes(points, 5, False).basis.shape == (3, 1)
    assert principal_axes(points, 5, True).of(points).shape == (9, 1)
