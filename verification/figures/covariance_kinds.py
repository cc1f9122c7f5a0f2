"""Beyond the paper: which kinds of correlation can be learned, from one strong direction to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.figures.learned_covariance import TITLES, gain_columns
from verification.scenarios.correlated_noise import (
    LEVELS,
    METHODS,
    SHAPES,
    correlated_configuration,
    correlated_family,
    match_in_each_way,
)
from verification.statistics import intervals
from verification.style import error_line

#: Kinds of noise by name: a covariance, noise levels, and a family of features if not Gaussian ones.
KINDS: dict[str, dict[str, str]] = {
    **{shape: {"shape": shape, "noise": "equal"} for shape in SHAPES},
    "isotropic, unequal": {"shape": "isotropic", "noise": "heavy-tailed"},
    "all directions, unequal": {"shape": "all directions", "noise": "heavy-tailed"},
    "mixed, unequal": {"shape": "mixed", "noise": "heavy-tailed"},
    "AR(1), clusters": {"shape": "AR(1)", "family": "clusters"},
    "AR(1), noise ratio 100": {"shape": "AR(1)", "family": "noise ratio 100"},
    "AR(1), rank 2": {"shape": "AR(1)", "family": "rank 2"},
}

#: The ratio of the greatest variance to the smallest; of AR(1) it is that of a correlation of .82.
_CONDITION = 100.0


def trial(parameters: Parameters, rng: np.random.Generator) -> list[Row]:
    """Give what each method made of one draw."""
    kind, n, level = KINDS[parameters["kind"]], parameters["n"], LEVELS[parameters["level"]]
    if "family" in kind:
        truth = correlated_family(
            kind["family"], n, shape=kind["shape"], condition=_CONDITION, level=level, rng=rng
        )
    else:
        covariance = SHAPES[kind["shape"]](parameters["d"], _CONDITION, rng)
        truth = correlated_configuration(covariance, n, level=level, noise=kind["noise"], rng=rng)
    return [match_in_each_way(truth, rng)]


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give each method's mean share of right pairs, and what "auto" gains and leaves, in points."""
    shares: list[Row] = []
    gains: list[Row] = []
    for cell, rows in cells:
        place = {key: cell.parameters[key] for key in ("kind", "d", "n", "level")} | {"trials": len(rows)}
        for name in METHODS:
            right = intervals.mean([row[f"right {name}"] for row in rows], "right")
            shares.append({**place, "method": name, **right})
        gains.append({**place, **gain_columns(rows)})
    return {"": shares, "gains": gains}


def draw(figure: Any, tables: Tables) -> None:
    """Draw one panel for each size and level, the kinds from top to bottom."""
    rows = tables[""]
    levels = list(dict.fromkeys(row["level"] for row in rows))
    sizes = sorted({row["n"] for row in rows})
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    figure.set_size_inches(10.0, 1.4 + 0.19 * len(kinds) * len(levels) + 0.5 * len(levels))
    panels = figure.subplots(len(levels), len(sizes), sharex=True, sharey=True, squeeze=False)
    for line, level in zip(panels, levels, strict=True):
        for axes, n in zip(line, sizes, strict=True):
            _draw_panel(axes, [row for row in rows if row["level"] == level and row["n"] == n], kinds)
            axes.set_title(f"{level} the noise floor, n = {n:.0f}")
    panels[0, 0].set(xlim=(-0.03, 1.03), ylim=(len(kinds) - 0.5, -0.5))
    for axes in panels[-1]:
        axes.set_xlabel("share of pairs recovered")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle(
        "What correlation of the noise costs, and what learning it wins back\n"
        f"d = {rows[0]['d']:.0f}, variances that differ by up to {_CONDITION:g}, "
        f"{rows[0]['trials']:.0f} trials a cell, 95 % intervals",
        fontweight="bold",
    )


def _draw_panel(axes: Any, rows: Sequence[Row], kinds: Sequence[str]) -> None:
    for k, name in enumerate(METHODS):
        shown = [row for row in rows if row["method"] == name]
        places = [kinds.index(row["kind"]) + 0.22 * (k - 1) for row in shown]
        looks: Any = {"linestyle": "", "markersize": 3.5, "elinewidth": 1, "capsize": 0}
        error_line(axes, places, shown, "right", k, TITLES[name], sideways=True, **looks)
    axes.set_yticks(range(len(kinds)), kinds, fontsize=7)


def _cells(
    d: int, sizes: Sequence[int], levels: Sequence[str], kinds: Sequence[str], trials: tuple[int, int, int]
) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            f"{kind}, d={d}, n={n}, {level}, {max(trials)} trials",
            {"kind": kind, "d": d, "n": n, "level": level},
            trials=trials,
        )
        for kind in kinds
        for n in sizes
        for level in levels
    )


# The families have 15 dimensions, and so have all others here.
STUDY = Study(
    id="covariance-kinds",
    cells=(
        *_cells(15, (15,), ("above",), ("isotropic", "one direction", "AR(1), clusters"), (2, 0, 0)),
        *_cells(15, (15, 90), ("near", "above"), tuple(KINDS), (0, 16, 0)),
        *_cells(15, (8, 30, 150, 450), tuple(LEVELS), tuple(KINDS), (0, 0, 80)),
    ),
    trial=trial,
    batch=4,
)

FIGURES = (Figure("covariance-kinds", "beyond the paper", STUDY, tabulate, draw, (10.0, 7.0)),)
