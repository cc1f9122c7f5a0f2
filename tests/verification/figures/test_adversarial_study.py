"""Trials on the adversarial family recover where there is signal, and only there."""

import pytest

from verification.engine.seeds import generator
from verification.figures import adversarial_study
from verification.figures.definition import CellRows

N, D, ROOT = 60, 5, 6.0


def cell_of(separation):
    return adversarial_study.STUDY.cells[0]._replace(
        parameters={"n": N, "d": D, "root": ROOT, "separation": separation}
    )


@pytest.mark.parametrize(("separation", "recovered"), [(0.2, 0.0), (60.0, 1.0)])
def test_recovery_is_that_of_the_signal(separation, recovered):
    cell = cell_of(separation)
    rows = [adversarial_study.trial(cell.parameters, generator(1, "test", "x", k))[0] for k in range(4)]
    for line in adversarial_study.tabulate([CellRows(cell, rows)], list(adversarial_study.ALIGNMENTS)):
        assert line["recovered"] == recovered
        assert line["recovered_low"] <= recovered <= line["recovered_high"]
