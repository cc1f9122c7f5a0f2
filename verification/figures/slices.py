"""Section 5.2: success sets in where the obstruction falls below the threshold line, for several R."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verification.figures import adversarial_study
from verification.figures.definition import CellRows, Figure, Tables
from verification.style import COLOURS, INK, MARKERS, error_line, label_log_axis

#: How many of the heat map's columns are shown.
_SLICES = 4


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give a few columns of the heat map, evenly spread, and the closed form between their points."""
    roots = sorted({cell.parameters["root"] for cell, _ in cells})
    chosen = {roots[k] for k in np.linspace(0, len(roots) - 1, _SLICES).round().astype(int)}
    shown = [item for item in cells if item.cell.parameters["root"] in chosen]
    spacing = adversarial_study.typical_spacing(cells)
    separations = [cell.parameters["separation"] for cell, _ in cells]
    curves = []
    for root in sorted(chosen):
        found = adversarial_study.closed_form(cells[0].cell, spacing)._replace(root=root)
        curves += [
            {
                "R": root,
                "separation": float(separation),
                "predicted_obstruction": found.obstruction(float(separation)),
                "noise_floor": found.noise_floor,
                "predicted_threshold": found.predicted_threshold(),
            }
            for separation in np.geomspace(min(separations), max(separations), 80)
        ]
    return {"": adversarial_study.tabulate(shown, ["standardize"]), "curves": curves}


def draw(figure: Any, tables: Tables) -> None:
    """Draw how success sets in, and where the closed form says that it does."""
    axes = figure.subplots()
    roots = sorted({row["R"] for row in tables[""]})
    for k, root in enumerate(roots):
        rows = [row for row in tables[""] if row["R"] == root]
        places = [row["separation"] for row in rows]
        error_line(axes, places, rows, "recovered", k, f"R = {root:g}", elinewidth=0.8)
        predicted = next(row["predicted_threshold"] for row in tables["curves"] if row["R"] == root)
        axes.plot(predicted, 1.09, MARKERS[k], color=COLOURS[k], markersize=7, clip_on=False)
    floor = tables["curves"][0]["noise_floor"]
    axes.axvline(floor, color=INK, linewidth=1, linestyle=":", label="noise floor")
    axes.set(xscale="log", ylim=(-0.03, 1.12), ylabel="share of trials with every pair right")
    axes.set_yticks(np.linspace(0, 1, 6))
    axes.set_xlabel("separation of the closest points, \N{GREEK SMALL LETTER KAPPA}")
    label_log_axis(axes.xaxis, sorted({row["separation"] for row in tables[""]}))
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=_SLICES + 1)
    figure.suptitle(
        "Success comes later the more the noise levels differ (R),\n"
        "about where the closed form says (marks at the top)",
        fontweight="bold",
    )


FIGURES = (Figure("slices", "section 5.2, slices", adversarial_study.STUDY, tabulate, draw, (6.4, 4.0)),)
