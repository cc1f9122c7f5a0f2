"""Outliers in the larger set, after Galstyan, Minasyan and Dalalyan (2022): how far away they must be.

Their setting: scale and shift are known, every point of the smaller set has a partner, and noise levels may
differ. Partners must be of order d^(1/4) apart, and outliers of order d^(1/2) away where noise levels are
unknown. Here the distance that suffices is found by bisection in each draw, for growing d. Abstract and
beginning of the article were at hand, its experiments were not, so its own curves are not beside these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

import lslmatch
from lslmatch._types import FloatArray, IntArray
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.configurations import draw_permutation
from verification.statistics import intervals
from verification.statistics.slopes import fit_slope
from verification.style import INK, error_line, label_log_axis

#: Points of the smaller set, and outliers in the larger one.
_N, _OUTLIERS = 20, 20
#: The noise of an outlier that is quieter than the others.
_QUIET = 0.01
#: Where the distance is looked for, and how often its (logarithmic) range is halved.
_RANGE, _HALVINGS = (0.3, 300.0), 10

INLIERS, LOUD, QUIET = "partners from each other", "outliers, equal noise", "outliers with hardly any noise"
#: The panels, and the power of d in the abstracts of 2022 (first and last) and of 2023 (equal noise).
PANELS = {INLIERS: 0.25, LOUD: 0.25, QUIET: 0.5}
LSL, ROBUST, LSS, LSNS, GREEDY = "LSL", "LSL, scale estimated", "least squares", "noise known", "greedy"
#: What is minimised, and after which alignment.
METHODS = {
    LSL: ("lsl", "identity"),
    ROBUST: ("lsl", "robust"),
    LSS: ("lss", "identity"),
    LSNS: ("lsns", "identity"),
    GREEDY: ("greedy", "identity"),
}


class Draw(NamedTuple):
    """Features and noise of both sets; the first points of y, in the order of `place`, are the partners."""

    x: FloatArray
    y: FloatArray
    noise_x: FloatArray
    noise_y: FloatArray
    place: IntArray


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Find by bisection, for each method, the distance from which it makes no error in this draw.

    Directions and noise are the same at every distance. Recovery is nearly, not strictly, monotone in it.
    """
    shape_seed, noise_seed = (int(rng.integers(2**62)) for _ in range(2))
    rows: list[Row] = []
    for name in METHODS:
        low, high = (math.log(end) for end in _RANGE)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            sets = _place(parameters, math.exp(middle), np.random.default_rng(shape_seed))
            right = _recovers(name, sets, np.random.default_rng(noise_seed))
            low, high = (low, middle) if right else (middle, high)
        rows.append({"method": name, "distance": math.exp((low + high) / 2)})
    return rows


def _place(parameters: Parameters, distance: float, rng: np.random.Generator) -> Draw:
    """Place partners and outliers; `distance` is in units of the noise of the two points in question."""
    d, panel = parameters["d"], parameters["panel"]
    far = 20.0 * math.sqrt(d)
    features = rng.standard_normal((_N, d))
    features *= (math.sqrt(2) * distance if panel == INLIERS else far) / pdist(features).min()
    directions = rng.standard_normal((_OUTLIERS, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    quiet = _QUIET if panel == QUIET else 1.0
    reach = far if panel == INLIERS else distance * math.sqrt(1 + quiet**2)
    noise = np.repeat([1.0, quiet], [_N, _OUTLIERS])
    place = draw_permutation(_N + _OUTLIERS, rng)
    y, noise_y = np.empty((_N + _OUTLIERS, d)), np.empty(_N + _OUTLIERS)
    # Each outlier lies beside a point that has a partner.
    y[place], noise_y[place] = np.concatenate([features, features + reach * directions]), noise
    return Draw(features, y, np.ones(_N), noise_y, place[:_N])


def _recovers(name: str, sets: Draw, rng: np.random.Generator) -> bool:
    x, y = (
        features + noise[:, None] * rng.standard_normal(features.shape)
        for features, noise in ((sets.x, sets.noise_x), (sets.y, sets.noise_y))
    )
    objective, alignment = METHODS[name]
    noise = (sets.noise_x, sets.noise_y) if objective == "lsns" else None
    found = lslmatch.match(x, y, objective=objective, alignment=alignment, noise=noise)
    return np.array_equal(found.permutation, sets.place)


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the mean distance that suffices in each cell, and by which power of d it grows."""
    lines: list[Row] = []
    for cell, rows in cells:
        for name in METHODS:
            found = [row["distance"] for row in rows if row["method"] == name]
            place = {**cell.parameters, "method": name, "trials": len(found)}
            lines.append({**place, **intervals.mean(found, "enough")})
    return {"": lines, "slopes": _slopes(lines)}


def _slopes(lines: Sequence[Row]) -> list[Row]:
    found: list[Row] = []
    for panel, power in PANELS.items():
        for name in METHODS:
            rows = [row for row in lines if (row["panel"], row["method"]) == (panel, name)]
            if len(rows) < 2:
                continue
            errors = [(row["enough_high"] - row["enough_low"]) / (2 * _INTERVAL) for row in rows]
            slope = fit_slope([row["d"] for row in rows], [row["enough"] for row in rows], errors)
            reach = _INTERVAL * slope.error
            ends = {"power_low": slope.value - reach, "power_high": slope.value + reach}
            found.append({"panel": panel, "method": name, "article": power, "power": slope.value, **ends})
    return found


def draw(figure: Any, tables: Tables) -> None:
    """Draw the distances against d, one panel for each of them."""
    for axes, (panel, power) in zip(figure.subplots(1, 3, sharey=True), PANELS.items(), strict=True):
        rows = [row for row in tables[""] if row["panel"] == panel]
        dimensions = sorted({row["d"] for row in rows})
        for style, name in enumerate(METHODS):
            shown = [row for row in rows if row["method"] == name]
            # Side by side, where several methods need the same distance.
            places = [row["d"] * 1.06 ** (style - 2) for row in shown]
            error_line(axes, places, shown, "enough", style, name, linewidth=1)
        last = [row["enough"] for row in rows if row["method"] == LSL and row["d"] == dimensions[-1]]
        guide = [0.6 * last[0] * (d / dimensions[-1]) ** power for d in dimensions]
        axes.plot(dimensions, guide, color=INK, linestyle=":", linewidth=1, label="_guide")
        axes.text(dimensions[-1], 0.85 * guide[-1], f"$d^{{{power:g}}}$", ha="right", va="top", color=INK)
        axes.set(xscale="log", yscale="log", xlabel="dimension d", title=panel)
        label_log_axis(axes.xaxis, dimensions)
    axes = figure.axes[0]
    label_log_axis(axes.yaxis, (2, 5, 10, 20, 50))
    axes.set_ylabel("distance that suffices, in units of the noise")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    figure.suptitle(
        f"How far apart {_N} partners must be, and how far away {_OUTLIERS} outliers of the other set",
        fontweight="bold",
    )


#: Half the length of an interval of 95 % in standard errors, for means of many draws.
_INTERVAL = 1.96

STUDY = Study(
    id="outliers-2022",
    cells=tuple(
        Cell(f"{panel}, d={d}", {"panel": panel, "d": d}, trials=(2 if d == 16 else 0, 40, 200))
        for panel in PANELS
        for d in (16, 64, 256, 1024)
    ),
    trial=trial,
    batch=10,
)

FIGURES = (Figure("outliers-2022", "beyond the paper", STUDY, tabulate, draw, (9.6, 4.2)),)
