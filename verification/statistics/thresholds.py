"""The separation at which recovery sets in, estimated from a ladder of separations.

The estimator is that of Spearman and Karber: the mean of the distribution whose distribution function is the
success rate, on the logarithmic scale. It fits no curve, so it has no shape to get wrong, and its variance
is a sum of binomial ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.integrate import trapezoid
from scipy.optimize import isotonic_regression
from scipy.stats import norm

from verification.statistics.binomial import CLAIM_LEVEL
from verification.statistics.decisions import CellCount, Decide, Decision
from verification.statistics.looks import level_of_look, open_cells

SEPARATION = "separation"
NOISE_RATIO = "noise_ratio"
FAMILY = "family"


class Threshold(NamedTuple):
    """An estimated threshold, on the logarithmic scale."""

    log: float
    error: float

    @property
    def value(self) -> float:
        """The separation itself."""
        return math.exp(self.log)

    def interval(self, level: float = CLAIM_LEVEL) -> tuple[float, float]:
        """Give the two-sided interval at 1 - 2 `level`."""
        reach = float(norm.isf(level)) * self.error
        return math.exp(self.log - reach), math.exp(self.log + reach)


def estimate_threshold(
    separation: Sequence[float], success: Sequence[int], trials: Sequence[int]
) -> Threshold:
    """Estimate the threshold from successes at increasing separations.

    Rates are made monotone first. The ladder is continued by a step at each end, where failure and
    success are taken for certain.
    """
    log = np.log(np.asarray(separation, float))
    count = np.asarray(trials, float)
    rate = isotonic_regression(np.asarray(success) / count, weights=count).x
    step = np.diff(log)
    log = np.concatenate([[log[0] - step[0]], log, [log[-1] + step[-1]]])
    rate = np.concatenate([[0.0], rate, [1.0]])
    mean = float(trapezoid(log, rate))
    smoothed = (np.asarray(success) + 0.5) / (count + 1)  # so that a rate of 0 or 1 has an error too
    variance = ((log[2:] - log[:-2]) / 2) ** 2 * smoothed * (1 - smoothed) / count
    return Threshold(mean, math.sqrt(float(variance.sum())))


def stays_decision(factor: float) -> Decide:
    """Give the decision "no threshold is more than `factor` times that of noise ratio 1, in its family".

    The column that it looks at holds an event, the success.
    """

    def decide(counts: Sequence[CellCount], column: str) -> Decision:
        found = _by_group(counts, column)
        reach = float(norm.isf(level_of_look(counts) / max(len(found) - 1, 1)))
        verdict, worst, details = "supported", 0.0, []
        for (family, ratio), threshold in found.items():
            if ratio == 1:
                continue
            base = found[family, 1.0]
            gap, error = threshold.log - base.log, math.hypot(threshold.error, base.error)
            if gap - reach * error > math.log(factor):
                verdict = "refuted"
            elif gap + reach * error > math.log(factor) and verdict == "supported":
                verdict = "inconclusive"
            worst = max(worst, math.exp(gap + reach * error))
            details.append(f"{family}, ratio {ratio:g}: {threshold.value:.2f} against {base.value:.2f}")
        detail = f"largest factor, with its interval, {worst:.2f} of {factor:g}; " + "; ".join(details)
        return _decision(verdict, detail, counts, column, found, worst)

    return decide


def rises_decision(slope: float, share: float = 1.0) -> Decide:
    """Give the decision "the threshold grows with sqrt(noise ratio)" by at least `slope` a unit.

    It spends the part `share` of the claim's level, evenly on the slope and on each step from one ratio
    to the next.

    Supported if a weighted straight line through the thresholds is significantly steeper than `slope`
    and no threshold is significantly below that of a smaller ratio; refuted if it is significantly
    flatter, or one falls.
    """

    def decide(counts: Sequence[CellCount], column: str) -> Decision:
        found = _by_group(counts, column)
        root = np.sqrt([ratio for _, ratio in found])
        value = np.array([threshold.value for threshold in found.values()])
        error = np.array([threshold.value * threshold.error for threshold in found.values()])
        # Points of equal weight: the trend is a comparison of groups, not a fit of a line that holds exactly.
        lever = (root - root.mean()) / ((root - root.mean()) ** 2).sum()
        trend, trend_error = float(lever @ value), float(np.sqrt((lever**2) @ error**2))
        reach = float(norm.isf(share * level_of_look(counts) / len(found)))
        falls = bool((np.diff(value) < -reach * np.hypot(error[1:], error[:-1])).any())
        if falls or trend + reach * trend_error < slope:
            verdict = "refuted"
        else:
            verdict = "supported" if trend - reach * trend_error > slope else "inconclusive"
        listed = ", ".join(f"{v:.2f} at R = {r:g}" for r, v in zip(root, value, strict=True))
        detail = (
            f"thresholds {listed}; slope {trend:.3f} in R, interval [{trend - reach * trend_error:.3f}, "
            f"{trend + reach * trend_error:.3f}], above {slope:g} needed"
        )
        return _decision(verdict, detail, counts, column, found, trend + reach * trend_error)

    return decide


def _by_group(counts: Sequence[CellCount], column: str) -> dict[tuple[str, float], Threshold]:
    groups: dict[tuple[str, float], list[CellCount]] = {}
    for item in counts:
        parameters = item.cell.parameters
        groups.setdefault((str(parameters[FAMILY]), float(parameters[NOISE_RATIO])), []).append(item)
    found = {}
    for key in sorted(groups):
        ladder = sorted(groups[key], key=lambda item: float(item.cell.parameters[SEPARATION]))
        found[key] = estimate_threshold(
            [float(item.cell.parameters[SEPARATION]) for item in ladder],
            [round(item.tally.mean(column) * item.tally.trials) for item in ladder],
            [item.tally.trials for item in ladder],
        )
    return found


def _decision(
    verdict: str,
    detail: str,
    counts: Sequence[CellCount],
    column: str,
    found: dict[tuple[str, float], Threshold],
    upper_limit: float,
) -> Decision:
    rows = []
    for cell, tally, _ in counts:
        row: dict[str, object] = {
            "name": cell.name,
            "role": cell.role,
            "parameters": dict(cell.parameters),
            "allowed": None,
        }
        row |= {"trials": tally.trials, "violations": None, "upper_limit": None, "mean": tally.mean(column)}
        rows.append(row | {"vacuous": False})
    groups = [
        {"family": family, "noise_ratio": ratio, "threshold": t.value, "interval": t.interval()}
        for (family, ratio), t in found.items()
    ]
    return Decision(
        verdict,
        detail,
        trials=sum(item.tally.trials for item in counts),
        upper_limit=upper_limit,
        cells=tuple(rows),
        curve={"groups": groups},
        undecided=open_cells(counts, verdict),
    )
