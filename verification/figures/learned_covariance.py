"""Beyond the paper: noise that is correlated between coordinates, and how much learning its covariance gains.

The noise is an AR(1) process along the coordinates. Separations are measured where the noise is isotropic, so
the ceiling, LSL under the true covariance, has about the same task everywhere on the plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.correlated_noise import (
    AUTO,
    ISOTROPIC,
    KNOWN,
    LEVELS,
    METHODS,
    autoregressive_covariance,
    correlated_configuration,
    match_in_each_way,
)
from verification.statistics import intervals
from verification.style import draw_share_matrix

#: What each method is called above its panel.
TITLES = {
    ISOTROPIC: "isotropic LSL (the paper)",
    AUTO: 'covariance="auto"',
    KNOWN: "the ceiling: true covariance",
}

#: Correlations of neighbouring coordinates.
_PARAMETERS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95)


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Give what each method made of one draw."""
    covariance = autoregressive_covariance(parameters["d"], parameters["correlation"])
    truth = correlated_configuration(covariance, parameters["n"], level=LEVELS[parameters["level"]], rng=rng)
    return [match_in_each_way(truth, rng)]


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give each method's mean share of right pairs, and what "auto" gains and leaves, in points."""
    shares: list[Row] = []
    gains: list[Row] = []
    for cell, rows in cells:
        place = {key: cell.parameters[key] for key in ("level", "d", "n", "correlation")}
        place["trials"] = len(rows)
        for name in METHODS:
            right = intervals.mean([row[f"right {name}"] for row in rows], "right")
            shares.append({**place, "method": name, **right})
        gains.append({**place, **gain_columns(rows)})
    return {"": shares, "gains": gains}


def gain_columns(rows: Sequence[Row]) -> dict[str, float]:
    """Give how far "auto" is ahead of isotropic noise and behind the true covariance, and what it costs."""
    right = {name: np.array([row[f"right {name}"] for row in rows]) for name in METHODS}
    times = [row[f"seconds {AUTO}"] / row[f"seconds {ISOTROPIC}"] for row in rows]
    return {
        **intervals.mean(100 * (right[AUTO] - right[ISOTROPIC]), "gain"),
        **intervals.mean(100 * (right[KNOWN] - right[AUTO]), "to_ceiling"),
        **intervals.proportion([row["kept"] for row in rows], "kept"),
        **intervals.median(times, "times_isotropic"),
    }


def draw(figure: Any, tables: Tables) -> None:
    """Draw one line of three panels for each level of separation."""
    rows = tables[""]
    levels = list(dict.fromkeys(row["level"] for row in rows))
    figure.set_size_inches(9.6, 1.4 + 2.9 * len(levels))
    panels = figure.subplots(len(levels), len(METHODS), squeeze=False)
    for line, level in zip(panels, levels, strict=True):
        for axes, name in zip(line, METHODS, strict=True):
            chosen = [row for row in rows if row["level"] == level and row["method"] == name]
            shown = _draw_plane(axes, chosen)
        line[0].set_ylabel(f"{level} the noise floor\npoints per dimension, n / d")
    for axes, name in zip(panels[0], METHODS, strict=True):
        axes.set_title(TITLES[name])
    for axes in panels[-1]:
        axes.set_xlabel("correlation of neighbouring coordinates")
    figure.colorbar(shown, ax=panels, label="share of pairs recovered", shrink=0.6)
    best = max(tables["gains"], key=lambda row: row["gain"])
    worst = min(tables["gains"], key=lambda row: row["gain"])
    figure.suptitle(
        "Learning the covariance recovers pairs that isotropic LSL loses to correlated noise\n"
        f"d = {rows[0]['d']:.0f}, {rows[0]['trials']:.0f} trials a cell, shares in per cent; gains from "
        f"{_points(worst)} to {_points(best)} points",
        fontweight="bold",
    )


def _points(row: Row) -> str:
    return f"{row['gain']:+.1f} [{row['gain_low']:.1f}, {row['gain_high']:.1f}]"


def _draw_plane(axes: Any, rows: Sequence[Row]) -> Any:
    """Draw the mean share of each cell as a colour and a number."""
    columns = sorted({row["correlation"] for row in rows})
    lines = sorted({row["n"] for row in rows})
    share = np.full((len(lines), len(columns)), np.nan)
    for row in rows:
        share[lines.index(row["n"]), columns.index(row["correlation"])] = row["right"]
    shown = draw_share_matrix(axes, share, text=7)
    axes.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
    axes.set_yticks(range(len(lines)), [f"{n / rows[0]['d']:g}" for n in lines])
    axes.grid(False)
    return shown


def _cells(
    d: int,
    level: str,
    ratios: Sequence[float],
    correlations: Sequence[float],
    trials: tuple[int, int, int],
) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            f"{level}, d={d}, n={round(ratio * d)}, r={correlation:g}",
            {"level": level, "d": d, "n": round(ratio * d), "correlation": correlation},
            trials=trials,
        )
        for ratio in ratios
        for correlation in correlations
    )


STUDY = Study(
    id="learned-covariance",
    cells=(
        *_cells(8, "near", (1,), (0.0, 0.9), (2, 0, 0)),
        *_cells(8, "above", (1,), (0.0, 0.9), (2, 0, 0)),
        *_cells(20, "near", (0.25, 1, 5), (0.0, 0.6, 0.9), (0, 16, 0)),
        *_cells(20, "above", (0.25, 1, 5, 10), (0.0, 0.6, 0.9), (0, 16, 0)),
        # Near the floor the largest sets take many rounds, and half as many points show the border.
        *_cells(40, "near", (0.25, 0.5, 1, 2, 5, 10), _PARAMETERS, (0, 0, 80)),
        *_cells(40, "above", (0.25, 0.5, 1, 2, 5, 10, 20), _PARAMETERS, (0, 0, 80)),
    ),
    trial=trial,
    batch=4,
)

FIGURES = (Figure("learned-covariance", "beyond the paper", STUDY, tabulate, draw, (9.6, 7.2)),)
