"""Tables of text: commas, semicolons, tabs or blanks between numbers, with or without names of columns.

The lines are read one by one and kept as numbers. What is not clear from the file itself is said in a note.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from lslmatch._frames import counts_rows
from lslmatch.io.choice import Choice, PointFile, numbered
from lslmatch.io.sources import MOST_BYTES, MOST_LINES, FileError, Source, check_lines, size_text

#: Lines that are looked at to tell what stands between numbers, and characters if these are fewer.
_HEAD_LINES, _HEAD_CHARACTERS = 50, 1 << 20
#: A row is shorter than this: a million numbers of all digits.
MOST_CHARACTERS = 1 << 25
_DELIMITERS = "\t;,"
#: What people write where a number is missing.
_MISSING = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "none", "-", "?", "."))
#: Numbers as nobody can read them for certain, such as 1,000: never the names of rows.
_NUMBER_LIKE = re.compile(r"[+-]?[\d.,' ]+")
_WHOLE = re.compile(r"[+-]?\d+")


def read_text(source: Source, choice: Choice) -> PointFile:
    """Read the numbers of a table, and the names of its columns and rows if it has any."""
    with _open_rows(source) as (rows, delimiter):
        return _read_rows(rows, delimiter, source, choice)


def read_names(source: Source) -> tuple[list[str], list[bool]] | None:
    """Read the names of the columns, and tell where text stands below; None if there are no names."""
    with _open_rows(source) as (rows, delimiter):
        first, _ = _first_rows(rows)
    header = _header(first, delimiter) if first else None
    if header is None or len(first) < 2:
        return None
    cells = first[1].cells
    if len(cells) == len(header) + 1:  # as R writes the names of rows
        header.insert(0, "")
    body = _Body("", None, delimiter != ",")
    texts = [body.is_word(cell) and not _NUMBER_LIKE.fullmatch(cell.strip()) for cell in cells]
    return header, texts + [False] * (len(header) - len(texts))


@contextlib.contextmanager
def _open_rows(source: Source) -> Iterator[tuple[Iterator[_Row], str | None]]:
    """Give the rows of a table one by one, and what stands between their cells."""
    stream = io.TextIOWrapper(source.stream, encoding="utf-8-sig", newline="")
    try:
        lines = _Lines(stream, source)
        head: list[str] = []
        for line in lines:
            head.append(line)
            if len(head) == _HEAD_LINES or sum(map(len, head)) > _HEAD_CHARACTERS:
                break
        delimiter = _delimiter(head)
        lines.row = 0
        yield _rows(lines.after(head), lines, delimiter), delimiter
    except UnicodeDecodeError:
        raise FileError(f"{source.name}: not a text file in UTF-8") from None
    finally:
        stream.detach()


class _Lines:
    """The lines of a file, of which a row takes not too many characters, and packed ones are not too many."""

    def __init__(self, stream: io.TextIOWrapper, source: Source) -> None:
        self._stream, self._most = stream, MOST_LINES if source.is_limited else sys.maxsize
        self.name = source.name
        self.number = 0
        self.row = 0  # the characters of the row that is not complete yet

    def __iter__(self) -> Iterator[str]:
        read = self._stream.readline
        while line := read(MOST_CHARACTERS):
            self.row += len(line)
            self.number += 1
            if self.row >= MOST_CHARACTERS:
                raise FileError(
                    f"{self.name}: line {self.number}: a row of more than {MOST_CHARACTERS:,} characters"
                )
            if self.number > self._most:
                check_lines(self.number, self.name)
            yield line

    def after(self, head: list[str]) -> Iterator[str]:
        """Give the lines that were read already, and then the others."""
        return chain(head, self)


class _Row(NamedTuple):
    line: int
    cells: list[str]


def _delimiter(head: Sequence[str]) -> str | None:
    """Tell what stands between the cells: what all lines have the same number of, or else blanks (None)."""
    plain = [re.sub(r'"[^"]*"', "", line) for line in head if line.strip() and line[0] != "#"]
    for delimiter in _DELIMITERS:
        if plain and plain[0].count(delimiter) and all(delimiter in line for line in plain):
            return delimiter
    # Lines of different lengths are told by the reader, which needs to know what was meant.
    for delimiter in _DELIMITERS:
        if any(delimiter in line for line in plain):
            return delimiter
    return None if any(len(line.split()) > 1 for line in plain) else ","


def _rows(text: Iterable[str], lines: _Lines, delimiter: str | None) -> Iterator[_Row]:
    """Give the cells of every line that is neither blank nor a comment."""
    if delimiter is None:
        for number, line in enumerate(text, 1):
            lines.row = 0
            if cells := line.split():
                yield _Row(number, cells)
        return
    reader = csv.reader(text, delimiter=delimiter, skipinitialspace=True)
    try:
        for cells in reader:
            lines.row = 0
            if len(cells) > 1 or "".join(cells).strip():
                yield _Row(reader.line_num, cells)
    except csv.Error as error:
        raise FileError(f"{lines.name}: line {reader.line_num}: {error}") from None


def _read_rows(rows: Iterator[_Row], delimiter: str | None, source: Source, choice: Choice) -> PointFile:
    name = source.name
    first, rows = _first_rows(rows)
    if not first:
        raise FileError(f"{name}: holds no numbers")
    notes: list[str] = []
    header = _header(first, delimiter)
    width = len(first[0].cells)
    if header is not None:
        next(rows)
        if len(first) < 2:
            raise FileError(f"{name}: holds no numbers")
        if len(first[1].cells) == width + 1:  # as R writes the names of rows
            header.insert(0, "")
        width = len(header)
    names = header
    if names is not None and all(_WHOLE.fullmatch(cell) for cell in names if cell):
        notes.append("the first line numbers the columns")
        names = names if "" in names else None
    named = tuple(names) if names is not None else None

    id_column = choice.id_position(named, width, name)
    wanted = choice.positions(named, width, name)
    others = choice.no_coordinates(named, width, name)
    body = _Body(name, named, delimiter != ",", MOST_BYTES if source.is_limited else sys.maxsize)
    # Text in front of numbers names the rows, unless someone said what does.
    lead = first[-1].cells[0] if first[-1].cells else ""
    named_rows = body.is_word(lead) and not _NUMBER_LIKE.fullmatch(lead.strip())
    automatic = id_column is None and wanted is None and width > 1 and named_rows and 0 not in others
    if automatic:
        id_column = 0
        others |= {0}
    numeric = [k for k in wanted or range(width) if k not in others or wanted is not None]
    body.check_size((source.lines or 0) * len(numeric))
    labels: list[str] = []
    size = 0
    for line, cells in rows:
        if len(cells) != width:
            raise FileError(f"{name}: line {line} has {len(cells)} values, not {width}")
        body.add(line, [cells[k] for k in numeric])
        if id_column is not None:
            labels.append(cells[id_column].strip())
            size += sys.getsizeof(labels[-1])
            if size > MOST_BYTES:
                raise FileError(f"{name}: the names of the rows take more than {size_text(MOST_BYTES)}")
    values, numeric = body.finish(numeric)
    if automatic:
        if len(set(labels)) < len(labels):
            raise FileError(
                f"{name}: {numbered(named, 0)} holds text, such as {lead!r}, and not a different one in "
                "every row; choose columns of numbers with --columns, or let it name the rows with --id"
            )
        notes.append(f"{numbered(named, 0)} holds different text in every row: taken for the rows' names")
    elif wanted is None and id_column is None and len(numeric) > 1 and counts_rows(values[:, 0]):
        if named is not None and not named[0]:
            labels = [str(int(value)) for value in values[:, 0]]
            values, numeric, id_column = values[:, 1:], numeric[1:], 0
            notes.append("the first column has no name and numbers the rows: taken for the rows' names")
        else:
            notes.append(
                f"{numbered(named, 0)} numbers the rows: if it is no coordinate, say "
                f"--id {named[0] if named else 0}"
            )
    if body.commas:
        notes.append("decimal commas")
    columns = tuple(named[k] for k in numeric) if named is not None else None
    if columns is not None and all(map(_WHOLE.fullmatch, columns)):
        columns = None  # which were numbers, and no names
    # (As objects: an array of text is as wide everywhere as at its longest.)
    rows_named = np.array(labels, object) if id_column is not None else None
    return PointFile(values, columns, rows_named, tuple(notes))


def read_cells(source: Source) -> list[list[str]]:
    """Read the cells of a table as they stand there, row by row."""
    stream = io.TextIOWrapper(source.stream, encoding="utf-8-sig", newline="")
    try:
        lines = _Lines(stream, source)
        head = list(islice(lines, _HEAD_LINES))
        delimiter = _delimiter(head)
        lines.row = 0
        return [[cell.strip() for cell in row.cells] for row in _rows(lines.after(head), lines, delimiter)]
    except UnicodeDecodeError:
        raise FileError(f"{source.name}: not a text file in UTF-8") from None
    finally:
        stream.detach()


def _first_rows(rows: Iterator[_Row]) -> tuple[list[_Row], Iterator[_Row]]:
    """Look at the first two rows; the first may be a comment, which is a header only if it fits."""
    first = list(islice(rows, 2))
    while first and first[0].cells[0].startswith("#"):
        cells = [first[0].cells[0][1:], *first[0].cells[1:]]
        cells = cells if cells[0].strip() or len(cells) == 1 else cells[1:]
        if len(first) > 1 and len(first[1].cells) == len(cells) > 1:
            first[0] = _Row(first[0].line, cells)
            break
        first = first[1:] + list(islice(rows, 1))
    return first, chain(first, rows)


def _header(first: Sequence[_Row], delimiter: str | None) -> list[str] | None:
    """Give the cells of the first row if they are names of columns: words where numbers stand below."""
    body = _Body("", None, delimiter != ",")
    cells = [cell.strip() for cell in first[0].cells]
    below = [cell.strip() for cell in first[1].cells] if len(first) > 1 else []
    words = [k for k, cell in enumerate(cells) if body.is_word(cell)]
    if words:
        has_numbers = len(words) < len(cells)
        same = len(below) == len(cells) and all(body.is_word(below[k]) for k in words)
        # Words above words with numbers beside them: rows with names, and no header.
        return None if has_numbers and same and any(map(_is_number, cells)) else cells
    # The numbers of columns that pandas writes if they have no names.
    numbers = cells[1:] if cells and not cells[0] else cells
    counted = len(numbers) > 1 and numbers == [str(k) for k in range(len(numbers))]
    whole = bool(cells) and bool(cells[0]) and all(_WHOLE.fullmatch(cell) for cell in below)
    return cells if counted and below and not whole else None


class _Body:
    """The numbers of a table while it is read, and what was met instead of numbers."""

    def __init__(
        self,
        name: str,
        named: tuple[str, ...] | None,
        may_have_commas: bool,
        most_bytes: int = sys.maxsize,
    ) -> None:
        self._most = most_bytes // 8
        self._name, self._named, self._may_have_commas = name, named, may_have_commas
        self._values, self._rows = array("d"), 0
        self._bad: dict[int, tuple[int, str]] = {}  # by column: the first line, and what stands there
        self._bad_count: dict[int, int] = {}
        self._first_missing: dict[int, int] = {}
        self.commas = self._points = False

    def is_word(self, cell: str) -> bool:
        """Tell whether a cell holds neither a number nor one of the signs of a missing one."""
        return cell.strip().lower() not in _MISSING and self._number(cell) is None

    def add(self, line: int, cells: list[str]) -> None:
        """Keep one row."""
        self._rows += 1
        try:
            numbers = [float(cell) for cell in cells]
        except ValueError:
            numbers = []
        # Python reads "1_1" as eleven; in a table it is a name.
        if not numbers or "_" in "".join(cells):
            numbers = [self._parse(line, k, cell) for k, cell in enumerate(cells)]
        self._values.extend(numbers)
        if len(self._values) > self._most:
            self.check_size(len(self._values))

    def check_size(self, count: int) -> None:
        """Refuse more numbers than are unpacked."""
        if count > self._most:
            raise FileError(
                f"{self._name}: takes {size_text(8 * count)} in memory, more than {size_text(8 * self._most)}"
            )

    def finish(self, numeric: list[int]) -> tuple[np.ndarray, list[int]]:
        """Give the numbers as an array, without a last column that is empty all the way down."""
        if not self._values:
            raise FileError(f"{self._name}: holds no numbers")
        values = np.frombuffer(self._values).reshape(self._rows, len(numeric))  # without a copy
        nameless = self._named is None or not self._named[numeric[-1]]
        if (
            len(numeric) > 1
            and nameless
            and np.isnan(values[:, -1]).all()
            and len(numeric) - 1 not in self._bad
        ):
            values, numeric = values[:, :-1], numeric[:-1]  # every line ends with a delimiter
        self._refuse_text(numeric)
        self._refuse_missing(values, numeric)
        return np.ascontiguousarray(values), numeric

    def _parse(self, line: int, k: int, cell: str) -> float:
        if cell.strip().lower() in _MISSING:
            self._first_missing.setdefault(k, line)
            return np.nan
        number = self._number(cell)
        if number is None:
            self._bad.setdefault(k, (line, cell))
            self._bad_count[k] = self._bad_count.get(k, 0) + 1
            return np.nan
        if "," in cell:
            self.commas = True
        self._points = self._points or "." in cell
        if self.commas and self._points:
            raise FileError(f"{self._name}: line {line}: decimal commas and decimal points in one file")
        return number

    def _number(self, cell: str) -> float | None:
        if self._may_have_commas and cell.count(",") == 1 and "." not in cell:
            cell = cell.replace(",", ".")
        return _to_float(cell)

    def _refuse_text(self, numeric: list[int]) -> None:
        for k, (line, cell) in self._bad.items():
            if self._bad_count[k] <= self._rows // 2 or self._rows < 2:
                shown = repr(cell) if len(cell) <= 40 else repr(cell[:40]) + "..."
                where = "" if self._named is None else f" ({numbered(self._named, numeric[k])})"
                raise FileError(f"{self._name}: line {line}: {shown} is not a number{where}")
        if self._bad:
            texts = [numbered(self._named, numeric[k]) for k in self._bad]
            line, cell = next(iter(self._bad.values()))
            raise FileError(
                f"{self._name}: {' and '.join(texts[:6])} hold{'s' * (len(texts) == 1)} text, such as "
                f"{cell[:40]!r} in line {line}: choose columns of numbers with --columns, or let a column "
                "of text name the rows with --id"
            )

    def _refuse_missing(self, values: np.ndarray, numeric: list[int]) -> None:
        missing = np.isnan(values)
        if not missing.any():
            return
        counts = missing.sum(axis=0)
        where = [
            f"{counts[k]} in {numbered(self._named, numeric[k])}"
            + (f" (first in line {self._first_missing[k]})" if k in self._first_missing else "")
            for k in np.flatnonzero(counts).tolist()
        ]
        raise FileError(
            f"{self._name}: {int(counts.sum())} value{'s' * bool(counts.sum() > 1)} missing, in "
            f"{int(missing.any(axis=1).sum())} of {self._rows} rows: {', '.join(where[:6])}"
            f"{f' and {len(where) - 6} more columns' if len(where) > 6 else ''}; leave out these rows, "
            "fill in the values, or choose other columns with --columns"
        )


def _is_number(cell: str) -> bool:
    return _to_float(cell) is not None


def _to_float(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
