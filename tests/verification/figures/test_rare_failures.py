"""How rare failures are, beside what Theorem 2 allows."""

import math

import pytest

from tests.verification.support import run_cells
from verification.figures import rare_failures
from verification.figures.rare_failures import FIGURES, STUDY


def test_trials_become_probabilities_and_a_picture():
    names = ["lsl n=8 kappa=4", "lss n=8 kappa=4", "lsl n=8 kappa=8"]
    tables, _ = run_cells(STUDY, FIGURES[0], names)
    assert [row["objective"] for row in tables[""]] == ["lsl", "lsl", "lss"]
    assert all(0 <= row["probability"] < 10 for row in tables[""])
    assert tables["thresholds"] == []  # no cell with many points


def test_thresholds_and_slopes_are_found_again():
    rows = [{"separation": k, "probability": math.exp(1 - k**2 / 3)} for k in range(3, 12)]
    found = rare_failures._thresholds(rows)
    assert [row["delta"] for row in found] == list(rare_failures._DELTAS)
    for row in found:
        assert row["enough"] ** 2 == pytest.approx(3 * (1 - math.log(4 * row["delta"])))
    assert rare_failures.slope(found, "enough") == pytest.approx(3)
