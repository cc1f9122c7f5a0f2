"""Beyond the paper: which tool for which data. The situations were fixed before any tool had seen them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from lslmatch import theory
from lslmatch._types import FloatArray
from verification.data.installed import MissingExtraError, require
from verification.data.instruments import load_spectra
from verification.data.verses import load_verses
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.configurations import draw_permutation
from verification.scenarios.correlated_noise import SHAPES, correlated_configuration
from verification.scenarios.families import draw_family
from verification.scenarios.other_tools import EXTRA, KNOWING, OURS, TOOLS, Task
from verification.statistics import intervals
from verification.style import draw_share_matrix

_Sets = tuple[FloatArray, FloatArray]
_N, _D = 200, 15
#: Tools of the table for all data: with known pairs only the one that people have already.
_FOR_ALL = tuple(name for name in TOOLS if name not in KNOWING[1:])


def _gaussian(noise: float) -> Callable[[np.random.Generator], _Sets]:
    def draw(rng: np.random.Generator) -> _Sets:
        features = rng.standard_normal((_N, _D))
        return tuple(features + noise * rng.standard_normal((_N, _D)) for _ in range(2))  # type: ignore[return-value]

    return draw


def _family(name: str, level: float) -> Callable[[np.random.Generator], _Sets]:
    def draw(rng: np.random.Generator) -> _Sets:
        truth = draw_family(name, _N, separation=level * theory.noise_floor(_N, _D), rng=rng)
        x, y = truth.sample(rng)
        return x, y[truth.permutation]

    return draw


def _correlated(rng: np.random.Generator) -> _Sets:
    truth = correlated_configuration(SHAPES["mixed"](_D, 100.0, rng), _N, level=2.0, rng=rng)
    x, y = truth.sample(rng)
    return x, y[truth.permutation]


def _units(rng: np.random.Generator) -> _Sets:
    """Draw tables of which every column has another unit in each set."""
    x, y = (np.asarray(part)[:, :6] for part in _gaussian(0.1)(rng))
    of_x, of_y = 10.0 ** rng.uniform(-2.0, 2.0, (2, 6))
    return x * of_x, y * of_y


def _income(rng: np.random.Generator) -> _Sets:
    """Draw tables with a column whose numbers are a thousand times those of the others: an income."""
    x, y = (np.asarray(part)[:, :6] for part in _gaussian(0.1)(rng))
    income = np.exp(10.0 + 0.6 * rng.standard_normal(_N))
    noisy = (income * np.exp(0.1 * rng.standard_normal(_N)) for _ in range(2))
    first, second = (
        np.column_stack([10.0 * part, column]) for part, column in zip((x, y), noisy, strict=True)
    )
    return first, second


def _turned(angle: float | None) -> Callable[[np.random.Generator], _Sets]:
    """Turn a set in space about a random axis by so many degrees, or in any way at all."""

    def draw(rng: np.random.Generator) -> _Sets:
        # The spreads differ, so that the sets have a shape that a rotation can be seen by.
        features = rng.standard_normal((_N, 3)) * [3.0, 2.0, 1.0]
        x, y = (features + 0.05 * rng.standard_normal((_N, 3)) for _ in range(2))
        turn = Rotation.from_quat(rng.standard_normal(4))
        if angle is not None:
            turn = Rotation.from_rotvec(np.radians(angle) * turn.as_rotvec() / turn.magnitude())
        return x, 2.0 * turn.apply(y) + 5.0

    return draw


def _spectra(rng: np.random.Generator) -> _Sets:
    spectra = load_spectra("corn")
    return spectra["m5"], spectra["mp5"]


def _verses(rng: np.random.Generator) -> _Sets:
    vectors = load_verses().vectors
    drawn = rng.choice(len(vectors["WEB-L3"]), 300, replace=False)
    return vectors["WEB-L3"][drawn], vectors["KJV-L6"][drawn]


#: Two sets with partners in the same rows. "strangers" are added to the situation of that name.
SITUATIONS: Mapping[str, Callable[[np.random.Generator], _Sets]] = {
    "same units, little noise": _gaussian(0.05),
    "unknown scale and shift": _family("equal noise", 1.5),
    "some points much noisier": _family("heavy-tailed noise", 1.5),
    "correlated noise": _correlated,
    "a fifth without a partner": _family("equal noise", 2.0),
    "turned by 20 degrees": _turned(20.0),
    "turned in any way": _turned(None),
    "corn by two instruments": _spectra,
    "verses by two encoders": _verses,
}
_STRANGERS = "a fifth without a partner"
#: Tables whose columns have units. The other tools get them with every column standardised by itself, as
#: people know to do.
UNITS: Mapping[str, Callable[[np.random.Generator], _Sets]] = {
    "a unit for each column": _units,
    "one column with a large unit": _income,
}
_ALL = {**SITUATIONS, **UNITS}


def draw_task(situation: str, rng: np.random.Generator) -> Task:
    """Draw two sets of a situation, in unrelated orders, and a quarter of the pairs that is known."""
    x, y = _ALL[situation](rng)
    n = len(x)
    place = draw_permutation(n, rng)
    shuffled = np.empty_like(y)
    shuffled[place] = y
    partner = place.copy()
    if situation == _STRANGERS:
        # A fifth of either set is as the others are, but drawn anew.
        lost = rng.permutation(n)[: n // 5]
        others = SITUATIONS[situation](rng)
        x[lost], shuffled[place[lost]] = others[0][: len(lost)], others[1][-len(lost) :]
        partner[lost] = -1
    known = rng.permutation(np.flatnonzero(partner >= 0))[: n // 4]
    return Task(x, shuffled, partner, known)


def standardised(task: Task) -> Task:
    """Standardise every column of both sets by itself."""
    x, y = ((points - points.mean(axis=0)) / points.std(axis=0) for points in (task.x, task.y))
    return task._replace(x=x, y=y)


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Give what each tool made of one draw: right pairs, wrong pairs, seconds."""
    task = draw_task(parameters["situation"], rng)
    judged = np.ones(len(task.x), bool)
    judged[task.known] = False
    rows: list[Row] = []
    fair = standardised(task) if parameters["situation"] in UNITS else task
    for name, tool in TOOLS.items():
        started = time.perf_counter()
        found = tool(task if name in OURS else fair)
        seconds = time.perf_counter() - started
        right = (found == task.partner) & (found >= 0) & judged
        given = (found >= 0) & judged
        true = (task.partner >= 0) & judged
        rows.append(
            {
                "tool": name,
                "recovered": float(right.sum() / true.sum()),
                "false": float((given & ~right).sum() / max(given.sum(), 1)),
                "seconds": seconds,
            }
        )
    return rows


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the share of the true pairs that each tool found, and of its pairs that are false."""
    table: list[Row] = []
    for cell, rows in cells:
        for name in TOOLS:
            lines = [row for row in rows if row["tool"] == name]
            table.append(
                {
                    "situation": cell.parameters["situation"],
                    "tool": name,
                    "trials": len(lines),
                    **intervals.mean([row["recovered"] for row in lines], "recovered"),
                    **intervals.mean([row["false"] for row in lines], "false"),
                    **intervals.median([row["seconds"] for row in lines], "seconds"),
                }
            )
    return {"": table}


def page_table(rows: Sequence[Row], column: str, tools: Sequence[str] = _FOR_ALL) -> str:
    """Give a column in per cent as a table for a page: a line for each situation, a column for each tool."""
    share = {(row["situation"], row["tool"]): row[column] for row in rows}
    lines = [["data", *tools], ["---"] * (len(tools) + 1)]
    lines += [
        [situation, *(f"{100 * share[situation, tool]:.0f}" for tool in tools)]
        for situation in dict.fromkeys(row["situation"] for row in rows)
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def draw(figure: Any, tables: Tables) -> None:
    """Draw the shares as a matrix, situations from top to bottom."""
    rows = tables[""]
    situations = list(dict.fromkeys(row["situation"] for row in rows))[::-1]
    share = {(row["situation"], row["tool"]): row["recovered"] for row in rows}
    tools = list(dict.fromkeys(row["tool"] for row in rows))
    axes = figure.subplots()
    matrix = np.array([[share[situation, tool] for tool in tools] for situation in situations])
    draw_share_matrix(axes, matrix, 9)
    axes.set_yticks(range(len(situations)), situations)
    axes.set_xticks(range(len(tools)), [fill(name, 16, break_on_hyphens=False) for name in tools])
    axes.grid(False)
    axes.tick_params(length=0)
    figure.suptitle("Which tool finds the partners: per cent of the true pairs", fontweight="bold")


def missing_tool() -> str:
    """Say which of the tools is not installed."""
    try:
        for module in ("ot", "pycpd", "sklearn"):
            require(module, EXTRA)
    except MissingExtraError as error:
        return str(error)
    return ""


def missing() -> str:
    """Say which of the tools, or of the sets, is not installed."""
    if tool := missing_tool():
        return tool
    try:
        load_spectra("corn")
    except MissingExtraError as error:
        return str(error)
    return ""


def _cell(situation: str) -> Cell:
    # The spectra are what they are; only the order and the known quarter are drawn.
    trials = (0, 2, 4) if situation in ("corn by two instruments", "verses by two encoders") else (0, 8, 40)
    return Cell(situation, {"situation": situation}, trials=trials)


STUDY = Study("tools", tuple(_cell(situation) for situation in SITUATIONS), trial, batch=1)

OF_UNITS = Study("tools-units", tuple(_cell(situation) for situation in UNITS), trial, batch=1)

FIGURES = (
    Figure("tools", "beyond the paper", STUDY, tabulate, draw, (8.6, 4.2), missing),
    Figure("tools-units", "beyond the paper", OF_UNITS, tabulate, draw, (8.6, 2.4), missing_tool),
)
