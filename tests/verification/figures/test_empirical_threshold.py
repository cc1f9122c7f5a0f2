"""What suffices for recovery, beside what Theorem 2 asks for."""

import numpy as np
import pytest

from lslmatch import theory
from tests.verification.support import run_cells
from verification.figures import empirical_threshold
from verification.figures.empirical_threshold import FIGURES, STUDY


def test_trials_become_thresholds_and_constants():
    names = ["d n=60 d=20 rho=1", "n n=20 d=100 rho=1", "rho n=200 d=12 rho=4"]
    tables, _ = run_cells(STUDY, FIGURES[0], names)
    for row in tables[""]:
        assert 0.2 < row["enough"] < row["asked"]
        terms = [row[f"term_{k}"] for k in (1, 2, 3)]
        assert np.dot((5, 17, 52), terms) == pytest.approx(row["asked"])
    assert [row["paper"] for row in tables["constants"]] == [5, 17, 52]


@pytest.mark.parametrize("family", ["random directions", "adversarial"])
def test_configurations_have_the_separation_that_is_bisected(family):
    parameters = {"family": family, "n": 20, "d": 10, "noise_ratio": 4.0}
    truth = empirical_threshold._configuration(parameters, 3.7, np.random.default_rng(0))
    assert theory.separation(truth.features, truth.noise) == pytest.approx(3.7)


def test_constants_are_found_again():
    rows = []
    for n, d, rho in ((20, 10, 1.0), (60, 50, 4.0), (200, 12, 50.0), (30, 400, 9.0)):
        terms = empirical_threshold._terms(n, d, rho)
        rows.append(
            {f"term_{k + 1}": t for k, t in enumerate(terms)} | {"enough": np.dot((0.5, 1.5, 2), terms)}
        )
    assert [row["in practice"] for row in empirical_threshold._constants(rows)] == pytest.approx(
        [0.5, 1.5, 2]
    )
