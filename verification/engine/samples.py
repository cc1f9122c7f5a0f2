"""What is kept of the trials behind a figure: every line that they returned, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: A line of a table: named numbers and words.
Row = Mapping[str, Any]


class Samples:
    """The lines that trials returned; a figure has few enough of them to keep them all."""

    def __init__(self) -> None:
        self.trials = 0
        self.seconds = 0.0
        self.errors = 0
        self.error = ""
        self.broken = ""
        self.rows: list[Row] = []

    def add(self, rows: Sequence[Row]) -> None:
        """Keep the lines of one trial."""
        self.trials += 1
        self.rows.extend(rows)

    def fail(self, message: str) -> None:
        """Count a trial that ended in an error, such as a matching without a certificate."""
        self.errors += 1
        self.error = self.error or message

    def break_off(self, message: str) -> None:
        """Say why the trials stopped: an error of the program, which is no evidence about anything."""
        self.broken = self.broken or message

    def merge(self, other: Samples) -> None:
        """Append the trials of another batch."""
        self.trials += other.trials
        self.seconds += other.seconds
        self.errors += other.errors
        self.error = self.error or other.error
        self.broken = self.broken or other.broken
        self.rows.extend(other.rows)

    def to_json(self) -> dict[str, Any]:
        """Give what a checkpoint stores."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Samples:
        """Read what :meth:`to_json` gave."""
        samples = cls()
        vars(samples).update(stored)
        return samples
