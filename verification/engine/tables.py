"""Tables of rows as CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from verification.engine.samples import Row


def table_to_csv(rows: Sequence[Row]) -> str:
    """Give a table as CSV; numbers to six digits, which is more than any of them means."""
    # As objects: a column may hold numbers and words, and an integer must stay one.
    table = pd.DataFrame(rows, dtype=object).apply(lambda column: column.map(_short))
    return str(table.to_csv(index=False, lineterminator="\n"))


def read_table(path: Path) -> list[Row]:
    """Read what :func:`table_to_csv` gave; an empty entry is NaN."""
    if not path.read_text(encoding="utf-8").strip():  # without rows there are no columns
        return []
    # The engine that reads a number as Python does; the faster one may differ in its last bit.
    return pd.read_csv(path, engine="python").to_dict("records")


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value
