from pathlib import Path

import numpy as np
import pytest

from verification.engine.samples import Samples
from verification.figures import making, tools
from verification.scenarios import other_tools
from verification.scenarios.other_tools import Task

PLANTED = [name for name in tools.SITUATIONS if " by two " not in name]


@pytest.mark.parametrize("situation", PLANTED)
def test_partners_are_nearest_once_the_truth_is_known(situation):
    task = tools.draw_task(situation, np.random.default_rng(5))
    rows = np.flatnonzero(task.partner >= 0)
    assert set(task.known) <= set(rows)
    assert len(set(task.partner[rows])) == len(rows)
    # A linear map that is fitted to the true pairs leaves less than one fitted to shuffled pairs.
    left = []
    for cols in (task.partner[rows], np.roll(task.partner[rows], 1)):
        y = np.column_stack([task.y[cols], np.ones(len(rows))])
        left.append(np.square(task.x[rows] - y @ np.linalg.lstsq(y, task.x[rows])[0]).sum())
    assert left[0] < 0.8 * left[1]


def test_a_fifth_has_no_partner_in_one_situation_only():
    without = {name: (tools.draw_task(name, np.random.default_rng(6)).partner < 0).mean() for name in PLANTED}
    assert without.pop("a fifth without a partner") == pytest.approx(0.2)
    assert set(without.values()) == {0.0}


@pytest.fixture
def task():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(30, 3))
    return Task(x, 2.0 * x[::-1] + 1.0, np.arange(30)[::-1], np.arange(8))


@pytest.mark.parametrize(
    "tool", [other_tools.nearest, other_tools.least_squares, other_tools.paper, other_tools.automatic]
)
def test_tools_find_pairs_without_noise(task, tool):
    assert tool(task).tolist() == task.partner.tolist()


@pytest.mark.parametrize(
    ("tool", "module"),
    [
        (other_tools.gromov_wasserstein, "ot"),
        (other_tools.coherent_point_drift, "pycpd"),
        (other_tools.canonical_correlation, "sklearn"),
    ],
)
def test_tools_of_the_extra_find_pairs_without_noise(task, tool, module):
    pytest.importorskip(module)
    assert (tool(task) == task.partner).mean() > 0.9


def test_shares_count_what_is_not_known_and_wrong_pairs(task, monkeypatch, tmp_path):
    half = np.where(np.arange(30) % 2, task.partner, -1)
    shifted = np.roll(task.partner, 1)
    monkeypatch.setattr(tools, "TOOLS", {"half": lambda _: half, "wrong": lambda _: shifted})
    monkeypatch.setattr(tools, "draw_task", lambda *_: task)
    rows = {row["tool"]: row for row in tools.trial({"situation": ""}, np.random.default_rng(0))}
    assert (rows["half"]["recovered"], rows["half"]["false"]) == (0.5, 0.0)
    assert (rows["wrong"]["recovered"], rows["wrong"]["false"]) == (0.0, 1.0)
    figure, _ = tools.FIGURES
    samples = {}
    for cell in figure.study.cells:
        samples[cell.name] = Samples()
        samples[cell.name].add(list(rows.values()))
    making.write(figure, samples, {}, tmp_path)
    assert len(making.read_tables(figure, tmp_path)[""]) == 2 * len(tools.SITUATIONS)
    assert (tmp_path / "tools.png").is_file()


def test_tables_of_the_page_are_those_of_the_stored_run():
    docs = Path(__file__).parents[3] / "docs"
    figure, _ = tools.FIGURES
    rows = making.read_tables(figure, docs / "figures")[""]
    page = (docs / "which-tool.md").read_text(encoding="utf-8")
    assert tools.page_table(rows, "recovered") in page
    assert tools.page_table(rows, "false") in page


def test_tables_of_columns_with_units_are_those_of_the_stored_run():
    docs = Path(__file__).parents[3] / "docs"
    _, figure = tools.FIGURES
    rows = making.read_tables(figure, docs / "figures")[""]
    page = (docs / "which-tool.md").read_text(encoding="utf-8")
    assert tools.page_table(rows, "recovered") in page
    assert tools.page_table(rows, "false") in page


@pytest.mark.parametrize("situation", tools.UNITS)
def test_other_tools_get_columns_that_are_standardised(situation):
    task = tools.draw_task(situation, np.random.default_rng(8))
    fair = tools.standardised(task)
    for points in (fair.x, fair.y):
        np.testing.assert_allclose(points.std(axis=0), 1.0)
    assert task.x.std(axis=0).max() > 50 * task.x.std(axis=0).min()
    assert (other_tools.least_squares(fair) == task.partner).mean() > 0.9
    assert (other_tools.least_squares(task) == task.partner).mean() < 0.9
