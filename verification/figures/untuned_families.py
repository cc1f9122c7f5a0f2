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
from verification.style import COLOURS, DASHES, INK, MARKERS, label_log_axis

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
    """Draw one panel a family: by how many points each method is ahead of the reference."""
    rows = tables[""]
    names = list(dict.fromkeys(row["family"] for row in rows))
    lines = -(-len(names) // _COLUMNS)
    figure.set_size_inches(9.6, 1.4 + 1.9 * lines)
    panels = figure.subplots(lines, _COLUMNS, sharex=True, sharey=True, squeeze=False)
    for axes, name in zip(panels.flat, names, strict=False):
        _draw_family(axes, [row for row in rows if row["family"] == name])
        axes.set_title(name)
    for axes in panels.flat[len(names) :]:
        axes.set_axis_off()
    # Where the line below is not full, the axis of the panel above it needs its labels.
    for axes in panels.flat[len(names) - _COLUMNS : len(names)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("typical separation")
    compared = [row for row in rows if row["method"] in ("profile", "auto")]
    top = max(_GOAL, *(row["ahead_high"] for row in compared))
    bottom = min(-_GOAL, *(row["ahead_low"] for row in compared))
    panels[0, 0].set_ylim(bottom - 0.1 * (top - bottom), top + 0.25 * (top - bottom))
    for axes in panels[:, 0]:
        axes.set_ylabel("points ahead")
    figure.legend(*panels.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    worst = min(row["ahead"] for row in compared)
    verdict = "stay within" if worst >= -_GOAL else "do not stay within"
    figure.suptitle(
        f"On families nobody tuned for, profile and auto {verdict} {_GOAL:g} point of standardize\n"
        f"n = {rows[0]['n']:.0f}, {rows[0]['trials']:.0f} trials a cell; mean differences in points, "
        f"with 95 % intervals, the lowest {worst:+.2f};\n"
        "at the top of a panel, the share that standardize gets right",
        fontweight="bold",
    )


def _draw_family(axes: Any, rows: Sequence[Row]) -> None:
    """Draw the differences of one family, and at the top the share that the reference gets right."""
    separations = sorted({row["separation"] for row in rows})
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.axhline(-_GOAL, color=INK, linewidth=0.8, linestyle=":", label="the goal: 1 point behind at most")
    for k, name in enumerate(OTHERS):
        shown = [row for row in rows if row["method"] == name]
        middle, low, high = (np.array([row["ahead" + end] for row in shown]) for end in ("", "_low", "_high"))
        axes.errorbar(
            np.array(separations) * 1.06 ** (k - 1),
            middle,
            yerr=[middle - low, high - middle],
            color=COLOURS[k],
            linestyle=DASHES[k],
            marker=MARKERS[k],
            markersize=3.5,
            linewidth=1,
            capsize=2,
            label=name,
        )
    axes.set(xscale="log", xlim=(separations[0] / 1.3, separations[-1] * 1.3))
    for row in rows:
        if row["method"] == REFERENCE:
            label = f"{100 * row['right']:.0f} %"
            axes.annotate(
                label,
                (row["separation"], 0.97),
                xycoords=("data", "axes fraction"),
                ha="center",
                va="top",
                fontsize=6.5,
                color=INK,
            )
    label_log_axis(axes.xaxis, separations)


_COLUMNS = 5


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
