"""What a claim is: a statement of the paper, its grid, its trial, its decision and its negative controls."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from verification.engine.seeds import SETUP, generator
from verification.engine.studies import CLAIM_ROLE, PROFILES, Cell, Parameters, Setup
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


class Condition(NamedTuple):
    """Something that a statement asks for, such as n >= 8."""

    words: str
    holds: Callable[[Parameters], bool]
    """Whether the parameters of a cell meet it."""
    needs_state: bool = False
    """Whether it is about what `setup` made of them, which it then finds among them as "state"."""


class ConditionError(ValueError):
    """A cell that a statement says nothing about."""


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
    conditions: tuple[Condition, ...] = ()
    """What the statement asks for. Every cell that the claim is decided on must meet it."""

    @property
    def slug(self) -> str:
        """The id in characters that a file name and an HTML anchor can carry."""
        return re.sub(r"[^A-Za-z0-9_-]+", "-", self.id).strip("-")

    def collect(self) -> Tally:
        """Give an empty record for a batch."""
        return Tally()

    def require_conditions(self, profile: str, seed: int) -> None:
        """Raise :class:`ConditionError` if a cell of a profile is outside of what the statement asks for.

        Cells of controls may be outside, and so may those that allow a probability of 1 or more: these are
        listed as vacuous and never drawn.
        """
        for cell in self.cells_of(profile, CLAIM_ROLE):
            if cell.allowed is not None and cell.allowed >= 1:
                continue
            parameters = dict(cell.parameters)
            if any(condition.needs_state for condition in self.conditions):
                drawn = self.setup(cell.parameters, generator(seed, self.id, cell.name, SETUP))
                parameters["state"] = drawn
            for condition in self.conditions:
                if not condition.holds(parameters):
                    raise ConditionError(f"cell {cell.name} must meet {condition.words}")

    def cells_of(self, profile: str, role: str | None = None) -> tuple[Cell, ...]:
        """Give the cells of a profile, of one role or of all."""
        rank = PROFILES.index(profile)
        return tuple(
            cell
            for cell in self.cells
            if PROFILES.index(cell.tier) <= rank and (role is None or cell.role == role)
        )
