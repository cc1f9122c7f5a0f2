"""Tables for people: a title, facts in two columns, and small tables, as aligned text and as HTML."""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_WIDTH = 78
#: What a terminal obeys instead of showing it: control characters, ends of lines, changes of direction.
_OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
#: Columns of points that are listed at most.
_MOST_COLUMNS = 20


class Facts(NamedTuple):
    """Names with their values, side by side in two columns."""

    left: list[tuple[str, str]]
    right: list[tuple[str, str]]


class Table(NamedTuple):
    """A small table under a heading."""

    heading: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class Summary:
    """A summary of a result: ``print`` shows it as text, and a notebook as a table.

    Parameters
    ----------
    title : str
        What is summarised.
    parts : sequence of Facts, Table or str
        What is said of it, from top to bottom; a string is a paragraph.
    """

    def __init__(self, title: str, parts: Sequence[Facts | Table | str]) -> None:
        self.title = title
        self.parts = tuple(parts)

    def __str__(self) -> str:
        """Give aligned text of at most 78 columns, but for long names."""
        blocks = [self.title.center(_WIDTH).rstrip()]
        for part in self.parts:
            if isinstance(part, str):
                blocks.append(textwrap.fill(printable(part), _WIDTH))
            else:
                blocks.append(_facts_text(part) if isinstance(part, Facts) else _table_text(part))
        rule = "=" * _WIDTH
        return f"\n{rule}\n".join(blocks) + f"\n{rule}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        blocks = [f"<p><b>{html.escape(self.title)}</b></p>"]
        for part in self.parts:
            if isinstance(part, str):
                blocks.append(f"<p>{html.escape(part)}</p>")
            elif isinstance(part, Facts):
                rows = [_html_row("td", fact) for fact in (*part.left, *part.right)]
                blocks.append(f"<table>{''.join(rows)}</table>")
            else:
                rows = [_html_row("th", part.columns), *(_html_row("td", row) for row in part.rows)]
                blocks.append(f"<p>{html.escape(part.heading)}</p><table>{''.join(rows)}</table>")
        return "<div>" + "".join(blocks) + "</div>"


def printable(text: str) -> str:
    r"""Escape what a terminal would obey, as names out of a file may hold it; the text becomes one line.

    Examples
    --------
    >>> print(printable("age" + chr(27) + "[2J"))
    age\x1b[2J
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def number(value: float) -> str:
    """Give five digits of a number."""
    return f"{value:.5g}"


def count(size: int, noun: str) -> str:
    """Give a number with its noun, such as "1 pair" or "1,000 pairs"."""
    return f"{size:,} {noun}" + ("" if size == 1 else "s")


def percent(share: float) -> str:
    """Give a share in whole percent; nothing is called certain or impossible by rounding."""
    text = f"{100 * share:.0f}"
    if (text == "100" and share < 1.0) or (text == "0" and share > 0.0):
        text = f"{100 * share:.1f}"
        text = {"100.0": "over 99.9", "0.0": "under 0.1"}.get(text, text)
    return f"{text} %"


def abridged(values: Sequence[Any] | Any, most: int = 6) -> str:
    """Give the first and the last of some numbers."""
    shown = [number(value) for value in values]
    if len(shown) > most:
        shown[most - 2 : -2] = ["..."]
    return " ".join(shown)


def turn_words(rotation: Any) -> str:
    """Say in a few words how an orthogonal matrix turns; in the plane by how much, otherwise at most.

    Examples
    --------
    >>> turn_words(np.array([[0.0, -1.0], [1.0, 0.0]]))
    'turned by 90 degrees'
    """
    if len(rotation) == 1:
        return "as it is" if rotation[0, 0] > 0 else "mirrored"
    mirrored = bool(np.linalg.slogdet(rotation)[0] < 0.0)
    if len(rotation) == 2:
        angle = round(math.degrees(math.atan2(rotation[1, 0], rotation[0, 0])), 9) + 0.0
        return ("mirrored and " if mirrored else "") + f"turned by {number(angle)} degrees"
    if mirrored:
        return "turned and mirrored"
    greatest = np.abs(np.angle(np.linalg.eigvals(rotation))).max()
    return f"turned by {number(math.degrees(greatest))} degrees" + (" at most" if len(rotation) > 3 else "")


def column_table(names: Sequence[str] | None, found: Any, report: Any = None) -> Table:
    """List the columns: what takes y to x, and if that is known how surely, and how much partners differ.

    `found` is the map, and `report` what a diagnosis says of its columns.
    """
    scales, shift = np.broadcast_to(getattr(found, "scales", found.scale), found.shift.shape), found.shift
    heads: tuple[str, ...] = ("column", "scale", "shift")
    if report is not None:
        heads = ("column", "scale", "std err", "shift", "std err", "noise", "")
    lines: list[tuple[str, ...]] = []
    for k in range(shift.size):
        name = str(k) if names is None else str(names[k])
        if report is None:
            lines.append((name, number(scales[k]), number(shift[k])))
            continue
        errors = ("-" if np.isnan(e[k]) else f"{e[k]:.2g}" for e in (report.factor_error, report.shift_error))
        factor_error, shift_error = errors
        said = "says nothing about who is who" if report.says_nothing[k] else ""
        noise = percent(min(float(report.noise[k]), 1.0))
        lines.append((name, number(scales[k]), factor_error, number(shift[k]), shift_error, noise, said))
    if len(lines) > _MOST_COLUMNS:
        lines[_MOST_COLUMNS // 2 : -_MOST_COLUMNS // 2] = [("...",) * len(heads)]
    heading = "Columns of x, from those of y times the scale plus the shift"
    if report is not None:
        heading += "; noise as a share of what strangers differ by"
    return Table(heading, heads, lines)


def _facts_text(facts: Facts) -> str:
    half = (_WIDTH - 3) // 2
    height = max(len(facts.left), len(facts.right))
    columns = [
        [_fact(name, value, half) for name, value in side] + [" " * half] * (height - len(side))
        for side in facts
    ]
    return "\n".join(f"{left}   {right}".rstrip() for left, right in zip(*columns, strict=True))


def _fact(name: str, value: str, width: int) -> str:
    value = printable(value)
    return f"{name}: {value:>{max(width - len(name) - 2, 0)}}"


def _table_text(table: Table) -> str:
    cells = [tuple(map(printable, row)) for row in (table.columns, *table.rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(table.columns))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "\n".join([table.heading, "-" * _WIDTH, *lines])


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
