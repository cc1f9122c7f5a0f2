"""The report's pictures, as self-contained SVG."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from verification.claims.outcomes import Outcome
from verification.engine.studies import CLAIM_ROLE
from verification.engine.tally import MULTIPLES
from verification.report.typesetting import greek
from verification.style import COLOURS, Sheet, draw_figure, svg


class Picture(NamedTuple):
    """A picture of a claim, in two forms for a page and in one that stands alone."""

    inline: str
    """An SVG element without a legend."""
    narrow: str
    """The same for the width of a phone, where cells stand below each other."""
    legend: list[tuple[str, str]]
    """Colour and label of each curve, for the page to set in its own type."""
    alone: str
    """An SVG element with its legend."""


def draw(outcome: Outcome) -> Picture:
    """Draw a claim for the report."""
    inline, legend = _draw(outcome, _INLINE)
    narrow, _ = _draw(outcome, _NARROW)
    name = outcome.claim.id
    return Picture(svg(inline, name), svg(narrow, name), legend, svg(sheet(outcome), name))


def sheet(outcome: Outcome) -> Sheet:
    """Draw a claim with its legend; a notebook shows it."""
    return _draw(outcome, _ALONE)[0]


class _Form(NamedTuple):
    """Width and height in inches; whether there is a legend, and whether room is short."""

    size: tuple[float, float]
    legend: bool = False
    narrow: bool = False


_INLINE, _ALONE, _NARROW = _Form((6.4, 3.4)), _Form((7.2, 4.4), legend=True), _Form((3.5, 2.9), narrow=True)


def _draw(outcome: Outcome, form: _Form) -> tuple[Sheet, list[tuple[str, str]]]:
    legend: list[tuple[str, str]] = []

    def draw_on(figure: Any) -> None:
        axes = figure.subplots()
        _PICTURES[outcome.claim.picture](axes, outcome, form.narrow)
        labels = [greek(label) for label in outcome.claim.axes]
        sideways = form.narrow and outcome.claim.picture in _OF_CELLS
        axes.set(**dict(zip(("ylabel", "xlabel") if sideways else ("xlabel", "ylabel"), labels, strict=True)))
        handles: Any
        handles, labels = axes.get_legend_handles_labels()
        legend.extend(
            (handle[0].get_color() if isinstance(handle, tuple) else handle.get_color(), label)
            for handle, label in zip(handles, labels, strict=True)
        )
        if form.legend and legend:
            figure.legend(handles, labels, loc="outside lower center", ncols=1 + (len(legend) > 3))

    return draw_figure(draw_on, form.size), legend


def _survival(axes: Any, outcome: Outcome, narrow: bool) -> None:
    """Draw the share of trials above each multiple of the bound; the dot is what the statement allows."""
    shown = [item for item in outcome.counts if item.cell.role == CLAIM_ROLE and item.tally.trials]
    smallest = 1.0
    for colour, (cell, tally, _) in zip(_cycle(len(shown)), shown, strict=True):
        rate = tally.columns[outcome.claim.column].above / tally.trials
        seen = rate > 0
        axes.plot(MULTIPLES[seen], rate[seen], color=colour, label=greek(cell.name))
        axes.plot([1], [cell.allowed], "o", color=colour, markersize=4.5)
        smallest = min(smallest, cell.allowed or 1.0, 1 / tally.trials)
    axes.axvline(1, color="#333333", linewidth=0.8, linestyle="--")
    axes.set(xscale="log", yscale="log", xlim=(0.05, 2), ylim=(smallest / 2, 1.3))
    axes.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2], ["0.05", "0.1", "0.2", "0.5", "1", "2"])


def _points(axes: Any, outcome: Outcome, narrow: bool) -> None:
    """Draw means with three standard errors, and the fitted line."""
    curve = outcome.decision.curve
    x, y = np.array(curve["x"]), np.array(curve["y"])
    axes.errorbar(x, y, yerr=3 * np.array(curve["error"]), fmt="o", color=COLOURS[0], markersize=4, capsize=2)
    ends = np.array([x.min(), x.max()])
    line = np.exp(curve["intercept"]) * ends ** curve["slope"]
    axes.plot(ends, line, color=COLOURS[1], label=f"fitted slope {curve['slope']:.3f}")
    axes.set(xscale="log", yscale="log")


def _means(axes: Any, outcome: Outcome, narrow: bool) -> None:
    """Draw observed over expected, with the interval that the test uses."""
    reach = outcome.decision.curve["reach"]
    rows = outcome.decision.cells
    for k, row in enumerate(rows):
        looks: Any = {"fmt": "o", "color": COLOURS[0], "capsize": 3}
        error = reach * row["standard_error"]
        if narrow:
            axes.errorbar(row["mean"], k, xerr=error, **looks)
        else:
            axes.errorbar(k, row["mean"], yerr=error, **looks)
    (axes.axvline if narrow else axes.axhline)(1, color="#333333", linewidth=0.8, linestyle="--")
    _name_cells(axes, rows, narrow, 7.5)


def _bars(axes: Any, outcome: Outcome, narrow: bool) -> None:
    """Draw each cell's observed rate, its upper limit and what is allowed."""
    rows = [row for row in outcome.decision.cells if not row["vacuous"]]

    def line(cell: Any, value: Any, **looks: Any) -> None:
        axes.plot(*((value, cell) if narrow else (cell, value)), **looks)

    for k, row in enumerate(rows):
        rate, upper = row["violations"] / row["trials"], row["upper_limit"]
        line([k, k], [rate, upper], color=COLOURS[0], linewidth=5, solid_capstyle="butt")
        line([k], [rate], color=COLOURS[0], marker="o", linestyle="", markersize=5)
        line([k - 0.3, k + 0.3], [row["allowed"]] * 2, color=COLOURS[1], linewidth=2)
    axes.plot([], [], color=COLOURS[0], linewidth=5, label="observed rate to its upper limit")
    axes.plot([], [], color=COLOURS[1], linewidth=2, label="allowed")
    axes.set(**{"xlim" if narrow else "ylim": (-0.02, 1.05)})
    _name_cells(axes, rows, narrow, 7)


