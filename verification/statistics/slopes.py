"""The decision about rates and means: slopes by equivalence tests, closed forms by two-sided tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from verification.statistics.decisions import CellCount, Decide, Decision
from verification.statistics.looks import level_of_look, open_cells


class Slope(NamedTuple):
    """A straight line through (log x, log mean), by weighted least squares."""

    value: float
    error: float
    """Standard error, widened where the points scatter more than their own errors explain."""
    intercept: float


def fit_slope(x: Sequence[float], mean: Sequence[float], error: Sequence[float]) -> Slope:
    """Fit log mean against log x, each point weighted by the precision of its logarithm."""
    log_x, log_mean = np.log(x), np.log(mean)
    weight = (np.asarray(mean) / np.asarray(error)) ** 2
    centre = np.average(log_x, weights=weight)
    spread = float((weight * (log_x - centre) ** 2).sum())
    value = float((weight * (log_x - centre) * log_mean).sum()) / spread
    intercept = float(np.average(log_mean, weights=weight) - value * centre)
    misfit = float((weight * (log_mean - intercept - value * log_x) ** 2).sum()) / max(len(log_x) - 2, 1)
    return Slope(value, math.sqrt(max(misfit, 1.0) / spread), intercept)


def decide_equivalence(
    value: float, error: float, target: float, margin: float, level: float
) -> tuple[str, float, float]:
    """Decide whether a quantity lies within `margin` of `target`, by two one-sided tests at `level`.

    Supported if both tests reject "it is further away"; refuted if its whole interval lies outside.
    """
    reach = float(norm.isf(level)) * error
    low, high = value - reach, value + reach
    if target - margin <= low and high <= target + margin:
        return "supported", low, high
    if high < target - margin or low > target + margin:
        return "refuted", low, high
    return "inconclusive", low, high


def slope_decision(abscissa: str, target: float, margin: float) -> Decide:
    """Give the decision "the mean grows like the power `target` of the parameter `abscissa`"."""

    def decide(counts: Sequence[CellCount], column: str) -> Decision:
        x = [float(item.cell.parameters[abscissa]) for item in counts]
        mean = [item.tally.mean(column) for item in counts]
        error = [item.tally.standard_error(column) for item in counts]
        slope = fit_slope(x, mean, error)
        verdict, low, high = decide_equivalence(
            slope.value, slope.error, target, margin, level_of_look(counts)
        )
        return Decision(
            verdict,
            f"slope {slope.value:.3f}, interval [{low:.3f}, {high:.3f}] against {target:g} ± {margin:g}",
            trials=sum(item.tally.trials for item in counts),
            upper_limit=high,
            cells=tuple(mean_row(item, column) for item in counts),
            curve={"x": x, "y": mean, "error": error, "slope": slope.value, "intercept": slope.intercept},
            undecided=open_cells(counts, verdict),
        )

    return decide


def equality_decision(margin: float) -> Decide:
    """Give the decision "the mean of every cell is exactly 1", for means divided by their closed form.

    Refuted if any two-sided test rejects equality (Bonferroni over the cells); supported if none does and
    every interval lies within `margin` of 1, so that a test without power cannot support it.
    """

    def decide(counts: Sequence[CellCount], column: str) -> Decision:
        reach = float(norm.isf(level_of_look(counts) / len(counts) / 2))
        worst, largest_reach, further = 0.0, 0.0, 0.0
        for item in counts:
            deviation, error = item.tally.mean(column) - 1, item.tally.standard_error(column)
            worst = max(worst, abs(deviation) / error if error > 0 else math.inf * (deviation != 0))
            largest_reach = max(largest_reach, reach * error)
            further = max(further, abs(deviation) + reach * error)
        verdict = "refuted" if worst > reach else "supported" if further <= margin else "inconclusive"
        return Decision(
            verdict,
            f"largest deviation {worst:.2f} standard errors of {reach:.2f} that refute; all intervals within "
            f"{further:.2g} of the closed form, {margin:g} needed",
            trials=sum(item.tally.trials for item in counts),
            upper_limit=1 + further,
            cells=tuple(mean_row(item, column) for item in counts),
            curve={"reach": reach, "reference": 1.0},
            undecided=open_cells(counts, verdict),
        )

    return decide


def closeness_decision(margin: float) -> Decide:
    """Give the decision "the mean of every cell is within `margin` of 1", for what is right nearly.

    Supported if every interval lies within the margin (Bonferroni over the cells), refuted if one lies
    wholly outside.
    """

    def decide(counts: Sequence[CellCount], column: str) -> Decision:
        level = level_of_look(counts) / len(counts)
        found = [
            decide_equivalence(item.tally.mean(column), item.tally.standard_error(column), 1.0, margin, level)
            for item in counts
        ]
        verdicts = {verdict for verdict, _, _ in found}
        verdict = "refuted" if "refuted" in verdicts else "inconclusive"
        verdict = "supported" if verdicts == {"supported"} else verdict
        low, high = min(low for _, low, _ in found), max(high for _, _, high in found)
        means = [item.tally.mean(column) for item in counts]
        return Decision(
            verdict,
            f"means from {min(means):.3f} to {max(means):.3f}, intervals from {low:.3f} to {high:.3f} "
            f"against 1 ± {margin:g}",
            trials=sum(item.tally.trials for item in counts),
            upper_limit=high,
            cells=tuple(mean_row(item, column) for item in counts),
            curve={"reach": float(norm.isf(level)), "reference": 1.0},
            undecided=open_cells(counts, verdict),
        )

    return decide


def mean_row(item: CellCount, column: str) -> dict[str, object]:
    """Give what verdicts.json says of a cell whose mean matters."""
    cell, tally = item.cell, item.tally
    return {
        "name": cell.name,
        "role": cell.role,
        "parameters": dict(cell.parameters),
        "allowed": None,
        "trials": tally.trials,
        "violations": None,
        "upper_limit": None,
        "mean": tally.mean(column),
        "standard_error": tally.standard_error(column),
        "vacuous": False,
    }
