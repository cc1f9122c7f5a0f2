"""Section 5.1: the error of the estimated scale grows like alpha and falls like (lambda^2 + d)^(-1/2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

import lslmatch
from lslmatch.model import Configuration
from verification.engine.samples import Row
from verification.engine.studies import Cell, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.configurations import draw_configuration
from verification.statistics import intervals
from verification.statistics.slopes import fit_slope
from verification.style import INK, error_line, label_log_axis

#: For each panel: the power that Theorem 1 predicts, the axis in words, and its ticks.
PANELS: Mapping[str, tuple[float, str, tuple[float, ...]]] = {
    "alpha": (1.0, "share of the largest noise, α", (0.02, 0.05, 0.1, 0.2, 0.5, 1)),
    "total": (-0.5, "signal and dimension, λ² + d", (2, 5, 10, 20, 50, 100, 200, 500, 1000)),
}

#: Theorem 1 is about small errors: a ratio of sums of squares is lopsided when they are large. So the slope
#: is also fitted to the cells whose mean error is below this.
_SMALL = 0.1


def trial(truth: Configuration, rng: np.random.Generator) -> list[Row]:
    """Give one relative error of the squared scale."""
    x, y = truth.sample(rng)
    return [{"error": abs((lslmatch.estimate_affine(x, y).scale / truth.scale) ** 2 - 1)}]


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the mean error of each cell, and the slope of each panel."""
    points = [
        {
            "panel": cell.parameters["panel"],
            "n": cell.parameters["n"],
            "d": cell.parameters["d"],
            "x": float(cell.parameters["x"]),
            "trials": len(rows),
            **intervals.mean([row["error"] for row in rows], "error"),
        }
        for cell, rows in cells
    ]
    return {"": points, "slopes": [_slope(panel, points) for panel in PANELS]}


def _slope(panel: str, points: Sequence[Row]) -> Row:
    shown = [row for row in points if row["panel"] == panel]
    fits = {"slope": shown, "small_slope": [row for row in shown if row["error"] < _SMALL]}
    found: dict[str, Any] = {"panel": panel, "predicted": PANELS[panel][0]}
    reach = float(norm.isf(intervals.INTERVAL_LEVEL / 2))
    for name, rows in fits.items():
        if len(rows) < 2:
            found |= dict.fromkeys([name, f"{name}_low", f"{name}_high"], math.nan)
            continue
        errors = [(row["error_high"] - row["error_low"]) / (2 * reach) for row in rows]
        slope = fit_slope([row["x"] for row in rows], [row["error"] for row in rows], errors)
        found |= {
            name: slope.value,
            f"{name}_low": slope.value - reach * slope.error,
            f"{name}_high": slope.value + reach * slope.error,
        }
    return found


def draw(figure: Any, tables: Tables) -> None:
    """Draw each panel's errors beside a line of the predicted slope."""
    for axes, fit in zip(figure.subplots(1, 2), tables["slopes"], strict=True):
        power, label, ticks = PANELS[str(fit["panel"])]
        rows = sorted((row for row in tables[""] if row["panel"] == fit["panel"]), key=lambda row: row["x"])
        x, error = np.array([[row["x"], row["error"]] for row in rows]).T
        middle = np.exp(np.log(error / x**power).mean())
        axes.plot(x, middle * x**power, "--", color=INK, label=f"Theorem 1: slope {_fraction(power)}")
        words = f"mean of {min(row['trials'] for row in rows):.0f} trials, 95 % interval"
        error_line(axes, x, rows, "error", 0, words, linestyle="")
        axes.set(xscale="log", yscale="log", xlabel=label)
        label_log_axis(axes.xaxis, ticks)
        label_log_axis(axes.yaxis, [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5])
        title = f"measured slope {fit['slope']:.3f} [{fit['slope_low']:.3f}, {fit['slope_high']:.3f}]"
        axes.set_title(title.replace("-", "−"))
        axes.legend(loc="best")
    figure.axes[0].set_ylabel("mean relative error of the squared scale")
    figure.suptitle("The scale is estimated at the rate that Theorem 1 predicts", fontweight="bold")


def _fraction(power: float) -> str:
    return {1.0: "1", -0.5: "−1/2"}[power]


def _alpha_cell(name: str, n: int, noisy: int, trials: tuple[int, int, int]) -> Cell:
    parameters = {"n": n, "d": 20, "distortion": 1.0, "scale": 3.0, "noise": f"noisy-{noisy}"}
    return Cell(name, parameters | {"panel": "alpha", "x": noisy**-0.5}, trials=trials)


def _total_cell(name: str, n: int, d: int, trials: tuple[int, int, int]) -> Cell:
    # lambda^2 = d: the paper raises both at once.
    parameters = {"n": n, "d": d, "distortion": math.sqrt(d), "scale": 3.0, "noise": "equal"}
    return Cell(name, parameters | {"panel": "total", "x": 2 * d}, trials=trials)


_FEW, _MANY = (30, 0, 0), (0, 200, 1000)

STUDY = Study(
    id="scale-error",
    cells=tuple(_alpha_cell(f"small k={k}", 100, k, _FEW) for k in (2, 12, 80))
    + tuple(_total_cell(f"small d={d}", 30, d, _FEW) for d in (2, 10, 50))
    + tuple(_alpha_cell(f"k={k}", 2000, k, _MANY) for k in (1, 2, 4, 10, 20, 40, 100, 200, 400, 1000, 2000))
    + tuple(_total_cell(f"d={d}", 100, d, _MANY) for d in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)),
    setup=draw_configuration,
    trial=trial,
    batch=50,
)

FIGURES = (Figure("scale-error", "section 5.1, estimation error", STUDY, tabulate, draw, (7.6, 3.6)),)
