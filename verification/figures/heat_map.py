"""Section 5.2: on the adversarial family, standardisation fails in a band above the noise floor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import patheffects

from verification.engine.samples import Row
from verification.figures import adversarial_study
from verification.figures.definition import CellRows, Figure, Tables
from verification.statistics import intervals
from verification.style import draw_share_matrix


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the success of LSL after standardisation, by cell and by region, and the two curves."""
    regions = [
        {"region": region, "trials": len(rows)}
        | intervals.proportion([row["recovered standardize"] for row in rows], "recovered")
        for region, rows in adversarial_study.by_region(cells).items()
    ]
    return {
        "": adversarial_study.tabulate(cells, ["standardize"]),
        "regions": regions,
        "curves": adversarial_study.thresholds(cells),
    }


def draw(figure: Any, tables: Tables) -> None:
    """Draw the plane with the noise floor and the predicted threshold."""
    axes = figure.subplots()
    shown = draw_plane(axes, tables[""], tables["curves"])
    figure.colorbar(shown, ax=axes, label="share of trials with every pair right")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    first = tables[""][0]
    shares = [
        f"{row['region']} {100 * row['recovered']:.0f} % "
        f"[{100 * row['recovered_low']:.0f}, {100 * row['recovered_high']:.0f}]"
        for row in tables["regions"]
    ]
    axes.set_title(
        f"n = {first['n']:.0f}, d = {first['d']:.0f}, {first['trials']:.0f} trials a cell, in per cent\n"
        + ", ".join(shares)
    )
    figure.suptitle(
        "The more unequal the noise, the more separation standardisation needs", fontweight="bold"
    )


def draw_plane(axes: Any, rows: Sequence[Row], curves: Sequence[Row], text: float = 6.5) -> Any:
    """Draw the share of successes of each cell as a colour and a number, and the curves over it."""
    roots = sorted({row["R"] for row in rows})
    separations = sorted({row["separation"] for row in rows})
    share = np.full((len(separations), len(roots)), np.nan)
    for row in rows:
        share[separations.index(row["separation"]), roots.index(row["R"])] = row["recovered"]
    shown = draw_share_matrix(axes, share, text)
    # Cells are of equal size, so a curve is drawn where it lies between the cells' values.
    x = np.interp([row["R"] for row in curves], roots, np.arange(len(roots)))
    rim = [patheffects.withStroke(linewidth=3, foreground="black")]
    for name, dashes, label in (
        ("noise_floor", (0, (4, 2)), "noise floor: about enough if the scale is known"),
        ("predicted", "-", "predicted threshold: noise floor + obstruction"),
    ):
        level = np.log([row[name] for row in curves])
        y = np.interp(level, np.log(separations), np.arange(len(separations)))
        axes.plot(x, y, color="white", linewidth=1.5, linestyle=dashes, path_effects=rim, label=label)
    axes.set_xticks(range(len(roots)), [f"{root:g}" for root in roots])
    axes.set_yticks(range(len(separations)), [f"{value:g}" for value in separations])
    axes.set_xlabel("ratio of largest to smallest noise level, R")
    axes.set_ylabel("separation of the closest points, κ")
    axes.grid(False)
    return shown


FIGURES = (Figure("heat-map", "section 5.2, heat map", adversarial_study.STUDY, tabulate, draw, (6.6, 5.6)),)
