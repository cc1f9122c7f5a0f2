"""What is kept of a claim's trials: counts and exact sums of every named column, never the samples.

Sums are integers in units of 2**-40. Addition of integers is associative, so the totals are the same to the
last bit for any batch size, any number of workers and after any interruption.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: What a trial returns, by name: an event (bool), or a number such as the ratio of a statistic to its bound.
Values = Mapping[str, bool | float]

#: Multiples of a bound at which exceedances are counted: 40 a decade, from 0.001 to 10; 1 is among them.
MULTIPLES: NDArray[np.float64] = 10.0 ** (np.arange(-120, 41) / 40)
ONE = 120  # MULTIPLES[ONE] == 1

_UNIT = 1 << 40
_LARGEST = 1e12  # a ratio to a bound of nearly 0 is cut here


class Column:
    """Counts and exact sums of the values of one name."""

    def __init__(self) -> None:
        self.sum = 0
        self.squares = 0
        self.above = np.zeros(MULTIPLES.size, np.int64)
        """For each multiple, how many values exceeded it; an event exceeds every multiple."""

    def add(self, value: bool | float) -> None:
        """Count one value."""
        number = min(max(float(value), -_LARGEST), _LARGEST)
        fixed = round(number * _UNIT)
        self.sum += fixed
        self.squares += fixed * fixed
        if isinstance(value, (bool, np.bool_)):
            self.above += int(value)
        else:
            # Exceedance is monotone in the multiple: one number says where it ends.
            self.above[: np.searchsorted(MULTIPLES, number, side="left")] += 1

    def merge(self, other: Column) -> None:
        """Add the values of another column."""
        self.sum += other.sum
        self.squares += other.squares
        self.above = self.above + other.above

    def to_json(self) -> dict[str, Any]:
        """Give what a checkpoint stores."""
        # Exceedances fall from one multiple to the next: the places where they do are enough.
        steps = [[int(m), int(self.above[m])] for m in np.flatnonzero(np.diff(self.above, prepend=-1))]
        return {"sum": hex(self.sum), "squares": hex(self.squares), "above": steps}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Column:
        """Read what :meth:`to_json` gave."""
        column = cls()
        column.sum, column.squares = int(stored["sum"], 16), int(stored["squares"], 16)
        for start, value in stored["above"]:
            column.above[start:] = value
        return column


class Tally:
    """Counts and exact sums of what trials returned, by the names of the columns.

    The first trial says which columns there are. Without trials there are none.
    """

    def __init__(self) -> None:
        self.trials = 0
        self.seconds = 0.0
        self.errors = 0
        self.error = ""
        self.broken = ""
        self.columns: dict[str, Column] = {}

    def add(self, values: Values) -> None:
        """Count one trial."""
        if not self.columns:
            self.columns = {name: Column() for name in values}
        if values.keys() != self.columns.keys():
            raise ValueError(f"a trial must return the columns {list(self.columns)}; got {list(values)}")
        self.trials += 1
        for name, value in values.items():
            if value != value:
                raise ValueError(f"a trial must not return NaN; got it in column {name!r}")
            self.columns[name].add(value)

    def fail(self, message: str) -> None:
        """Count a trial that ended in an error, such as a matching without a certificate."""
        self.errors += 1
        self.error = self.error or message

    def break_off(self, message: str) -> None:
        """Say why the trials stopped: an error of the program, which is no evidence about anything."""
        self.broken = self.broken or message

    def merge(self, other: Tally) -> None:
        """Add the trials of another tally."""
        self.trials += other.trials
        self.seconds += other.seconds
        self.errors += other.errors
        self.error = self.error or other.error
        self.broken = self.broken or other.broken
        if not self.columns:
            self.columns = {name: Column() for name in other.columns}
        if other.columns and other.columns.keys() != self.columns.keys():
            raise ValueError(
                f"tallies must have the same columns; got {list(self.columns)}, {list(other.columns)}"
            )
        for name, column in other.columns.items():
            self.columns[name].merge(column)

    def violations(self, column: str, multiple: int = ONE) -> int:
        """Count the trials with this event, or whose value exceeded MULTIPLES[multiple], 1 unless told."""
        return int(self._column(column).above[multiple]) if self.trials else 0

    def mean(self, column: str) -> float:
        """Give the mean of a column; of an event, how often it happened."""
        return self._column(column).sum / (self.trials * _UNIT)

    def variance(self, column: str) -> float:
        """Give the unbiased variance of a column."""
        n, values = self.trials, self._column(column)
        if n < 2:
            return float("nan")
        return (n * values.squares - values.sum**2) / (n * (n - 1) * _UNIT**2)

    def standard_error(self, column: str) -> float:
        """Give the standard error of the mean of a column."""
        return float(np.sqrt(self.variance(column) / self.trials))

    def to_json(self) -> dict[str, Any]:
        """Give what a checkpoint stores."""
        columns = {name: column.to_json() for name, column in self.columns.items()}
        return vars(self) | {"columns": columns}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Tally:
        """Read what :meth:`to_json` gave."""
        tally = cls()
        vars(tally).update(stored)
        tally.columns = {name: Column.from_json(column) for name, column in stored["columns"].items()}
        return tally

    def _column(self, name: str) -> Column:
        if name not in self.columns:
            raise KeyError(f"no trial returned a column {name!r}; there are {list(self.columns)}")
        return self.columns[name]
