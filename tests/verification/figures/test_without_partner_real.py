"""The figure of real sets that share a part, on small sets of the same layout."""

import pytest

from tests.verification.support import run_cells
from verification.figures import without_partner_real
from verification.scenarios.side_by_side import REFERENCE


@pytest.mark.filterwarnings("ignore::lslmatch.AlignmentWarning")
def test_those_who_have_a_partner_are_found_and_the_others_left(small_spectra):
    names = ["corn mp5, mp6, none", "corn mp5, mp6, 30 %", "corn mp5, mp6, all"]
    tables, sheet = run_cells(without_partner_real.STUDY, without_partner_real.FIGURES[0], names)
    rows = {(row["part"], row["method"]): row for row in tables[""]}
    chosen = without_partner_real.CHOSEN
    assert rows["none", chosen]["recall"] == rows["none", REFERENCE]["recall"] == 1.0
    assert rows["30 %", chosen]["common"] == 16
    assert rows["30 %", chosen]["recall"] > 0.9
    assert rows["30 %", chosen]["false"] < 0.1
    # All are matched: those without a partner get a false one.
    assert rows["30 %", REFERENCE]["pairs"] == 23
    assert rows["30 %", REFERENCE]["false"] > 0.25
    assert rows["all", REFERENCE]["false"] == 1.0
    assert rows["all", chosen]["pairs"] < rows["all", REFERENCE]["pairs"] / 2
    assert len(sheet.axes) == 4
