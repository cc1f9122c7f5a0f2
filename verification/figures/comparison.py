"""Beyond the paper: the heat map again, for other ways to find the scale, on the same trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verification.engine.samples import Row
from verification.figures import adversarial_study
from verification.figures.adversarial_study import ALIGNMENTS, KNOWN
from verification.figures.definition import CellRows, Figure, Tables
from verification.figures.heat_map import draw_plane
from verification.scenarios.adversarial import BAND
from verification.statistics import intervals


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give each method's success beside that of the known scale, by cell and by region, and the curves."""
    lines = adversarial_study.tabulate(cells, list(ALIGNMENTS))
    pairs = [_discordant(rows, name) for _, rows in cells for name in ALIGNMENTS]
    regions = adversarial_study.by_region(cells)
    return {
        "": [{**line, **pair} for line, pair in zip(lines, pairs, strict=True)],
        "regions": [
            {"method": name, "region": region, "trials": len(rows)}
            | intervals.proportion([row[f"recovered {name}"] for row in rows], "recovered")
            | _discordant(rows, name)
            | intervals.median(
                [row[f"seconds {name}"] / row["seconds standardize"] for row in rows], "times_standardize"
            )
            for name in ALIGNMENTS
            for region, rows in regions.items()
        ],
        "curves": adversarial_study.thresholds(cells),
    }


def draw(figure: Any, tables: Tables) -> None:
    """Draw one plane a method."""
    methods = list(dict.fromkeys(row["method"] for row in tables["regions"]))
    lines = -(-len(methods) // _COLUMNS)
    figure.set_size_inches(9.6, 1.4 + 3.7 * lines)
    planes = figure.subplots(lines, _COLUMNS, squeeze=False)
    for axes, name in zip(planes.flat, methods, strict=False):
        rows = [row for row in tables[""] if row["method"] == name]
        shown = draw_plane(axes, rows, tables["curves"], text=5.5)
        band = next(row for row in tables["regions"] if row["method"] == name and row["region"] == BAND)
        axes.set_title(
            f"{name}: {100 * band['recovered']:.0f} % "
            f"[{100 * band['recovered_low']:.0f}, {100 * band['recovered_high']:.0f}] in the band\n"
            f"{band['times_standardize']:.1f} times the time of standardize",
            fontweight="bold",
        )
        axes.label_outer()
    figure.colorbar(shown, ax=planes, label="share of trials with every pair right", shrink=0.6)
    figure.legend(*planes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    first = tables[""][0]
    figure.suptitle(
        "Success between the noise floor and the predicted threshold is a matter of finding the scale\n"
        f"(the same {first['trials']:.0f} trials a cell for each method, n = {first['n']:.0f})",
        fontweight="bold",
    )


def _discordant(rows: Sequence[Row], name: str) -> dict[str, float]:
    """Give the shares of trials that only the known scale recovers, and only the method."""
    known = np.array([row[f"recovered {KNOWN}"] for row in rows])
    method = np.array([row[f"recovered {name}"] for row in rows])
    lost, gained = (known > method).astype(float), (known < method).astype(float)
    return {**intervals.proportion(list(lost), "lost"), **intervals.proportion(list(gained), "gained")}


_COLUMNS = 2

FIGURES = (Figure("comparison", "beyond the paper", adversarial_study.STUDY, tabulate, draw),)
