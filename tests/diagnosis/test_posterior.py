"""Confidences with a noise that is learned: the expected share of right pairs is near the true one."""

import warnings

import numpy as np
import pytest

from lslmatch import ColumnScaleWarning, diagnose, match
from lslmatch.diagnosis.confidence import pair_probabilities
from lslmatch.diagnosis.judging import _optimum
from lslmatch.diagnosis.posterior import _DEGREES, _learn, pair_posteriors
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.reference import SMALL

N = 24 if SMALL else 60


def people(kind, seed):
    """Draw two tables of the same people, with an error of 5 % of each column's spread, and the truth."""
    rng = np.random.default_rng([seed, 28])
    spread, centre = np.array([10.0, 14.0, 16.0]), np.array([170.0, 75.0, 45.0])
    table = centre + spread * (rng.normal(size=(N, 3)) @ [[1.0, 0.5, 0.0], [0.0, 0.9, 0.3], [0.0, 0.0, 1.0]])
    x, y = (table + 0.05 * spread * rng.normal(size=table.shape) for _ in range(2))
    if kind == "income":
        income = np.exp(rng.normal(10.4, 0.6, N))
        x, y = (np.c_[part, income * np.exp(0.05 * rng.normal(size=N))] for part in (x, y))
    elif kind == "time of entry":
        x, y = (np.c_[part, 1.7e9 + rng.uniform(0, 3e7, N)] for part in (x, y))
    elif kind == "unrelated":
        x, y = (np.c_[part, 20.0 * rng.normal(size=N)] for part in (x, y))
    elif kind == "inches and pounds":
        y = y / [2.54, 0.4536, 1.0]
    elif kind == "two columns":
        x, y = x[:, :2], y[:, :2]
    order = rng.permutation(N)
    return x, y[order], np.argsort(order)


@pytest.mark.parametrize(
    "kind", ["as it is", "income", "time of entry", "unrelated", "inches and pounds", "two columns"]
)
def test_the_expected_share_is_near_the_true_one_for_tables_of_people(kind):
    right, expected, by_objective = [], [], []
    for seed in range(3 if SMALL else 5):
        x, y, truth = people(kind, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ColumnScaleWarning)
            result = match(x, y)
        right.append(np.mean(result.permutation == truth))
        expected.append(diagnose(x, y, result).expected_right)
        optimum = _optimum((x, y, result), common_coordinates(x, y, result.affine), result, False)[0]
        by_objective.append(pair_probabilities(optimum, x.shape[1] / 2.0).mean())
    assert np.mean(expected) == pytest.approx(np.mean(right), abs=0.15 if SMALL else 0.1)
    if kind in {"income", "time of entry"}:  # where one column outweighs all, the objective believes it
        assert np.mean(by_objective) > np.mean(right) + 0.25


@pytest.mark.parametrize("degrees", [1.0, np.inf])
def test_variances_and_degrees_of_freedom_are_found(degrees):
    rng = np.random.default_rng(3)
    variance = np.array([1.0, 4.0, 0.25])
    level = 1.0 if np.isinf(degrees) else degrees / rng.chisquare(degrees, (900, 1))
    squares = level * variance * rng.normal(size=(900, 3)) ** 2
    found = _learn(squares, np.ones(900), np.ones(3), np.full(3, 1e-20))
    assert found.degrees == degrees
    assert found.variance == pytest.approx(variance, rel=0.2)
    # Weights count as so many pairs do.
    twice = _learn(np.vstack([squares, squares + 9.0]), np.repeat([1.0, 0.0], 900), np.ones(3), np.zeros(3))
    assert twice.variance == pytest.approx(found.variance, rel=1e-6)
    assert set(_DEGREES) > {1.0, 2.0, np.inf}


def confidences(x, y):
    geometry = common_coordinates(x, y, match(x, y, alignment="identity").affine)
    return pair_posteriors(geometry, np.arange(len(x)), 1.0)


def test_a_direction_without_features_tells_nothing():
    rng = np.random.default_rng(5)
    point, noise = rng.normal(size=(N, 1)), rng.normal(size=(2, N, 6))
    noise[:, :, 0] *= 0.01
    line = confidences(point + noise[0, :, :1], point + noise[1, :, :1]).mean()
    # Five more columns, which hold noise alone.
    x, y = (np.hstack([point + part[:, :1], part[:, 1:]]) for part in noise)
    assert confidences(x, y).mean() == pytest.approx(line, abs=0.1)
    others = rng.normal(size=(N, 5))  # and features beside it
    x, y = (np.hstack([point + part[:, :1], others + 0.1 * part[:, 1:]]) for part in noise)
    assert confidences(x, y).mean() > 0.99


def test_points_that_repeat_are_told_apart_by_nothing():
    x = np.random.default_rng(1).normal(size=(12, 3))
    x[1] = x[0]
    for noise in (0.0, 1e-9):
        found = confidences(x, x + noise * np.random.default_rng(2).normal(size=x.shape))
        np.testing.assert_allclose(found, np.repeat([0.5, 1.0], [2, 10]), atol=0.15 if noise else 1e-6)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e150])
@pytest.mark.parametrize("fill", [None, 1e20])
def test_units_and_fills_do_not_matter(size, fill):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(20, 3))
    y = x + 0.01 * rng.normal(size=x.shape)
    if fill is not None:
        x[3, 1] = y[3, 1] = fill
    x, y = size * x, size * y
    assert confidences(x, y).min() > 0.9
    assert confidences(x, y[np.roll(np.arange(20), 1)]).mean() < 0.3  # the wrong pairs


def test_free_points_are_allowed_for():
    rng = np.random.default_rng(6)
    y = rng.normal(size=(40, 2))
    x = y[:12] + 0.15 * rng.normal(size=(12, 2))
    result = match(x, y, alignment="identity")
    right = np.mean(result.permutation == np.arange(12))
    found = diagnose(x, y, result)
    assert 0.2 < right < 0.95
    assert found.expected_right == pytest.approx(right, abs=0.25)
    other = match(y, x, alignment="identity")
    assert diagnose(y, x, other).expected_right == pytest.approx(found.expected_right, abs=0.02)
