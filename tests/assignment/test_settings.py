"""Settings of the streamed solver: looked up at every call unless they are given."""

import numpy as np
import pytest

from lslmatch import Affine
from lslmatch.assignment import settings, streamed
from lslmatch.assignment.solve import assign_points
from lslmatch.costs import log_rule
from lslmatch.geometry.coordinates import common_coordinates
from tests.support.solver import set_solver


def test_changes_hold_until_they_are_undone(monkeypatch):
    before = settings.DEFAULT
    with monkeypatch.context() as patch:
        set_solver(patch, list_size=2)
        set_solver(patch, sweeps=1)
        assert settings.or_default(None) == before._replace(list_size=2, sweeps=1)
        assert settings.or_default(before) is before
    assert settings.or_default(None) is before


def test_unknown_settings_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="unexpected field names"):
        set_solver(monkeypatch, lists=2)


@pytest.mark.parametrize("given", [False, True])
def test_they_decide_which_solver_runs(given, monkeypatch):
    calls = []
    dense = streamed.solve_dense
    monkeypatch.setattr(streamed, "solve_dense", lambda cost: calls.append(cost.shape) or dense(cost))
    x, y = np.random.default_rng(1).normal(size=(2, 9, 2))
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(2)))
    as_usual = assign_points(geometry, log_rule(geometry))
    assert calls == [(9, 9)]
    never_dense = settings.DEFAULT._replace(dense_pairs=0)
    if not given:
        set_solver(monkeypatch, dense_pairs=0)
    found = assign_points(geometry, log_rule(geometry), settings=never_dense if given else None)
    assert calls == [(9, 9)]
    assert found.objective == pytest.approx(as_usual.objective, rel=1e-12)
