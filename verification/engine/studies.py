"""What the engine runs: a study is a grid of cells, and a trial that can be repeated in each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from verification.engine.samples import Row, Samples

PROFILES = ("smoke", "quick", "full")

#: The role of the cells that a claim itself is decided on.
CLAIM_ROLE = "claim"

Parameters = Mapping[str, Any]
Setup = Callable[[Parameters, np.random.Generator], Any]


class Cell(NamedTuple):
    """One point of a study's grid."""

    name: str
    """Unique within the study; part of the seed of its trials."""
    parameters: Parameters
    """What the study's `setup` reads: numbers and short words only."""
    allowed: float | None = None
    """The largest probability of a violation that a claim allows; None for a mean, and in figures."""
    trials: tuple[int, int, int] | None = None
    """Trials in the three profiles; None for as many as a claim's power calculation asks for."""
    tier: str = "smoke"
    """The smallest profile that includes the cell; figures set `trials` to 0 instead."""
    role: str = CLAIM_ROLE
    """What the cell is for: the claim itself, or the control or ladder step of this name."""


class Runnable(Protocol):
    """What the engine needs to know of a claim or of a figure's study."""

    @property
    def id(self) -> str:
        """Part of the seed of every trial."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The grid."""

    @property
    def batch(self) -> int:
        """Trials in a unit of work."""

    @property
    def setup(self) -> Setup:
        """Turns a cell's parameters into the state that all its trials share."""

    @property
    def trial(self) -> Callable[[Any, np.random.Generator], Any]:
        """Draws one sample with a generator of its own."""

    def collect(self) -> Any:
        """Give an empty record, to which the outcomes of trials are added."""


#: Finds a study by its id. A worker imports it by name, so it must be a function of a module.
Find = Callable[[str], Runnable]


def keep_parameters(parameters: Parameters, rng: np.random.Generator) -> Parameters:
    """Leave all drawing to the trials, so that a cell is not the luck of one draw."""
    return parameters


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
    setup: Setup = keep_parameters
    batch: int = 10
    """Trials in a unit of work. Results do not depend on it."""

    def planned(self, profile: str) -> dict[str, int]:
        """Give the number of trials of each cell of a profile, by name."""
        rank = PROFILES.index(profile)
        return {cell.name: cell.trials[rank] for cell in self.cells if cell.trials and cell.trials[rank]}

    def collect(self) -> Samples:
        """Give an empty record for a batch."""
        return Samples()
