"""Descriptors of photographs, some without a partner: the earlier papers' experiment on other photographs.

Minasyan, Galstyan, Hunanyan and Dalalyan (2023) match descriptors of landmarks. Here photographs and warped
copies of them stand in (:mod:`verification.data.warped`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import lslmatch
from lslmatch._types import FloatArray, IntArray
from verification.data.installed import MissingExtraError, require
from verification.data.warped import EXTRA, PICTURES, WarpedPair, load_warped
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios.configurations import draw_permutation
from verification.statistics import intervals
from verification.style import error_line

_N = 100


def _everything(x: FloatArray, y: FloatArray, k: int) -> IntArray:
    return lslmatch.match(x, y, objective="lss", alignment="identity").permutation


def _ratio_test(x: FloatArray, y: FloatArray, k: int) -> IntArray:
    pairs = require("skimage.feature", EXTRA).match_descriptors(x, y, max_ratio=0.8, cross_check=True)
    found = np.full(len(x), -1, np.intp)
    found[pairs[:, 0]] = pairs[:, 1]
    return found


def _number_known(objective: str) -> Callable[[FloatArray, FloatArray, int], IntArray]:
    def find(x: FloatArray, y: FloatArray, k: int) -> IntArray:
        return lslmatch.match(x, y, objective=objective, alignment="identity", pairs=k).permutation

    return find


def _automatic(x: FloatArray, y: FloatArray, k: int) -> IntArray:
    return lslmatch.match(x, y, alignment="identity", pairs="auto").permutation


#: From two sets and the true number of partners to a partner of each point of x, -1 for none.
METHODS: Mapping[str, Callable[[FloatArray, FloatArray, int], IntArray]] = {
    "least squares, all matched": _everything,
    "ratio test (scikit-image)": _ratio_test,
    "least squares, number known": _number_known("lss"),
    "LSL, number known": _number_known("lsl"),
    'LSL, pairs="auto"': _automatic,
}


def load(parameters: Parameters, rng: np.random.Generator) -> tuple[WarpedPair, int]:
    """Give the descriptors of a photograph and of its copy, and how many of a set have a partner."""
    return load_warped(parameters["picture"]), round(_N * (1 - parameters["lonely"]))


def trial(state: tuple[WarpedPair, int], rng: np.random.Generator) -> list[Row]:
    """Draw partners and points without one, and give what each method found."""
    pair, k = state
    both = rng.choice(pair.partners, k, replace=False)
    rows, cols = (
        np.concatenate([both[:, side], rng.choice(lonely, _N - k, replace=False)])
        for side, lonely in enumerate((pair.lonely_x, pair.lonely_y))
    )
    place = draw_permutation(_N, rng)
    x, y = pair.x[rows], np.empty((_N, pair.y.shape[1]))
    y[place] = pair.y[cols]
    truth = np.where(np.arange(_N) < k, place, -1)
    lines: list[Row] = []
    for name, find in METHODS.items():
        found = find(x, y, k)
        right, given = int(((found == truth) & (found >= 0)).sum()), int((found >= 0).sum())
        lines.append(
            {"method": name, "recall": right / k, "false": (given - right) / max(given, 1), "pairs": given}
        )
    return lines


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give recall and false share of each method: means over the draws, then over all photographs."""
    table: list[Row] = []
    shares = sorted({cell.parameters["lonely"] for cell, _ in cells})
    for share in shares:
        some = [item for item in cells if item.cell.parameters["lonely"] == share]
        groups = [(item.cell.parameters["picture"], item.rows) for item in some]
        groups.append(("all", [row for _, rows in groups for row in rows]))
        for picture, rows in groups:
            for name in METHODS:
                lines = [row for row in rows if row["method"] == name]
                false = intervals.mean([row["false"] for row in lines], "false")
                false["false_low"] = max(0.0, false["false_low"])
                table.append(
                    {
                        "picture": picture,
                        "without_partner": share,
                        "method": name,
                        "draws": len(lines),
                        **intervals.mean([row["recall"] for row in lines], "recall"),
                        **false,
                        **intervals.mean([row["pairs"] for row in lines], "pairs"),
                    }
                )
    return {"": table}


def draw(figure: Any, tables: Tables) -> None:
    """Draw recall and false share, all photographs together."""
    rows = [row for row in tables[""] if row["picture"] == "all"]
    for axes, column, label in zip(
        figure.subplots(1, 2, sharex=True),
        ("recall", "false"),
        ("share of the partners that are found", "share of the pairs that are false"),
        strict=True,
    ):
        for k, name in enumerate(METHODS):
            shown = [row for row in rows if row["method"] == name]
            places = 100 * (np.array([row["without_partner"] for row in shown]) + 0.008 * (k - 2))
            error_line(axes, places, shown, column, k, name, linestyle="-", linewidth=0.8)
        axes.set(xlabel="per cent of either set without a partner", ylabel=label, ylim=(-0.03, 1.03))
        axes.set_xticks([100 * share for share in sorted({row["without_partner"] for row in rows})])
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle(
        f"Photographs and their warped copies, {_N} descriptors of each: who has no partner?",
        fontweight="bold",
    )


def missing() -> str:
    """Say how to get the photographs, if they are not installed."""
    try:
        require("skimage", EXTRA)
    except MissingExtraError as error:
        return str(error)
    return ""


STUDY = Study(
    id="descriptors",
    cells=tuple(
        Cell(f"{picture}, {share:.0%}", {"picture": picture, "lonely": share}, trials=(0, 8, 40))
        for picture in PICTURES
        for share in (0.0, 0.2, 0.4)
    ),
    setup=load,
    trial=trial,
    batch=8,
)

FIGURES = (Figure("descriptors", "beyond the paper: real data", STUDY, tabulate, draw, (8.0, 3.8), missing),)
