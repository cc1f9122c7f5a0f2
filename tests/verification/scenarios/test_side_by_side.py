"""Methods side by side: which pairs each of them gets right."""

import numpy as np
import pytest

import lslmatch
from lslmatch import match
from tests.verification.support import planted
from verification.scenarios import side_by_side
from verification.scenarios.recovery import UncertifiedError
from verification.scenarios.side_by_side import METHODS, REFERENCE


def test_only_alignment_recovers_pairs_with_a_scale_and_a_shift():
    rows = {row["method"]: row for row in side_by_side.compare(*planted(), np.random.default_rng(0))}
    assert list(rows) == list(METHODS)
    assert rows[REFERENCE]["right"] == rows[REFERENCE]["pairs"] == 20
    assert rows[REFERENCE]["scale"] == pytest.approx(3.0, rel=0.01)
    assert rows["plain LSL"]["right"] < 20
    assert rows["least squares"]["right"] == 20


def test_gains_and_losses_add_up_to_the_difference():
    rows = side_by_side.compare(*planted(noise=0.5), np.random.default_rng(0))
    best = next(row for row in rows if row["method"] == REFERENCE)
    assert 0 < best["right"] < 20
    for row in rows:
        assert best["right"] - row["right"] == row["gained"] - row["lost"]


def test_a_wrong_certificate_of_least_squares_is_found_out(monkeypatch):
    x, y = planted()
    method = METHODS["least squares"]
    side_by_side.run_method(method, x, y)
    genuine = match(x, y, objective="lss", alignment="identity")
    for wrong in (
        genuine._replace(row_dual=genuine.row_dual + 1e-3),
        genuine._replace(permutation=np.roll(genuine.permutation, 1)),
        genuine._replace(row_dual=None),
    ):
        monkeypatch.setattr(lslmatch, "match", lambda *data, wrong=wrong, **options: wrong)
        with pytest.raises(UncertifiedError):
            side_by_side.run_method(method, x, y)


@pytest.mark.filterwarnings("ignore::lslmatch.AlignmentWarning")
def test_the_learned_covariance_recovers_what_a_strong_direction_spoils():
    rng = np.random.default_rng(6)
    x, y = planted(n=60, d=6, noise=0.03)
    # Every spectrum has a baseline of its own: the same direction, any amount.
    baseline = rng.standard_normal((60, 1)) * rng.standard_normal(6)
    rows = {row["method"]: row for row in side_by_side.compare(x + 9 * baseline, y, np.random.default_rng(0))}
    assert rows[REFERENCE]["right"] < 40
    for name in ("learned covariance", "learned or isotropic"):
        assert rows[name]["right"] >= 55
        assert rows[name]["lost"] - rows[name]["gained"] == rows[name]["right"] - rows[REFERENCE]["right"]


def test_a_further_method_leaves_the_draws_of_the_others_alone(monkeypatch):
    def counts():
        rng = np.random.default_rng(0)
        rows = [row for _ in range(2) for row in side_by_side.compare(*planted(noise=0.5), rng)]
        return [row for row in rows if row["method"] in fewer]

    fewer = {name: METHODS[name] for name in list(METHODS)[:4]}
    every = counts()
    monkeypatch.setattr(side_by_side, "METHODS", fewer)
    assert counts() == every
