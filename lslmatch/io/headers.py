"""The names of the columns of a file, before its numbers are read."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lslmatch.io import columnar, text
from lslmatch.io.points import COLUMNAR, SHEETS
from lslmatch.io.sheets import as_text
from lslmatch.io.sources import TEXT, open_source


class Header(NamedTuple):
    """What the columns of a file are called."""

    numbers: tuple[str, ...]
    """Those of numbers, as far as the first row tells, without the one that names the rows."""
    label: str | None
    """The column that names the rows: the one that was asked for, or one of text that stands first."""


def read_header(path: Path, label: str | None, group: str | None = None) -> Header | None:
    """Read the names of columns; None if there are none.

    `label` is the column that names the rows, and `group` one that is no coordinate either.
    """
    with open_source(path) as source:
        found = None
        if source.suffix in SHEETS:
            source = as_text(source)
        if source.suffix in TEXT:
            found = text.read_names(source)
        elif source.suffix in COLUMNAR:
            found = columnar.read_names(source)
    if found is None:
        return None
    names, is_text = found
    if label is None and is_text[0] and len(names) > 1 and source.suffix in TEXT:
        label = names[0]
    pairs = zip(names, is_text, strict=True)
    return Header(tuple(name for name, other in pairs if not other and name not in (label, group)), label)
