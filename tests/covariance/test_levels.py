"""Noise levels of the columns: how they are learned from residuals, and what they are for."""

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, match
from lslmatch.choice.relearning import judge_by_levels
from lslmatch.covariance.fit import Aligned, fit_matching
from lslmatch.covariance.metric import column_units


def test_levels_are_those_of_the_columns_whatever_the_lengths_of_residuals():
    rng = np.random.default_rng(1)
    level = np.array([1.0, 1.0, 10.0, 0.1])
    lengths = 10.0 ** rng.uniform(-3, 3, (4000, 1))
    units = column_units(lengths * level * rng.normal(size=(4000, 4)))
    assert np.log(units).sum() == pytest.approx(0.0, abs=1e-9)
    # In units of a residual's own length a column that outweighs the others is one they all share.
    assert units[3] < 0.3 * units[0] < 0.1 * units[2]
    assert units[0] == pytest.approx(units[1], rel=0.1)


def test_levels_that_chance_explains_are_none_and_few_residuals_do_not_decide():
    rng = np.random.default_rng(2)
    spread = [np.ptp(np.log(column_units(rng.normal(size=(30, 5))))) for _ in range(40)]
    assert np.mean(np.equal(spread, 0.0)) > 0.2
    residuals = rng.normal(size=(6, 3)) * [1.0, 1.0, 0.0]  # all agree exactly in one column
    units = column_units(residuals)
    assert 0.01 < units[2] / units[0] < 0.7
    assert np.isfinite(column_units(np.zeros((4, 3)) + [1.0, 0.0, 0.0])).all()


def planted(seed=3, pairs=60, strangers=20):
    rng = np.random.default_rng(seed)
    level = np.repeat([0.05, 1.5], [5, 3])
    common = rng.normal(size=(pairs, 8))
    n = pairs + strangers
    return (
        np.vstack([common, rng.normal(size=(strangers, 8))]) + level * rng.normal(size=(n, 8))
        for _ in range(2)
    )


def test_a_metric_is_that_of_the_divided_columns_and_units_that_are_given_stay():
    x, y = planted(strangers=0)
    first = Aligned.at(x, y, Affine(1.0, np.zeros(8)))
    reference = np.arange(60)
    plain, found = (
        fit_matching(x, y, reference, first, False, "tyler", by_levels) for by_levels in (False, True)
    )
    assert plain.units is None
    units = column_units(x - y)
    assert found.units == pytest.approx(units)
    again = fit_matching(
        x / units, y / units, reference, first.at(x / units, y / units, first.affine), False, "tyler"
    )
    assert found.metric.ridge == pytest.approx(again.metric.ridge * 4.0 ** (again.exponent - found.exponent))
    given = Aligned.at(x, y, first.affine, np.ones(8))
    assert (fit_matching(x, y, reference, given, False, "tyler", True).units == 1.0).all()


def test_partners_are_found_under_levels_and_the_matching_is_certified():
    x, y = planted()
    base = match(x, y, alignment="robust")
    learned = match(x, y, alignment="robust", covariance="estimate")
    found = judge_by_levels(x, y, learned, base, True, 1)
    rows = found.partnership.accepted
    right = found.result.permutation[rows] == rows
    assert right.sum() >= 45
    assert right.mean() > 0.85
    assert found.result.covariance.units is not None
    assert check_certificate(x, y, found.result) < 1e-9
