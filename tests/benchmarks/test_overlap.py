"""Counting how far searches could run at the same time."""

import numpy as np
import pytest

from lslmatch import match
from lslmatch.assignment import settings
from tests.benchmarks import overlap


def test_searches_that_meet_are_counted_twice():
    apart = [np.array([0, 1]), np.array([2, 3]), np.array([4]), np.array([5, 6, 7])]
    assert overlap.speed_up(apart, 1) == 1.0
    assert overlap.speed_up(apart, 2) == pytest.approx(8 / 5)
    assert overlap.speed_up(apart, 4) == pytest.approx(8 / 3)
    assert overlap.speed_up([np.array([0, 1]), np.array([1, 2])], 2) == 1.0
    assert overlap.speed_up([np.array([0]), np.array([0, 1, 2])], 2) == pytest.approx(4 / 6)


def test_every_search_tells_which_rows_it_has_changed(monkeypatch):
    never_dense = settings.DEFAULT._replace(matrix_pairs=0, dense_pairs=0, sweeps=1, few_free=0.0)
    monkeypatch.setattr(settings, "DEFAULT", never_dense)
    x, y = np.random.default_rng(3).normal(size=(2, 60, 2))
    sets = overlap.changed_rows(x, y)
    assert sets
    assert all(0 < rows.size <= 60 for rows in sets)
    assert match(x, y).row_dual is not None
