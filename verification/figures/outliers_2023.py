"""The synthetic experiment on points without a partner by Minasyan, Galstyan, Hunanyan and Dalalyan (2023).

As in the program that they published: 100 points in either set, 60 of them partners, 100 dimensions, noise of
level 1. Features are normal with standard deviation tau; those of strangers are shifted in all coordinates,
by tau in the second set and by 2 tau in the first. They draw results against the separation of the least
distant pair that does not belong together, in units of the noise of a difference. They know the scale; here
a method that does not know it stands beside theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

import lslmatch
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.rule_of_2023 import number_of_pairs
from verification.statistics import intervals
from verification.style import error_line

_N, _PAIRS, _D = 100, 60, 100
KNOWN, RULE, CHOSEN = "scale and number known", "scale known, rule of 2023", "robust, number chosen"
METHODS = (KNOWN, RULE, CHOSEN)


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Draw features and noise, and give what each method found."""
    spread = parameters["spread"]
    y = spread * rng.standard_normal((_N, _D))
    x = spread * rng.standard_normal((_N, _D))
    x[:_PAIRS] = y[:_PAIRS]
    y[_PAIRS:] += spread
    x[_PAIRS:] += 2.0 * spread
    distances = cdist(x, y)
    distances[np.arange(_PAIRS), np.arange(_PAIRS)] = np.inf
    separation = float(distances.min()) / np.sqrt(2.0)
    x, y = x + rng.standard_normal(x.shape), y + rng.standard_normal(y.shape)
    path = lslmatch.match_path(x, y, alignment="identity", objective="lss")
    results = {
        KNOWN: path.matching(_PAIRS),
        RULE: path.matching(number_of_pairs(path.increments, _N, _D)),
        CHOSEN: lslmatch.match(x, y, alignment="robust", pairs="auto"),
    }
    rows: list[Row] = []
    for name, result in results.items():
        kept = int((result.permutation >= 0).sum())
        right = int((result.permutation[:_PAIRS] == np.arange(_PAIRS)).sum())
        found = {"separation": separation, "recall": right / _PAIRS, "pairs": kept}
        rows.append({"method": name, **found, "false": (kept - right) / max(kept, 1)})
    return rows


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the means for each spread of the features and each method."""
    lines: list[Row] = []
    for cell, rows in cells:
        for name, part in pd.DataFrame(rows).groupby("method", sort=False):
            means = [intervals.mean(part[value].tolist(), value) for value in ("recall", "false", "pairs")]
            lines.append(
                {
                    "spread": cell.parameters["spread"],
                    "method": name,
                    "trials": len(part),
                    "separation": float(part["separation"].mean()),
                    **means[0],
                    **means[1],
                    **means[2],
                }
            )
    return {"": lines}


def draw(figure: Any, tables: Tables) -> None:
    """Draw the share of right pairs and the number of pairs against the separation."""
    panels = figure.subplots(1, 2, sharex=True)
    for style, name in enumerate(METHODS):
        rows = [row for row in tables[""] if row["method"] == name]
        places = [row["separation"] for row in rows]
        for axes, value in zip(panels, ("recall", "pairs"), strict=True):
            error_line(axes, places, rows, value, style, name)
    panels[0].set(ylabel="share of true pairs found", ylim=(-0.03, 1.03))
    panels[1].set(ylabel="pairs that are kept", ylim=(0, _N + 3))
    panels[1].axhline(_PAIRS, color="0.6", linewidth=0.8, zorder=0)
    for axes in panels:
        axes.set_xlabel("least separation of points that do not belong together")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle("The experiment of 2023, and a method that is not told the scale", fontweight="bold")


STUDY = Study(
    id="outliers-2023",
    cells=tuple(
        Cell(f"spread {spread:g}", {"spread": spread}, trials=(1 if spread == 1.5 else 0, 20, 100))
        for spread in (0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0, 1.25, 1.5)
    ),
    trial=trial,
    batch=10,
)

FIGURES = (Figure("outliers-2023", "beyond the paper", STUDY, tabulate, draw, (8.4, 4.2)),)
