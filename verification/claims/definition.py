"""What a claim is: a statement of the paper, its grid, its trial, its decision and its negative controls."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from verification.engine.studies import PROFILES, Cell, Setup
from verification.engine.tally import Tally, Values
from verification.statistics.decisions import Decide

Trial = Callable[[Any, np.random.Generator], Values]


class Control(NamedTuple):
    """A false statement that must come out refuted: it shows that the claim's test can fail."""

    name: str
    """What is wrong with it, in words; also the role of its cells if it has cells of its own."""
    column: str = ""
    """Which of the values that a trial returns it looks at; by default the claim's own."""
    own_cells: bool = False
    """Whether it is decided on the cells of its own role instead of those of the claim."""


@dataclass(frozen=True)
class Claim:
    """A statement and everything that is fixed before its first trial runs.

    `setup` turns a cell's parameters into the state that all its trials share (the configuration, the
    bound), with a generator of the cell's own. `trial` draws one sample and returns named values:
    an event is a bool, a ratio to a bound a float. `column` names the value that decides the claim. For
    a probability claim a violation is an event that happens, or a ratio above 1.
    """

    id: str
    kind: str
    source: str
    statement: str
    formula: str
    cells: tuple[Cell, ...]
    trial: Trial
    column: str
    decide: Decide
    setup: Setup
    controls: tuple[Control, ...]
    picture: str
    """Which picture shows it: survival, points, thresholds or bars."""
    axes: tuple[str, str] = ("", "")
    """Labels of the picture's axes."""
    batch: int = 200
    """Trials in a unit of work. Results do not depend on it."""
    remark: str = ""
    """What the reader should know about how the statement was made testable."""

    @property
    def slug(self) -> str:
        """The id in characters that a file name and an HTML anchor can carry."""
        return re.sub(r"[^A-Za-z0-9_-]+", "-", self.id).strip("-")

    def collect(self) -> Tally:
        """Give an empty record for a batch."""
        return Tally()

    def cells_of(self, profile: str, role: str | None = None) -> tuple[Cell, ...]:
        """Give the cells of a profile, of one role or of all."""
        rank = PROFILES.index(profile)
        return tuple(
            cell
            for cell in self.cells
            if PROFILES.index(cell.tier) <= rank and (role is None or cell.role == role)
        )
