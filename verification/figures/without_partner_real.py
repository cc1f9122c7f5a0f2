"""Points without a partner in real sets: who is found, and who is given a partner that is none.

Objects that are described twice are left out of one set or of both. The spectra and the verses are those on
which the choice of pairs was developed; on the others nothing was. Two sets without a common object
are the control: all pairs are false there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lslmatch._types import FloatArray
from lslmatch.results import MatchResult
from verification.data import held_out
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures import failed_readings, instruments, sentences
from verification.figures import held_out as held_out_figure
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.shared_objects import HALVES, ONE_SET, PARTS, PartlyShared, leave_out
from verification.scenarios.side_by_side import METHODS as ALL_MATCHED
from verification.scenarios.side_by_side import REFERENCE, Method, run_method
from verification.statistics import intervals
from verification.style import draw_share_matrix

CHOSEN, ISOTROPIC = failed_readings.CHOSEN, "isotropic, pairs chosen"
METHODS = {
    CHOSEN: failed_readings.METHODS[CHOSEN],
    ISOTROPIC: Method("lsl", lambda x, y: "robust", pairs="auto"),
    REFERENCE: ALL_MATCHED[REFERENCE],
}
#: How many objects are drawn at most, before some are left out. Tablets, which are hard, all take part.
_MOST = 400
_ALL = "tablets"
_CORN = ("corn mp5, mp6", "corn m5, mp5")
_VERSE_SETS = ("both by L6", "KJV by L6, WEB by L3")


class State(NamedTuple):
    """The two descriptions of the same objects, how many of them to draw, and which part to leave out."""

    x: FloatArray
    y: FloatArray
    drawn: int
    part: str


def load_objects(parameters: Parameters, rng: np.random.Generator) -> State:
    """Give the objects of a set."""
    name, part = parameters["data"], parameters["part"]
    if name in instruments.PAIRS:
        x, y = instruments.load_pair({"pair": name}, rng)
    elif name in sentences.PAIRS:
        x, y, _ = sentences.load_pair({"pair": name, "n": _MOST}, rng)
    else:
        x, y = held_out.load_set(name)
    return State(x, y, len(x) if name == _ALL else min(len(x), _MOST), part)


def trial(state: State, rng: np.random.Generator) -> list[Row]:
    """Leave objects out, and give what each method found and what it said."""
    drawn = rng.permutation(len(state.x))[: state.drawn]
    sets = leave_out(state.x[drawn], state.y[drawn], state.part, rng)
    return [_row(name, sets, run_method(method, sets.x, sets.y)) for name, method in METHODS.items()]


def _row(name: str, sets: PartlyShared, result: MatchResult) -> Row:
    recall, false, error = sets.score(result.permutation)
    kept = result.permutation >= 0
    expected = np.nan
    if result.confidence is not None and kept.any():
        expected = 1.0 - float(np.mean(result.confidence[kept]))
    return {
        "method": name,
        "x_points": len(sets.x),
        "y_points": len(sets.y),
        "common": sets.common,
        "recall": recall,
        "false": false,
        "pairs": int(kept.sum()),
        "error": error,
        "expected": expected,
        "none": float(not kept.any()),
        "learned": float(result.covariance is not None and not result.covariance.is_isotropic),
    }


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give means over the draws for each set, part and method."""
    lines: list[Row] = []
    for cell, rows in cells:
        for name, draws in pd.DataFrame(rows).groupby("method", sort=False):
            shares = [_bounded(intervals.mean(draws[key].tolist(), key)) for key in ("recall", "false")]
            counts = [intervals.mean(draws[key].tolist(), key) for key in ("pairs", "error")]
            lines.append(
                {
                    **{key: cell.parameters[key] for key in ("split", "data", "part")},
                    "x_points": draws["x_points"].iloc[0],
                    "y_points": draws["y_points"].iloc[0],
                    "common": draws["common"].mean(),
                    "method": name,
                    "draws": len(draws),
                    **shares[0],
                    **shares[1],
                    **counts[0],
                    **counts[1],
                    # What it said: the expected share of false pairs, "none", and which covariance.
                    **{key: float(draws[key].mean()) for key in ("expected", "none", "learned")},
                }
            )
    return {"": lines}


def _bounded(interval: dict[str, float]) -> dict[str, float]:
    return {name: min(max(value, 0.0), 1.0) for name, value in interval.items()}


def draw(figure: Any, tables: Tables) -> None:
    """Draw the shares in per cent: a line for each set, a column for each part, two methods."""
    rows = tables[""]
    names = list(dict.fromkeys(row["data"] for row in rows))
    parts = [part for part in PARTS if any(row["part"] == part for row in rows)]
    shown = (CHOSEN, REFERENCE)
    panels = figure.subplots(len(shown), 2, squeeze=False)
    for line, method in zip(panels, shown, strict=True):
        for axes, value in zip(line, ("recall", "false"), strict=True):
            share = np.full((len(names), len(parts)), np.nan)
            for row in rows:
                if row["method"] == method and (row["common"] or value == "false"):
                    # Without a common object the share of points that were given a partner says more.
                    number = row[value] if row["common"] else row["pairs"] / row["x_points"]
                    share[names.index(row["data"]), parts.index(row["part"])] = number
            draw_share_matrix(axes, share, 6.5)
            axes.set_yticks(range(len(names)), names)
            axes.set_xticks(range(len(parts)), [_LABELS.get(part, part) for part in parts], fontsize=7)
            axes.invert_yaxis()
            axes.grid(False)
            axes.tick_params(length=0, labelleft=value == "recall")
            what = "partners found" if value == "recall" else "false pairs (no partners: points matched)"
            axes.set_title(f"{method}: {what}")
    figure.supxlabel("points without a partner", fontsize=9)
    figure.suptitle(
        "Real sets that have a part in common: fewer partners are given to points without one",
        fontweight="bold",
    )


def missing() -> str:
    """Say how to get the sets, if one of them is not installed."""
    return instruments.missing() or held_out_figure.missing()


_LABELS = {ONE_SET: "30 %,\none set", HALVES: "two\nhalves"}


def _cells(split: str, data: str, trials: tuple[int, int, int]) -> tuple[Cell, ...]:
    return tuple(
        Cell(f"{data}, {part}", {"split": split, "data": data, "part": part}, trials=trials) for part in PARTS
    )


STUDY = Study(
    id="without-partner-real",
    cells=(
        *(cell for data in _CORN for cell in _cells("development", data, (0, 4, 40))),
        *_cells("development", _ALL, (0, 1, 20)),
        *(cell for data in _VERSE_SETS for cell in _cells("development", data, (0, 2, 20))),
        *(cell for data in held_out.SETS for cell in _cells("held out", data, (0, 4, 40))),
    ),
    setup=load_objects,
    trial=trial,
    batch=2,
)

FIGURES = (
    Figure(
        "without-partner-real",
        "beyond the paper: real data",
        STUDY,
        tabulate,
        draw,
        (10.4, 8.0),
        missing,
    ),
)
