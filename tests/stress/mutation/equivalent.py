"""Changes that make no difference, with their reasons, so that survivors are those that matter."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from verification.engine.tables import read_table
from verification.sabotage.changes import Mutant

TABLE = Path(__file__).with_name("equivalent.csv")


class Place(NamedTuple):
    """Where a change is: the text of its line, not the number, which moves as the module grows."""

    module: str
    function: str
    line: str
    change: str


def place_of(module: str, mutant: Mutant) -> Place:
    """Give the place of a mutant of a module."""
    return Place(module, mutant.function, _lines(module)[mutant.line - 1].strip(), mutant.change)


@cache
def reasons() -> dict[Place, str]:
    """Read why some changes make no difference."""
    return {Place(*(str(row[key]) for key in Place._fields)): str(row["reason"]) for row in read_table(TABLE)}


@cache
def _lines(module: str) -> list[str]:
    return inspect.getsource(import_module(module)).splitlines()
