"""The figure of failed readings, on small sets of the same layout."""

import pytest

from tests.verification.support import run_cells
from verification.figures import failed_readings
from verification.scenarios.side_by_side import REFERENCE


@pytest.mark.filterwarnings("ignore::lslmatch.AlignmentWarning")
def test_failed_readings_are_not_counted_and_spoil_the_alignment(small_spectra):
    names = ["corn, 0", "corn, 2"]
    tables, _ = run_cells(failed_readings.STUDY, failed_readings.FIGURES[0], names)
    rows = {(row["failed"], row["method"]): row for row in tables[""]}
    assert rows[0, REFERENCE]["readable"] == 30
    assert rows[2, REFERENCE]["readable"] == 28
    assert rows[0, REFERENCE]["recovered"] == 1.0
    assert rows[2, REFERENCE]["recovered"] < 0.5 < rows[2, "least squares"]["recovered"]
    assert rows[2, failed_readings.CHOSEN]["recovered"] == 1.0
    assert rows[2, failed_readings.CHOSEN]["false"] == 0.0
    assert rows[2, REFERENCE]["false"] > 0.5
