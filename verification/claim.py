"""What a claim is: a statement of the paper, its grid, its trial, its decision and its negative controls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from verification.tally import Tally

PROFILES = ("smoke", "quick", "full")

#: The role of the cells that the claim itself is decided on.
CLAIM = "claim"

Parameters = Mapping[str, Any]


class Cell(NamedTuple):
    """One point of a claim's grid."""

    name: str
    """Unique within the claim; part of the seed of its trials."""
    parameters: Parameters
    """What the claim's `setup` reads: numbers and short words only."""
    allowed: float | None = None
    """The largest probability of a violation that the statement allows; None for a mean."""
    trials: tuple[int, int, int] | None = None
    """Trials in the three profiles; None for as many as the power calculation asks for."""
    tier: str = "smoke"
    """The smallest profile that includes the cell."""
    role: str = CLAIM
    """What the cell is for: the claim itself, or the control or ladder step of this name."""


class Control(NamedTuple):
    """A false statement that must come out refuted: it shows that the claim's test can fail."""

    name: str
    """What is wrong with it, in words; also the role of its cells if it has cells of its own."""
    column: int = 0
    """Which of the values that a trial returns it looks at."""
    own_cells: bool = False
    """Whether it is decided on the cells of its own role instead of those of the claim."""


class CellCount(NamedTuple):
    """A cell and what its trials added up to."""

    cell: Cell
    tally: Tally


@dataclass(frozen=True)
class Decision:
    """The outcome of a claim or of a control."""

    verdict: str
    """supported, refuted, inconclusive or vacuous."""
    detail: str = ""
    """One sentence with the numbers that decided it."""
    trials: int = 0
    violations: int | None = None
    allowed: float | None = None
    upper_limit: float | None = None
    """Of the cell that comes closest to its allowed rate, or a rate claim's own upper limit."""
    slack: float | None = None
    """The smallest multiple of the bound that is still supported."""
    cells: tuple[Mapping[str, Any], ...] = ()
    """For each cell: name, parameters, counts and limits."""
    more_trials: int | None = None
    """For an inconclusive claim, about how many more trials would decide it."""
    curve: Mapping[str, Any] = field(default_factory=dict)
    """What the picture needs beyond the cells: a fitted line, a reference."""


Setup = Callable[[Parameters, np.random.Generator], Any]
Trial = Callable[[Any, np.random.Generator], Sequence[float]]
Decide = Callable[[Sequence[CellCount], int], Decision]


@dataclass(frozen=True)
class Claim:
    """A statement and everything that is fixed before its first trial runs.

    `setup` turns a cell's parameters into the state that all its trials share (the configuration, the
    bound), with a generator of the cell's own. `trial` draws one sample and returns one number a
    column; column 0 is the claim's. For a probability claim it is the statistic divided by its
    bound, so that a violation is a value above 1.
    """

    id: str
    kind: str
    source: str
    statement: str
    formula: str
    cells: tuple[Cell, ...]
    trial: Trial
    decide: Decide
    setup: Setup
    controls: tuple[Control, ...]
    picture: str
    """Which picture shows it: survival, points, thresholds or bars."""
    columns: int = 1
    """How many numbers a trial returns."""
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
        return Tally(self.columns)

    def cells_of(self, profile: str, role: str | None = None) -> tuple[Cell, ...]:
        """Give the cells of a profile, of one role or of all."""
        rank = PROFILES.index(profile)
        return tuple(
            cell
            for cell in self.cells
            if PROFILES.index(cell.tier) <= rank and (role is None or cell.role == role)
        )
