"""Section 5.2: success sets in where the obstruction falls below the threshold line, for several R."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verification.figures import adversarial_study
from verification.figures.definition import CellRows, Figure, Tables
from verification.style import COLOURS, DASHES, INK, MARKERS, label_log_axis

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
    """Draw obstruction and success over the same axis of separations."""
    top, bottom = figure.subplots(2, 1, sharex=True)
    floor = tables["curves"][0]["noise_floor"]
    roots = sorted({row["R"] for row in tables[""]})
    for k, root in enumerate(roots):
        rows = [row for row in tables[""] if row["R"] == root]
        curve = [row for row in tables["curves"] if row["R"] == root]
        look = {"color": COLOURS[k], "linestyle": DASHES[k]}
        x = np.array([row["separation"] for row in rows])
        top.plot(
            [row["separation"] for row in curve], [row["predicted_obstruction"] for row in curve], **look
        )
        for axes, name, line in ((top, "obstruction", "none"), (bottom, "recovered", DASHES[k])):
            value, low, high = (np.array([row[name + end] for row in rows]) for end in ("", "_low", "_high"))
            axes.errorbar(
                x,
                value,
                yerr=[value - low, high - value],
                color=COLOURS[k],
                linestyle=line,
                marker=MARKERS[k],
                markersize=4,
                capsize=2,
                elinewidth=0.8,
                label=f"R = {root:g}",
            )
        crossing = curve[0]["predicted_threshold"]
        top.plot(
            crossing, crossing - floor, marker=MARKERS[k], color="white", markeredgecolor=INK, markersize=8
        )
        for axes in (top, bottom):
            axes.axvline(crossing, color=COLOURS[k], linewidth=0.8, linestyle=DASHES[k], alpha=0.6)
    line = np.linspace(floor, max(row["separation"] for row in tables[""]), 200)
    top.plot(line, line - floor, "--", color=INK, label="threshold line κ − noise floor")
    ceiling = max(row["obstruction_high"] for row in tables[""])
    top.set(xscale="log", ylim=(0, 1.05 * ceiling), ylabel="obstruction")
    top.set_title("obstruction: points are means of the trials, curves the closed form")
    bottom.set(ylim=(-0.03, 1.03), ylabel="share of trials\nwith every pair right")
    bottom.set_xlabel("separation of the closest points, κ")
    bottom.set_title("success: thin vertical lines mark where the obstruction crosses the threshold line")
    for axes in (top, bottom):
        axes.axvline(floor, color=INK, linewidth=1, linestyle=":")
    label_log_axis(bottom.xaxis, sorted({row["separation"] for row in tables[""]}))
    figure.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=_SLICES + 1)
    figure.suptitle("Success sets in where the obstruction crosses the threshold line", fontweight="bold")


FIGURES = (Figure("slices", "section 5.2, slices", adversarial_study.STUDY, tabulate, draw, (7.2, 6.4)),)
