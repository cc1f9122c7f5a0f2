"""Shares of recovered pairs drawn side by side: one group for each data set, one mark for each method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verification.engine.samples import Row
from verification.scenarios.side_by_side import METHODS, REFERENCE
from verification.style import COLOURS, INK, MARKERS


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
        middle = np.array([row[column] for row in shown])
        ends = np.array([[row[f"{column}_low"], row[f"{column}_high"]] for row in shown]).T
        aside = 0.1 * (names.index(name) - (len(names) - 1) / 2)
        position = [groups.index(row["data"]) + aside for row in shown]
        axes.errorbar(
            position,
            middle,
            yerr=np.abs(ends - middle),
            fmt=MARKERS[style],
            color=COLOURS[style],
            markersize=5,
            capsize=2,
            label=name,
        )
    axes.set_xticks(range(len(groups)), groups)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.grid(False, axis="x")
