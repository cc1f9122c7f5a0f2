"""Beyond the paper: from which share of right pairs at the start does a learned covariance find the others.

The start is the truth with some pairs exchanged. Beside leave-pair-out stands its control, in-sample
whitening, which makes the metric from the pairs that it judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lslmatch._types import FloatArray, IntArray
from verification.data.instruments import load_spectra
from verification.data.verses import load_verses
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures import instruments
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.climbing import corrupt, in_sample, leave_pair_out
from verification.scenarios.configurations import draw_permutation
from verification.scenarios.correlated_noise import LEVELS, SHAPES, correlated_configuration
from verification.statistics import intervals
from verification.style import INK, error_line

#: The two ways to learn, by name.
LEAVE_PAIR_OUT = "leave-pair-out"
WAYS = {LEAVE_PAIR_OUT: leave_pair_out, "in-sample whitening (control)": in_sample}

#: Shares of right pairs at the start. From the truth itself the share at the end is what can be had.
STARTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0)

#: A start has led to the end if the upper limit of the mean share is this much of that from the truth.
_END = 0.95

#: Planted noise by name: the covariance, its ratio of the greatest variance to the smallest, the separation.
_ABOVE = {
    "above the floor, one direction": ("one direction", 1000.0, "above"),
    "above the floor, AR(1) .9": ("AR(1)", 361.0, "above"),
}
_NEAR = {
    "near the floor, one direction": ("one direction", 1000.0, "near"),
    "near the floor, AR(1) .9": ("AR(1)", 361.0, "near"),
}
_PLANTED = {**_ABOVE, **_NEAR}

#: Real pairs of sets by name: of instruments, and the translations and encoders of verses.
_CORN = tuple(name for name in instruments.PAIRS if name.startswith("corn"))
_VERSES = {"verses, L6 and L3": ("WEB-L3", "KJV-L6")}


def load(parameters: Parameters, rng: np.random.Generator) -> tuple[Parameters, Any]:
    """Give the two real sets, row i of one being the partner of row i of the other; None if planted."""
    data = parameters["data"]
    if data in _PLANTED:
        return parameters, None
    if data in _VERSES:
        first, second = (load_verses().vectors[name] for name in _VERSES[data])
        return parameters, (first, second)
    name, one, other = instruments.PAIRS[data]
    spectra = load_spectra(name)
    return parameters, (spectra[one], spectra[other])


def trial(state: tuple[Parameters, Any], rng: np.random.Generator) -> list[Row]:
    """Start from the truth with pairs exchanged, and give the share of right pairs at the end of each way."""
    parameters, sets = state
    x, y, truth = _sets(parameters, sets, rng)
    start = corrupt(truth, parameters["start"], rng)
    ends = {name: way(x, y, start) for name, way in WAYS.items()}
    return [
        {"start": float((start == truth).mean())}
        | {f"right {name}": float((end == truth).mean()) for name, end in ends.items()}
        | {f"kept {name}": float((end == start).mean()) for name, end in ends.items()}
    ]


def _sets(
    parameters: Parameters, sets: Any, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, IntArray]:
    n = parameters["n"]
    if sets is None:
        shape, condition, level = _PLANTED[parameters["data"]]
        covariance = SHAPES[shape](parameters["d"], condition, rng)
        planted = correlated_configuration(covariance, n, level=LEVELS[level], rng=rng)
        return *planted.sample(rng), planted.permutation
    drawn = rng.choice(len(sets[0]), size=n, replace=False)
    truth = draw_permutation(n, rng)
    shuffled = np.empty((n, sets[1].shape[1]))
    shuffled[truth] = sets[1][drawn]
    return sets[0][drawn], shuffled, truth


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the share at the end for each share at the start, and from which start on the end is reached."""
    lines: list[Row] = []
    for cell, rows in cells:
        place = {key: cell.parameters[key] for key in ("data", "n", "d")}
        for name in WAYS:
            right = [row[f"right {name}"] for row in rows]
            lines.append(
                {
                    **place,
                    "method": name,
                    "start": float(np.mean([row["start"] for row in rows])),
                    "trials": len(rows),
                    **intervals.mean(right, "right"),
                    **intervals.mean([row[f"kept {name}"] for row in rows], "kept"),
                }
            )
    return {"": lines, "border": _borders(lines)}


