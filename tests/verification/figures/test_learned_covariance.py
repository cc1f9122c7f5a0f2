"""The figures about correlated noise: tables of made-up trials, and where the border of the climb lies."""

import math

import numpy as np
import pytest

from verification import figures
from verification.figures import climb, covariance_kinds, isotropic_regret, learned_covariance
from verification.figures.definition import CellRows
from verification.scenarios.correlated_noise import AUTO, ISOTROPIC, KNOWN
from verification.style import draw_figure


def outcome(isotropic, auto, known=1.0, kept=1.0):
    row = {f"right {ISOTROPIC}": isotropic, f"right {AUTO}": auto, f"right {KNOWN}": known, "kept": kept}
    return row | {f"seconds {ISOTROPIC}": 0.5, f"seconds {AUTO}": 2.0, f"seconds {KNOWN}": 0.5}


def test_gains_are_paired_and_in_points():
    # The two methods vary together, so that their difference is known exactly and their shares are not.
    rows = [outcome(share, share + 0.25) for share in (0.1, 0.3, 0.5)]
    tables = learned_covariance.tabulate([CellRows(learned_covariance.STUDY.cells[0], rows)])
    (gain,) = tables["gains"]
    assert [gain[f"gain{end}"] for end in ("", "_low", "_high")] == pytest.approx([25.0] * 3)
    assert gain["to_ceiling"] == pytest.approx(45.0)
    assert gain["times_isotropic"] == 4.0
    assert gain["kept"] == 1.0
    shares = {row["method"]: row for row in tables[""]}
    assert shares[AUTO]["right"] == pytest.approx(0.55)
    assert shares[AUTO]["right_low"] < 0.4 < 0.7 < shares[AUTO]["right_high"]


@pytest.mark.parametrize("auto", [0.48, 0.52])
def test_a_loss_on_isotropic_noise_is_shown_as_one(auto):
    cells = [cell for cell in isotropic_regret.STUDY.cells if cell.trials[0]]
    rows = [{"right isotropic": 0.5, "right auto": auto, "kept": 1.0}] * 5
    tables = isotropic_regret.tabulate([CellRows(cell, rows) for cell in cells])
    assert all(row["ahead"] == pytest.approx(100 * (auto - 0.5)) for row in tables[""])
    assert [row["level"] for row in tables["means"]] == ["below", "near", "above", "all"]
    picture = draw_figure(lambda sheet: isotropic_regret.draw(sheet, tables), (9.0, 5.0))
    sure = f"{len(cells) if auto < 0.5 else 0} of {len(cells)} cells surely below -1"
    assert sure in picture.get_suptitle()


def test_sizes_go_from_a_quarter_of_the_dimension_to_fifty_times_it():
    full = [cell.parameters for cell in isotropic_regret.STUDY.cells if cell.trials[2]]
    ratios = [cell["n"] / cell["d"] for cell in full if cell["family"] == "equal noise"]
    assert min(ratios) == pytest.approx(0.25, abs=0.02)
    assert max(ratios) == 50
    assert {cell["d"] for cell in full} == {1, 2, 5, 15, 50, 200}


def climbed(ends, spread=0.01):
    """Tables of trials that end at a given share for each start, with the control below them."""
    other = next(name for name in climb.WAYS if name != climb.LEAVE_PAIR_OUT)
    cells = []
    for start, end in ends.items():
        parameters = {"data": "made up", "n": 20, "d": 5, "start": start}
        rows = [
            {"start": start}
            | {f"right {climb.LEAVE_PAIR_OUT}": end + aside, f"right {other}": end / 2 + aside}
            | {f"kept {name}": 0.5 for name in climb.WAYS}
            for aside in (-spread, 0.0, spread)
        ]
        cells.append(CellRows(climb.STUDY.cells[0]._replace(parameters=parameters), rows))
    return {row["method"]: row for row in climb.tabulate(cells)["border"]}, other


def test_the_border_is_the_least_start_above_which_all_reach_the_end():
    found, other = climbed({0.0: 0.9, 0.1: 0.2, 0.3: 0.88, 0.5: 0.9, 1.0: 0.9})
    assert found[climb.LEAVE_PAIR_OUT]["climbs_from"] == 0.3  # from 0 it may be luck: from 0.1 it fails
    assert math.isnan(found[other]["climbs_from"])
    assert found[other]["end"] == pytest.approx(0.9)


def test_real_sets_are_shuffled_before_they_are_matched():
    sets = (np.arange(40.0).reshape(20, 2), -np.arange(40.0).reshape(20, 2))
    x, y, truth = climb._sets({"n": 15}, sets, np.random.default_rng(0))
    assert np.array_equal(x, -y[truth])
    assert not np.array_equal(truth, np.arange(15))


@pytest.mark.parametrize("study", [learned_covariance.STUDY, covariance_kinds.STUDY, climb.STUDY])
def test_smoke_cells_are_drawn(study):
    figure = figures.load()[study.id]
    cells = []
    for cell in study.cells:
        if cell.trials[0]:
            state = study.setup(cell.parameters, np.random.default_rng(0))
            rows = [row for seed in (1, 2) for row in study.trial(state, np.random.default_rng(seed))]
            cells.append(CellRows(cell, rows))
    tables = figure.tabulate(cells)
    assert all(row["right_low"] <= row["right"] <= row["right_high"] for row in tables[""])
    picture = draw_figure(lambda sheet: figure.draw(sheet, tables), figure.size)
    assert len(picture.axes) >= 1
