"""What a figure is: trials, a table made of them, and a picture made of the table alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from verification.engine.samples import Row
from verification.engine.studies import Cell, Study

#: The tables of a figure by name; the main one is called "".
Tables = Mapping[str, Sequence[Row]]


def nothing_missing() -> str:
    """Say that a figure needs nothing that this machine may lack."""
    return ""


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
