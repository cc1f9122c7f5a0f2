"""What is kept of a cell's trials: counts and exact sums, never the samples.

Sums are integers in units of 2**-40. Addition of integers is associative, so the totals are the same to the
last bit for any batch size, any number of workers and after any interruption.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Multiples of a bound at which exceedances are counted: 40 a decade, from 0.001 to 10; 1 is among them.
MULTIPLES: NDArray[np.float64] = 10.0 ** (np.arange(-120, 41) / 40)
ONE = 120  # MULTIPLES[ONE] == 1

_UNIT = 1 << 40
_LARGEST = 1e12  # a ratio to a bound of nearly 0 is cut here


class Tally:
    """Counts and exact sums of the values that trials returned, one column a value."""

    def __init__(self, columns: int) -> None:
        self.trials = 0
        self.seconds = 0.0
        self.errors = 0
        self.error = ""
        self.sums = [0] * columns
        self.squares = [0] * columns
        self.above = np.zeros((columns, MULTIPLES.size), np.int64)

    def add(self, values: Sequence[float]) -> None:
        """Count one trial."""
        if len(values) != len(self.sums):
            raise ValueError(f"a trial must return {len(self.sums)} values; got {len(values)}")
        self.trials += 1
        for k, value in enumerate(values):
            if value != value:
                raise ValueError(f"a trial must not return NaN; got it in column {k}")
            value = min(max(float(value), -_LARGEST), _LARGEST)
            fixed = round(value * _UNIT)
            self.sums[k] += fixed
            self.squares[k] += fixed * fixed
            # Exceedance is monotone in the multiple: one number says where it ends.
            self.above[k, : np.searchsorted(MULTIPLES, value, side="left")] += 1

    def fail(self, message: str) -> None:
        """Count a trial that ended in an error, such as a matching without a certificate."""
        self.errors += 1
        self.error = self.error or message

    def merge(self, other: Tally) -> None:
        """Add the trials of another tally."""
        self.trials += other.trials
        self.seconds += other.seconds
        self.errors += other.errors
        self.error = self.error or other.error
        self.sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)]
        self.squares = [a + b for a, b in zip(self.squares, other.squares, strict=True)]
        self.above = self.above + other.above

    def violations(self, column: int = 0, multiple: int = ONE) -> int:
        """Count the trials whose value passed MULTIPLES[multiple], 1 unless told."""
        return int(self.above[column, multiple])

    def mean(self, column: int = 0) -> float:
        """Give the mean of a column."""
        return self.sums[column] / (self.trials * _UNIT)

    def variance(self, column: int = 0) -> float:
        """Give the unbiased variance of a column."""
        n = self.trials
        if n < 2:
            return float("nan")
        return (n * self.squares[column] - self.sums[column] ** 2) / (n * (n - 1) * _UNIT**2)

    def standard_error(self, column: int = 0) -> float:
        """Give the standard error of the mean of a column."""
        return float(np.sqrt(self.variance(column) / self.trials))

    def to_json(self) -> dict[str, Any]:
        """Give what a checkpoint stores."""
        # Exceedances fall from one multiple to the next: the places where they do are enough.
        steps = [
            [[int(m), int(row[m])] for m in np.flatnonzero(np.diff(row, prepend=-1))] for row in self.above
        ]
        return {
            "trials": self.trials,
            "seconds": self.seconds,
            "errors": self.errors,
            "error": self.error,
            "sums": [hex(value) for value in self.sums],
            "squares": [hex(value) for value in self.squares],
            "above": steps,
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Tally:
        """Read what :meth:`to_json` gave."""
        tally = cls(len(stored["sums"]))
        tally.trials, tally.seconds = int(stored["trials"]), float(stored["seconds"])
        tally.errors, tally.error = int(stored["errors"]), str(stored["error"])
        tally.sums = [int(value, 16) for value in stored["sums"]]
        tally.squares = [int(value, 16) for value in stored["squares"]]
        for row, steps in zip(tally.above, stored["above"], strict=True):
            for start, value in steps:
                row[start:] = value
        return tally
