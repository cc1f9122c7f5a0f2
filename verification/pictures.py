"""The report's pictures, as self-contained SVG; the one place that knows their style."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from verification.claim import CLAIM
from verification.run import Outcome
from verification.tally import MULTIPLES

#: Okabe and Ito's colours, which colour-blind readers can tell apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a8a8a")

_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: smaller, sharper, searchable
    "svg.hashsalt": "lslmatch",  # the same picture is the same file
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "lines.linewidth": 1.4,
}


class Picture(NamedTuple):
    """A picture of a claim, in a form for a page and in one that stands alone."""

    inline: str
    """An SVG element without a legend."""
    legend: list[tuple[str, str]]
    """Colour and label of each curve, for the page to set in its own type."""
    alone: str
    """An SVG element with its legend."""


def draw(outcome: Outcome) -> Picture:
    """Draw a claim."""
    inline, legend = _draw(outcome, with_legend=False)
    return Picture(inline, legend, _draw(outcome, with_legend=True)[0])


def _draw(outcome: Outcome, with_legend: bool) -> tuple[str, list[tuple[str, str]]]:
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 3.4) if not with_legend else (7.2, 4.4), layout="constrained")
        axes = figure.subplots()
        _PICTURES[outcome.claim.picture](axes, outcome)
        axes.set_xlabel(outcome.claim.axes[0])
        axes.set_ylabel(outcome.claim.axes[1])
        handles: Any
        handles, labels = axes.get_legend_handles_labels()
        legend = [
            (handle[0].get_color() if isinstance(handle, tuple) else handle.get_color(), label)
            for handle, label in zip(handles, labels, strict=True)
        ]
        if with_legend and legend:
            figure.legend(handles, labels, loc="outside lower center", ncols=1 + (len(legend) > 3))
        text = io.StringIO()
        figure.savefig(
            text, format="svg", metadata={"Date": None, "Creator": None, "Title": outcome.claim.id}
        )
    svg = text.getvalue()
    return svg[svg.index("<svg") :], legend


def _survival(axes: Any, outcome: Outcome) -> None:
    """Draw the share of trials above each multiple of the bound; the dot is what the statement allows."""
    shown = [item for item in outcome.counts if item.cell.role == CLAIM and item.tally.trials]
    smallest = 1.0
    for colour, (cell, tally) in zip(_cycle(len(shown)), shown, strict=True):
        rate = tally.above[0] / tally.trials
        seen = rate > 0
        axes.plot(MULTIPLES[seen], rate[seen], color=colour, label=cell.name)
        axes.plot([1], [cell.allowed], "o", color=colour, markersize=4.5)
        smallest = min(smallest, cell.allowed or 1.0, 1 / tally.trials)
    axes.axvline(1, color="#333333", linewidth=0.8, linestyle="--")
    axes.set(xscale="log", yscale="log", xlim=(0.05, 2), ylim=(smallest / 2, 1.3))
    axes.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2], ["0.05", "0.1", "0.2", "0.5", "1", "2"])


def _points(axes: Any, outcome: Outcome) -> None:
    """Draw means with three standard errors, and the fitted line."""
    curve = outcome.decision.curve
    x, y = np.array(curve["x"]), np.array(curve["y"])
    axes.errorbar(
        x, y, yerr=3 * np.array(curve["error"]), fmt="o", color=_COLOURS[0], markersize=4, capsize=2
    )
    ends = np.array([x.min(), x.max()])
    line = np.exp(curve["intercept"]) * ends ** curve["slope"]
    axes.plot(ends, line, color=_COLOURS[1], label=f"fitted slope {curve['slope']:.3f}")
    axes.set(xscale="log", yscale="log")


def _means(axes: Any, outcome: Outcome) -> None:
    """Draw observed over expected, with the interval that the test uses."""
    reach = outcome.decision.curve["reach"]
    rows = outcome.decision.cells
    for k, row in enumerate(rows):
        axes.errorbar(
            k, row["mean"], yerr=reach * row["standard_error"], fmt="o", color=_COLOURS[0], capsize=3
        )
    axes.axhline(1, color="#333333", linewidth=0.8, linestyle="--")
    axes.set_xticks(range(len(rows)), [_wrapped(row["name"]) for row in rows], fontsize=7.5)
    axes.set_xlim(-0.5, len(rows) - 0.5)


def _bars(axes: Any, outcome: Outcome) -> None:
    """Draw each cell's observed rate, its upper limit and what is allowed."""
    rows = [row for row in outcome.decision.cells if not row["vacuous"]]
    for k, row in enumerate(rows):
        rate, upper = row["violations"] / row["trials"], row["upper_limit"]
        axes.plot([k, k], [rate, upper], color=_COLOURS[0], linewidth=5, solid_capstyle="butt")
        axes.plot(k, rate, "o", color=_COLOURS[0], markersize=5)
        axes.plot([k - 0.3, k + 0.3], [row["allowed"]] * 2, color=_COLOURS[1], linewidth=2)
    axes.plot([], [], color=_COLOURS[0], linewidth=5, label="observed rate to its upper limit")
    axes.plot([], [], color=_COLOURS[1], linewidth=2, label="allowed")
    axes.set_xticks(range(len(rows)), [_wrapped(row["name"]) for row in rows], fontsize=7)
    axes.set(xlim=(-0.5, len(rows) - 0.5), ylim=(-0.02, 1.05))


def _thresholds(axes: Any, outcome: Outcome) -> None:
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
        axes.plot(group["interval"], [-0.05 - 0.035 * k] * 2, color=colour, linewidth=3)
    axes.set_xscale("log")
    ticks = sorted({row["parameters"]["separation"] for row in outcome.decision.cells})
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


_PICTURES: dict[str, Callable[[Any, Outcome], None]] = {
    "survival": _survival,
    "points": _points,
    "means": _means,
    "bars": _bars,
    "thresholds": _thresholds,
}


def _cycle(count: int) -> list[str]:
    return [_COLOURS[k % len(_COLOURS)] for k in range(count)]


def _wrapped(name: str) -> str:
    """Break a cell's name so that neighbours do not overlap."""
    return name.replace(" ", "\n")
