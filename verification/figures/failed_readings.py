"""Where standardising loses: a few failed readings spoil the mean and the scale of a whole set.

Some spectra of the second instrument are replaced by zeros, as a failed reading might be stored. Shares
are of the samples that are left. Least squares does not look at mean and scale. What was made for such data
is the robust alignment; a covariance that is learned; and both, with the number of pairs chosen, which leaves
failed readings without a partner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lslmatch._types import FloatArray
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures import instruments
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios import side_by_side
from verification.scenarios.side_by_side import REFERENCE, Method
from verification.statistics import intervals
from verification.style import error_line

CHOSEN = "all on auto"
METHODS = {
    "least squares": side_by_side.METHODS["least squares"],
    REFERENCE: side_by_side.METHODS[REFERENCE],
    "robust": Method("lsl", lambda x, y: "robust"),
    "learned covariance": side_by_side.METHODS["learned covariance"],
    CHOSEN: Method("lsl", lambda x, y: "robust", "auto", "auto"),
}


def setup(parameters: Parameters, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, int]:
    """Give the spectra by both instruments, and the number of failed readings."""
    return *instruments.load_pair(parameters, rng), parameters["failed"]


def trial(state: tuple[FloatArray, FloatArray, int], rng: np.random.Generator) -> list[Row]:
    """Let readings fail at random, and give what each method made of the rest."""
    x, y, failed = state
    readable = np.ones(len(y), bool)
    readable[rng.choice(len(y), size=failed, replace=False)] = False
    return side_by_side.compare(x, np.where(readable[:, None], y, 0.0), rng, readable, METHODS)


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the shares, and the differences to the reference on the same failures."""
    shares: list[Row] = []
    differences: list[Row] = []
    for cell, rows in cells:
        for name, lines in pd.DataFrame(rows).groupby("method", sort=False):
            place = {
                "data": cell.parameters["pair"],
                "failed": cell.parameters["failed"],
                "readable": lines["pairs"].iloc[0],
                "method": name,
                "draws": len(lines),
            }
            recovered = lines["right"] / lines["pairs"]
            ahead = (lines["gained"] - lines["lost"]) / lines["pairs"]
            false = 1.0 - lines["right"] / lines["given"].clip(lower=1)
            scale = intervals.mean(lines["scale"], "scale")
            found = {**intervals.mean(recovered, "recovered"), **intervals.mean(false, "false")}
            shares.append({**place, **found, **scale})
            if name != REFERENCE:
                differences.append({**place, **intervals.mean(ahead, "difference")})
    return {"": shares, "differences": differences}


def draw(figure: Any, tables: Tables) -> None:
    """Draw the shares against the number of failures, one panel a pair of instruments."""
    pairs = list(dict.fromkeys(row["data"] for row in tables[""]))
    panels = figure.subplots(1, len(pairs), sharey=True, squeeze=False)[0]
    for axes, pair in zip(panels, pairs, strict=True):
        for name in dict.fromkeys(row["method"] for row in tables[""]):
            style = list(METHODS).index(name)
            rows = [row for row in tables[""] if row["data"] == pair and row["method"] == name]
            error_line(axes, range(len(rows)), rows, "recovered", style, name)
        total = rows[0]["failed"] + rows[0]["readable"]
        axes.set_xticks(range(len(rows)), [f"{row['failed']:.0f}" for row in rows])
        axes.set_xlabel(f"failed readings among {total:.0f}")
        axes.set_title(pair)
    panels[0].set(ylabel="share of readable pairs recovered", ylim=(-0.03, 1.03))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.suptitle(
        "A failed reading spoils mean and scale; with all on auto, most pairs are found",
        fontweight="bold",
    )


STUDY = Study(
    id="failed-readings",
    cells=(
        *(
            Cell(f"corn, {failed}", {"pair": "corn mp5, mp6", "failed": failed}, trials=(0, 20, 200))
            for failed in (0, 1, 2, 8, 20)
        ),
        *(
            Cell(f"tablets, {failed}", {"pair": "tablets", "failed": failed}, trials=(0, 3, 40))
            for failed in (0, 1, 2, 8, 64)
        ),
    ),
    setup=setup,
    trial=trial,
    batch=4,
)

FIGURES = (
    Figure(
        "failed-readings",
        "beyond the paper: real data",
        STUDY,
        tabulate,
        draw,
        (8.4, 4.2),
        instruments.missing,
    ),
)
