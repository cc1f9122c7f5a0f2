"""The slopes of the scale's error, and powers that must not pass for them."""

import pytest

from verification.engine.seeds import generator
from verification.figures import scale_error
from verification.figures.definition import CellRows


def scale_error_cells(power):
    """The smoke cells of the alpha panel, with errors raised to a power."""
    cells = []
    for cell in scale_error.STUDY.cells:
        if cell.trials[0]:
            state = scale_error.STUDY.setup(cell.parameters, generator(1, "test", cell.name, 0))
            rows = [scale_error.trial(state, generator(1, "test", cell.name, k))[0] for k in range(60)]
            cells.append(CellRows(cell, [{"error": row["error"] ** power} for row in rows]))
    return cells


@pytest.mark.parametrize(("power", "found"), [(1.0, True), (0.5, False), (2.0, False)])
def test_the_slopes_agree_with_theorem_1_and_not_with_another_power(power, found):
    for fit in scale_error.tabulate(scale_error_cells(power))["slopes"]:
        assert (fit["slope_low"] <= fit["predicted"] <= fit["slope_high"]) == found
