"""How far away outliers must be: unknown noise levels ask for more than known ones."""

import pytest
from numpy.random import default_rng

from verification.figures import outliers_2022
from verification.figures.definition import CellRows
from verification.style import draw_figure


def lines(panel, method, power):
    return [
        {"panel": panel, "d": d, "method": method, "enough": e, "enough_low": 0.9 * e, "enough_high": 1.1 * e}
        for d in (16, 64, 256)
        for e in (d**power,)
    ]


def test_the_power_of_the_dimension_is_found():
    found = outliers_2022._slopes(lines(outliers_2022.QUIET, outliers_2022.LSL, 0.4))
    (row,) = found
    assert row["power"] == pytest.approx(0.4)
    assert row["power_low"] < 0.4 < row["power_high"]


def test_quiet_outliers_must_be_further_away_if_noise_is_unknown(monkeypatch):
    methods = {name: outliers_2022.METHODS[name] for name in (outliers_2022.LSL, outliers_2022.LSNS)}
    monkeypatch.setattr(outliers_2022, "METHODS", methods)
    cells = [cell for cell in outliers_2022.STUDY.cells if cell.parameters["d"] in (16, 256)]
    found = [
        [row for seed in (1, 2, 3) for row in outliers_2022.trial(cell.parameters, default_rng(seed))]
        for cell in cells
    ]
    tables = outliers_2022.tabulate([*map(CellRows, cells, found)])
    enough = {(row["panel"], row["d"], row["method"]): row["enough"] for row in tables[""]}
    quiet, loud = outliers_2022.QUIET, outliers_2022.LOUD
    assert enough[quiet, 256, outliers_2022.LSL] > 1.5 * enough[quiet, 256, outliers_2022.LSNS]
    # With equal noise there is nothing to know.
    known = enough[loud, 256, outliers_2022.LSNS]
    assert enough[loud, 256, outliers_2022.LSL] == pytest.approx(known, rel=0.2)
    growth = {
        panel: enough[panel, 256, outliers_2022.LSL] / enough[panel, 16, outliers_2022.LSL]
        for panel in (quiet, loud)
    }
    assert growth[quiet] > 1.3 * growth[loud]
    (figure,) = outliers_2022.FIGURES
    assert len(draw_figure(lambda sheet: figure.draw(sheet, tables), figure.size).axes) == 3
