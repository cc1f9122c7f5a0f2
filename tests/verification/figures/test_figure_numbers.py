"""The numbers behind the figures: intervals, slopes, the closed form, and data that must not recover."""

import functools
import math

import numpy as np
import pytest
from scipy.stats import binom

import lslmatch
from lslmatch import theory
from lslmatch.model import adversarial_configuration
from verification.engine.seeds import generator
from verification.figures import adversarial_study, scale_error, step_by_step
from verification.figures.definition import CellRows
from verification.scenarios import adversarial
from verification.scenarios.adversarial import Family
from verification.statistics import intervals

N, D, ROOT = 60, 5, 6.0


def cell_of(separation):
    return adversarial_study.STUDY.cells[0]._replace(
        parameters={"n": N, "d": D, "root": ROOT, "separation": separation}
    )


def family(**changes):
    draws = [
        adversarial_configuration(N, D, noise_ratio=ROOT**2, separation=4.0, strength=2.0, rng=k)
        for k in range(20)
    ]
    noise = theory.centred_moments(draws[0].features, draws[0].noise)[1][-1]
    spacing = np.median([np.linalg.norm(truth.features[-1]) / (4.0 * noise) for truth in draws])
    return Family(N, D, ROOT, float(spacing))._replace(**changes)


# ------------------------------------------------------------------------------------ intervals


def test_a_proportion_of_none_has_an_upper_limit():
    found = intervals.proportion([0.0] * 80, "share")
    assert found["share"] == found["share_low"] == 0
    assert found["share_high"] == pytest.approx(1 - 0.025 ** (1 / 80))


@pytest.mark.parametrize("size", [6, 7, 20, 81])
def test_the_median_s_interval_covers_it_as_often_as_promised(size):
    found = intervals.median(list(range(size)), "value")
    rank = found["value_low"]  # of the values 0, 1, ...: how many lie below
    missed = 2 * binom.cdf(rank, size, 0.5)
    wider = 2 * binom.cdf(rank + 1, size, 0.5)
    assert missed <= 0.05 < wider
    assert found["value_low"] + found["value_high"] == size - 1


def test_too_few_values_have_no_limits():
    assert intervals.median([1.0] * 5, "value")["value_high"] == math.inf
    assert intervals.mean([1.0], "value")["value_low"] == -math.inf


def test_the_mean_s_interval_is_student_s():
    found = intervals.mean([1.0, 2.0, 3.0], "value")
    assert found["value"] == 2
    assert found["value_high"] == pytest.approx(2 + 4.302653 / math.sqrt(3), abs=1e-6)


# ---------------------------------------------------------------------------------- scale error


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


# --------------------------------------------------------------------------------- step by step


def test_alignment_is_what_makes_the_difference():
    parameters = {"n": 30, "dimensions": 2, "spread": 1000.0}
    rows = [step_by_step.trial(parameters, generator(1, "test", "plane", k))[0] for k in range(5)]
    assert np.mean([row["affine"] for row in rows]) > 0.95
    assert np.mean([row["plain"] for row in rows]) < 0.4


def test_without_signal_no_method_has_precision():
    parameters = {"n": 30, "dimensions": 2, "spread": 1e-3}
    rows = [step_by_step.trial(parameters, generator(1, "test", "nothing", k))[0] for k in range(5)]
    for name in step_by_step.METHODS:
        assert np.mean([row[name] for row in rows]) < 0.2  # 1 in 30 by chance


# --------------------------------------------------------------------------- adversarial family


@pytest.mark.parametrize(("separation", "recovered"), [(0.2, 0.0), (60.0, 1.0)])
def test_recovery_is_that_of_the_signal(separation, recovered):
    cell = cell_of(separation)
    rows = [adversarial_study.trial(cell.parameters, generator(1, "test", "x", k))[0] for k in range(4)]
    for line in adversarial_study.tabulate([CellRows(cell, rows)], list(adversarial_study.METHODS)):
        assert line["recovered"] == recovered
        assert line["recovered_low"] <= recovered <= line["recovered_high"]


@pytest.mark.parametrize("separation", [2.0, 5.0, 20.0])
def test_the_closed_form_is_the_library_s(separation):
    found = family()
    truth = adversarial_configuration(
        N, D, noise_ratio=ROOT**2, separation=separation, strength=adversarial.STRENGTH, rng=0
    )
    mu, s = theory.centred_moments(truth.features, truth.noise)
    spacing = np.linalg.norm(truth.features[-1]) / (separation * s[-1])
    found = found._replace(spacing=float(spacing))
    norms = (mu**2).sum(axis=1)
    variance = 2 * D * (truth.noise**4).sum() + 4 * (truth.noise**2 * norms).sum()
    deviation = math.sqrt(variance / 2) / theory.expected_sum_of_squares(truth.features, truth.noise)
    expected = theory.obstruction(truth.features, truth.noise, math.sqrt(2 / math.pi) * deviation)
    # The library's mirror pair is 0.1 % wider.
    assert found.obstruction(separation) == pytest.approx(expected, rel=2e-3)


@functools.cache
def obstructions():
    """The obstruction that the estimated scale makes in each of many trials."""
    values = []
    for k in range(400):
        rng = generator(3, "test", "obstruction", k)
        truth = adversarial_configuration(
            N, D, noise_ratio=ROOT**2, separation=4.0, strength=adversarial.STRENGTH, rng=rng
        )
        scale = lslmatch.estimate_affine(*truth.sample(rng)).scale
        values.append(theory.obstruction(truth.features, truth.noise, abs(scale - 1)))
    return values


@pytest.mark.parametrize(("factor", "agrees"), [(1.0, True), (1.5, False), (0.6, False)])
def test_the_closed_form_predicts_the_error_of_the_scale(factor, agrees):
    found = intervals.mean(obstructions(), "value")
    predicted = factor * family().obstruction(4.0)
    assert (found["value_low"] <= predicted <= found["value_high"]) == agrees


@pytest.mark.parametrize("root", [1.0, 6.0, 30.0])
def test_the_threshold_solves_its_equation_and_is_the_last_to(root):
    found = family(root=root)
    threshold = found.predicted_threshold()
    assert threshold == pytest.approx(found.noise_floor + found.obstruction(threshold))
    for above in threshold * np.geomspace(1.001, 50, 40):
        assert above > found.noise_floor + found.obstruction(above)


def test_the_regions_are_told_apart_by_the_two_curves():
    found = family()
    threshold = found.predicted_threshold()
    assert found.region(0.999 * found.noise_floor) == adversarial.BELOW
    assert found.region(1.001 * found.noise_floor) == found.region(0.999 * threshold) == adversarial.BAND
    assert found.region(1.001 * threshold) == adversarial.ABOVE


def test_the_threshold_rises_with_the_noise_ratio():
    thresholds = [family(n=2500, d=15, root=root).predicted_threshold() for root in (1.0, 10.0, 30.0, 100.0)]
    assert thresholds == sorted(thresholds)
