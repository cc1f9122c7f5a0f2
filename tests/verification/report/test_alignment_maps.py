"""The report's two heat maps come from the committed tables."""

import json
import re

import pytest

from verification.engine.tables import table_to_csv
from verification.report import alignment_maps
from verification.report.page import Record, write


@pytest.fixture
def comparison(tmp_path):
    """Tables like those of the figure "comparison", of some methods."""

    def make(*methods):
        cells = [
            {
                "n": 24.0,
                "d": 4.0,
                "R": root,
                "separation": kappa,
                "method": method,
                "trials": 7,
                "recovered": share / k,
            }
            for root, kappa, share in ((1.0, 2.0, 0.25), (1.0, 5.0, 1.0), (6.0, 2.0, 0.0), (6.0, 5.0, 0.75))
            for k, method in enumerate(methods, 1)
        ]
        curves = [{"R": root, "noise_floor": 2.5, "predicted": 2.5 + root / 6} for root in (1.0, 6.0)]
        (tmp_path / "comparison.csv").write_text(table_to_csv(cells))
        (tmp_path / "comparison-curves.csv").write_text(table_to_csv(curves))
        (tmp_path / "comparison.json").write_text(
            json.dumps({"profile": "smoke", "seed": 11, "revision": "0123456789abcdef"})
        )
        return tmp_path

    return make


def test_the_report_shows_both_heat_maps_and_says_that_they_are_not_of_this_run(
    comparison, tmp_path, monkeypatch
):
    shown = alignment_maps.load(comparison("standardize", "profile"))
    monkeypatch.setattr(alignment_maps, "load", lambda: shown)
    write(Record([], [], "smoke", 1, 0.0, "1 local", {}), tmp_path / "out")
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    figure = html[html.index('<figure class="wide">') :]
    assert figure.index("after standardising") < figure.index("at the scale of the profile likelihood")
    caption = figure[figure.index("<figcaption>") : figure.index("</figcaption>")]
    assert "Not from this run" in caption
    assert "docs/figures/comparison.csv" in caption
    assert "smoke profile, n = 24, d = 4, 7 trials a cell" in caption
    assert "seed 11, revision <code>0123456789</code>" in caption
    links = [link for link in re.findall(r"""href=["']([^"']+)""", figure) if not link.startswith("#")]
    # Two maps beside each other, and the same below each other for a phone.
    assert len(set(links)) == len(links) == 4
    assert figure.index('class="roomy"') < figure.index('class="narrow"')
    assert all(link.startswith("data:image/png;base64,") for link in links)


def test_a_report_without_both_tables_has_no_heat_maps(comparison, tmp_path, monkeypatch):
    assert alignment_maps.load(tmp_path / "nowhere") is None
    assert alignment_maps.load(comparison("standardize")) is None
    monkeypatch.setattr(alignment_maps, "load", lambda: None)
    write(Record([], [], "smoke", 1, 0.0, "1 local", {}), tmp_path / "out")
    assert "heat maps" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
