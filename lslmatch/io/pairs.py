"""Reading pairs of rows from a table: two columns of names or numbers, such as a match has written."""

from __future__ import annotations

from pathlib import Path

from lslmatch.io.sources import TEXT, FileError, format_of, is_standard, open_source
from lslmatch.io.text import read_cells
from lslmatch.results import Labels

#: The columns of a file of pairs with a header, the names of rows before their numbers.
_NAMED, _NUMBERED = ("x_label", "y_label"), ("x", "y")


def read_pairs(path: Path, labels: Labels | None) -> list[tuple[str | int, str | int]]:
    """Read pairs: a name for a row whose set has names, and a row number from 0 for others.

    Where rows have names, numbers that are no names are still numbers. With a header the columns x_label and
    y_label are taken where rows have names, or x and y; without one, the first two columns.

    Raises
    ------
    FileError
        If the file is no table of text, or has no pairs, in one line.
    """
    if not is_standard(path) and format_of(path) not in TEXT:
        raise FileError(f"{path}: the suffix of a file of pairs must be one of {', '.join(TEXT)}")
    with open_source(path) as source:
        name, rows = source.name, read_cells(source)
    if not rows or min(len(row) for row in rows) < 2:
        raise FileError(f"{name}: must have two columns, a row of X and a row of Y")
    first, sides = rows[0], []
    for side, (named, numbered) in enumerate(zip(_NAMED, _NUMBERED, strict=True)):
        names = None if labels is None else labels[side]
        known = set() if names is None else set(names.tolist())
        column = side
        if known and named in first:
            column = first.index(named)
        elif numbered in first:
            column = first.index(numbered)
        body = [row[column] for row in (rows[1:] if {named, numbered} & set(first) else rows)]
        are_names = bool(known) and not all(cell.isdecimal() and cell not in known for cell in body)
        sides.append([_value(cell, are_names, name, k) for k, cell in enumerate(body, 1)])
    return list(zip(*sides, strict=True))


def _value(cell: str, is_name: bool, file: str, row: int) -> str | int:
    if is_name:
        return cell
    if not cell.isdecimal():
        raise FileError(
            f"{file}: pair {row} has {cell!r}, which is no row number from 0; if rows have names, "
            "--id tells which column has them"
        )
    return int(cell)
