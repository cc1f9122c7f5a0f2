"""Files that are written whole or not at all, and tables as CSV."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from verification.samples import Row


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all."""
    write_together({path: content})


def write_together(contents: Mapping[Path, str | bytes]) -> None:
    """Write files whole, and all of them or, if there is no room for one, none; the error names it."""
    unfinished = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in contents}
    try:
        for path, content in contents.items():
            with naming(path):
                unfinished[path].write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        for path in contents:
            os.replace(unfinished[path], path)
    finally:
        for rest in unfinished.values():
            rest.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Give an error the name of the file, which a full disk does not tell."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


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
