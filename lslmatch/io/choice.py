"""Which columns of a file are coordinates, and which one names the rows."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from lslmatch._frames import listed
from lslmatch.io.sources import FileError


class PointFile(NamedTuple):
    """What was read from one file."""

    values: NDArray[Any]
    """As stored: of shape (rows, columns) unless an array of another shape was."""
    columns: tuple[str, ...] | None
    """The names of the columns; None if the file has none."""
    labels: NDArray[Any] | None
    """The names of the rows; None if no column holds them."""
    notes: tuple[str, ...] = ()
    """What was taken for granted, in plain words."""


class Choice(NamedTuple):
    """What was asked for; a column is known by its name, or by its number from 0 if the file has no names."""

    columns: tuple[str, ...] | None = None
    """The columns that are coordinates; None for all but the one that names the rows."""
    id: str | None = None
    """The column that names the rows."""
    array: str | None = None
    """Which array of a .npz file to take."""
    leave: str | None = None
    """A column that is no coordinate either."""

    def positions(self, names: Sequence[str] | None, width: int, file: str) -> list[int] | None:
        """Tell where the columns that were asked for are; None if none were."""
        if self.columns is None:
            return None
        return [find_column(column, names, width, file) for column in self.columns]

    def no_coordinates(self, names: Sequence[str] | None, width: int, file: str) -> set[int]:
        """Tell where the columns are that were named for something else."""
        named = (column for column in (self.id, self.leave) if column is not None)
        return {find_column(column, names, width, file) for column in named}

    def id_position(self, names: Sequence[str] | None, width: int, file: str) -> int | None:
        """Tell where the names of the rows are."""
        return None if self.id is None else find_column(self.id, names, width, file)


def find_column(column: str, names: Sequence[str] | None, width: int, file: str) -> int:
    """Tell which column is meant."""
    if names is None:
        if column.isdecimal() and int(column) < width:
            return int(column)
        raise FileError(
            f"{file}: has no names of columns, so that {column!r} must be a number from 0 to {width - 1}"
        )
    if column in names:
        place = list(names).index(column)
        if column in names[place + 1 :]:
            raise FileError(f"{file}: has more than one column {column!r}")
        return place
    # Among many or very long names the search would take hours.
    close = difflib.get_close_matches(column[:100], [name for name in names[:1000] if len(name) <= 100], 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise FileError(f"{file}: has no column {column!r}; its columns are {listed(names)}{hint}")


def numbered(names: Sequence[str] | None, k: int) -> str:
    """Call a column by its name, or by its number if it has none."""
    if names is not None and names[k]:
        return f"column {names[k]!r}"
    return "the first column" if k == 0 else f"column {k}"
