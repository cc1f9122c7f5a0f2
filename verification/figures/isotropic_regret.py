"""Beyond the paper: what the offer to learn a covariance costs where the noise is isotropic.

All families of the experiments and Gaussian features in further dimensions, with isotropic noise, below, near
and above the noise floor. Differences are between two matchings of the same sets, in percentage points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import lslmatch
from lslmatch import theory
from lslmatch._types import FloatArray
from lslmatch.model import Configuration
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.configurations import draw_permutation
from verification.scenarios.correlated_noise import LEVELS
from verification.scenarios.families import FAMILIES, typical_separation
from verification.scenarios.recovery import require_certificate
from verification.statistics import intervals
from verification.style import INK, error_line, label_log_axis

#: By how many points "auto" may be behind in a cell, and on average over the cells.
CELL_GOAL, MEAN_GOAL = 1.0, 0.2

#: Families by name with their dimensions; the further ones are Gaussian with equal noise.
_MORE = {f"Gaussian, d = {d}": d for d in (1, 2, 5, 50, 200)}
_DIMENSIONS = {name: FAMILIES[name](2, np.random.default_rng(0))[0].shape[1] for name in FAMILIES} | _MORE

#: Points per dimension, as far as the sizes of a profile allow.
_RATIOS = (0.25, 1, 5, 20, 50)
#: With many dimensions sizes end below this: each trial takes long.
_MANY_DIMENSIONS, _FEWER_POINTS = 50, 250
#: A covariance is learned from so many pairs or more.
_LEAST = 4


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Give the shares of right pairs of one draw, and whether the learned covariance was kept."""
    family, n = parameters["family"], parameters["n"]
    features, noise = _features(family, n, rng)
    separation = LEVELS[parameters["level"]] * theory.noise_floor(n, features.shape[1])
    features = features * (separation / typical_separation(features, noise))
    shift = np.full(features.shape[1], 5.0)
    truth = Configuration(features, noise, 3.0, shift, draw_permutation(n, rng))
    x, y = truth.sample(rng)
    row: dict[str, float] = {}
    for name in ("isotropic", "auto"):
        result = lslmatch.match(x, y, covariance=name)
        require_certificate(x, y, result)
        row[f"right {name}"] = float((result.permutation == truth.permutation).mean())
    row["kept"] = float(result.covariance is not None and not result.covariance.is_isotropic)
    return [row]


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give by how many points "auto" is ahead in each cell, and over all cells of a level."""
    lines: list[Row] = []
    ahead_of: dict[str, list[float]] = {level: [] for level in (*LEVELS, "all")}
    for cell, rows in cells:
        ahead = [100 * (row["right auto"] - row["right isotropic"]) for row in rows]
        ahead_of[cell.parameters["level"]] += ahead
        ahead_of["all"] += ahead
        lines.append(
            {
                **{key: cell.parameters[key] for key in ("family", "d", "n", "level")},
                "trials": len(rows),
                **intervals.mean([row["right isotropic"] for row in rows], "right_isotropic"),
                **intervals.mean([row["right auto"] for row in rows], "right_auto"),
                **intervals.mean(ahead, "ahead"),
                **intervals.proportion([row["kept"] for row in rows], "kept"),
            }
        )
    means = [
        {"level": level, "trials": len(ahead), **intervals.mean(ahead, "ahead")}
        for level, ahead in ahead_of.items()
        if ahead
    ]
    return {"": lines, "means": means}


def draw(figure: Any, tables: Tables) -> None:
    """Draw the differences of all cells against points per dimension, one panel a level."""
    rows = tables[""]
    levels = list(dict.fromkeys(row["level"] for row in rows))
    panels = figure.subplots(1, len(levels), sharex=True, sharey=True, squeeze=False)[0]
    for axes, level in zip(panels, levels, strict=True):
        _draw_level(axes, [row for row in rows if row["level"] == level])
        mean = next(row for row in tables["means"] if row["level"] == level)
        axes.set_title(f"{level} the noise floor: mean {_points(mean)}")
        axes.set_xlabel("points per dimension, n / d")
    panels[0].set_ylabel('points that "auto" is ahead of isotropic LSL')
    panels[0].set_yscale("symlog", linthresh=1.0)
    panels[0].set_yticks(ticks := (-30, -10, -3, -1, 0, 1, 3, 10, 30), [f"{tick:g}" for tick in ticks])
    panels[0].minorticks_off()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    mean = next(row for row in tables["means"] if row["level"] == "all")
    worst = min(rows, key=lambda row: row["ahead"])
    sure = sum(row["ahead_high"] < -CELL_GOAL for row in rows)
    figure.suptitle(
        f'On isotropic noise "auto" changes {_points(mean)} points on average; the goal is '
        f"{-MEAN_GOAL:g} or more\n"
        f"lowest cell {_points(worst)} ({worst['family']}, n = {worst['n']:.0f}, {worst['level']}); "
        f"{sure} of {len(rows)} cells surely below {-CELL_GOAL:g}; {rows[0]['trials']:.0f} trials a cell",
        fontweight="bold",
    )


def _draw_level(axes: Any, rows: Sequence[Row]) -> None:
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.axhline(-CELL_GOAL, color=INK, linewidth=1, linestyle=":", label="the goal of each cell: −1 point")
    axes.axhline(-MEAN_GOAL, color=INK, linewidth=1, linestyle="--", label="the goal of the mean: −0.2")
    dimensions = sorted({row["d"] for row in rows})
    for k, d in enumerate(dimensions):
        shown = [row for row in rows if row["d"] == d]
        # Families side by side, as they share their sizes.
        names = list(dict.fromkeys(row["family"] for row in shown))
        aside = [1.05 ** (names.index(row["family"]) - len(names) / 2) for row in shown]
        places = np.array([row["n"] / d for row in shown]) * aside
        looks: Any = {"linestyle": "", "markersize": 3.5, "elinewidth": 0.7, "capsize": 0}
        error_line(axes, places, shown, "ahead", k, f"d = {d:.0f}", **looks)
    axes.set_xscale("log")
    most = max(row["n"] / row["d"] for row in rows)
    label_log_axis(axes.xaxis, [ratio for ratio in _RATIOS if ratio <= most])


def _points(row: Row) -> str:
    return f"{row['ahead']:+.2f} [{row['ahead_low']:.2f}, {row['ahead_high']:.2f}]"


def _features(family: str, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    if family in FAMILIES:
        return FAMILIES[family](n, rng)
    return rng.standard_normal((n, _DIMENSIONS[family])), np.ones(n)


def _cells(
    families: Sequence[str], ratios: Sequence[float], most: int, trials: tuple[int, int, int]
) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    for family in families:
        d = _DIMENSIONS[family]
        limit = most if d < _MANY_DIMENSIONS else min(most, _FEWER_POINTS)
        sizes = sorted({max(round(ratio * d), _LEAST) for ratio in ratios if ratio * d <= limit})
        for n in sizes:
            for level in LEVELS:
                # The number of trials is in the name: the same point may be in several profiles.
                name = f"{family}, n={n}, {level}, {max(trials)} trials"
                cells.append(Cell(name, {"family": family, "d": d, "n": n, "level": level}, trials=trials))
    return tuple(cells)


STUDY = Study(
    id="isotropic-regret",
    cells=(
        *_cells(("d = 2", "clusters", "Gaussian, d = 5"), (1,), 20, (2, 0, 0)),
        *_cells(tuple(_DIMENSIONS), (0.25, 1, 5), 100, (0, 24, 0)),
        *_cells(tuple(_DIMENSIONS), _RATIOS, 1000, (0, 0, 80)),
    ),
    trial=trial,
    batch=4,
)

FIGURES = (Figure("isotropic-regret", "beyond the paper", STUDY, tabulate, draw, (10.0, 4.8)),)
