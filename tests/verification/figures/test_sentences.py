"""The figure of verses matched between encoders."""

import pytest

from verification.cli.main import main
from verification.engine.tables import read_table
from verification.figures import sentences
from verification.figures.definition import CellRows
from verification.scenarios.side_by_side import REFERENCE


def test_sentences_are_matched_between_encoders(tmp_path):
    arguments = ["figures", "--profile", "smoke", "--only", "sentences", "--quiet", "--out", str(tmp_path)]
    assert main(arguments) == 0
    rows = read_table(tmp_path / "sentences.csv")
    scales = {row["data"]: row["scale"] for row in rows if row["method"] == REFERENCE}
    assert scales["KJV by L6, WEB by L3"] == pytest.approx(3.7, abs=0.5)
    assert scales["both by L6"] == pytest.approx(1.0, abs=0.2)
    assert all(row["recovered"] > 0.7 for row in rows)


def test_where_all_verses_are_matched_the_verses_are_the_cases():
    cell = next(cell for cell in sentences.STUDY.cells if cell.parameters["n"] == 2000)
    line = {"pairs": 2000, "scale": 3.5, "overlap": 1.0}
    rows = [
        {**line, "method": REFERENCE, "right": 1500, "gained": 0, "lost": 0},
        {**line, "method": "learned covariance", "right": 1990, "gained": 5, "lost": 495},
    ]
    tables = sentences.tabulate([CellRows(cell, rows)])
    shares = {row["method"]: row for row in tables[""]}
    learned = shares["learned covariance"]
    assert 0.99 < learned["recovered_low"] < learned["recovered"] == 0.995 < learned["recovered_high"] < 1
    (difference,) = tables["differences"]
    assert difference["difference"] == pytest.approx(-490 / 2000)
    assert difference["difference_low"] < -0.245 < difference["difference_high"] < -0.2
    # For these verses alone there is nothing left to draw.
    assert difference["difference_here_low"] == difference["difference_here_high"]
