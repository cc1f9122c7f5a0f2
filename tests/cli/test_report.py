"""``lslmatch match --report``: the page is written, and says how to repeat the match."""

import json
import re

import numpy as np
import pytest

from lslmatch.cli.main import main


@pytest.fixture
def files(points, tmp_path):
    """Two CSV files with names of columns, in another order, and of rows."""
    for name, values, order in zip("xy", points, ([0, 1, 2], [2, 0, 1]), strict=True):
        header = ",".join(["sample", *np.array(["a", "b<i>", "c"])[order]])
        lines = [f"{name}{k}," + ",".join(map(repr, row[order].tolist())) for k, row in enumerate(values)]
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]))
    return [str(tmp_path / f"{name}.csv") for name in "xy"]


def page_data(path):
    page = path.read_text(encoding="utf-8")
    return page, json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1])


def test_report_is_written_with_names_and_the_command(files, tmp_path, capsys):
    target = tmp_path / "the match.html"
    assert main(["match", *files, "--id", "sample", "--report", str(target)]) == 0
    assert f"report   {target}" in capsys.readouterr().out
    page, data = page_data(target)
    assert data["columns"] == ["a", "b<i>", "c"]
    assert data["xLabel"][:2] == ["x0", "x1"]
    assert "24 pairs" in page
    assert "standard error" in page
    assert f"--id sample --report &#x27;{target}&#x27;</code>" in page
    assert "Proven by dual variables" in page


def test_without_check_the_page_says_so(saved, tmp_path):
    target = tmp_path / "match.html"
    assert main(["match", *saved, "--no-check", "--quiet", "--report", str(target)]) == 0
    page, data = page_data(target)
    assert "The certificate was not checked." in page
    assert "was not estimated" in page
    assert data["confidence"] is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("match.txt", "match.txt: the suffix of the output must be .html"),
        ("missing/match.html", "does not exist"),
        ("-", "--report needs the name of a file; '-' is for --out"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_read(name, said, tmp_path, capsys):
    target = name if name == "-" else str(tmp_path / name)
    assert main(["match", "no.csv", "no.npy", "--report", target]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