def _name_cells(axes: Any, rows: Sequence[Mapping[str, Any]], narrow: bool, size: float) -> None:
    """Name the cells along the horizontal axis, or from top to bottom where room is short."""
    if narrow:
        names = [textwrap.fill(greek(row["name"]), 24) for row in rows]
        lines = sum(name.count("\n") + 1 for name in names)
        axes.figure.set_size_inches(_NARROW.size[0], 0.8 + 0.17 * lines + 0.08 * len(rows))
        axes.set_yticks(range(len(rows)), names, fontsize=size)
        axes.set_ylim(len(rows) - 0.5, -0.5)
    else:
        axes.set_xticks(range(len(rows)), [_wrapped(row["name"]) for row in rows], fontsize=size)
        axes.set_xlim(-0.5, len(rows) - 0.5)


def _thresholds(axes: Any, outcome: Outcome, narrow: bool) -> None:
    """Draw the success curve of each noise ratio, and its threshold with the interval."""
    groups = outcome.decision.curve["groups"]
    for k, (colour, group) in enumerate(zip(_cycle(len(groups)), groups, strict=True)):
        key = (group["family"], group["noise_ratio"])
        rows = [
            row
            for row in outcome.decision.cells
            if (row["parameters"]["family"], row["parameters"]["noise_ratio"]) == key
        ]
        rows.sort(key=lambda row: row["parameters"]["separation"])
        label = f"{group['family']}, noise ratio {group['noise_ratio']:.3g}: {group['threshold']:.2f}"
        x = [row["parameters"]["separation"] for row in rows]
        axes.plot(x, [row["mean"] for row in rows], "o-", color=colour, markersize=3.5, label=label)
        height = 0.5 + 0.025 * (k - (len(groups) - 1) / 2)  # near one half
        axes.plot(group["interval"], [height] * 2, color=colour, linewidth=3)
    axes.set_xscale("log")
    ticks = sorted({row["parameters"]["separation"] for row in outcome.decision.cells})
    labels = [f"{tick:g}" if not (narrow and k % 2) else "" for k, tick in enumerate(ticks)]
    axes.set_xticks(ticks, labels)
    axes.minorticks_off()
    axes.set(ylim=(-0.02, 1.02), yticks=[0, 0.25, 0.5, 0.75, 1])


_PICTURES: dict[str, Callable[[Any, Outcome, bool], None]] = {
    "survival": _survival,
    "points": _points,
    "means": _means,
    "bars": _bars,
    "thresholds": _thresholds,
}
#: The pictures that have a place for each cell.
_OF_CELLS = ("means", "bars")


def _cycle(count: int) -> list[str]:
    return [COLOURS[k % len(COLOURS)] for k in range(count)]


def _wrapped(name: str) -> str:
    """Break a cell's name so that neighbours do not overlap."""
    return greek(name).replace(" ", "\n")
