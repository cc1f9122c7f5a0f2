"""The study of the robust alignment: all its cells, and what the goals count."""

import pytest

from tests.verification.support import run_cells
from verification.figures import robust_alignment


def test_all_kinds_of_strangers_meet_all_features_on_one_side_and_on_both():
    groups = [cell.parameters["group"] for cell in robust_alignment.STUDY.cells]
    assert groups.count(robust_alignment.STRANGERS) == 448
    assert groups.count(robust_alignment.CLEAN) == 96
    assert groups.count(robust_alignment.UNTUNED) == 65
    assert groups.count(robust_alignment.LARGE) == 24


@pytest.mark.filterwarnings("ignore::lslmatch.AlignmentWarning")
def test_a_far_cluster_spoils_moments_alone():
    names = [
        cell.name
        for cell in robust_alignment.STUDY.cells
        if cell.trials[0] and cell.parameters["kind"] in ("one far cluster", "like the others")
    ]
    tables, sheet = run_cells(robust_alignment.STUDY, robust_alignment.FIGURES[0], names[:2] + names[-1:])
    strangers, clean = tables["goals"]
    assert (strangers["cells"], clean["cells"]) == (2, 1)
    assert strangers["met"] == 2
    assert clean["met"] == 1
    far = [row for row in tables[""] if row["kind"] == "one far cluster"]
    assert all(row["standardize"] < row["robust"] for row in far)
    assert len(sheet.axes) == 2


def test_a_cell_behind_the_goal_is_counted():
    line = {"group": robust_alignment.CLEAN, "moments_ahead_of_known": 0.0}
    lines = [
        {**line, "ahead": value, "ahead_low": value - 1, "ahead_high": value + 1}
        for value in (0.0, -1.5, -4.0)
    ]
    (goals,) = robust_alignment._goals(lines)
    assert (goals["cells"], goals["met"], goals["surely_missed"], goals["worst"]) == (3, 1, 1, -4.0)
