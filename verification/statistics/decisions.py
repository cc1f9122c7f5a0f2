"""What a decision is made of, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from verification.engine.studies import Cell
from verification.engine.tally import Tally


class CellCount(NamedTuple):
    """A cell and what its trials added up to."""

    cell: Cell
    tally: Tally
    look: int = 0
    """How often the claim was looked at before, with fewer trials."""


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
    caught: float | None = None
    """The largest multiple of the bound that the same trials refute; 0 if they refute none."""
    cells: tuple[Mapping[str, Any], ...] = ()
    """For each cell: name, parameters, counts and limits."""
    more_trials: int | None = None
    """For an inconclusive claim, about how many more trials would decide it."""
    undecided: tuple[str, ...] = ()
    """The cells in which more trials could change the verdict."""
    curve: Mapping[str, Any] = field(default_factory=dict)
    """What the picture needs beyond the cells: a fitted line, a reference."""


#: From the cells of a claim, and the column of their trials to look at, to the outcome.
Decide = Callable[[Sequence[CellCount], str], Decision]