def _borders(lines: Sequence[Row]) -> list[Row]:
    """Give the least start from which on, also from all greater ones, the mean share is that at the end.

    The end is that of leave-pair-out from the truth; the upper limit of the mean must come near to it. NaN if
    only the truth itself leads there.
    """
    found: list[Row] = []
    for data, n in dict.fromkeys((line["data"], line["n"]) for line in lines):
        shown = [line for line in lines if (line["data"], line["n"]) == (data, n)]
        end = max(shown, key=lambda line: (line["start"], line["method"] == LEAVE_PAIR_OUT))["right"]
        for name in WAYS:
            border = np.nan
            below = [line for line in shown if line["method"] == name and line["start"] < 1]
            for line in sorted(below, key=lambda line: -line["start"]):
                if line["right_high"] < _END * end:
                    break
                border = line["start"]
            found.append({"data": data, "n": n, "method": name, "end": end, "climbs_from": border})
    return found


def draw(figure: Any, tables: Tables) -> None:
    """Draw the end against the start, one panel a data set."""
    rows = tables[""]
    names = list(dict.fromkeys((row["data"], row["n"]) for row in rows))
    lines = -(-len(names) // _COLUMNS)
    figure.set_size_inches(9.6, 1.5 + 2.4 * lines)
    panels = figure.subplots(lines, _COLUMNS, sharex=True, sharey=True, squeeze=False)
    for axes, (data, n) in zip(panels.flat, names, strict=False):
        shown = [row for row in rows if (row["data"], row["n"]) == (data, n)]
        _draw_data(axes, shown)
        axes.set_title(f"{data}\nn = {n:.0f}, d = {shown[0]['d']:.0f}")
    for axes in panels.flat[len(names) :]:
        axes.set_axis_off()
    for axes in panels.flat[max(len(names) - _COLUMNS, 0) : len(names)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("share of pairs that are right at the start")
    for axes in panels[:, 0]:
        axes.set_ylabel("share right at the end")
    panels[0, 0].set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    counts = sorted({row["trials"] for row in rows})
    figure.suptitle(
        "Well above the noise floor no right pair is needed to climb, if the judged pair is left out\n"
        f"means of {counts[0]:.0f} to {counts[-1]:.0f} starts, with 95 % intervals",
        fontweight="bold",
    )


def _draw_data(axes: Any, rows: Sequence[Row]) -> None:
    axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":", label="the start is kept")
    for k, name in enumerate(WAYS):
        shown = sorted((row for row in rows if row["method"] == name), key=lambda row: row["start"])
        error_line(axes, [row["start"] for row in shown], shown, "right", k, name)


_COLUMNS = 3


def _cells(
    data: str, n: int, d: int, trials: tuple[int, int, int], starts: Sequence[float] = STARTS
) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            f"{data}, n={n}, start={start:g}",
            {"data": data, "n": n, "d": d, "start": start},
            trials=trials,
        )
        for start in starts
    )


STUDY = Study(
    id="climb",
    cells=(
        *(cell for data in _PLANTED for cell in _cells(data, 12, 12, (2, 0, 0), (0.2, 1.0))),
        *(cell for data in _ABOVE for cell in _cells(data, 60, 60, (0, 16, 80))),
        *(cell for data in _NEAR for cell in _cells(data, 200, 40, (0, 16, 80))),
        *(cell for data in _CORN for cell in _cells(data, 80, 700, (0, 4, 40))),
        *_cells("tablets", 300, 597, (0, 3, 0)),
        *_cells("tablets", 642, 597, (0, 0, 10)),
        *(cell for data in _VERSES for cell in _cells(data, 500, 384, (0, 4, 20))),
    ),
    setup=load,
    trial=trial,
    batch=2,
)

FIGURES = (Figure("climb", "beyond the paper", STUDY, tabulate, draw, (9.6, 7.0), instruments.missing),)
