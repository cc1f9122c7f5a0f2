"""Tables of rows as CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from verification.engine.samples import Row


def table_to_csv(rows: Sequence[Row]) -> str:
    """Give a table as CSV; numbers to six digits, which is more than any of them means."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _short(value) for name, value in row.items()})
    return text.getvalue()


def read_table(path: Path) -> list[Row]:
    """Read what :func:`table_to_csv` gave: numbers as floats, everything else as words."""
    with open(path, encoding="utf-8", newline="") as stream:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(stream)]


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def _value(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text
