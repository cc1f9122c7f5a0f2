"""Held-out sets: objects described twice, from fields on whose data no method was developed.

One shuffle of each set is matched in every way. The sets, and what describes their objects, were fixed
before anything was matched (:mod:`verification.data.held_out`); all of them are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verification.data.held_out import SETS, load_set
from verification.data.installed import MissingExtraError
from verification.data.pairs import Pairs
from verification.engine.samples import Row
from verification.engine.studies import Cell, Parameters, Study
from verification.figures import method_shares
from verification.figures.definition import CellRows, Figure, Tables
from verification.scenarios import side_by_side


def load_pairs(parameters: Parameters, rng: np.random.Generator) -> Pairs:
    """Give the two descriptions of the same objects."""
    return load_set(parameters["set"])


def trial(pairs: Pairs, rng: np.random.Generator) -> list[Row]:
    """Give what each method made of the objects."""
    size = {"d": pairs.x.shape[1]}
    return [{**row, **size} for row in side_by_side.compare(pairs.x, pairs.y, rng)]


def tabulate(cells: Sequence[CellRows]) -> Tables:
    """Give the shares, and the differences to the reference."""
    return method_shares.tabulate(cells)


def draw(figure: Any, tables: Tables) -> None:
    """Draw the shares and the differences."""
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(1.4, 1))
    method_shares.draw_shares(upper, tables[""])
    method_shares.draw_differences(lower, tables["differences"])
    sizes = {row["data"]: f"n = {row['n']:.0f}, d = {row['d']:.0f}" for row in tables[""]}
    names = [name.replace(", ", ",\n") + "\n" + size for name, size in sizes.items()]
    lower.set_xticks(range(len(names)), names, fontsize=7)
    figure.legend(*upper.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.suptitle("Objects described twice, in sets that no method was developed on", fontweight="bold")


def missing() -> str:
    """Say how to get the sets, if one of them is not installed."""
    try:
        for name in SETS:
            load_set(name)
    except MissingExtraError as error:
        return str(error)
    return ""


STUDY = Study(
    id="held-out",
    # One trial: the objects are what they are, and the shuffle changes nothing.
    cells=tuple(Cell(name, {"set": name}, trials=(0, 1, 1)) for name in SETS),
    setup=load_pairs,
    trial=trial,
    batch=1,
)

FIGURES = (Figure("held-out", "beyond the paper: real data", STUDY, tabulate, draw, (9.6, 6.0), missing),)
