"""The figure of the margins: its areas, its curves, and scores that must not tell anything."""

import numpy as np
import pytest

from verification.figures import margins
from verification.figures.definition import CellRows


def made_up(signal, trials=12, pairs=200):
    """Trials whose pairs are right with a known probability; the scores tell it, or nothing."""
    rng = np.random.default_rng(0)
    cells = []
    for d in (2, 10):
        rows = []
        for _ in range(trials):
            probability = rng.random(pairs)
            right = rng.random(pairs) < probability
            told = probability if signal else rng.random(pairs)
            odds = np.log(told / (1 - told)) / (d / 2)
            scores = {"bound": odds, "exact": odds, "confidence": told, "shuffled": rng.permutation(odds)}
            rows.append({"right": right.tolist(), **{name: s.tolist() for name, s in scores.items()}})
        parameters = {"family": "gaussian", "n": pairs, "d": d, "noise_ratio": 1.0, "separation": 1.0}
        cells.append(CellRows(margins.STUDY.cells[0]._replace(parameters=parameters), rows))
    return margins.tabulate(cells)


def test_true_probabilities_are_found_calibrated():
    tables = made_up(signal=True)
    for row in tables["reliability"]:
        assert row["right_low"] - 0.05 < row["predicted"] < row["right_high"] + 0.05
    for row in tables["calibration"]:
        assert row["slope_here"] == pytest.approx(1, abs=0.15)
        assert row["intercept_here"] == pytest.approx(0, abs=0.15)
        assert row["brier_confidence"] == pytest.approx(1 / 6, abs=0.01)
        assert row["brier_constant"] == pytest.approx(1 / 4, abs=0.01)
    for row in tables[""]:
        # Right pairs have the density 2 p, wrong ones 2 (1 - p).
        assert row["exact"] == pytest.approx(5 / 6, abs=0.02)
        assert row["shuffled_low"] - 0.02 < 0.5 < row["shuffled_high"] + 0.02


def test_scores_that_tell_nothing_are_exposed():
    tables = made_up(signal=False)
    for row in tables[""]:
        assert row["exact"] == pytest.approx(0.5, abs=0.03)
    for row in tables["calibration"]:
        assert row["slope_here"] == pytest.approx(0, abs=0.1)
        assert row["brier_confidence_low"] > row["brier_constant_high"]
    sure = [row for row in tables["reliability"] if row["method"] == "confidence" and row["predicted"] > 0.9]
    assert sure
    assert all(row["right_high"] < 0.7 for row in sure)


def test_the_curve_goes_through_ties_in_a_straight_line():
    right = np.array([True] * 50 + [False] * 50)
    row = {"right": right, **dict.fromkeys(margins.SCORES, np.zeros(100))}
    for line in margins._roc([row, row]):
        assert line["found"] == pytest.approx(line["suspected"])
    assert margins._area(np.zeros(100), right) == 0.5
