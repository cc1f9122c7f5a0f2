"""Beyond the paper: the alignments on families that none of them was made for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import lslmatch
from lslmatch.results import Affine
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.adversarial_study import KNOWN
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.families import FAMILIES, draw_family
from verification.scenarios.recovery import require_certificate
from verification.statistics import intervals
from verification.style import INK

#: What the others are compared with, and those that are compared.
REFERENCE = "standardize"
OTHERS = ("profile", "auto", KNOWN)
ALIGNMENTS = (REFERENCE, *OTHERS)

#: By how many percentage points a method may be behind the reference.
_GOAL = 1.0

#: From far below the threshold of each family to far above it.
_SEPARATIONS = (0.7, 1.5, 3.0, 6.0, 12.0)


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Give what each method made of one draw: the share of pairs that it got right, and seconds."""
    truth = draw_family(parameters["family"], parameters["n"], separation=parameters["separation"], rng=rng)
    x, y = truth.sample(rng)
    known = Affine(truth.scale, x.mean(axis=0) - truth.scale * y.mean(axis=0))
    row: dict[str, float] = {}
    for name in ALIGNMENTS:
        started = time.perf_counter()
        result = lslmatch.match(x, y, alignment=known if name == KNOWN else name)
        row[f"seconds {name}"] = time.perf_counter() - started
        require_certificate(x, y, result)
        row[f"right {name}"] = float((result.permutation == truth.permutation).mean())
    return [row]


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give each method's mean share of right pairs, and its difference to the reference, in points."""
    return {"": [_line(cell, rows, name) for cell, rows in cells for name in ALIGNMENTS]}


def _line(cell: Cell, rows: Sequence[Row], name: str) -> Row:
    ahead = [100 * (row[f"right {name}"] - row[f"right {REFERENCE}"]) for row in rows]
    times = [row[f"seconds {name}"] / row[f"seconds {REFERENCE}"] for row in rows]
    return {
        **{key: cell.parameters[key] for key in ("family", "n", "separation")},
        "method": name,
        "trials": len(rows),
        **intervals.mean([row[f"right {name}"] for row in rows], "right"),
        **intervals.mean(ahead, "ahead"),
        "worst_trial": min(ahead),
        **intervals.median(times, "times_standardize"),
    }


def draw(figure: Any, tables: Tables) -> None:
    """Draw by how many points "auto" is ahead of the reference: a line for each family."""
    rows = [row for row in tables[""] if row["method"] == "auto"]
    names = list(dict.fromkeys(row["family"] for row in rows))
    separations = sorted({row["separation"] for row in rows})
    figure.set_size_inches(6.4, 1.6 + 0.26 * len(names))
    axes = figure.subplots()
    ahead = np.zeros((len(names), len(separations)))
    for row in rows:
        place = names.index(row["family"]), separations.index(row["separation"])
        ahead[place] = row["ahead"]
        # What chance does not explain is printed in bold.
        clear = row["ahead_low"] > 0 or row["ahead_high"] < 0
        label = f"{round(row['ahead'], 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")
        axes.text(
            *place[::-1],
            label,
            ha="center",
            va="center",
            fontweight="bold" if clear else "normal",
            color=INK if clear else "#777777",
        )
    axes.imshow(ahead, aspect="auto", cmap="PuOr", vmin=-4 * _GOAL, vmax=4 * _GOAL)
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(separations)), [f"{separation:g}" for separation in separations])
    axes.set_xlabel("typical separation")
    axes.grid(False)
    axes.tick_params(length=0)
    worst = min(row["ahead"] for row in rows)
    verdict = "stays within" if worst >= -_GOAL else "does not stay within"
    figure.suptitle(
        f"On families nobody tuned for, auto {verdict} {_GOAL:g} point of standardize:\n"
        "percentage points of the pairs by which it is ahead (bold: beyond chance)\n"
        f"n = {rows[0]['n']:.0f}, {rows[0]['trials']:.0f} trials a cell",
        fontweight="bold",
    )


def _cells(n: int, separations: Sequence[float], trials: tuple[int, int, int]) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            f"{family}, n={n}, separation={separation:g}",
            {"family": family, "n": n, "separation": separation},
            trials=trials,
        )
        for family in FAMILIES
        for separation in separations
    )


STUDY = Study(
    id="families",
    cells=(
        *_cells(12, (3.0,), (2, 0, 0)),
        *_cells(500, _SEPARATIONS, (0, 24, 0)),
        *_cells(2000, _SEPARATIONS, (0, 0, 80)),
    ),
    trial=trial,
    batch=4,
)

FIGURES = (Figure("families", "beyond the paper", STUDY, tabulate, draw),)
