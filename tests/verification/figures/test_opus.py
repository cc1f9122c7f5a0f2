"""The figure of OPUS-100, on vectors made here."""

import json

import numpy as np

from tests.verification.support import planted
from verification.cli.main import main
from verification.data import opus
from verification.engine.tables import read_table
from verification.scenarios.side_by_side import REFERENCE


def test_opus_runs_where_its_vectors_are(tmp_path, monkeypatch, capsys):
    arguments = [
        "figures",
        "--profile",
        "smoke",
        "--only",
        "opus",
        "--workers",
        "1",
        "--quiet",
        "--out",
        str(tmp_path),
    ]
    monkeypatch.setattr(opus, "FILE", tmp_path / "opus.npz")
    assert main(arguments) == 1
    assert "opus.npz is not there; make it with: python -m verification.data.opus" in capsys.readouterr().err
    foreign, english = planted(n=40, shift=0.0)
    pairs = {"english": english.astype(np.float16), "foreign": foreign.astype(np.float16)}
    opus.save_pairs(opus.FILE, dict.fromkeys(opus.LANGUAGES, pairs))
    assert main(arguments) == 0
    rows = read_table(tmp_path / "opus.csv")
    assert {row["data"] for row in rows} == {f"en-{language}" for language in opus.LANGUAGES}
    assert all(row["recovered"] == 1.0 for row in rows if row["method"] == REFERENCE)
    assert json.loads((tmp_path / "opus.json").read_text(encoding="utf-8"))["figure"] == "opus"
