"""The figure of verses matched between encoders."""

import pytest

from verification.cli.main import main
from verification.engine.tables import read_table
from verification.scenarios.side_by_side import REFERENCE


def test_sentences_are_matched_between_encoders(tmp_path):
    arguments = ["figures", "--profile", "smoke", "--only", "sentences", "--quiet", "--out", str(tmp_path)]
    assert main(arguments) == 0
    rows = read_table(tmp_path / "sentences.csv")
    scales = {row["data"]: row["scale"] for row in rows if row["method"] == REFERENCE}
    assert scales["KJV by L6, WEB by L3"] == pytest.approx(3.7, abs=0.5)
    assert scales["both by L6"] == pytest.approx(1.0, abs=0.2)
    assert all(row["recovered"] > 0.7 for row in rows)
