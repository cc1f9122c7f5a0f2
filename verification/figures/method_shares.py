"""Shares of recovered pairs drawn side by side: one group for each data set, one mark for each method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verification.engine.samples import Row
from verification.figures.definition import CellRows
from verification.scenarios.side_by_side import METHODS, REFERENCE
from verification.statistics import intervals
from verification.style import INK, error_line


def tabulate(cells: Sequence[CellRows]) -> dict[str, list[Row]]:
    """Give the share of pairs that each method recovered in one trial, and how far the reference is ahead."""
    shares: list[Row] = []
    differences: list[Row] = []
    for cell, rows in cells:
        for row in rows:
            total = int(row["pairs"])
            line = {"data": cell.name, "n": total, "method": row["method"]}
            line |= {"d": row["d"]} if "d" in row else {}
            recovered = intervals.proportion(events(row["right"], total), "recovered")
            shares.append({**line, **recovered, "scale": row["scale"]})
            if row["method"] != REFERENCE:
                difference = intervals.paired_difference(row["gained"], row["lost"], total, "difference")
                differences.append({**line, **difference, "gained": row["gained"], "lost": row["lost"]})
    return {"": shares, "differences": differences}


def events(count: int, total: int) -> list[float]:
    """Give as many ones as there were events, and zeros for the rest."""
    return [1.0] * count + [0.0] * (total - count)


def draw_shares(axes: Any, rows: Sequence[Row]) -> None:
    """Draw the recovered shares: one group for each data set, one mark for each method."""
    _draw_groups(axes, rows, "recovered")
    axes.set(ylabel="share of pairs recovered", ylim=(-0.03, 1.03))


def draw_differences(axes: Any, rows: Sequence[Row]) -> None:
    """Draw by how much the reference is ahead of each other method."""
    axes.axhline(0, color=INK, linewidth=0.8)
    _draw_groups(axes, rows, "difference")
    axes.set(ylabel=f"{REFERENCE} minus the other method")


def _draw_groups(axes: Any, rows: Sequence[Row], column: str) -> None:
    groups = list(dict.fromkeys(row["data"] for row in rows))
    names = list(dict.fromkeys(row["method"] for row in rows))
    for name in names:
        # The place in METHODS, so that a method looks the same in every picture.
        style = list(METHODS).index(name)
        shown = [row for row in rows if row["method"] == name]
        aside = 0.1 * (names.index(name) - (len(names) - 1) / 2)
        places = [groups.index(row["data"]) + aside for row in shown]
        error_line(axes, places, shown, column, style, name, linestyle="", markersize=5)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.grid(False, axis="x")
