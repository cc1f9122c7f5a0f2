"""What a figure is: trials, a table made of them, and a picture made of the table alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from verification.claim import PROFILES, Cell, Parameters
from verification.samples import Row, Samples

#: The tables of a figure by name; the main one is called "".
Tables = Mapping[str, Sequence[Row]]


def keep_parameters(parameters: Parameters, rng: np.random.Generator) -> Parameters:
    """Leave all drawing to the trials."""
    return parameters


def nothing_missing() -> str:
    """Say that a figure needs nothing that this machine may lack."""
    return ""


@dataclass(frozen=True)
class Study:
    """The trials that one figure, or several, are drawn from.

    `setup` turns a cell's parameters into the state that all its trials share, with a generator of
    the cell's own; it may run more than once. `trial` draws one sample with a generator of its own
    and returns lines of a table, mostly one: names and numbers or short words.
    """

    id: str
    cells: tuple[Cell, ...]
    """The grid. `Cell.trials` says how many trials each profile has; a cell with 0 is not part of it."""
    trial: Callable[[Any, np.random.Generator], Sequence[Row]]
    setup: Callable[[Parameters, np.random.Generator], Any] = keep_parameters
    batch: int = 10
    """Trials in a unit of work. Results do not depend on it."""

    def planned(self, profile: str) -> dict[str, int]:
        """Give the number of trials of each cell of a profile, by name."""
        rank = PROFILES.index(profile)
        return {cell.name: cell.trials[rank] for cell in self.cells if cell.trials and cell.trials[rank]}

    def collect(self) -> Samples:
        """Give an empty record for a batch."""
        return Samples()


class CellRows(NamedTuple):
    """A cell and the lines that its trials returned, in the order of the trials."""

    cell: Cell
    rows: Sequence[Row]


@dataclass(frozen=True)
class Figure:
    """A figure: everything but the trials can be done again from its tables."""

    id: str
    """The name of its files."""
    source: str
    """Where the paper has it."""
    study: Study
    tabulate: Callable[[Sequence[CellRows]], Tables]
    """Turns the trials into tables of estimates with their intervals."""
    draw: Callable[[Any, Tables], None]
    """Draws the tables on an empty matplotlib figure."""
    size: tuple[float, float] = (6.4, 4.0)
    """Width and height in inches."""
    missing: Callable[[], str] = nothing_missing
    """Says what this machine lacks to run the trials; empty if nothing. Redrawing needs none of it."""
